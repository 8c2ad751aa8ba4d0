// The contract of the store for cancel modes: with the job's grace period, or an immediate kill.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class CancelModeContract : public StoreContract<Factory> {
 protected:
  static RunRow Running(StoreDriver& s, const Fence& fence, uint64_t token = 1) {
    const StoredJob job = s.Create("a" + std::to_string(token), s.Manual());
    return s.Start(s.Execute(job, kT0), token, fence, kT0 + 1s);
  }
  static void Cancel(StoreDriver& s, const RunRow& run, CancelMode mode,
                     const std::string& reason = "") {
    EXPECT_TRUE(s.v(s.runs.CancelRun(
        run.key, {.now = kT0 + 2s, .actor = "ann", .reason = reason, .cancel_mode = mode})));
  }
  // Returns the mode requested for the run, and checks that its owner's scan shows the same mode.
  static std::optional<CancelMode> Asked(StoreDriver& s, const RunRow& run) {
    const std::optional<CancelMode> mode = s.Get(run.key).row.cancel_requested;
    int found = 0;
    for (const RunRow& row : s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 10)).runs) {
      if (row.key != run.key) continue;
      ++found;
      EXPECT_EQ(row.cancel_requested, mode);
    }
    EXPECT_EQ(found, mode ? 1 : 0);
    return mode;
  }
};
TYPED_TEST_SUITE(CancelModeContract, StoreFactories);

TYPED_TEST(CancelModeContract, AKillReplacesAGraceNeverTheOtherWayRound) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = this->Running(s, fence);
  EXPECT_EQ(this->Asked(s, run), std::nullopt);
  for (int i = 0; i < 2; ++i) this->Cancel(s, run, CancelMode::kGraceful);
  EXPECT_EQ(this->Asked(s, run), CancelMode::kGraceful);
  for (int i = 0; i < 2; ++i) this->Cancel(s, run, CancelMode::kKill);
  EXPECT_EQ(this->Asked(s, run), CancelMode::kKill);
  this->Cancel(s, run, CancelMode::kGraceful);
  EXPECT_EQ(this->Asked(s, run), CancelMode::kKill);
  s.Apply(s.ReportOf(run, RunState::kCancelled), fence, kT0 + 3s);
  EXPECT_EQ(s.Get(run.key).row.state, RunState::kCancelled);
  EXPECT_EQ(this->Asked(s, run), std::nullopt);
}

TYPED_TEST(CancelModeContract, AKillNeedsNoGraceBefore) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = this->Running(s, fence);
  this->Cancel(s, run, CancelMode::kKill);
  EXPECT_EQ(this->Asked(s, run), CancelMode::kKill);
}

TYPED_TEST(CancelModeContract, ASofterWordChangesNothing) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = this->Running(s, fence);
  this->Cancel(s, run, CancelMode::kGraceful, "wrong day");
  EXPECT_EQ(s.Get(run.key).result.error, "cancelled by ann: wrong day");
  this->Cancel(s, run, CancelMode::kKill, "deaf");
  EXPECT_EQ(s.Get(run.key).result.error, "killed by ann: deaf");
  this->Cancel(s, run, CancelMode::kGraceful, "late");
  EXPECT_EQ(s.Get(run.key).result.error, "killed by ann: deaf");
}

TYPED_TEST(CancelModeContract, TheNextAttemptHasNoKillOfTheLast) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = this->Running(s, fence);
  this->Cancel(s, run, CancelMode::kKill);
  s.Apply(s.ReportOf(run, RunState::kCancelled), fence, kT0 + 3s);
  s.v(s.runs.RetryRun({.key = run.key}, {.now = kT0 + 4s}));
  s.Claim(s.ClaimOf(s.Get(run.key).row, 2), fence, kT0 + 5s);
  EXPECT_EQ(this->Asked(s, run), std::nullopt);
  this->Cancel(s, run, CancelMode::kGraceful);
  EXPECT_EQ(this->Asked(s, run), CancelMode::kGraceful);
}

