#include "common/domain/parts/fire_end.h"

#include <gtest/gtest.h>

#include "common/domain/parts/new_part.h"

namespace carillon::fire_end_test {
namespace {

using enum RunState;

const WallTime kFire = FromUnixMicros(1'772'323'200'000'000);

PartEnd Part(RunState state, std::string_view reason = {}, bool first_try = true) {
  return {.state = state,
          .first_try = first_try,
          .may_still_run = MayStillRun(state, reason),
          .reason = std::string(reason)};
}

const PartEnd kOk = Part(kCompleted);
const PartEnd kBad = Part(kFailed, reason::kExitCode);
const PartEnd kLate = Part(kTimedOut, reason::kTimeout);
const PartEnd kGone = Part(kLost, reason::kExecutorLost);
const PartEnd kStopped = Part(kCancelled, reason::kCancelRequested);
const PartEnd kRemoved = Part(kSkipped, reason::kDeleted);
const PartEnd kOld = Part(kSkipped, reason::kQueueTimeout);
const PartEnd kOldAgain = Part(kSkipped, reason::kQueueTimeout, false);
const PartEnd kShut = Part(kSkipped, reason::kForbidden);
const PartEnd kDown = Part(kSkipped, reason::kHostDown);
const PartEnd kDownAgain = Part(kSkipped, reason::kHostDown, false);
const PartEnd kLeft = Part(kSkipped, reason::kNoExecutor);
const PartEnd kLeftLater = Part(kSkipped, reason::kNoExecutor, false);
const PartEnd kGivenUp = Part(kFailed, reason::kExecutorLost);
const PartEnd kUnknown = Part(kCancelled, reason::kOutcomeUnknown);

// The own run, which has begun at `claimed`.
RunRow BegunOwn(bool cancelled = false, WallTime claimed = kFire) {
  RunRow own{.state = kRunning, .claimed = claimed, .flags = run_flag::kParts};
  if (cancelled) own.cancel_requested = CancelMode::kGraceful;
  return own;
}

struct Case {
  std::vector<PartEnd> parts;
  RunState state;
  std::string_view reason;
  bool cancel = false;
};

TEST(FireEndTest, TheTable) {
  const std::vector<Case> cases = {
      {{kOk, kOk}, kCompleted, ""},
      {{kOk, kBad, kLate, kGone, kStopped, kOld}, kFailed, reason::kShardFailed},
      {{kOk, kLate, kGone, kStopped, kOld}, kTimedOut, reason::kShardFailed},
      {{kOk, kGone}, kLost, reason::kShardFailed},
      {{kGone, kStopped, kOld}, kLost, reason::kShardFailed},
      {{kOk, kStopped}, kCancelled, reason::kCancelRequested},
      {{kOk, kRemoved}, kCancelled, reason::kDeleted},
      {{kStopped, kRemoved}, kCancelled, reason::kCancelRequested},
      {{kOk, kRemoved}, kCancelled, reason::kCancelRequested, true},
      {{kOld, kStopped}, kCancelled, reason::kCancelRequested},
      {{kOk, kOk}, kCancelled, reason::kCancelRequested, true},
      {{kOk, kBad}, kCancelled, reason::kCancelRequested, true},
      {{kLate, kGone, kOld}, kCancelled, reason::kCancelRequested, true},
      {{kBad, kGivenUp}, kCancelled, reason::kOutcomeUnknown, true},
      {{kOk, kOld}, kFailed, reason::kShardFailed},
      {{kOld, kOld}, kSkipped, reason::kQueueTimeout},
      {{kOld}, kCancelled, reason::kCancelRequested, true},
      {{kOld, kOldAgain}, kFailed, reason::kShardFailed},
      {{kOld, kDown}, kFailed, reason::kShardFailed},
      {{kOld, kShut}, kFailed, reason::kShardFailed},
      {{kShut, kShut}, kFailed, reason::kShardFailed},
      {{kOk, kDown}, kCompleted, ""},
      {{kDown, kDown}, kSkipped, reason::kHostDown},
      {{kDown, kDown}, kCancelled, reason::kCancelRequested, true},
      {{kOk, kDownAgain}, kFailed, reason::kShardFailed},
      {{kDown, kDownAgain, kLate}, kFailed, reason::kShardFailed},
      {{kOk, kLeft, kLeftLater}, kCompleted, ""},
      {{kOk, kLeft, kBad}, kFailed, reason::kShardFailed},
      {{kLeft, kLeftLater}, kSkipped, reason::kNoExecutor},
      {{kLeft, kDown}, kSkipped, reason::kHostDown},
      {{kLeft, kDownAgain}, kFailed, reason::kShardFailed},
      {{kLeft, kOld}, kFailed, reason::kShardFailed},
      {{kOk, kGivenUp}, kFailed, reason::kExecutorLost},
      {{kBad, kGivenUp}, kFailed, reason::kExecutorLost},
      {{kOk, kUnknown}, kCancelled, reason::kOutcomeUnknown},
      {{kLate, kUnknown}, kFailed, reason::kExecutorLost},
      {{kGone, kUnknown}, kFailed, reason::kExecutorLost},
      {{}, kFailed, reason::kShardFailed},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    const auto end = EndOf(one.parts, BegunOwn(one.cancel));
    ASSERT_TRUE(end) << i;
    EXPECT_EQ(end->state, one.state) << i;
    EXPECT_EQ(end->reason, one.reason) << i;
    bool may_still_run = false;
    for (const PartEnd& part : one.parts) may_still_run = may_still_run || part.may_still_run;
    EXPECT_EQ(MayStillRun(end->state, end->reason), may_still_run) << i;
  }
}

TEST(FireEndTest, NoEndWhileAPartIsOpen) {
  for (const RunState open : {kPending, kRunning, kHeld}) {
    EXPECT_FALSE(EndOf({kBad, Part(open)}, BegunOwn())) << Name(open);
    EXPECT_FALSE(EndOf({kStopped, Part(open)}, BegunOwn(true))) << Name(open);
  }
}

TEST(FireEndTest, TheErrorNamesTheFirstTen) {
  std::vector<PartEnd> parts(14, kBad);
  for (uint32_t i = 0; i < parts.size(); ++i) parts[i].shard = i + 1;
  parts[0] = kOk;
  parts[2] = kGone;
  parts[2].shard = 3;
  const std::string error = EndOf(parts, BegunOwn())->error;
  EXPECT_TRUE(
      error.starts_with("13 of 14 shards have failed: 1 (FAILED exit_code), "
                        "2 (LOST executor_lost), 3 (FAILED exit_code), "))
      << error;
  EXPECT_TRUE(error.ends_with(", 10 (FAILED exit_code) and 3 more")) << error;
  EXPECT_EQ(EndOf({kOk, kOk}, BegunOwn())->error, "");
  EXPECT_EQ(EndOf({kOk, kStopped}, BegunOwn(true))->error, "");
  EXPECT_EQ(EndOf({kBad, kStopped}, BegunOwn(true))->error,
            "1 of 2 shards has failed: 0 (FAILED exit_code)");
}

TEST(FireEndTest, ItLastsFromTheFirstStartToTheLastEnd) {
  PartEnd a = kOk;
  a.claimed = kFire;
  a.started = kFire + 2s;
  a.ended = kFire + 9s;
  PartEnd b = kBad;
  b.claimed = kFire + 1s;
  b.started = kFire + 1s;
  b.ended = kFire + 4s;
  PartEnd never = kDown;
  never.ended = kFire + 3s;
  const auto end = EndOf({never, a, b}, BegunOwn());
  EXPECT_EQ(end->started, kFire + 1s);
  EXPECT_EQ(end->ended, kFire + 9s);
  EXPECT_EQ(EndOf({never}, BegunOwn())->started, WallTime{});
}

// By the clock of the cluster: that of a host may be behind.
TEST(FireEndTest, PartsOfAnEarlierAttemptAreNotItsBegin) {
  PartEnd kept = kOk;
  kept.claimed = kFire;
  kept.started = kFire;
  kept.ended = kFire + 9s;
  PartEnd again = kBad;
  again.claimed = kFire + 1h;
  again.started = kFire + 1h - 2s;
  again.ended = kFire + 1h + 4s;
  const RunRow retried = BegunOwn(false, kFire + 1h);
  const auto end = EndOf({kept, again}, retried);
  EXPECT_EQ(end->started, kFire + 1h - 2s);
  EXPECT_EQ(end->ended, kFire + 1h + 4s);
  EXPECT_EQ(EndOf({kept, kStopped}, retried)->started, WallTime{}) << "no part was claimed again";
}

RunRow Own(RunState state) {
  return {.state = state, .attempt = 3, .def_version = 4, .flags = run_flag::kParts};
}

TEST(FireEndTest, OnlyABegunRunEnds) {
  const FireEnd failed{.state = kFailed, .reason = reason::kShardFailed};
  const auto change = DecideFireEnd(Own(kRunning), false, failed);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->state, kFailed);
  EXPECT_EQ(change->attempt, 3);
  EXPECT_TRUE(change->dead_letter);
  EXPECT_FALSE(DecideFireEnd(Own(kRunning), true, failed)->dead_letter);
  RunRow asked = Own(kRunning);
  asked.cancel_requested = CancelMode::kGraceful;
  EXPECT_FALSE(DecideFireEnd(asked, false, failed)->dead_letter);
  EXPECT_FALSE(DecideFireEnd(Own(kRunning), false, {})->dead_letter);

  RunRow elsewhere = Own(kRunning);
  elsewhere.executor = ExecutorId("x");
  RunRow plain = Own(kRunning);
  plain.flags = 0;
  for (const RunRow& row : {Own(kPending), Own(kHeld), Own(kCompleted), Own(kFailed),
                            Own(kTimedOut), Own(kCancelled), Own(kSkipped), elsewhere, plain}) {
    EXPECT_FALSE(DecideFireEnd(row, false, failed)) << Name(row.state);
  }
}

TEST(FireEndTest, ALateResultReplacesLost) {
  EXPECT_EQ(DecideFireEnd(Own(kLost), false, {.state = kCompleted})->state, kCompleted);
  EXPECT_FALSE(DecideFireEnd(Own(kLost), false, {.state = kLost}));
  RunRow plain = Own(kLost);
  plain.flags = 0;
  EXPECT_FALSE(DecideFireEnd(plain, false, {.state = kCompleted}));
  plain = Own(kLost);
  plain.executor = ExecutorId("x");
  EXPECT_FALSE(DecideFireEnd(plain, false, {.state = kCompleted}));
}

TEST(NewPartTest, ItIsAsItsFire) {
  RunRow own = Own(kRunning);
  own.attempt = 4;
  own.priority = 5;
  own.def_version = 9;
  own.flags |= run_flag::kBackground | run_flag::kRules;
  own.rules = "retry_count=2";
  const RunRow part = NewPart(own, 2, 3, 0, kFire + 1s);
  EXPECT_EQ(part.key, (RunKey{own.key.fire, own.key.schedule_id, 2}));
  EXPECT_EQ(part.kind, RunKind::kShard);
  EXPECT_EQ(part.state, kPending);
  EXPECT_EQ(part.attempt, 1);
  EXPECT_EQ(part.due, kFire + 1s);
  EXPECT_EQ(part.priority, 5);
  EXPECT_EQ(part.def_version, 9);
  EXPECT_EQ(part.shard_total, 3u);
  EXPECT_EQ(part.flags, run_flag::kPart | run_flag::kBackground | run_flag::kRules);
  EXPECT_EQ(part.rules, "retry_count=2");
}

TEST(NewPartTest, OneThatComesBackIsNotTriedYet) {
  const RunRow part = NewPart(Own(kRunning), 2, 3, 6, kFire);
  EXPECT_EQ(part.attempt, 7);
  EXPECT_TRUE(IsFirstTry(part));
}

TEST(NewPartTest, NoNumberOfAttemptsTouchesOtherFlags) {
  const RunRow part = NewPart(Own(kRunning), 2, 3, 1'000, kFire);
  EXPECT_EQ(part.attempt, 1'001);
  EXPECT_EQ(part.flags & ~run_flag::kReturns, FlagsOfPart(Own(kRunning)));
}

TEST(CollectedTest, TheOutputHasAllPartsInTheirOrder) {
  RunChange change{.state = RunState::kCompleted};
  AttemptResult result;
  AddCollected("rows", {"3", std::nullopt, "1"}, change, result);
  EXPECT_EQ(result.outputs, (Outputs{{"rows", R"(["3",null,"1"])"}}));
  EXPECT_EQ(change.state, RunState::kCompleted);
}

TEST(CollectedTest, OnlyAnEndThatCompletesFailsForItsLength) {
  const std::vector<std::optional<std::string>> long_ones(2, std::string(kOutputsBytesMax, 'x'));
  RunChange change{.state = RunState::kCompleted};
  AttemptResult result;
  AddCollected("rows", long_ones, change, result);
  EXPECT_EQ(change.state, RunState::kFailed);
  EXPECT_EQ(change.reason, reason::kBadOutputs);
  EXPECT_TRUE(change.dead_letter);
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_FALSE(result.error.empty());
  RunChange cancel{.state = RunState::kCancelled, .reason = "cancel_requested"};
  AttemptResult cancelled{.state = RunState::kCancelled};
  AddCollected("rows", long_ones, cancel, cancelled);
  EXPECT_EQ(cancel.state, RunState::kCancelled);
  EXPECT_EQ(cancel.reason, "cancel_requested");
  EXPECT_TRUE(cancelled.outputs.empty());
}

}  // namespace
}  // namespace carillon::fire_end_test
