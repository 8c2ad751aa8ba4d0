// Rows of runs, gaps, dead letters and executors with values that this version does not know.
#include "common/base/metrics/metrics.h"
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

class UnreadableRowsTest : public ::testing::Test {
 protected:
  static mysql::MysqlOptions WithMetrics(mysql::MysqlOptions options, Metrics& metrics) {
    options.metrics = &metrics;
    return options;
  }
  // Stores an unknown value, as a newer version or a manual edit may do. MariaDB stores an ENUM
  // value that is out of range as ''.
  void Spoil(const RunKey& key, const std::string& column) {
    const auto session = database_.Connect();
    ASSERT_OK(session->Run("SET SESSION sql_mode = ''"));
    ASSERT_OK(session->Run("UPDATE job_runs SET " + column +
                           " = 'MOON' WHERE fire_us = " + std::to_string(ToUnixMicros(key.fire)) +
                           " AND schedule_id = " + std::to_string(key.schedule_id.value())));
  }
  uint64_t Noted(const std::string& table) {
    return metrics_.counter("carillon_unreadable_rows_total", table).value();
  }

  Metrics metrics_;
  MariadbDatabase database_;
  MysqlHandle handle_{StoreDriver::v(
      mysql::MysqlStores::Open(WithMetrics(database_.Options(kSegments), metrics_)))};
  StoreDriver s{handle_};
  Fence fence_ = s.Take();
};

TEST_F(UnreadableRowsTest, RunOfAnUnknownStateIsLeftOutEverywhere) {
  const StoredJob job = s.Create("job", s.Manual());
  const RunRow bad = s.Start(s.Execute(job, kT0), 1, fence_, kT0 + 1s);
  const RunRow good = s.Start(s.Execute(job, kT0), 2, fence_, kT0 + 1s);
  Spoil(bad.key, "state");
  const std::vector<RunRow> running = s.v(s.firing.ScanRunning(s.All(), std::nullopt, 10)).runs;
  ASSERT_EQ(running.size(), 1u);
  EXPECT_EQ(running[0].key, good.key);
  const auto listed = s.v(s.runs.ListRuns({.limit = 1}, kT0 + 1h)).runs;
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].row.key, good.key);
  EXPECT_CODE(s.runs.GetRun(bad.key), ErrorCode::kCorrupt);
  EXPECT_CODE(s.runs.CancelRun(bad.key, {.now = kT0 + 2s}), ErrorCode::kCorrupt);
  EXPECT_CODE(s.runs.RetryRun({.key = bad.key}, {.now = kT0 + 2s}), ErrorCode::kCorrupt);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(job.job_id, {.now = kT0 + 2s})), 1);
  EXPECT_GT(Noted("job_runs"), 0u);
}

TEST_F(UnreadableRowsTest, BatchesGoOnBesideARunOfAnUnknownState) {
  const StoredJob job = s.Create("job", s.Manual());
  const RunRow bad = s.Start(s.Execute(job, kT0), 1, fence_, kT0 + 1s);
  const RunRow good = s.Start(s.Execute(job, kT0), 2, fence_, kT0 + 1s);
  const RunRow lost = s.Start(s.Execute(job, kT0), 3, fence_, kT0 + 1s);
  Spoil(bad.key, "state");
  const auto effects = s.v(s.firing.ApplyResults(
      {s.ReportOf(bad, RunState::kCompleted), s.ReportOf(good, RunState::kCompleted)}, fence_,
      kT0 + 9s));
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_EQ(effects[0].verdict, ResultVerdict::kRecordedOnly);
  EXPECT_EQ(effects[1].verdict, ResultVerdict::kApplied);
  const auto session = database_.Connect();
  auto rows = session->Ask("SELECT COUNT(*) FROM run_attempts WHERE state = 'COMPLETED'");
  ASSERT_OK(rows);
  rows->Next();
  EXPECT_EQ(rows->Int(1), 1);
  EXPECT_EQ(s.v(s.firing.MarkLost({s.LostOf(bad), s.LostOf(lost)}, fence_, kT0 + 9s)).size(), 1u);
  EXPECT_EQ(s.Claim(s.ClaimOf(bad, 9), fence_, kT0 + 9s).verdict, ClaimVerdict::kRefused);
}

