// The contract of the store for attempts that nobody can end (hanging.h): a person gives them up,
// or presume_dead_s takes them for dead.
#pragma once

#include "common/domain/run/hanging.h"
#include "tests/contract/store/fire_driver.h"

namespace carillon::test {

template <typename Factory>
class HangingContract : public FireContract<Factory> {
 protected:
  static constexpr WallTime kLost = kT0 + 30s;
  static constexpr WallTime kDead = kLost + 300s;

  static JobDefinition Handler(int64_t retry_count = 1) {
    JobDefinition job = StoreDriver::Manual();
    job.type = JobType::kHandler;
    job.command.clear();
    job.handler = "app/a";
    job.retry_count = retry_count;
    job.presume_dead_s = 300;
    return job;
  }
  static RunRow Running(StoreDriver& s, const Fence& fence, const JobDefinition& job,
                        const std::string& id = "a") {
    return s.Start(s.Execute(s.Create(id, job), kT0), 1, fence, kT0 + 1s);
  }
  static RunRow Held(StoreDriver& s, const Fence& fence, const JobDefinition& job,
                     const std::string& id = "a") {
    const RunRow running = Running(s, fence, job, id);
    const std::vector<RunEffect> effects = s.Lose(running, fence, kLost);
    EXPECT_EQ(effects.size(), 1u);
    const RunRow held = s.Get(running.key).row;
    EXPECT_EQ(held.state, RunState::kHeld);
    EXPECT_EQ(effects.at(0).dead_at, PresumedDeadAt(held));
    return held;
  }
  static WriteContext GiveUpAt(WallTime now) {
    return {.now = now,
            .actor = "anna",
            .reason = "it hangs",
            .confirm_overlap = true,
            .give_up = true};
  }
  static RunningPage Asked(StoreDriver& s) {
    return s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 10));
  }
  static std::vector<RunEffect> EndGivenUp(StoreDriver& s, const RunRow& row, const Fence& fence,
                                           WallTime now) {
    return s.v(s.firing.GiveUp({s.LostOf(row)}, fence, now));
  }
  static std::vector<RunEffect> Presume(StoreDriver& s, const RunRow& row, const Fence& fence,
                                        WallTime now = kDead) {
    return s.v(s.firing.Presume({s.LostOf(row)}, fence, now));
  }
  static std::vector<RunRow> Presumed(StoreDriver& s) {
    return s.v(s.firing.ScanPresumed(s.All(), std::nullopt, 10)).runs;
  }
};
TYPED_TEST_SUITE(HangingContract, StoreFactories);

TYPED_TEST(HangingContract, GivenUpRunIsFoundByItsOwnerAndEndsWithoutItsHost) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition job = this->Handler();
  job.overlap_policy = OverlapPolicy::kSkip;
  const RunRow run = s.Execute(s.Create("a", job), kT0);
  s.Claim(s.ClaimOf(run, 1, OverlapPolicy::kSkip), fence, kT0 + 1s);
  const RunRow running = s.Get(run.key).row;
  EXPECT_TRUE(s.v(s.runs.CancelRun(run.key, {.now = kT0 + 2s})));
  EXPECT_TRUE(this->Asked(s).given_up.empty());
  EXPECT_TRUE(s.v(s.runs.CancelRun(run.key, this->GiveUpAt(kT0 + 3s))));
  EXPECT_EQ(s.Get(run.key).row.state, RunState::kRunning) << "its owner ends it";
  EXPECT_EQ(this->Asked(s).given_up, std::set<RunKey>{run.key});
  EXPECT_TRUE(s.v(s.runs.CancelRun(run.key, this->GiveUpAt(kT0 + 4s)))) << "twice: no effect";
  const std::vector<RunEffect> effects = this->EndGivenUp(s, running, fence, kT0 + 5s);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].state, RunState::kCancelled);
  EXPECT_TRUE(effects[0].freed_slot);
  const RunDetail ended = s.Get(run.key);
  EXPECT_EQ(ended.row.state, RunState::kCancelled);
  EXPECT_EQ(ended.result.reason, reason::kOutcomeUnknown);
  EXPECT_EQ(ended.result.error, "given up by anna: it hangs");
  EXPECT_TRUE(ended.row.may_still_run);
  EXPECT_TRUE(this->Asked(s).runs.empty());
  EXPECT_TRUE(this->EndGivenUp(s, running, fence, kT0 + 6s).empty());
  const RunRow next = s.Execute(s.v(s.jobs.GetJob(JobId("a"))), kT0 + 7s);
  EXPECT_EQ(s.Claim(s.ClaimOf(next, 7, OverlapPolicy::kSkip), fence, kT0 + 8s).verdict,
            ClaimVerdict::kAccepted);
  EXPECT_CODE(s.runs.RetryRun({.key = run.key}, {.now = kT0 + 9s}), ErrorCode::kConflict);
  // Only recorded.
  EXPECT_EQ(s.Apply(s.ReportOf(running, RunState::kCompleted), fence, kT0 + 10s).verdict,
            ResultVerdict::kRecordedOnly);
  const RunDetail after = s.Get(run.key);
  EXPECT_EQ(after.row.state, RunState::kCancelled);
  ASSERT_EQ(after.attempts.size(), 1u);
  EXPECT_EQ(after.attempts[0].state, RunState::kCompleted);
}

