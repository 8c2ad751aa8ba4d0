// The contract of FiringStore::ApplyResults for attempts that never began: the run is given
// back (P1).
#pragma once

#include "common/domain/run/returns.h"
#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class ReturnsContract : public StoreContract<Factory> {
 protected:
  static ResultReport NeverBegan(StoreDriver& s, const RunRow& running) {
    ResultReport report = s.ReportOf(running, RunState::kLost, kT0 + 3s);
    report.result.reason = reason::kNotStarted;
    report.result.error = "no worker had a free slot for it any more";
    return report;
  }
};
TYPED_TEST_SUITE(ReturnsContract, StoreFactories);

TYPED_TEST(ReturnsContract, RunIsPendingAgainAndItsAttemptIsOnRecord) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const OnLost on_lost : {OnLost::kRetry, OnLost::kFail, OnLost::kHold}) {
    JobDefinition definition = s.Manual();
    definition.on_lost = on_lost;
    const StoredJob job = s.Create("a" + std::to_string(static_cast<int>(on_lost)), definition);
    const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
    const ResultReport report = this->NeverBegan(s, running);
    const RunEffect effect = s.Apply(report, fence, kT0 + 4s);
    EXPECT_EQ(effect.verdict, ResultVerdict::kApplied);
    EXPECT_EQ(effect.state, RunState::kPending);
    EXPECT_FALSE(effect.dead_letter);
    EXPECT_TRUE(effect.given_back);
    const RunDetail waiting = s.Get(running.key);
    ASSERT_TRUE(effect.again.has_value());
    EXPECT_EQ(*effect.again, waiting.row);
    EXPECT_EQ(waiting.row.attempt, 2);
    EXPECT_EQ(waiting.row.due, kT0 + 4s);
    EXPECT_EQ(ReturnsOf(waiting.row), 1);
    EXPECT_EQ(waiting.row.flags & ~run_flag::kReturns, running.flags);
    EXPECT_EQ(waiting.result, AttemptResult{});
    ASSERT_EQ(waiting.attempts.size(), 1u);
    EXPECT_EQ(waiting.attempts[0].state, RunState::kLost);
    EXPECT_EQ(waiting.attempts[0].result.reason, reason::kNotStarted);
    EXPECT_EQ(waiting.attempts[0].result.error, report.result.error);
    EXPECT_EQ(s.Apply(report, fence, kT0 + 5s).verdict, ResultVerdict::kRecordedOnly);
    EXPECT_EQ(s.Get(running.key).row, waiting.row);
    EXPECT_EQ(s.Pending(kT0 + 5s).size(), 1u) << "found by a scan of the due runs";
    s.Start(waiting.row, 2, fence, kT0 + 5s);
  }
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 10})).empty());
}

TYPED_TEST(ReturnsContract, IsCountedSoThatRetriesAreLeftAndTheLastOneIsLost) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  RunRow row = s.Execute(s.Create("a", definition), kT0);
  WallTime now = kT0;
  uint64_t token = 1;
  const auto run = [&] {
    now += 1h;
    row = s.Start(s.Get(row.key).row, token++, fence, now);
  };
  for (int returns = 1; returns <= kReturnsMax; ++returns) {
    run();
    s.Apply(this->NeverBegan(s, row), fence, now);
    row = s.Get(row.key).row;
    ASSERT_EQ(row.state, RunState::kPending);
    EXPECT_EQ(ReturnsOf(row), returns);
    EXPECT_EQ(row.attempt, returns + 1);
  }
  run();
  EXPECT_EQ(s.Apply(s.ReportOf(row, RunState::kFailed), fence, now).state, RunState::kPending)
      << "its only retry";
  EXPECT_EQ(ReturnsOf(s.Get(row.key).row), kReturnsMax);
  run();
  EXPECT_EQ(s.Apply(this->NeverBegan(s, row), fence, now).state, RunState::kLost);
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({.limit = 10}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].reason, reason::kNotStarted);
}

TYPED_TEST(ReturnsContract, AHostWithoutRoomCostsNoRetry) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = s.Start(s.Execute(s.Create("a", s.Manual()), kT0), 1, fence, kT0 + 1s);
  ResultReport report = s.ReportOf(running, RunState::kFailed, kT0 + 2s);
  report.result.reason = reason::kHost;
  const RunEffect effect = s.Apply(report, fence, kT0 + 3s);
  EXPECT_EQ(effect.state, RunState::kPending);
  EXPECT_TRUE(effect.given_back);
  const RunDetail waiting = s.Get(running.key);
  EXPECT_EQ(ReturnsOf(waiting.row), 1);
  ASSERT_EQ(waiting.attempts.size(), 1u);
  EXPECT_EQ(waiting.attempts[0].state, RunState::kFailed);
  EXPECT_EQ(waiting.attempts[0].result.reason, reason::kHost);
  const RunRow second = s.Start(waiting.row, 2, fence, kT0 + 4s);
  const RunEffect failed =
      s.Apply(s.ReportOf(second, RunState::kFailed, kT0 + 5s), fence, kT0 + 6s);
  EXPECT_EQ(failed.state, RunState::kFailed);
  EXPECT_FALSE(failed.given_back);
}

TYPED_TEST(ReturnsContract, APauseSkipsARunThatNobodyWasCalledFor) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  s.Apply(this->NeverBegan(s, running), fence, kT0 + 2s);
  s.v(s.jobs.PauseJob(job.job_id, "", {.now = kT0 + 3s}));
  const RunDetail skipped = s.Get(running.key);
  EXPECT_EQ(skipped.row.state, RunState::kSkipped);
  EXPECT_EQ(skipped.row.attempt, 2);
  EXPECT_EQ(skipped.result.reason, reason::kPaused);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 10})).empty());
}

TYPED_TEST(ReturnsContract, HeldRunGoesOnWhenItsHostSaysSo) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.on_lost = OnLost::kHold;
  const RunRow running = s.Start(s.Execute(s.Create("a", definition), kT0), 1, fence, kT0 + 1s);
  s.v(s.firing.MarkLost({s.LostOf(running)}, fence, kT0 + 20s));
  ASSERT_EQ(s.Get(running.key).row.state, RunState::kHeld);
  EXPECT_EQ(s.Apply(this->NeverBegan(s, running), fence, kT0 + 30s).state, RunState::kPending);
  EXPECT_EQ(s.Get(running.key).row.attempt, 2);
  EXPECT_EQ(ReturnsOf(s.Get(running.key).row), 1);
}

}  // namespace carillon::test
