// Bounds of the rows that the server reads for runs that wait for runs of other jobs.
#include <fmt/core.h>

#include "common/domain/workflow/node_key.h"
#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

class UpstreamReadsTest : public StoreReadsTest {
 protected:
  // `count` runs of a job, a second apart; `due`: SQL, of open ones; "" = COMPLETED.
  void Insert(const StoredJob& job, WallTime first, int64_t count, const std::string& due = "") {
    const bool open = !due.empty();
    const std::string segment = std::to_string(job.segment.value());
    ASSERT_OK(outside_->Run(fmt::format(
        "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
        "state, due_us, def_version) SELECT {} + seq * 1000000, {}, 0, {}, {}, {}, 'CRON', '{}', "
        "{}, {} FROM {} n",
        ToUnixMicros(first), job.schedules[0].schedule_id.value(), job.job_no.value(), segment,
        open ? segment : "NULL", open ? "PENDING" : "COMPLETED", open ? due : "0", job.version,
        Sequence(count))));
    ASSERT_OK(outside_->Ask("ANALYZE TABLE job_runs"));
  }
  // A run of the workflow, which has begun, and that of its only node.
  void InsertBegun(const StoredJob& flow, const StoredJob& node, WallTime fire, uint64_t number) {
    Insert(flow, fire - 1s, 1);
    ASSERT_OK(outside_->Run(fmt::format(
        "INSERT INTO workflow_runs (no, fire_us, schedule_id, shard, job_no, segment, def_version, "
        "deadline_us, parameters) VALUES ({}, {}, {}, 0, {}, {}, 1, 0, '{{}}')",
        number, ToUnixMicros(fire), flow.schedules[0].schedule_id.value(), flow.job_no.value(),
        flow.segment.value())));
    const RunKey key = NodeKey(fire, {.workflow_run_no = number}).value();
    ASSERT_OK(outside_->Run(fmt::format(
        "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, kind, state, due_us, "
        "def_version) VALUES ({}, {}, 0, {}, {}, 'WORKFLOW', 'COMPLETED', 0, 1)",
        ToUnixMicros(fire), key.schedule_id.value(), node.job_no.value(), node.segment.value())));
  }
  // Creates a job that starts after each of the fixture's jobs.
  void CreateAfterAll(const std::string& id) {
    JobDefinition after = driver().Manual();
    after.name = id;
    for (const StoredJob& job : jobs_) {
      after.schedules.push_back({.kind = ScheduleKind::kAfter, .upstream = job.job_id.value()});
    }
    driver().Create(id, after);
  }
  UpstreamSources SourcesOf(const StoredJob& job) {
    return driver().v(handle_.upstream().ReadSources({{.job = job.job_id}})).at(0);
  }
  UpstreamRuns RunsOf(const StoredJob& job, WallTime from, WallTime to) {
    const UpstreamSpan span{.sources = SourcesOf(job), .from = from, .to = to};
    return driver().v(handle_.upstream().ReadUpstreamRuns({span})).at(0);
  }
};

