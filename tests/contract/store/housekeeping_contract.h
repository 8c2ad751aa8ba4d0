// The contract of Housekeeping.
#pragma once

#include "tests/contract/store/executor_store_contract.h"

namespace carillon::test {

template <typename Factory>
class HousekeepingContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(HousekeepingContract, StoreFactories);

TYPED_TEST(HousekeepingContract, RetentionDropsWholeOldDaysThatHaveNothingOpen) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  const StoredJob job = s.Create("a", s.Manual());
  const auto finished = [&](WallTime at, uint64_t token) {
    const RunRow row = s.Start(s.Execute(job, at), token, fence, at);
    s.Apply(s.ReportOf(row, RunState::kCompleted, at), fence, at);
    return row.key;
  };
  const RunKey old = finished(kT0 + 1h, 1);
  const RunKey beside_open = finished(kT0 + 25h, 2);
  const RunRow open = s.Execute(job, kT0 + 26h);
  const RunKey recent = finished(kT0 + 49h, 3);
  // Members call it at any time, so a second call must do no harm.
  for (int i = 0; i < 2; ++i)
    ASSERT_OK(s.housekeeping.Maintain(kT0 + 16 * 24h + 1h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(old), ErrorCode::kNotFound);
  EXPECT_EQ(s.Get(beside_open).row.state, RunState::kCompleted);
  EXPECT_EQ(s.Get(open.key).row, open);
  EXPECT_EQ(s.Get(recent).row.state, RunState::kCompleted);
}

TYPED_TEST(HousekeepingContract, StoreTakesRunsOfTheDaysAheadAfterMaintenance) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  JobDefinition definition = s.Manual();
  for (const Duration ahead : {1h, 30h, 72h, 24h * 400}) {
    definition.schedules.push_back({.kind = ScheduleKind::kOnce, .at = kT0 + ahead});
  }
  s.Create("a", definition);
  s.Plan(kT0 + 24h * 500, fence);
  EXPECT_EQ(s.Pending(kT0 + 24h * 500).size(), 4u);
}

TYPED_TEST(HousekeepingContract, OldVersionsGoExceptTheNewest) {
  StoreDriver s = this->driver();
  StoredJob job = s.Create("a", s.Manual());
  for (int i = 0; i < 105; ++i) job = s.Replace(job, job.definition, kT0 + i * 1h);
  ASSERT_EQ(job.version, 106);
  const auto kept = [&] {
    std::vector<JobVersionKey> keys;
    for (int64_t version = 1; version <= 106; ++version) keys.push_back({job.job_no, version});
    std::vector<int64_t> versions;
    for (const JobVersionRecord& record : s.v(s.firing.LoadDefinitions(keys))) {
      versions.push_back(record.version);
    }
    std::sort(versions.begin(), versions.end());
    return versions;
  };
  // Version 3 was superseded at 2 h.
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 14 * 24h + 2h + 1min, {.runs = 14 * 24h}));
  EXPECT_EQ(kept().size(), 103u);
  EXPECT_EQ(kept().front(), 4);
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 100 * 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(kept().size(), 100u);
  EXPECT_EQ(kept().front(), 7);
}

TYPED_TEST(HousekeepingContract, ExecutorsThatAreGoneForLongAreForgotten) {
  StoreDriver s = this->driver();
  for (const char* id : {"gone", "off", "alive"}) {
    ExecutorRecord record{.id = ExecutorId(id), .incarnation = Incarnation("i")};
    record.last_heartbeat = record.registered = kT0;
    s.v(s.executors.RegisterExecutor(record));
    if (record.id != ExecutorId("alive")) record.state = ExecutorState::kLost;
    ASSERT_OK(s.executors.UpdateExecutors({record}));
  }
  s.v(s.executors.SetExecutorEnabled(ExecutorId("off"), false));
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 13 * 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(s.v(s.executors.ListExecutors()).size(), 3u);
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 15 * 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(s.v(s.executors.ListExecutors()).size(), 2u);
  EXPECT_CODE(s.executors.GetExecutor(ExecutorId("gone")), ErrorCode::kNotFound);
}

TYPED_TEST(HousekeepingContract, OldDeadLettersGo) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = s.Start(s.Execute(s.Create("a", s.Manual()), kT0), 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(run, RunState::kFailed), fence, kT0 + 2s);
  ASSERT_EQ(s.v(s.runs.ListDeadLetters({.limit = 10})).size(), 1u);
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 15 * 24h, {.runs = 14 * 24h}));
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 10})).empty());
}

TYPED_TEST(HousekeepingContract, JobsMayKeepTheirRunsForLess) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  JobDefinition brief = s.Manual();
  brief.retention_days = 3;
  JobDefinition lasting = s.Manual();
  lasting.retention_days = 30;  // more than configured has no effect
  uint64_t token = 0;
  const auto ended = [&](const StoredJob& job, WallTime at, RunState state) {
    const RunRow row = s.Start(s.Execute(job, at), ++token, fence, at);
    s.Apply(s.ReportOf(row, state, at), fence, at);
    return row.key;
  };
  const StoredJob job = s.Create("brief", brief);
  const StoredJob other = s.Create("lasting", lasting);
  const RunKey gone = ended(job, kT0 + 1h, RunState::kFailed);
  const RunRow open = s.Execute(job, kT0 + 2h);
  const RunKey late = ended(job, kT0 + 24h * 2, RunState::kCompleted);
  const RunKey kept = ended(other, kT0 + 1h, RunState::kFailed);
  LogRecord log{.key = gone, .attempt = 1};
  log.chunk = {.first_seq = 1, .count = 1, .last = true};
  AppendEntry(log.chunk.entries, {.time = kT0, .text = "line"});
  ASSERT_OK(s.logs.AppendLogs({log}));
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 24h * 3, {.runs = 14 * 24h}));
  EXPECT_EQ(s.Get(gone).row.state, RunState::kFailed);  // an hour to go
  for (int i = 0; i < 2; ++i) ASSERT_OK(s.housekeeping.Maintain(kT0 + 24h * 4, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(gone), ErrorCode::kNotFound);
  EXPECT_TRUE(s.v(s.logs.ReadLog(gone, 1, 1, 1u << 20)).empty());
  EXPECT_EQ(s.Get(open.key).row, open);
  EXPECT_EQ(s.Get(late).row.state, RunState::kCompleted);
  EXPECT_EQ(s.Get(kept).row.state, RunState::kFailed);
  const auto letters = s.v(s.runs.ListDeadLetters({.limit = 10}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].key, kept);
  // A job that is changed to keep its runs no longer than configured loses none.
  brief.retention_days = 0;
  s.Replace(job, brief, kT0 + 24h * 4);
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 24h * 6, {.runs = 14 * 24h}));
  EXPECT_EQ(s.Get(late).row.state, RunState::kCompleted);
}

TYPED_TEST(HousekeepingContract, RunsOfADeletedJobGoToo) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  JobDefinition brief = s.Manual();
  brief.retention_days = 1;
  const StoredJob job = s.Create("brief", brief);
  const RunRow row = s.Start(s.Execute(job, kT0), 1, fence, kT0);
  s.Apply(s.ReportOf(row, RunState::kCompleted, kT0), fence, kT0);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 1h}));
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 25h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(row.key), ErrorCode::kNotFound);
}

}  // namespace carillon::test
