// Contract of BackfillStore: slots that backfilled runs hold, and fires ahead that backfills run.
#pragma once

#include "tests/contract/store/backfill_contract.h"

namespace carillon::test {

class BackfillSlotsDriver : public BackfillDriver {
 public:
  using BackfillDriver::BackfillDriver;

  // A job with one slot, whose run of hour 0 is due.
  void MakeOneAtATime(const std::string& group) {
    JobDefinition definition = Every(1h);
    definition.overlap_policy = OverlapPolicy::kQueueAll;
    definition.concurrency_group = group;
    Make(definition);
    Begin(Terms(0, 1));
    ExpectDueAt(kNow, {0});
  }
  RunKey Manual(WallTime now) { return Execute(job, now).key; }
  void ExpectOffer(const RunKey& key, WallTime now, ClaimVerdict verdict) {
    ClaimRequest request = ClaimOf(Get(key).row, ++offers_);
    request.overlap = OverlapRulesOf(job.definition);
    request.group = job.definition.concurrency_group;
    EXPECT_EQ(Claim(request, fence, now).verdict, verdict);
  }
  void EndOffered(const RunKey& key, WallTime now) {
    EXPECT_EQ(Apply(ReportOf(Get(key).row, RunState::kCompleted, now), fence, now).verdict,
              ResultVerdict::kApplied);
  }
  void ExpectHolders(const std::vector<RunKey>& expected) {
    std::vector<RunKey> keys;
    for (const RunRow& row : v(queues.ReadQueue(job.job_id, 100)).holders) keys.push_back(row.key);
    EXPECT_EQ(keys, expected);
  }

 private:
  uint64_t offers_ = 1'000;
};

template <typename Factory>
class BackfillSlotsContract : public StoreContract<Factory> {
 protected:
  BackfillSlotsDriver backfill_driver() { return BackfillSlotsDriver(this->handle()); }
};
TYPED_TEST_SUITE(BackfillSlotsContract, StoreFactories);

TYPED_TEST(BackfillSlotsContract, PauseFreesTheSlotOfAnAdmittedRunThatNeverStarted) {
  BackfillSlotsDriver s = this->backfill_driver();
  s.MakeOneAtATime("");
  const RunKey first = s.Manual(s.kNow);
  s.ExpectOffer(first, s.kNow, ClaimVerdict::kAccepted);
  s.ExpectOffer(s.KeyOf(0), s.kNow, ClaimVerdict::kEnqueued);
  s.EndOffered(first, s.kNow + 1s);
  EXPECT_EQ(
      s.v(s.queues.Admit({s.job.job_no, s.job.segment}, s.fence, s.kNow + 2s)).admitted.size(), 1u);
  s.ExpectHolders({s.KeyOf(0)});
  s.job = s.Pause(s.job, s.kNow + 3s);
  EXPECT_EQ(s.Get(s.KeyOf(0)).row.due, kNever);
  s.ExpectHolders({});
  const RunKey by_hand = s.Manual(s.kNow + 4s);
  s.ExpectOffer(by_hand, s.kNow + 4s, ClaimVerdict::kAccepted);
  s.job = s.Resume(s.job, s.kNow + 5s);
  s.ExpectOffer(s.KeyOf(0), s.kNow + 6s, ClaimVerdict::kEnqueued);
  s.EndOffered(by_hand, s.kNow + 7s);
  EXPECT_EQ(
      s.v(s.queues.Admit({s.job.job_no, s.job.segment}, s.fence, s.kNow + 8s)).admitted.size(), 1u);
  s.ExpectOffer(s.KeyOf(0), s.kNow + 9s, ClaimVerdict::kAccepted);
  s.ExpectHolders({s.KeyOf(0)});
}

TYPED_TEST(BackfillSlotsContract, PauseFreesTheSlotOfARunThatWaitsForItsGroup) {
  BackfillSlotsDriver s = this->backfill_driver();
  s.v(s.groups.PutGroup("db", {.limit = 0}, kT0));
  s.MakeOneAtATime("db");
  s.ExpectOffer(s.KeyOf(0), s.kNow, ClaimVerdict::kEnqueued);
  s.ExpectHolders({s.KeyOf(0)});
  s.job = s.Pause(s.job, s.kNow + 1s);
  s.ExpectHolders({});
  EXPECT_EQ(s.v(s.queues.CountQueued()), 0);
  s.v(s.groups.PutGroup("db", {.limit = 1}, s.kNow + 2s));
  const RunKey by_hand = s.Manual(s.kNow + 3s);
  s.ExpectOffer(by_hand, s.kNow + 3s, ClaimVerdict::kAccepted);
  s.EndOffered(by_hand, s.kNow + 4s);
  s.job = s.Resume(s.job, s.kNow + 5s);
  s.ExpectOffer(s.KeyOf(0), s.kNow + 6s, ClaimVerdict::kAccepted);
}

// Between two attempts a run keeps its slot: its job may not start another one meanwhile.
TYPED_TEST(BackfillSlotsContract, PauseKeepsTheSlotOfARunThatHasStarted) {
  BackfillSlotsDriver s = this->backfill_driver();
  JobDefinition definition = s.Every(1h);
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  definition.retry_count = 1;
  s.Make(definition);
  const RunKey run = s.Manual(s.kNow);
  s.ExpectOffer(run, s.kNow, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Apply(s.ReportOf(s.Get(run).row, RunState::kFailed, s.kNow), s.fence, s.kNow).verdict,
            ResultVerdict::kApplied);
  EXPECT_EQ(s.Get(run).row.attempt, 2);
  s.job = s.Pause(s.job, s.kNow + 1s);
  EXPECT_EQ(s.Get(run).row.due, kNever);
  s.ExpectHolders({run});
}

// Otherwise the schedule would move back and plan the key of that run a second time, which the
// store refuses again and again.
TYPED_TEST(BackfillSlotsContract, PauseUnplansNothingBeforeAFireThatABackfillRuns) {
  BackfillSlotsDriver s = this->backfill_driver();
  s.Make();
  s.Plan(s.Fire(7), s.fence, s.kNow);
  const RunRow ahead = s.Get(s.KeyOf(7)).row;
  EXPECT_EQ(s.v(s.firing.Skip({{ahead.key, ahead.segment, ahead.job_no, ahead.attempt,
                                ahead.def_version, reason::kMisfire}},
                              s.fence, s.kNow))
                .size(),
            1u);
  s.Begin(s.Terms(7, 8));
  s.ExpectDueAt(s.kNow, {7});
  s.job = s.Pause(s.job, s.kNow + 1s);
  EXPECT_EQ(s.Get(s.KeyOf(6)).row.state, RunState::kSkipped);
  EXPECT_EQ(s.Get(s.KeyOf(7)).row.due, kNever);
  s.job = s.Resume(s.job, s.kNow + 2s);
  s.Plan(s.Fire(8), s.fence, s.kNow + 2s);
  EXPECT_EQ(s.Get(s.KeyOf(8)).row.state, RunState::kPending);
}

}  // namespace carillon::test
