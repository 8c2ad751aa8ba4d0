#include "common/domain/parts/part_retry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/domain/run_id.h"

namespace carillon {
namespace {

constexpr WallTime kRetriedAt = FromUnixMicros(1'772'323'200'000'000);
constexpr RunKey kFireKey{kRetriedAt - 60s, ScheduleId(7), 0};
constexpr JobRow kFireJob{.job_no = JobNo(3), .version = 5, .priority = 2};

RunRow OwnRunIn(RunState state) {
  return {.key = kFireKey,
          .job_no = JobNo(3),
          .state = state,
          .attempt = 1,
          .def_version = 4,
          .shard_total = 4,
          .flags = run_flag::kParts};
}

PartOfFire PartIn(uint32_t index, RunState state, std::string reason = {}, int attempt = 1) {
  PartOfFire part{.row = {.key = kFireKey,
                          .job_no = JobNo(3),
                          .kind = RunKind::kShard,
                          .state = state,
                          .attempt = attempt,
                          .def_version = 4,
                          .flags = run_flag::kPart},
                  .reason = reason};
  part.row.key.shard = index + 1;
  part.row.may_still_run = MayStillRun(state, reason);
  return part;
}

std::vector<PartOfFire> SomePartsFailed() {
  return {PartIn(0, RunState::kCompleted), PartIn(1, RunState::kFailed, "exit_code"),
          PartIn(2, RunState::kSkipped, "host_down"), PartIn(3, RunState::kTimedOut, "timeout", 3)};
}

std::vector<size_t> PositionsIn(const std::vector<PartRetry>& plan) {
  std::vector<size_t> positions;
  for (const PartRetry& one : plan) positions.push_back(one.position);
  return positions;
}

Result<std::vector<PartRetry>> PlanOfParts(RunState own, const std::vector<PartOfFire>& parts,
                                           const PartChoice& choice = {},
                                           Overlap overlap = Overlap::kUnconfirmed) {
  return PlanPartRetry(OwnRunIn(own), parts, choice, kFireJob, overlap, kRetriedAt);
}

using WhichParts = PartChoice::Which;

TEST(PartRetry, OfThoseThatFailed) {
  const auto plan = PlanOfParts(RunState::kFailed, SomePartsFailed());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(PositionsIn(*plan), (std::vector<size_t>{1, 3}));
  const RunChange& change = plan->at(1).change;
  EXPECT_EQ(change.state, RunState::kPending);
  EXPECT_EQ(change.attempt, 4);
  EXPECT_EQ(change.due, kRetriedAt);
  EXPECT_EQ(change.def_version, 5);
  EXPECT_TRUE(change.record_attempt);
  EXPECT_TRUE(change.clear_token) << "a late result of the attempt before is only recorded";
}

TEST(PartRetry, OfAllAndOfNamed) {
  EXPECT_EQ(
      PositionsIn(*PlanOfParts(RunState::kFailed, SomePartsFailed(), {.which = WhichParts::kAll}))
          .size(),
      4u);
  const auto named = PlanOfParts(RunState::kFailed, SomePartsFailed(),
                                 {.which = WhichParts::kNamed, .indexes = {2, 0, 2}});
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_EQ(PositionsIn(*named), (std::vector<size_t>{0, 2}));
  EXPECT_TRUE(named->at(0).change.record_attempt);
  EXPECT_FALSE(named->at(1).change.record_attempt) << "it has made no attempt";
  EXPECT_EQ(named->at(1).change.attempt, 2);
}

TEST(PartRetry, NamesWhatIsMissing) {
  const auto plan = PlanOfParts(RunState::kFailed, SomePartsFailed(),
                                {.which = WhichParts::kNamed, .indexes = {1, 4}});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.code(), ErrorCode::kInvalid);
  EXPECT_EQ(plan.error().pointer, "/shards/1");
}

TEST(PartRetry, AHostThatWasDownAgainHasFailed) {
  const auto plan = PlanOfParts(RunState::kFailed, {PartIn(0, RunState::kSkipped, "host_down", 2)});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(PositionsIn(*plan).size(), 1u);
}

TEST(PartRetry, NothingHasFailed) {
  for (const PartOfFire& part :
       {PartIn(0, RunState::kCompleted), PartIn(0, RunState::kSkipped, "host_down"),
        PartIn(0, RunState::kSkipped, "no_executor"),
        PartIn(0, RunState::kSkipped, "no_executor", 2)}) {
    const auto plan = PlanOfParts(RunState::kCancelled, {part});
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.code(), ErrorCode::kConflict);
    EXPECT_NE(plan.error().message.find("send \"shards\": \"all\""), std::string::npos);
  }
}

// A host that was down is back: only its part is to run, and not the whole job again.
TEST(PartRetry, WhatIsNamedRunsAgainWhateverTheEnd) {
  const std::vector<PartOfFire> parts = {PartIn(0, RunState::kCompleted),
                                         PartIn(1, RunState::kSkipped, "host_down")};
  const PartChoice named{.which = WhichParts::kNamed, .indexes = {1}};
  for (const RunState state : {RunState::kCompleted, RunState::kSkipped, RunState::kRunning}) {
    EXPECT_EQ(PositionsIn(*PlanOfParts(state, parts, named)), std::vector<size_t>{1})
        << Name(state);
    EXPECT_EQ(PositionsIn(*PlanOfParts(state, parts, {.which = WhichParts::kAll})).size(), 2u)
        << Name(state);
    EXPECT_EQ(PlanOfParts(state, parts).code(), ErrorCode::kConflict) << Name(state);
  }
}

TEST(PartRetry, APartThatHasSucceededIsRetriedByItsIndexAlone) {
  RunKey key = kFireKey;
  key.shard = 1;
  const PartChoice itself = ChoiceOf(key, std::nullopt);
  const auto done = PlanOfParts(RunState::kFailed, SomePartsFailed(), itself);
  ASSERT_EQ(done.code(), ErrorCode::kConflict);
  EXPECT_NE(done.error().message.find("name it in shards"), std::string::npos);
  key.shard = 3;  // SKIPPED
  EXPECT_TRUE(PlanOfParts(RunState::kFailed, SomePartsFailed(), ChoiceOf(key, std::nullopt)).ok());
}

TEST(PartRetry, OfAnOpenFire) {
  std::vector<PartOfFire> parts = SomePartsFailed();
  parts[0].row.state = RunState::kRunning;
  EXPECT_EQ(PositionsIn(*PlanOfParts(RunState::kRunning, parts)), (std::vector<size_t>{1, 3}));
  EXPECT_EQ(PlanOfParts(RunState::kRunning, parts, {.which = WhichParts::kAll}).code(),
            ErrorCode::kConflict);
  // A part that waits for its next attempt has that one, only earlier.
  parts[0] = PartIn(0, RunState::kPending, "exit_code", 2);
  parts[0].row.due = kRetriedAt + 1h;
  const auto waiting =
      PlanOfParts(RunState::kRunning, parts, {.which = WhichParts::kNamed, .indexes = {0}});
  ASSERT_TRUE(waiting.ok()) << waiting.error().message;
  EXPECT_EQ(waiting->at(0).change.attempt, 2);
  EXPECT_EQ(waiting->at(0).change.due, kRetriedAt);
  EXPECT_EQ(waiting->at(0).change.def_version, 4);
}

TEST(PartRetry, DependsOnTheOwnRun) {
  for (const RunState state :
       {RunState::kRunning, RunState::kCompleted, RunState::kFailed, RunState::kTimedOut,
        RunState::kLost, RunState::kCancelled, RunState::kSkipped}) {
    EXPECT_TRUE(PlanOfParts(state, SomePartsFailed()).ok()) << Name(state);
  }
  for (const RunState state : {RunState::kPending, RunState::kHeld}) {
    EXPECT_EQ(PlanOfParts(state, SomePartsFailed()).code(), ErrorCode::kConflict) << Name(state);
  }
  RunRow cancelled = OwnRunIn(RunState::kRunning);
  cancelled.cancel_requested = CancelMode::kGraceful;
  EXPECT_EQ(
      PlanPartRetry(cancelled, SomePartsFailed(), {}, kFireJob, Overlap::kConfirmed, kRetriedAt)
          .code(),
      ErrorCode::kConflict);
  JobRow deleted = kFireJob;
  deleted.deleted = true;
  EXPECT_EQ(PlanPartRetry(OwnRunIn(RunState::kFailed), SomePartsFailed(), {}, deleted,
                          Overlap::kConfirmed, kRetriedAt)
                .code(),
            ErrorCode::kNotFound);
}

// Also if the part whose process may live is not chosen: the fire would run beside itself.
TEST(PartRetry, AsksWhetherAProcessMayLive) {
  std::vector<PartOfFire> parts = SomePartsFailed();
  parts[0] = PartIn(0, RunState::kHeld, "executor_lost");
  const PartChoice other{.which = WhichParts::kNamed, .indexes = {1}};
  for (const auto& refused :
       {PlanOfParts(RunState::kFailed, parts), PlanOfParts(RunState::kFailed, parts, other)}) {
    ASSERT_EQ(refused.code(), ErrorCode::kConflict);
    EXPECT_EQ(refused.error().pointer, "/confirm_overlap");
  }
  EXPECT_EQ(PlanOfParts(RunState::kPending, parts).error().pointer, "") << "confirming is no help";
  EXPECT_TRUE(PlanOfParts(RunState::kFailed, parts, other, Overlap::kConfirmed).ok());
  const auto all = PlanOfParts(RunState::kFailed, parts, {}, Overlap::kConfirmed);
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(PositionsIn(*all), (std::vector<size_t>{0, 1, 3}));
}

TEST(PartRetry, IsThatOfAFireThatHasBegun) {
  EXPECT_TRUE(IsRetriedByParts(OwnRunIn(RunState::kFailed)));
  EXPECT_TRUE(IsRetriedByParts(OwnRunIn(RunState::kRunning)));
  EXPECT_FALSE(IsRetriedByParts(OwnRunIn(RunState::kPending))) << "it begins anew";
  RunRow row = OwnRunIn(RunState::kFailed);
  row.executor = ExecutorId("e1");
  EXPECT_FALSE(IsRetriedByParts(row)) << "its job has lost its shards";
  row = OwnRunIn(RunState::kFailed);
  row.flags = 0;
  EXPECT_FALSE(IsRetriedByParts(row));
  EXPECT_FALSE(IsRetriedByParts(PartIn(0, RunState::kFailed).row));
}

TEST(PartRetry, ARefusalNamesTheHolder) {
  const RunKey holder{kRetriedAt, ScheduleId(9), 0};
  const Error error = NoSlotForFire(OwnRunIn(RunState::kFailed), holder);
  EXPECT_TRUE(NamesHolder(error));
  EXPECT_NE(error.message.find(EncodeRunId(holder)), std::string::npos);
  EXPECT_FALSE(NamesHolder(NoPartsToRetry(OwnRunIn(RunState::kFailed))));
}

}  // namespace
}  // namespace carillon