TYPED_TEST(HangingContract, GiveUpIsRefusedUnlessACancelOfAHandlerWasAskedAndItIsConfirmed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = this->Running(s, fence, this->Handler());
  EXPECT_CODE(s.runs.CancelRun(run.key, this->GiveUpAt(kT0 + 2s)), ErrorCode::kConflict);
  EXPECT_FALSE(s.Get(run.key).row.cancel_requested) << "a refused one asks nothing";
  s.v(s.runs.CancelRun(run.key, {.now = kT0 + 3s}));
  WriteContext unconfirmed = this->GiveUpAt(kT0 + 4s);
  unconfirmed.confirm_overlap = false;
  EXPECT_CODE(s.runs.CancelRun(run.key, unconfirmed), ErrorCode::kConflict);
  const RunRow process = this->Running(s, fence, s.Manual(), "process");
  s.v(s.runs.CancelRun(process.key, {.now = kT0 + 5s}));
  EXPECT_CODE(s.runs.CancelRun(process.key, this->GiveUpAt(kT0 + 6s)), ErrorCode::kConflict);
  EXPECT_TRUE(this->Asked(s).given_up.empty());
  EXPECT_CODE(s.runs.CancelRun({kT0, ScheduleId(999'999), 0}, this->GiveUpAt(kT0 + 7s)),
              ErrorCode::kNotFound);
}

TYPED_TEST(HangingContract, NothingIsGivenUpOfAnotherAttempt) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = this->Running(s, fence, this->Handler());
  s.v(s.runs.CancelRun(run.key, {.now = kT0 + 2s}));
  s.v(s.runs.CancelRun(run.key, this->GiveUpAt(kT0 + 3s)));
  // Its host speaks first; then a person runs it again.
  s.Apply(s.ReportOf(run, RunState::kCancelled), fence, kT0 + 4s);
  EXPECT_TRUE(this->EndGivenUp(s, run, fence, kT0 + 5s).empty());
  const RunRow again = s.v(s.runs.RetryRun({.key = run.key}, {.now = kT0 + 6s})).row;
  const RunRow second = s.Start(again, 2, fence, kT0 + 7s);
  s.v(s.runs.CancelRun(run.key, {.now = kT0 + 8s}));
  EXPECT_TRUE(this->Asked(s).given_up.empty());
  EXPECT_TRUE(this->EndGivenUp(s, run, fence, kT0 + 9s).empty());
  EXPECT_EQ(s.Get(run.key).row, s.Get(second.key).row);
  EXPECT_EQ(s.Get(run.key).row.state, RunState::kRunning);
}

TYPED_TEST(HangingContract, GivenUpPartEndsAloneAndItsFireGoesOn) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const JobDefinition job = this->Sharded(this->Handler(0), 2);
  const RunRow own = this->BeginNow(s, s.Create("a", job), fence, kT0 + 1s);
  const RunRow hangs = this->StartPart(s, own, 0, fence, kT0 + 2s);
  s.v(s.runs.CancelRun(hangs.key, {.now = kT0 + 3s}));
  s.v(s.runs.CancelRun(hangs.key, this->GiveUpAt(kT0 + 4s)));
  EXPECT_EQ(this->Asked(s).given_up, std::set<RunKey>{hangs.key});
  const std::vector<RunEffect> effects = this->EndGivenUp(s, hangs, fence, kT0 + 5s);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_TRUE(effects[0].completed) << "its fire is told";
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 6s).state, RunState::kRunning);
  this->EndPart(s, own, 1, RunState::kCompleted, fence, kT0 + 7s);
  EXPECT_TRUE(IsFinal(this->Look(s, own, fence, kT0 + 8s).state));
}

TYPED_TEST(HangingContract, GiveUpOfAFireIsOneOfItsRunningParts) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const JobDefinition job = this->Sharded(this->Handler(0), 3);
  const RunRow own = this->BeginNow(s, s.Create("a", job), fence, kT0 + 1s);
  const RunRow hangs = this->StartPart(s, own, 0, fence, kT0 + 2s);
  this->EndPart(s, own, 1, RunState::kCompleted, fence, kT0 + 3s);
  s.v(s.runs.CancelRun(own.key, {.now = kT0 + 4s}));
  s.v(s.runs.CancelRun(own.key, this->GiveUpAt(kT0 + 5s)));
  EXPECT_EQ(this->Asked(s).given_up, std::set<RunKey>{hangs.key});
  EXPECT_EQ(this->EndGivenUp(s, hangs, fence, kT0 + 6s).size(), 1u);
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 7s).state, RunState::kCancelled);
}

