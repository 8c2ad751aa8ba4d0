#include "common/domain/run/streak.h"

#include <gtest/gtest.h>

#include "common/domain/run/returns.h"

namespace carillon {
namespace {

const WallTime kSince = WallTime{} + 1000h;
const StreakRule kRule{.version = 3, .since = kSince, .pause_after_failures = 3};

// A run of the `hours`-th hour since the version began.
StreakRun RunAt(int hours, RunState state, std::string_view reason = "exit_code") {
  return {.key = {kSince + hours * 1h, ScheduleId(1), 0},
          .state = state,
          .reason = std::string(reason),
          .def_version = 3};
}
StreakRun Failed(int hours) { return RunAt(hours, RunState::kFailed); }

TEST(StreakTest, IsFullAfterSoManyFailuresInARow) {
  const Streak two = CountStreak({Failed(2), Failed(1)}, kRule);
  EXPECT_EQ(two.failures, 2);
  EXPECT_FALSE(two.ended);
  EXPECT_FALSE(two.IsFull(kRule));
  const Streak three =
      CountStreak({RunAt(4, RunState::kTimedOut), Failed(2), Failed(1), Failed(0)}, kRule);
  EXPECT_EQ(three.failures, 3);
  EXPECT_TRUE(three.ended);
  EXPECT_TRUE(three.IsFull(kRule));
  EXPECT_EQ(three.last_failed->key.fire, kSince + 4h);
}

TEST(StreakTest, NothingIsFullIfTheJobDoesNotAskForIt) {
  const StreakRule never{.version = 3, .since = kSince};
  const Streak streak = CountStreak({Failed(2), Failed(1)}, never);
  EXPECT_EQ(streak.failures, 0);
  EXPECT_FALSE(streak.IsFull(never));
}

TEST(StreakTest, ASuccessEndsIt) {
  const Streak streak =
      CountStreak({Failed(4), Failed(3), RunAt(2, RunState::kCompleted), Failed(1)}, kRule);
  EXPECT_EQ(streak.failures, 2);
  EXPECT_TRUE(streak.ended);
}

TEST(StreakTest, WhatSaysNothingAboutTheJobNeitherCountsNorEndsIt) {
  for (const RunState state : {RunState::kPending, RunState::kRunning, RunState::kHeld,
                               RunState::kSkipped, RunState::kCancelled, RunState::kLost}) {
    EXPECT_EQ(CountStreak({RunAt(4, state), Failed(3), Failed(2), RunAt(2, state)}, kRule).failures,
              2)
        << Name(state);
  }
  for (const std::string_view reason :
       {reason::kSpawn, reason::kHost, reason::kWardenDied, reason::kWorkerDied,
        reason::kWorkerStopped, reason::kExecutorLost, reason::kLeaseEnded, reason::kNotStarted}) {
    EXPECT_EQ(CountStreak({RunAt(4, RunState::kFailed, reason), Failed(3)}, kRule).failures, 1)
        << reason;
  }
}

TEST(StreakTest, OnlyRunsThatTheSchedulerStartsByItselfCount) {
  for (const RunKind kind : kRunKinds) {
    StreakRun run = Failed(4);
    run.kind = kind;
    StreakRun success = RunAt(3, RunState::kCompleted);
    success.kind = kind;
    const bool counts = kind == RunKind::kCron || kind == RunKind::kRate ||
                        kind == RunKind::kOnce || kind == RunKind::kDelay ||
                        kind == RunKind::kAfter || kind == RunKind::kEvent;
    EXPECT_EQ(CountStreak({run, Failed(2)}, kRule).failures, counts ? 2 : 1) << Name(kind);
    EXPECT_EQ(CountStreak({success, Failed(2)}, kRule).failures, counts ? 0 : 1) << Name(kind);
    run.flags = run_flag::kBackground;
    EXPECT_EQ(CountStreak({run, Failed(2)}, kRule).failures, 1) << Name(kind);
  }
  StreakRun part = Failed(4);
  part.key.shard = 2;
  EXPECT_EQ(CountStreak({part, Failed(2)}, kRule).failures, 1);
}

TEST(StreakTest, AFireInPartsThatAPersonRunsAgainEndsIt) {
  for (const RunState state :
       {RunState::kRunning, RunState::kFailed, RunState::kTimedOut, RunState::kCancelled}) {
    StreakRun fire = RunAt(3, state);
    fire.flags = run_flag::kParts;
    const int64_t counted = CountStreak({Failed(4), fire, Failed(2)}, kRule).failures;
    EXPECT_GE(counted, 2) << Name(state);
    fire.attempt = 2;
    const Streak streak = CountStreak({Failed(4), fire, Failed(2)}, kRule);
    EXPECT_EQ(streak.failures, 1) << Name(state);
    EXPECT_TRUE(streak.ended) << Name(state);
    fire.flags |= kOneReturn;  // given back before it began
    EXPECT_EQ(CountStreak({Failed(4), fire, Failed(2)}, kRule).failures, counted) << Name(state);
  }
}

TEST(StreakTest, OnlyThePresentVersionCounts) {
  StreakRun older = Failed(3);
  older.def_version = 2;
  EXPECT_EQ(CountStreak({Failed(4), older, Failed(2)}, kRule).failures, 2);
  // A person has retried a fire of an older version: it runs the present one.
  const Streak streak = CountStreak({Failed(1), Failed(-1), Failed(-2)}, kRule);
  EXPECT_EQ(streak.failures, 1);
  EXPECT_TRUE(streak.ended);
}

TEST(StreakTest, TheSentenceHasTheNumber) {
  EXPECT_EQ(StreakSentence(1), "a run has failed (pause_after_failures)");
  EXPECT_EQ(StreakSentence(5), "5 runs in a row have failed (pause_after_failures)");
}

}  // namespace
}  // namespace carillon