TYPED_TEST(CancelModeContract, WhatDoesNotRunIsCancelledAlike) {
  StoreDriver s = this->driver();
  s.Take();
  const RunRow pending = s.Execute(s.Create("a", s.Manual()), kT0);
  this->Cancel(s, pending, CancelMode::kKill, "wrong day");
  EXPECT_EQ(s.Get(pending.key).row.state, RunState::kCancelled);
  EXPECT_EQ(s.Get(pending.key).result.reason, reason::kCancelRequested);
  EXPECT_EQ(s.Get(pending.key).result.error, "cancelled by ann: wrong day");
  EXPECT_FALSE(
      s.v(s.runs.CancelRun(pending.key, {.now = kT0 + 3s, .cancel_mode = CancelMode::kKill})));
}

TYPED_TEST(CancelModeContract, AHeldRunKeepsHowItIsToEndForItsHost) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.on_lost = OnLost::kHold;
  const RunRow run = s.Start(s.Execute(s.Create("h", definition), kT0), 1, fence, kT0 + 1s);
  this->Cancel(s, run, CancelMode::kKill);
  s.Lose(run, fence, kT0 + 30s);
  ASSERT_EQ(s.Get(run.key).row.state, RunState::kHeld);
  EXPECT_EQ(this->Asked(s, run), CancelMode::kKill);
  this->Cancel(s, run, CancelMode::kGraceful);
  EXPECT_EQ(this->Asked(s, run), CancelMode::kKill);
  EXPECT_TRUE(s.v(s.runs.CancelRun(run.key, {.now = kT0 + 40s, .confirm_overlap = true})));
  EXPECT_EQ(s.Get(run.key).row.state, RunState::kCancelled);
}

TYPED_TEST(CancelModeContract, AnEndAfterALossReplacesWhatWasWritten) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  uint64_t token = 0;
  const auto start = [&](const std::string& id, OnLost on_lost) {
    JobDefinition definition = s.Manual();
    definition.on_lost = on_lost;
    return s.Start(s.Execute(s.Create(id, definition), kT0), ++token, fence, kT0 + 1s);
  };
  const auto end = [&](const RunRow& run, RunState state) {
    s.Apply(s.ReportOf(run, state), fence, kT0 + 50s);
    EXPECT_EQ(s.Get(run.key).row.state, state);
    return s.Get(run.key).result.error;
  };
  for (const RunState state : {RunState::kCompleted, RunState::kFailed, RunState::kCancelled}) {
    const std::string name(Name(state));
    const bool cancelled = state == RunState::kCancelled;
    const RunRow lost = start("lost-" + name, OnLost::kRetry);
    ResultReport loss = s.ReportOf(lost, RunState::kLost);
    loss.result.reason = reason::kWardenDied;
    loss.result.error = "the warden died";
    s.Apply(loss, fence, kT0 + 30s);
    ASSERT_EQ(s.Get(lost.key).row.state, RunState::kLost);
    EXPECT_EQ(s.Get(lost.key).result.error, "the warden died");
    EXPECT_EQ(end(lost, state), cancelled ? "the warden died" : "");

    const RunRow held = start("held-" + name, OnLost::kHold);
    s.v(s.runs.CancelRun(held.key, {.now = kT0 + 2s, .actor = "ann", .reason = "wrong day"}));
    s.Lose(held, fence, kT0 + 30s);
    ASSERT_EQ(s.Get(held.key).row.state, RunState::kHeld);
    const std::string sentence = CancelSentence({.actor = "ann", .reason = "wrong day"});
    EXPECT_EQ(s.Get(held.key).result.error, sentence);
    EXPECT_EQ(end(held, state), cancelled ? sentence : "");
  }
}

TYPED_TEST(CancelModeContract, AJobsRunsAreAskedAlike) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow first = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  const RunRow second = s.Start(s.Execute(job, kT0), 2, fence, kT0 + 1s);
  this->Cancel(s, first, CancelMode::kGraceful);
  EXPECT_EQ(
      s.v(s.runs.CancelJobRuns(job.job_id, {.now = kT0 + 3s, .cancel_mode = CancelMode::kKill})),
      2);
  EXPECT_EQ(this->Asked(s, first), CancelMode::kKill);
  EXPECT_EQ(this->Asked(s, second), CancelMode::kKill);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(job.job_id, {.now = kT0 + 4s})), 2);
  EXPECT_EQ(this->Asked(s, first), CancelMode::kKill);
}

}  // namespace carillon::test