TEST_F(UpstreamReadsTest, AScanReadsTheRunsWhoseFiresHaveCome) {
  StoreDriver s = driver();
  const std::string awaiting = std::to_string(ToUnixMicros(kAwaiting));
  for (int i = 0; i < 4; ++i) Insert(jobs_[i], kT0 - 100s, 20, awaiting);
  Insert(jobs_[4], kT0 + 1h, 10'000, awaiting);
  Insert(jobs_[5], kT0 - 100s, 5'000, std::to_string(ToUnixMicros(kBlocked)));
  Insert(jobs_[6], kT0 - 100s, 5'000, std::to_string(ToUnixMicros(kQueued)));
  size_t found = 0;
  const auto scan = [&] {
    found = s.v(s.upstream.ScanAwaiting(s.All(), kT0, std::nullopt, 1'000)).runs.size();
  };
  scan();
  EXPECT_LT(RowsRead(scan), 500);
  EXPECT_EQ(found, 80u);
}

TEST_F(UpstreamReadsTest, APageOfAScanReadsItsShare) {
  StoreDriver s = driver();
  const std::string awaiting = std::to_string(ToUnixMicros(kAwaiting));
  for (int i = 0; i < 4; ++i) Insert(jobs_[i], kT0 - 1h, 3'000, awaiting);
  std::optional<RunKey> after;
  size_t found = 0;
  const auto page = [&] {
    AwaitingPage next = s.v(s.upstream.ScanAwaiting(s.All(), kT0, after, 1'000));
    found += next.runs.size();
    after = next.next;
  };
  page();
  EXPECT_LT(RowsRead(page), 6'000);
  while (after) page();
  EXPECT_EQ(found, 12'000u);
}

TEST_F(UpstreamReadsTest, RunsOfASpanAreReadAlone) {
  Insert(jobs_[1], kT0 - 10h, 20'000);
  size_t found = 0;
  const auto read = [&] { found = RunsOf(jobs_[1], kT0 - 9h, kT0 - 9h + 99s).runs.size(); };
  read();
  EXPECT_LT(RowsRead(read), 1'000);
  EXPECT_EQ(found, 100u);
}

TEST_F(UpstreamReadsTest, OfManyRunsTheNewestAreRead) {
  Insert(jobs_[1], kT0 - 10h, 6'000);
  const UpstreamRuns runs = RunsOf(jobs_[1], kT0 - 11h, kT0);
  EXPECT_EQ(runs.runs.size(), static_cast<size_t>(kUpstreamRunsMax));
  const WallTime newest = runs.runs.back().key.fire;
  EXPECT_EQ(runs.runs.front().key.fire, newest - Duration(1s) * (kUpstreamRunsMax - 1));
  EXPECT_EQ(runs.known_from, newest - Duration(1s) * kUpstreamRunsMax + 1us);
  EXPECT_EQ(RunsOf(jobs_[1], newest - 1h, kT0).known_from, WallTime{});
}

TEST_F(UpstreamReadsTest, OfABusyJobInAWorkflowOnlyTheNodesAreRead) {
  StoreDriver s = driver();
  JobDefinition definition = s.Every(1h);
  definition.type = JobType::kWorkflow;
  definition.command.clear();
  definition.timeout_s = 3'600;
  definition.workflow = WorkflowDefinition{.nodes = {{.id = "n", .job = jobs_[1].job_id}}};
  const StoredJob flow = s.Create("flow", definition);
  Insert(jobs_[1], kT0 - 10h, 20'000);
  for (uint64_t number = 1; number <= 20; ++number) {
    InsertBegun(flow, jobs_[1], kT0 - 10h + 5min * number, number);
  }
  const UpstreamTarget target{.job = jobs_[1].job_id, .in = flow.job_id};
  const UpstreamSpan span{
      .sources = s.v(s.upstream.ReadSources({target})).at(0), .from = kT0 - 11h, .to = kT0};
  UpstreamRuns found;
  const auto read = [&] { found = s.v(s.upstream.ReadUpstreamRuns({span})).at(0); };
  read();
  EXPECT_LT(RowsRead(read), 1'000);
  EXPECT_EQ(found.known_from, WallTime{}) << "those of the window are all known";
  ASSERT_EQ(found.runs.size(), 40u);
  EXPECT_EQ(std::ranges::count(found.runs, flow.job_no, &UpstreamRun::workflow), 20);
}

TEST_F(UpstreamReadsTest, RunsOfManyTargetsTakeFewStatements) {
  StoreDriver s = driver();
  for (const char* id : {"one", "two", "three", "four", "five", "six", "seven"}) CreateAfterAll(id);
  std::vector<UpstreamSpan> spans;
  for (const char* id : {"one", "two", "three", "four", "five", "six", "seven"}) {
    spans.push_back({.sources = s.v(s.upstream.ReadSources({{.job = JobId(id)}})).at(0),
                     .from = kT0 - 1h,
                     .to = kT0});
    ASSERT_EQ(spans.back().sources.by_end.size(), 8u);
  }
  const auto read = [&] { s.v(s.upstream.ReadUpstreamRuns(spans)); };
  read();
  // Of 63 jobs up to 32 at once, but those of a span together.
  EXPECT_EQ(Grown("'COM_STMT_EXECUTE'", read), 3);
}

TEST_F(UpstreamReadsTest, ALookAtManyTargetsTakesFewStatements) {
  StoreDriver s = driver();
  std::vector<UpstreamTarget> targets;
  for (int i = 0; i < 100; ++i) {
    const std::string id = "after" + std::to_string(i);
    JobDefinition after = s.Manual();
    after.name = id;
    after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "job" + std::to_string(i % 8)}};
    s.Create(id, after);
    targets.push_back({.job = JobId(id)});
  }
  std::vector<UpstreamSources> found;
  const auto read = [&] { found = s.v(s.upstream.ReadSources(targets)); };
  read();
  EXPECT_LE(Grown("'COM_STMT_EXECUTE'", read), 6);
  for (size_t i = 0; i < targets.size(); ++i) {
    EXPECT_EQ(found[i].jobs.size(), 2u);
    ASSERT_EQ(found[i].schedules.size(), 1u);
    EXPECT_EQ(found[i].schedules[0].job_no, jobs_[i % 8].job_no);
  }
}

TEST_F(UpstreamReadsTest, BackfillsOfOtherJobsAreNotRead) {
  const StoredJob& job = jobs_[1];
  const auto insert = [&](const std::string& job_no, const std::string& state, int64_t count) {
    ASSERT_OK(outside_->Run(fmt::format(
        "INSERT INTO backfills (job_no, segment, open_segment, schedule_id, from_us, to_us, "
        "descending, rerun, concurrency, state, cursor_us, run_keys, fires, actor, created_us) "
        "SELECT {}, {}, {}, 1, {}, {}, 0, 'none', 1, '{}', {}, '[]', 1, 'anna', 0 FROM {} n",
        job_no, job.segment.value(), job.segment.value(), ToUnixMicros(kT0 - 2h), ToUnixMicros(kT0),
        state, ToUnixMicros(kT0 - 1h), Sequence(count))));
  };
  insert("900000 + seq", "RUNNING", 20'000);
  insert(std::to_string(job.job_no.value()), "COMPLETED", 20);
  insert(std::to_string(job.job_no.value()), "PAUSED", 1);
  ASSERT_OK(outside_->Ask("ANALYZE TABLE backfills"));
  UpstreamSources found;
  const auto read = [&] { found = SourcesOf(job); };
  read();
  EXPECT_LT(RowsRead(read), 100);
  ASSERT_EQ(found.backfills.size(), 1u);
  EXPECT_EQ(found.backfills[0].from, kT0 - 1h);
  EXPECT_EQ(found.backfills[0].until, kT0);
}

}  // namespace
}  // namespace carillon::test