TEST_F(UnreadableRowsTest, PendingRunOfAnUnknownKindKeepsNoPageBack) {
  const StoredJob job = s.Create("job", s.Manual());
  std::vector<RunRow> runs;
  for (int i = 0; i < 5; ++i) runs.push_back(s.Execute(job, kT0 + i * 1s));
  Spoil(runs[1].key, "kind");
  std::vector<RunKey> seen;
  std::optional<std::pair<WallTime, RunKey>> after;
  do {
    const PendingPage page = s.v(s.firing.ScanPending(s.All(), kT0 + 1min, after, 1));
    for (const RunRow& row : page.runs) seen.push_back(row.key);
    after = page.next;
  } while (after);
  EXPECT_EQ(seen, (std::vector<RunKey>{runs[0].key, runs[2].key, runs[3].key, runs[4].key}));
}

TEST_F(UnreadableRowsTest, RuleOfAJobThatNobodyKnowsStopsNoOtherResult) {
  const StoredJob bad_job = s.Create("bad", s.Manual());
  const StoredJob good_job = s.Create("good", s.Manual());
  const RunRow bad = s.Start(s.Execute(bad_job, kT0), 1, fence_, kT0 + 1s);
  const RunRow good = s.Start(s.Execute(good_job, kT0), 2, fence_, kT0 + 1s);
  handle_.Run("UPDATE jobs SET on_lost = 'moon', retry_backoff = 'moon' WHERE job_id = 'bad'");
  EXPECT_EQ(s.v(s.firing.MarkLost({s.LostOf(bad), s.LostOf(good)}, fence_, kT0 + 9s)).size(), 2u);
  EXPECT_EQ(s.Get(bad.key).row.state, RunState::kHeld);
  EXPECT_EQ(s.Get(good.key).row.state, RunState::kLost);
}

TEST_F(UnreadableRowsTest, ExecutorGapAndDeadLetterAreLeftOutOfTheirLists) {
  for (const char* id : {"a", "b"}) {
    ASSERT_OK(
        s.executors.RegisterExecutor({.id = ExecutorId(id), .incarnation = Incarnation("i")}));
    const StoredJob job = s.Create(id, s.Manual());
    const RunRow run = s.Start(s.Execute(job, kT0), 1, fence_, kT0 + 1s);
    s.Apply(s.ReportOf(run, RunState::kFailed), fence_, kT0 + 2s);
    PlanBatch batch;
    batch.gaps.push_back({ScheduleId(9), job.job_no, {kT0, kT0, 1, GapReason::kMisfire}});
    ASSERT_OK(s.firing.Plan(batch, fence_, kT0));
  }
  handle_.Run("UPDATE executors SET status = 'MOON' WHERE executor_id = 'a'");
  handle_.Run("UPDATE run_gaps SET reason = 'moon' ORDER BY id DESC LIMIT 1");
  handle_.Run("UPDATE dead_letters SET state = 'MOON' ORDER BY id DESC LIMIT 1");
  EXPECT_EQ(s.v(s.executors.ListExecutors()).size(), 1u);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({.limit = 1})).size(), 1u);
  const GapPage first = s.v(s.runs.ListGaps({.limit = 1}));
  ASSERT_TRUE(first.next.has_value());
  EXPECT_EQ(s.v(s.runs.ListGaps({.before_id = *first.next, .limit = 1})).gaps.size(), 1u);
  for (const char* table : {"executors", "run_gaps", "dead_letters"}) EXPECT_GT(Noted(table), 0u);
}

// Jobs that start after others must not start by mistake.
TEST_F(UnreadableRowsTest, UnknownEndsAndOutcomesStartNothing) {
  const StoredJob a = s.Create("a", s.Manual());
  JobDefinition after = s.Manual();
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "a"}};
  s.Create("b", after);
  uint64_t token = 0;
  const auto end = [&](WallTime now) {
    const RunRow running = s.Start(s.Execute(a, now), ++token, fence_, now);
    s.Apply(s.ReportOf(running, RunState::kCompleted, now + 1s), fence_, now + 1s);
  };
  const auto started = [&](WallTime now) {
    size_t count = 0;
    const auto ends = s.v(s.completions.ScanCompletions(s.All(), 10));
    EXPECT_EQ(ends.size(), 1u);
    for (const auto& effect : s.v(s.completions.Apply(ends, fence_, now))) {
      count += effect.started.size();
    }
    return count;
  };
  const auto session = database_.Connect();
  ASSERT_OK(session->Run("SET SESSION sql_mode = ''"));
  end(kT0);
  ASSERT_OK(session->Run("UPDATE run_completions SET state = 'MOON'"));
  EXPECT_EQ(started(kT0 + 2s), 0u);
  end(kT0 + 10s);
  EXPECT_EQ(started(kT0 + 12s), 1u);
  end(kT0 + 20s);
  ASSERT_OK(session->Run("UPDATE job_dependencies SET outcome = 'moon'"));
  EXPECT_EQ(started(kT0 + 22s), 0u);
}

}  // namespace
}  // namespace carillon::test
