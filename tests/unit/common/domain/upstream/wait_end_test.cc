#include "common/domain/upstream/wait_end.h"

#include <gtest/gtest.h>

#include "common/domain/run/skip.h"
#include "common/domain/run/streak.h"
#include "tests/support/failpoint_on.h"

namespace carillon::wait_end_test {
namespace {

constexpr WallTime kNow = FromUnixMicros(1'772'323'200'000'000);

RunRow Awaiting(RunKind kind = RunKind::kCron) {
  return {.key = {kNow - 1h, ScheduleId(3), 0},
          .job_no = JobNo(7),
          .segment = SegmentId(2),
          .kind = kind,
          .due = kAwaiting,
          .def_version = 4};
}
WaitItem ItemOf(const RunRow& row) {
  return {
      .key = row.key, .segment = row.segment, .job_no = row.job_no, .def_version = row.def_version};
}

TEST(WaitEndTest, AWaitEndsOnlyForTheRunThatWasJudged) {
  const RunRow row = Awaiting();
  EXPECT_TRUE(StillWaits(row, ItemOf(row)));
  for (const auto& change : std::vector<void (*)(RunRow&)>{
           [](RunRow& other) { other.state = RunState::kCancelled; },
           [](RunRow& other) { other.due = kNow; }, [](RunRow& other) { other.due = kBlocked; },
           [](RunRow& other) { other.def_version = 5; },
           [](RunRow& other) { other.segment = SegmentId(1); },
           [](RunRow& other) { other.job_no = JobNo(8); }}) {
    RunRow other = row;
    change(other);
    EXPECT_FALSE(StillWaits(other, ItemOf(row)));
  }
}

TEST(WaitEndTest, ARunIsDueNowButNotBeforeItsFire) {
  EXPECT_EQ(DueAfterWait(Awaiting(), false, kNow), kNow);
  EXPECT_EQ(DueAfterWait(Awaiting(), true, kNow), kNever);
  RunRow ahead = Awaiting();
  ahead.key.fire = kNow + 1h;
  EXPECT_EQ(DueAfterWait(ahead, false, kNow), kNow + 1h);
}

TEST(WaitEndTest, ANodeIsBlockedAfterItsWait) {
  EXPECT_EQ(DueAfterWait(Awaiting(RunKind::kWorkflow), false, kNow), kBlocked);
  EXPECT_EQ(DueAfterWait(Awaiting(RunKind::kWorkflow), true, kNow), kBlocked);
}

TEST(WaitEndTest, ARunThatWaitedInVainFailsForGood) {
  const RunChange change = UnmetChange(Awaiting());
  EXPECT_EQ(change.state, RunState::kFailed);
  EXPECT_EQ(change.reason, "upstream_timeout");
  EXPECT_EQ(change.attempt, 1);
  EXPECT_EQ(change.def_version, 4);
  EXPECT_TRUE(change.dead_letter);
  EXPECT_TRUE(change.store_result);
  EXPECT_FALSE(change.record_attempt);
  EXPECT_TRUE(IsFaultOfHost(change.reason));  // it says nothing about its job
}

TEST(WaitEndTest, AnEditChangesRunsThatArePlannedAhead) {
  RunRow row = Awaiting();
  row.key.fire = kNow + 1h;
  EXPECT_EQ(DueAfterEdit(row, true, kNow), std::nullopt);
  EXPECT_EQ(DueAfterEdit(row, false, kNow), kNow + 1h);
  row.due = kNow + 2h;  // with jitter
  EXPECT_EQ(DueAfterEdit(row, true, kNow), kAwaiting);
  EXPECT_EQ(DueAfterEdit(row, false, kNow), std::nullopt);
}

TEST(WaitEndTest, AnEditLeavesRunsWhoseFireHasCome) {
  for (const RunKind kind : {RunKind::kCron, RunKind::kManual, RunKind::kAfter, RunKind::kBackfill,
                             RunKind::kWorkflow, RunKind::kEvent}) {
    RunRow row = Awaiting(kind);
    for (const bool waits : {true, false}) {
      EXPECT_EQ(DueAfterEdit(row, waits, kNow), std::nullopt);
      row.due = kNow;
      EXPECT_EQ(DueAfterEdit(row, waits, kNow), std::nullopt);
      row.due = kAwaiting;
    }
  }
  RunRow later = Awaiting();
  later.key.fire = kNow + 1h;
  later.attempt = 2;
  later.due = kNow;
  EXPECT_EQ(DueAfterEdit(later, true, kNow), std::nullopt);
  for (const WallTime due : {kNever, kQueued, kBlocked}) {
    RunRow row = Awaiting();
    row.key.fire = kNow + 1h;
    row.due = due;
    EXPECT_EQ(DueAfterEdit(row, true, kNow), std::nullopt);
  }
}

TEST(WaitEndTest, APauseEndsARunThatWaitsUnlessItIsANode) {
  using enum JobChange;
  using enum PendingEffect;
  RunRow row = Awaiting();
  EXPECT_EQ(DecidePendingEffect(row, kEdited, false, kNow), kKeep);
  EXPECT_EQ(DecidePendingEffect(row, kPaused, true, kNow), kSkip);
  EXPECT_EQ(DecidePendingEffect(row, kDeleted, true, kNow), kSkip);
  row.key.fire = kNow + 5s;
  EXPECT_EQ(DecidePendingEffect(row, kPaused, true, kNow), kUnplan);
  for (const WallTime due : {kAwaiting, kBlocked}) {
    RunRow node = Awaiting(RunKind::kWorkflow);
    node.due = due;
    EXPECT_EQ(DecidePendingEffect(node, kEdited, true, kNow), kKeep);
    EXPECT_EQ(DecidePendingEffect(node, kPaused, true, kNow), kKeep);
    EXPECT_EQ(DecidePendingEffect(node, kDeleted, true, kNow), kSkip);
  }
  failpoint::Break("await.resume");
  EXPECT_EQ(DecidePendingEffect(Awaiting(RunKind::kWorkflow), kPaused, true, kNow), kHoldBack);
  failpoint::Reset();
}

TEST(WaitEndTest, ANodeThatHadNotFinishedToWaitWaitsAgain) {
  RunRow row = Awaiting(RunKind::kWorkflow);
  for (const RunState state : {RunState::kPending, RunState::kSkipped, RunState::kCancelled}) {
    row.state = state;
    EXPECT_EQ(DueOfNodeAgain(row), kAwaiting) << Name(state);
  }
  row.state = RunState::kFailed;  // upstream_timeout: a person overrules it
  EXPECT_EQ(DueOfNodeAgain(row), kBlocked);
  for (const WallTime due : {kNow, kBlocked, kNever}) {
    row = Awaiting(RunKind::kWorkflow);
    row.state = RunState::kSkipped;
    row.due = due;
    EXPECT_EQ(DueOfNodeAgain(row), kBlocked);
  }
}

TEST(WaitEndTest, OnlyARunThatWaitsSoIsReleased) {
  EXPECT_TRUE(CheckReleasable(Awaiting()).ok());
  RunRow row = Awaiting();
  row.due = kQueued;
  EXPECT_EQ(CheckReleasable(row).code(), ErrorCode::kConflict);
  row = Awaiting();
  row.state = RunState::kCancelled;
  EXPECT_EQ(CheckReleasable(row).code(), ErrorCode::kConflict);
}

TEST(WaitEndTest, ANodeThatIsSkippedWhileItWaitsAfterARetryIsNoFailure) {
  RunRow row = Awaiting(RunKind::kWorkflow);
  row.state = RunState::kSkipped;
  row.attempt = 2;
  EXPECT_FALSE(SkipIsFailure(row));
  row.due = kBlocked;
  EXPECT_FALSE(SkipIsFailure(row));
  row.due = kNow;
  EXPECT_TRUE(SkipIsFailure(row));
}

}  // namespace
}  // namespace carillon::wait_end_test
