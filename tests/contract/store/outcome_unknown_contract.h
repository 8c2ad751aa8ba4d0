// The contract of the store for attempts that were given up without being killed (on_lost hold or
// fail): their process may still run until their host reports or a user decides (P4).
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class OutcomeUnknownContract : public StoreContract<Factory> {
 protected:
  // Returns a run of a job that allows no overlap. The run was claimed and then lost.
  static RunRow LostUnder(StoreDriver& s, const Fence& fence, OnLost policy,
                          const std::string& id = "a", bool cancel_first = false) {
    JobDefinition definition = s.Manual();
    definition.on_lost = policy;
    definition.overlap_policy = OverlapPolicy::kSkip;
    const RunRow run = s.Execute(s.Create(id, definition), kT0);
    s.Claim(s.ClaimOf(run, 1, OverlapPolicy::kSkip), fence, kT0 + 1s);
    const RunRow running = s.Get(run.key).row;
    if (cancel_first) s.v(s.runs.CancelRun(run.key, {.now = kT0 + 2s}));
    s.Lose(running, fence, kT0 + 30s);
    return s.Get(run.key).row;
  }
  static ClaimVerdict ClaimAnother(StoreDriver& s, const Fence& fence, const RunRow& of) {
    const JobId id = s.Get(of.key).job_id;
    const RunRow next = s.Execute(s.v(s.jobs.GetJob(id)), kT0 + 1h);
    return s.Claim(s.ClaimOf(next, 7, OverlapPolicy::kSkip), fence, kT0 + 2h).verdict;
  }
  static std::vector<RunRow> Asked(StoreDriver& s) {
    return s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 10)).runs;
  }
};
TYPED_TEST_SUITE(OutcomeUnknownContract, StoreFactories);

TYPED_TEST(OutcomeUnknownContract, CancelOfAHeldRunIsARequestAndKeepsItsSlot) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->LostUnder(s, fence, OnLost::kHold);
  EXPECT_EQ(held.state, RunState::kHeld);
  EXPECT_TRUE(held.may_still_run);
  EXPECT_TRUE(s.v(s.runs.CancelRun(held.key, {.now = kT0 + 31s})));
  EXPECT_EQ(s.Get(held.key).row.state, RunState::kHeld);
  ASSERT_EQ(this->Asked(s).size(), 1u);
  EXPECT_EQ(this->Asked(s)[0].claim_token, held.claim_token);
  EXPECT_EQ(this->ClaimAnother(s, fence, held), ClaimVerdict::kSkipped);
  s.Apply(s.ReportOf(held, RunState::kCancelled), fence, kT0 + 40s);
  EXPECT_EQ(s.Get(held.key).row.state, RunState::kCancelled);
  EXPECT_TRUE(this->Asked(s).empty());
  EXPECT_EQ(this->ClaimAnother(s, fence, held), ClaimVerdict::kAccepted);
}

TYPED_TEST(OutcomeUnknownContract, ConfirmedCancelEndsAHeldRunAtOnce) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->LostUnder(s, fence, OnLost::kHold);
  EXPECT_TRUE(s.v(s.runs.CancelRun(held.key, {.now = kT0 + 31s})));
  EXPECT_TRUE(s.v(s.runs.CancelRun(held.key, {.now = kT0 + 32s, .confirm_overlap = true})));
  const RunDetail run = s.Get(held.key);
  EXPECT_EQ(run.row.state, RunState::kCancelled);
  EXPECT_EQ(run.result.reason, reason::kOutcomeUnknown);
  EXPECT_TRUE(run.row.may_still_run);
  EXPECT_TRUE(this->Asked(s).empty());
  EXPECT_EQ(this->ClaimAnother(s, fence, held), ClaimVerdict::kAccepted);
  // The outcome of the held run is still accepted. After that a retry needs no confirmation.
  EXPECT_CODE(s.runs.RetryRun({.key = held.key}, {.now = kT0 + 33s}), ErrorCode::kConflict);
  EXPECT_EQ(s.Apply(s.ReportOf(held, RunState::kCompleted), fence, kT0 + 34s).verdict,
            ResultVerdict::kRecordedOnly);
  const RunDetail after = s.Get(held.key);
  ASSERT_EQ(after.attempts.size(), 1u);
  EXPECT_EQ(after.attempts[0].state, RunState::kCompleted);
  EXPECT_EQ(s.v(s.runs.RetryRun({.key = held.key}, {.now = kT0 + 35s})).row.attempt, 2);
}

TYPED_TEST(OutcomeUnknownContract, LossAfterACancelRequestHoldsWhatWasNotKilled) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const OnLost policy : {OnLost::kHold, OnLost::kFail}) {
    const std::string id(Name(policy));
    const RunRow held = this->LostUnder(s, fence, policy, id, true);
    EXPECT_EQ(held.state, RunState::kHeld);
    EXPECT_TRUE(held.cancel_requested);
    EXPECT_EQ(this->ClaimAnother(s, fence, held), ClaimVerdict::kSkipped);
  }
  EXPECT_EQ(this->Asked(s).size(), 2u);
  EXPECT_EQ(this->LostUnder(s, fence, OnLost::kRetry, "killed", true).state, RunState::kCancelled);
}

