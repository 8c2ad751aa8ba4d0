// Waits for jobs whose past fires are run by a backfill.
#include "tests/unit/common/domain/upstream/wait_fixture.h"

namespace carillon::upstream_wait_test {
namespace {

using WaitBackfillTest = UpstreamWaitTest;

TEST_F(WaitBackfillTest, FiresThatABackfillMayStillRunAreWaitedFor) {
  wait_.which = WaitWhich::kAll;
  const std::vector<UpstreamRun> runs = {Of(kA, kDay + 1h), Of(kA, kDay + 4h)};
  Backfill(kDay + 2h, kDay + 3h);
  const WaitAnswer answer = Judge(runs);
  EXPECT_EQ(answer.verdict, WaitVerdict::kNotMet);
  EXPECT_EQ(answer.cause, WaitCause::kBackfill);
  EXPECT_EQ(answer.fire, kDay + 2h);
  Backfill(kDay - 3h, kDay + 1us);
  EXPECT_EQ(Judge(runs).fire, kDay) << "of the window";
  Backfill(kDay - 3h, kDay);
  EXPECT_TRUE(IsMet(runs)) << "it ends before the window";
  Backfill(kFire, kFire + 1h);
  EXPECT_EQ(CauseOf(runs), WaitCause::kBackfill);
  Backfill(kFire + 1us, kFire + 1h);
  EXPECT_TRUE(IsMet(runs));
}

TEST_F(WaitBackfillTest, OfABackfillOnlyFiresAfterTheNewestOneMatter) {
  const std::vector<UpstreamRun> runs = {Of(kA, kDay + 1h), Of(kA, kDay + 4h)};
  Backfill(kDay, kDay + 4h + 1us);
  EXPECT_TRUE(IsMet(runs));
  Backfill(kDay, kDay + 4h + 2us);
  EXPECT_EQ(Judge(runs).fire, kDay + 4h + 1us);
  EXPECT_EQ(CauseOf(runs), WaitCause::kBackfill);
  Backfill(kDay + 1h, kDay + 2h);
  EXPECT_EQ(CauseOf({}), WaitCause::kBackfill) << "there may be a fire";
}

TEST_F(WaitBackfillTest, AnEarlierFireAheadMayStillBeBackfilled) {
  wait_.window = {.back_s = 3'600, .ahead_s = 7'200};
  const std::vector<UpstreamRun> runs = {Of(kA, kFire + 1h)};
  Backfill(kFire + 1us, kFire + 30min);
  EXPECT_EQ(CauseOf(runs), WaitCause::kBackfill);
  Backfill(kFire - 30min, kFire - 20min);
  EXPECT_EQ(CauseOf(runs), WaitCause::kBackfill) << "then none ahead counts";
  Backfill(kFire + 1h, kFire + 2h);
  EXPECT_TRUE(IsMet(runs));
}

TEST_F(WaitBackfillTest, ABackfilledRunBeforeItLeadsToNone) {
  After(kZ);
  UpstreamRun backfilled = Of(kZ, kDay + 5h);
  backfilled.background = true;
  for (const RunState state : {RunState::kRunning, RunState::kCompleted, RunState::kFailed}) {
    backfilled.state = state;
    const WaitAnswer answer = Judge({Of(kZ, kDay), Of(kA, kDay), backfilled});
    EXPECT_EQ(answer.verdict, WaitVerdict::kNotMet) << "the morning's run does not pass for it";
    EXPECT_EQ(answer.cause, WaitCause::kNoneToCome);
    EXPECT_EQ(answer.fire, kDay + 5h);
    EXPECT_EQ(answer.run, backfilled);
    EXPECT_TRUE(IsMet({backfilled, Of(kA, kDay + 5h)})) << "nor does it lead to a second one";
  }
  EXPECT_EQ(WaitSentence(wait_, Judge({backfilled}), {kFire}, "UTC"),
            "Waits for load of 2026-03-01 05:00 (no run of it will come: run " +
                EncodeRunId(backfilled.key) +
                " was backfilled, which starts no other jobs; only a release ends this wait), "
                "until 2026-03-01 06:00.");
}

TEST_F(WaitBackfillTest, ARunMayStillComeIfAnyRunBeforeItIsNotBackfilled) {
  After(kZ);
  After(kY);
  UpstreamRun backfilled = Of(kZ, kDay);
  backfilled.background = true;
  EXPECT_EQ(CauseOf({backfilled, Of(kY, kDay, RunState::kFailed)}), WaitCause::kNotRun);
  // Its end was that of a live run, before the backfill ran it again.
  backfilled.end_pending = true;
  EXPECT_EQ(CauseOf({backfilled}), WaitCause::kNotRun);
  EXPECT_EQ(CauseOf({backfilled, Of(kA, kDay)}), WaitCause::kMoreToCome);
}

TEST_F(WaitBackfillTest, ABackfilledWorkflowHasItsNodes) {
  sources_.jobs.push_back(kW);
  sources_.workflows = {kA, kW};
  UpstreamRun own = Of(kW, kDay, RunState::kPending);
  own.background = true;
  EXPECT_EQ(CauseOf({own}), WaitCause::kNotRun);
  EXPECT_EQ(CauseOf({own, Of(kA, kDay)}), WaitCause::kMoreToCome);
  own.state = RunState::kCompleted;
  EXPECT_TRUE(IsMet({own, NodeOf(kW, 7, kDay)}));
}

}  // namespace
}  // namespace carillon::upstream_wait_test