TYPED_TEST(HangingContract, PresumedRunIsHeldUntilItsTimeAndThenRunsAgain) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->Held(s, fence, this->Handler());
  EXPECT_EQ(PresumedDeadAt(held), this->kDead);
  EXPECT_EQ(this->Presumed(s), std::vector<RunRow>{held});
  EXPECT_TRUE(this->Presume(s, held, fence, this->kDead - 1us).empty());
  const std::vector<RunEffect> effects = this->Presume(s, held, fence);
  ASSERT_EQ(effects.size(), 1u);
  ASSERT_TRUE(effects[0].again.has_value());
  const RunDetail waiting = s.Get(held.key);
  EXPECT_EQ(*effects[0].again, waiting.row);
  EXPECT_EQ(waiting.row.state, RunState::kPending);
  EXPECT_EQ(waiting.row.attempt, 2);
  EXPECT_EQ(waiting.row.flags & run_flag::kPresume, 0u);
  EXPECT_TRUE(this->Presumed(s).empty());
  ASSERT_EQ(waiting.attempts.size(), 1u);
  EXPECT_EQ(waiting.attempts[0].result.reason, reason::kExecutorLost);
  s.Start(waiting.row, 2, fence, this->kDead + 1s);
  EXPECT_EQ(s.Apply(s.ReportOf(held, RunState::kCompleted), fence, this->kDead + 2s).verdict,
            ResultVerdict::kRecordedOnly);
  EXPECT_EQ(s.Get(held.key).row.state, RunState::kRunning);
}

TYPED_TEST(HangingContract, WithoutARetryThePresumedRunIsLost) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->Held(s, fence, this->Handler(0));
  const std::vector<RunEffect> effects = this->Presume(s, held, fence);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].state, RunState::kLost);
  EXPECT_TRUE(effects[0].dead_letter);
}

TYPED_TEST(HangingContract, HostThatReturnsFirstHasTheWord) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->Held(s, fence, this->Handler());
  EXPECT_EQ(s.Apply(s.ReportOf(held, RunState::kCompleted), fence, this->kDead - 1s).state,
            RunState::kCompleted);
  EXPECT_TRUE(this->Presume(s, held, fence).empty());
  EXPECT_EQ(s.Get(held.key).row.state, RunState::kCompleted);
  EXPECT_TRUE(this->Presumed(s).empty());
}

TYPED_TEST(HangingContract, EditToNeverLeavesTheRunToAPerson) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->Held(s, fence, this->Handler());
  JobDefinition never = this->Handler();
  never.presume_dead_s = 0;
  const StoredJob edited = s.Replace(s.v(s.jobs.GetJob(JobId("a"))), never, kT0 + 40s);
  const std::vector<RunEffect> effects = this->Presume(s, held, fence);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].state, RunState::kHeld);
  EXPECT_FALSE(effects[0].dead_at.has_value());
  const RunRow stays = s.Get(held.key).row;
  EXPECT_TRUE(stays.may_still_run);
  EXPECT_FALSE(PresumedDeadAt(stays));
  s.Replace(edited, this->Handler(), this->kDead + 1s);
  EXPECT_TRUE(this->Presumed(s).empty()) << "a run that is HELD without the flag stays";
  EXPECT_TRUE(this->Presume(s, held, fence, this->kDead + 1h).empty());
}

TYPED_TEST(HangingContract, PresumedRunWithACancelRequestEndsCancelled) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->Held(s, fence, this->Handler());
  s.v(s.runs.CancelRun(held.key, {.now = kT0 + 40s}));
  EXPECT_EQ(this->Presume(s, held, fence).size(), 1u);
  const RunDetail ended = s.Get(held.key);
  EXPECT_EQ(ended.row.state, RunState::kCancelled);
  EXPECT_EQ(ended.result.reason, reason::kOutcomeUnknown);
  EXPECT_TRUE(this->Asked(s).runs.empty());
}

TYPED_TEST(HangingContract, BothAreFenced) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow held = this->Held(s, fence, this->Handler());
  s.Take(2, "m2", "i2");
  EXPECT_CODE(s.firing.Presume({s.LostOf(held)}, fence, this->kDead), ErrorCode::kFenced);
  EXPECT_CODE(s.firing.GiveUp({s.LostOf(held)}, fence, this->kDead), ErrorCode::kFenced);
  EXPECT_EQ(s.Get(held.key).row, held);
}

}  // namespace carillon::test