TYPED_TEST(OutcomeUnknownContract, RetryByHandAsksForConfirmation) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const OnLost policy : {OnLost::kHold, OnLost::kFail}) {
    const RunRow given_up = this->LostUnder(s, fence, policy, std::string(Name(policy)));
    EXPECT_CODE(s.runs.RetryRun({.key = given_up.key}, {.now = kT0 + 31s}), ErrorCode::kConflict);
    EXPECT_EQ(s.Get(given_up.key).row, given_up);
    const RunDetail retried =
        s.v(s.runs.RetryRun({.key = given_up.key}, {.now = kT0 + 31s, .confirm_overlap = true}));
    EXPECT_EQ(retried.row.attempt, 2);
    EXPECT_FALSE(retried.row.may_still_run);
  }
  const RunRow killed = this->LostUnder(s, fence, OnLost::kRetry, "killed");
  EXPECT_EQ(killed.state, RunState::kLost);
  EXPECT_EQ(s.v(s.runs.RetryRun({.key = killed.key}, {.now = kT0 + 31s})).row.attempt, 2);
}

TYPED_TEST(OutcomeUnknownContract, WordOfTheHostThatItIsDeadSparesTheConfirmation) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const auto word_about = [&](const RunRow& row) {
    ResultReport word = s.ReportOf(row, RunState::kLost);
    word.result.reason = reason::kWardenDied;
    return s.Apply(word, fence, kT0 + 40s);
  };
  const RunRow held = this->LostUnder(s, fence, OnLost::kHold, "held");
  EXPECT_EQ(word_about(held).state, RunState::kHeld);
  EXPECT_FALSE(s.Get(held.key).row.may_still_run);
  EXPECT_EQ(s.Get(held.key).result.reason, reason::kWardenDied);
  EXPECT_EQ(this->ClaimAnother(s, fence, held), ClaimVerdict::kSkipped);
  EXPECT_EQ(word_about(held).verdict, ResultVerdict::kRecordedOnly);
  EXPECT_TRUE(s.v(s.runs.CancelRun(held.key, {.now = kT0 + 41s})));
  EXPECT_EQ(s.Get(held.key).row.state, RunState::kCancelled);
  const RunRow asked = this->LostUnder(s, fence, OnLost::kHold, "asked", true);
  EXPECT_EQ(word_about(asked).state, RunState::kCancelled);
  const RunRow failed = this->LostUnder(s, fence, OnLost::kFail, "failed");
  EXPECT_EQ(word_about(failed).verdict, ResultVerdict::kRecordedOnly);
  EXPECT_EQ(s.v(s.runs.RetryRun({.key = failed.key}, {.now = kT0 + 41s})).row.attempt, 2);
}

TYPED_TEST(OutcomeUnknownContract, LostHandlersWaitForTheWordOfTheirHost) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const auto lost = [&](const std::string& id, bool edited) {
    JobDefinition definition = s.Manual();
    definition.type = JobType::kHandler;
    definition.command.clear();
    definition.handler = "app/" + id;
    definition.retry_count = 1;
    const StoredJob job = s.Create(id, definition);
    const RunRow run = s.Execute(job, kT0);
    s.Claim(s.ClaimOf(run, 1), fence, kT0 + 1s);
    if (edited) {
      definition.type = JobType::kShell;
      definition.handler.clear();
      definition.command = "true";
      s.Replace(job, definition, kT0 + 2s);
    }
    s.Lose(s.Get(run.key).row, fence, kT0 + 30s);
    return s.Get(run.key).row;
  };
  EXPECT_EQ(lost("edited", true).state, RunState::kHeld)
      << "the attempt is still that of a handler";
  const RunRow held = lost("a", false);
  EXPECT_EQ(held.state, RunState::kHeld);
  EXPECT_TRUE(held.may_still_run);
  ResultReport word = s.ReportOf(held, RunState::kLost);
  word.result.reason = reason::kWorkerDied;
  EXPECT_EQ(s.Apply(word, fence, kT0 + 40s).state, RunState::kPending);
  EXPECT_EQ(s.Get(held.key).row.attempt, 2);
  EXPECT_EQ(s.Apply(word, fence, kT0 + 41s).verdict, ResultVerdict::kRecordedOnly);
}

TYPED_TEST(OutcomeUnknownContract, CancelOfAJobAsksItsHeldRuns) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->LostUnder(s, fence, OnLost::kHold);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(JobId("a"), {.now = kT0 + 31s})), 1);
  EXPECT_EQ(s.Get(held.key).row.state, RunState::kHeld);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(JobId("a"), {.now = kT0 + 32s, .confirm_overlap = true})), 1);
  EXPECT_EQ(s.Get(held.key).row.state, RunState::kCancelled);
}

}  // namespace carillon::test
