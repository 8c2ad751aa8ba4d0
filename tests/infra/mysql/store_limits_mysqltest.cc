// Limits of the store: items that it refuses, large and unusual bytes, and how many rows a
// statement may read.
#include <fmt/core.h>

#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/base/rng.h"
#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

// Applies a batch as callers do: a refused batch is halved until the refused item is alone. Returns
// the number of refused items.
size_t Bisect(StoreDriver& s, const std::vector<ResultReport>& reports, const Fence& fence) {
  const auto applied = s.firing.ApplyResults(reports, fence, kT0 + 9s);
  if (applied.ok()) return 0;
  EXPECT_EQ(applied.code(), ErrorCode::kInvalid) << applied.error().message;
  if (reports.size() == 1) return 1;
  const auto middle = reports.begin() + static_cast<std::ptrdiff_t>(reports.size() / 2);
  return Bisect(s, {reports.begin(), middle}, fence) + Bisect(s, {middle, reports.end()}, fence);
}

TEST_F(StoreLimitsTest, PoisonedItemsAreRefusedAsInvalidAndTheRestCanBeApplied) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const std::vector<RunRow> rows = Running(s, fence, 16);
  std::vector<ResultReport> reports;
  for (const RunRow& row : rows) reports.push_back(s.ReportOf(row, RunState::kCompleted));
  reports[3].result.reason = std::string(33, 'x');  // longer than its column
  reports[7].result.output = std::string(mysql::kOutputBytesMax + 1, 'x');
  reports[11].result.reason = "\xff\xfe not text";
  reports[13].result.error = std::string(70'000, 'e');  // longer than its column
  EXPECT_EQ(Bisect(s, reports, fence), 4u);
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool poisoned = i == 3 || i == 7 || i == 11 || i == 13;
    EXPECT_EQ(s.Get(rows[i].key).row.state, poisoned ? RunState::kRunning : RunState::kCompleted)
        << i;
  }
}

TEST_F(StoreLimitsTest, IncarnationsAreRememberedUpToABoundAndKnownBeyondIt) {
  mysql::Pool pool({.session = database_.server().Session(database_.name()), .size = 2});
  mysql::Incarnations incarnations(8);
  std::vector<uint32_t> numbers;
  const auto key_of = [](int i) {
    return mysql::Incarnations::Key{ExecutorId("e" + std::to_string(i)), Incarnation("i")};
  };
  for (int i = 0; i < 50; ++i) {
    numbers.push_back(StoreDriver::v(incarnations.NumberOf(pool, key_of(i))));
    EXPECT_LE(incarnations.kept(), 8u);
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(StoreDriver::v(incarnations.NumberOf(pool, key_of(i))),
              numbers[static_cast<size_t>(i)]);
  }
  numbers.push_back(0);
  const auto session = database_.Connect();
  const mysql::Incarnations::Keys keys = StoreDriver::v(incarnations.Load(*session, numbers));
  ASSERT_EQ(keys.size(), 50u);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(keys.at(numbers[static_cast<size_t>(i)]), key_of(i));
  }
  EXPECT_LE(incarnations.kept(), 8u);
}

TEST_F(StoreLimitsTest, AnyBytesOfOutputComeBackAsTheyWere) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunRow row = Running(s, fence, 1).front();
  ResultReport report = s.ReportOf(row, RunState::kCompleted);
  for (int c = 0; c < 256; ++c) report.result.output.push_back(static_cast<char>(c));
  report.result.output += "\xc3\x28 \xf0\x9f\x94\x94";
  report.result.error = "\xff not text";
  report.result.output_truncated = true;
  s.Apply(report, fence, kT0 + 9s);
  EXPECT_EQ(s.Get(row.key).result, report.result);
}

TEST_F(StoreLimitsTest, BatchOfLargeOutputsIsCutToThePacketSize) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const std::vector<RunRow> rows = Running(s, fence, 120);
  std::vector<ResultReport> reports;
  for (size_t i = 0; i < rows.size(); ++i) {
    reports.push_back(s.ReportOf(rows[i], RunState::kCompleted));
    reports.back().result.output = std::string(128 << 10, static_cast<char>(i));
  }
  ASSERT_OK(s.firing.ApplyResults(reports, fence, kT0 + 9s));
  for (size_t i = 0; i < rows.size(); i += 37) {
    EXPECT_EQ(s.Get(rows[i].key).result.output, reports[i].result.output);
  }
}

class LongReasonTest : public StoreLimitsTest {
 protected:
  // Fires of 1,000 parts, so many that their reasons do not fit into one packet.
  std::vector<RunKey> Fires(StoreDriver& s, const StoredJob& job) {
    const Fence fence = s.Take();
    auto packet = outside_->Query("SELECT @@max_allowed_packet");
    CARILLON_CHECK(packet.ok() && packet->Next(), "packet");
    const uint64_t fires = packet->Unsigned(1) / (reason_.size() * kFanOutMax) + 1;
    std::vector<RunKey> owns;
    for (uint64_t i = 0; i < fires; ++i) {
      owns.push_back(s.Execute(job, kT0 + Duration(i)).key);
      ClaimRequest begin = s.ClaimOf(s.Get(owns.back()).row, i + 1);
      begin.executor = {};
      begin.incarnation = {};
      EXPECT_EQ(s.v(s.workflows.BeginParts({begin}, fence, kT0 + 1s)).verdict,
                ClaimVerdict::kAccepted);
    }
    return owns;
  }
  StoredJob Wide(StoreDriver& s) {
    JobDefinition definition = s.Manual();
    definition.shards = Shards{.total = kFanOutMax};
    return s.Create("job", definition);
  }
  static std::string Reason() {
    std::string reason;
    for (int i = 0; i < 1'000; ++i) reason += "\xf0\x9f\x94\x94";
    return reason;
  }

  const std::string reason_ = Reason();
  std::unique_ptr<mysql::Session> outside_ = database_.Connect();
};

// The reason of a cancel is written with each part.
TEST_F(LongReasonTest, AWriterSendsWhatFitsIntoAPacket) {
  StoreDriver s = driver();
  const std::vector<RunKey> owns = Fires(s, Wide(s));
  mysql::Incarnations incarnations(8);
  ASSERT_OK(outside_->Begin());
  {
    mysql::LockedRuns runs = s.v(mysql::LockRuns(*outside_, owns, incarnations));
    mysql::RunWriter writer(*outside_);
    for (auto& [key, run] : runs) {
      ASSERT_OK(mysql::CancelLocked(run, {*outside_, incarnations, writer},
                                    {.now = kT0 + 2s, .actor = "anna", .reason = reason_}));
    }
    ASSERT_OK(writer.Flush());
  }
  ASSERT_OK(outside_->Commit());
  for (RunKey key : owns) {
    key.shard = kFanOutMax;
    EXPECT_EQ(s.Get(key).row.state, RunState::kCancelled);
    EXPECT_EQ(s.Get(key).result.error, "cancelled by anna: " + reason_);
  }
}

TEST_F(LongReasonTest, ACancelOfAJobCountsTheRunsOfAllItsTransactions) {
  StoreDriver s = driver();
  const StoredJob job = Wide(s);
  const auto fires = static_cast<int64_t>(Fires(s, job).size());
  ASSERT_GE(fires, 2);
  EndedRuns ended;
  const WriteContext context{.now = kT0 + 2s, .actor = "anna", .reason = reason_, .ended = &ended};
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(job.job_id, context)), fires);
  EXPECT_EQ(ended[RunState::kCancelled], fires * kFanOutMax);
}

TEST_F(StoreLimitsTest, TextThatIsNotUtf8IsRefusedBeforeAnythingIsWritten) {
  StoreDriver s = driver();
  JobDefinition definition = s.Manual();
  definition.name = "\xff";
  EXPECT_CODE(s.jobs.CreateJob(JobId("a"), definition, {.now = kT0}), ErrorCode::kInvalid);
  EXPECT_CODE(s.jobs.GetJob(JobId("a")), ErrorCode::kNotFound);
}

TEST_F(StoreLimitsTest, RunIdInTheUsersViewIsTheRunId) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunRow row = Running(s, fence, 1).front();
  ResultReport report = s.ReportOf(row, RunState::kCompleted);
  report.result.output = "hello";
  s.Apply(report, fence, kT0 + 9s);
  const auto outside = database_.Connect();
  auto rows = outside->Query(
      "SELECT id, job_id, executor_id, status, output, "
      "DATE_FORMAT(start_time, '%Y-%m-%dT%H:%i:%s.%fZ') FROM job_logs");
  ASSERT_OK(rows);
  ASSERT_TRUE(rows->Next());
  EXPECT_EQ(rows->Text(1), EncodeRunId(row.key));
  EXPECT_EQ(rows->Text(2), "job");
  EXPECT_EQ(rows->Text(3), "e1");
  EXPECT_EQ(rows->Text(4), "COMPLETED");
  EXPECT_EQ(rows->Text(5), "hello");
  EXPECT_EQ(rows->Text(6), FormatRfc3339(report.result.started));
}

TEST_F(StoreLimitsTest, RunIdsInTheViewUseTheWholeAlphabet) {
  StoreDriver s = driver();
  const StoredJob job = s.Create("job", s.Manual());
  const auto outside = database_.Connect();
  Rng rng(7);
  for (int i = 0; i < 200; ++i) {
    ASSERT_OK(outside->Execute(
        "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, kind, state, due_us, "
        "def_version) VALUES (?, ?, ?, ?, 0, 'CRON', 'COMPLETED', 0, 1)",
        {static_cast<int64_t>(rng.Below(1ull << 56)), rng.Below(1ull << 52), rng.Below(1ull << 20),
         job.job_no.value()}));
  }
  auto rows = outside->Query(
      "SELECT l.id, r.fire_us, r.schedule_id, r.shard FROM job_logs l "
      "JOIN job_runs r ON r.fire_us = l.fire_us");
  ASSERT_OK(rows);
  size_t count = 0;
  for (; rows->Next(); ++count) {
    const RunKey key{rows->Time(2), ScheduleId(rows->Unsigned(3)),
                     static_cast<uint32_t>(rows->Unsigned(4))};
    EXPECT_EQ(rows->Text(1), EncodeRunId(key));
  }
  EXPECT_EQ(count, 200u);
}

// ---- what statements read -----------------------------------------------------------------------

TEST_F(StoreReadsTest, PlanClaimAndResultReadTheirOwnRowsOnly) {
  constexpr int64_t kReadsPerRow = 12;
  constexpr int64_t kReadsPerBatch = 1'200;  // reads of the counters, the fence and metadata
  StoreDriver s = driver();
  // The first call is not measured, because statements are prepared and dictionaries
  // read only once.
  const PlanBatch warm = PlanOf(1, 5'000);
  ASSERT_OK(s.firing.Plan(warm, fence_, kT0));
  for (const size_t count : {size_t{1}, size_t{1000}}) {
    const PlanBatch plan = PlanOf(count, 10'000 * static_cast<int64_t>(count));
    const int64_t bound = kReadsPerRow * static_cast<int64_t>(count) + kReadsPerBatch;
    EXPECT_LT(RowsRead([&] { ASSERT_OK(s.firing.Plan(plan, fence_, kT0)); }), bound) << count;
    const auto [claims, reports] = WorkOf(plan);
    EXPECT_LT(RowsRead([&] { ASSERT_OK(s.firing.Claim(claims, fence_, kT0 + 1h)); }), bound)
        << count;
    EXPECT_LT(RowsRead([&] { ASSERT_OK(s.firing.ApplyResults(reports, fence_, kT0 + 1h)); }), bound)
        << count;
    EXPECT_EQ(s.Get(plan.runs.back().key).row.state, RunState::kCompleted);
  }
}

TEST_F(StoreReadsTest, PlanClaimAndResultCostFewRoundTripsAndNoTablesOnDisk) {
  StoreDriver s = driver();
  std::vector<std::pair<int64_t, int64_t>> costs;  // statements and temporary tables of each step
  const auto step = [&](const auto& work) {
    int64_t tables = 0;
    const int64_t statements =
        Grown("'QUESTIONS'", [&] { tables = Grown("'CREATED_TMP_DISK_TABLES'", work); });
    costs.emplace_back(statements - 3, tables);  // without the three that read the counters
  };
  // The first round also opens connections and stores the incarnation.
  for (const size_t count : {size_t{1}, size_t{1000}}) {
    const PlanBatch plan = PlanOf(count, 10'000 * static_cast<int64_t>(count));
    const auto [claims, reports] = WorkOf(plan);
    step([&] { ASSERT_OK(s.firing.Plan(plan, fence_, kT0)); });
    step([&, &batch = claims] { ASSERT_OK(s.firing.Claim(batch, fence_, kT0 + 1h)); });
    step([&, &batch = reports] { ASSERT_OK(s.firing.ApplyResults(batch, fence_, kT0 + 1h)); });
    EXPECT_EQ(s.Get(plan.runs.back().key).row.state, RunState::kCompleted);
  }
  // The three statements: fence, runs or update, commit.
  for (const size_t i : {3, 4, 5}) EXPECT_EQ(costs[i], std::make_pair(int64_t{3}, int64_t{0})) << i;
}

TEST_F(StoreReadsTest, ScansReadNoMoreThanTheyAnswer) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  const WallTime until = kT0 + 48h;
  const auto scan_due = [&] { s.v(s.firing.ScanDue(s.All(), until, 8)); };
  const auto sweep = [&] { s.v(s.firing.ScanPending(s.All(), until, std::nullopt, 8)); };
  const auto list = [&] { s.v(s.runs.ListRuns({.job_id = jobs_[0].job_id, .limit = 8}, until)); };
  const auto newest = [&] { s.v(s.runs.ListRuns({.limit = 8}, until)); };
  scan_due();
  EXPECT_LT(RowsRead(scan_due), kReadsMax);
  EXPECT_LT(RowsRead(sweep), kReadsMax);
  EXPECT_LT(RowsRead(list), kReadsMax);
  EXPECT_LT(RowsRead(newest), kReadsMax);
}

TEST_F(StoreReadsTest, WatchdogReadsTheFirstScheduleOfEachSegmentWhateverTheStatistics) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  // The table's statistics still say eight schedules, as after a bulk creation.
  ASSERT_OK(outside_->Run("ALTER TABLE job_schedules STATS_AUTO_RECALC = 0"));
  ASSERT_OK(outside_->Execute(
      "INSERT INTO job_schedules (schedule_id, job_no, segment, position, version, job_version, "
      "next_fire_us, kind, cron_expression, dst_gap, dst_repeat, misfire_policy, "
      "misfire_grace_us, catch_up_window_us, catch_up_max, priority) SELECT 2000000 + seq, "
      "3000000 + seq, seq MOD ?, 0, 1, 1, ? + seq, 'cron', '0 0 * * *', 'run', 'first', 'once', "
      "0, 0, 0, 0 FROM " +
          Sequence(20'000) + " n",
      {uint64_t{kSegments}, ToUnixMicros(kT0 + 24h)}));
  OverdueReport report;
  const auto look = [&] { report = s.v(s.firing.ReadOverdue(kT0)); };
  look();
  EXPECT_LT(RowsRead(look), kReadsMax);
  EXPECT_EQ(report.oldest_unplanned_fire, kT0 + 1h);
  const auto look_late = [&] { report = s.v(s.firing.ReadOverdue(kT0 + 2h)); };
  EXPECT_LT(RowsRead(look_late), kReadsMax);
  EXPECT_FALSE(report.unplanned_jobs.empty());
}

TEST_F(StoreReadsTest, CountsEndAtTheirBounds) {
  constexpr int64_t kOverhead = 1'500;
  constexpr auto kCounted = static_cast<int64_t>(kListedCountMax);
  constexpr auto kLookedAt = static_cast<int64_t>(kCountLookedAtMax);
  StoreDriver s = driver();
  FillJobs(*outside_);
  const auto all = [&] { s.v(s.jobs.CountJobs({})); };
  const auto of_one = [&] { s.v(s.jobs.CountJobs({.namespaces = {"team-2"}})); };
  const auto search = [&] { s.v(s.jobs.CountJobs({.name_contains = "nothing"})); };
  const auto runs = [&] { s.v(s.runs.CountRuns({}, kT0 + 48h)); };
  const auto of_job = [&] { s.v(s.runs.CountRuns({.job_id = jobs_[0].job_id}, kT0 + 48h)); };
  all();
  // The server copies the counted rows into a temporary table first.
  for (const auto& count : std::vector<std::function<void()>>{all, of_one, runs, of_job}) {
    EXPECT_LT(RowsRead(count), 3 * kCounted + kOverhead);
  }
  EXPECT_LT(RowsRead(search), 3 * kLookedAt + kOverhead);
}

TEST_F(StoreReadsTest, ThePageAfterTheFirstIsFoundByTheIndex) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  std::optional<std::pair<WallTime, RunKey>> after;
  std::vector<RunKey> seen;
  for (int page = 0; page < 20; ++page) {
    PendingPage found;
    EXPECT_LT(RowsRead([&] { found = s.v(s.firing.ScanPending(s.All(), kT0 + 48h, after, 50)); }),
              kReadsMax)
        << page;
    for (const RunRow& row : found.runs) seen.push_back(row.key);
    after = found.next;
    ASSERT_TRUE(after.has_value());
  }
  EXPECT_EQ(seen.size(), 1'000u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_F(StoreLimitsTest, OpenRunsOfAJobAreFoundWhateverItsHistoryAndItsNeighbours) {
  StoreDriver s = driver();
  const StoredJob long_lived = s.Create("long", s.Manual());
  const StoredJob young = s.Create("young", s.Manual());
  const auto history = [&](const StoredJob& job, int64_t count, const std::string& open) {
    handle_.Run("DROP TABLE IF EXISTS digits");
    handle_.Run("CREATE TABLE digits (d BIGINT NOT NULL)");
    handle_.Run("INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
    const std::string n = "(1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d)";
    const std::string state = open == "NULL" ? "'COMPLETED'" : "'PENDING'";
    handle_.Run(fmt::format(
        "INSERT INTO job_runs (fire_us, schedule_id, job_no, segment, open_segment, kind, state, "
        "due_us, def_version) SELECT {}, {}, {}, {}, {}, 'CRON', {}, {}, 1 FROM digits a, digits "
        "b, digits c, digits e WHERE {} <= {}",
        n, 900 + job.job_no.value(), job.job_no.value(), job.segment.value(), open, state, n, n,
        count));
  };
  history(long_lived, mysql::kRunsOfJobReadMax + 100, "NULL");
  history(young, 50, std::to_string(young.segment.value()));
  for (int i = 0; i < 3; ++i) s.Execute(long_lived, kT0);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(long_lived.job_id, {.now = kT0 + 1s})), 3);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(young.job_id, {.now = kT0 + 1s})), 50);
}

TEST_F(StoreReadsTest, PendingRunsOfAJobAreReadWithoutItsHistory) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  const StoredJob job = s.Create("long", s.Manual());
  ASSERT_OK(outside_->Run(fmt::format(
      "INSERT INTO job_runs (fire_us, schedule_id, job_no, segment, open_segment, kind, state, "
      "due_us, def_version) SELECT seq, 7, {}, {}, NULL, 'CRON', 'COMPLETED', seq, 1 FROM "
      "{} n",
      job.job_no.value(), job.segment.value(), Sequence(20'000))));
  ASSERT_OK(outside_->Ask("ANALYZE TABLE job_runs"));
  const RunRow waits = s.Execute(job, kT0);
  for (const Duration ahead : {0s, 30s}) {
    JobPendingPage page;
    const JobWindow window{.job_no = job.job_no, .from = kT0, .to = kT0 + ahead};
    const auto look = [&] { page = s.v(s.firing.ScanPendingOfJob(window, std::nullopt, 1'000)); };
    look();
    EXPECT_LT(RowsRead(look), kReadsMax);
    ASSERT_EQ(page.runs.size(), 1u);
    EXPECT_EQ(page.runs[0].key, waits.key);
  }
}

TEST_F(StoreLimitsTest, ReadThatTakesTooLongIsEndedByTheServer) {
  const auto session = database_.Connect();
  ASSERT_OK(session->LimitReads(50ms));
  const auto slow = session->Ask(
      "SELECT COUNT(*) FROM information_schema.COLUMNS a, information_schema.COLUMNS b, "
      "information_schema.COLUMNS c, information_schema.COLUMNS d");
  EXPECT_CODE(slow, ErrorCode::kExhausted);
}

TEST_F(StoreLimitsTest, LimitOfAListStaysNotOnTheConnection) {
  StoreDriver s = driver();
  s.Create("job", s.Manual());
  s.v(s.jobs.ListJobs({}));
  s.v(s.runs.ListRuns({}, kT0));
  s.v(s.runs.ListGaps({}));
  s.v(s.runs.CountOpenRuns());
  for (int i = 0; i < 4; ++i) {
    const auto lease = s.v(handle_.stores().db.pool().Acquire("test"));
    auto rows = s.v(lease->Ask(lease->is_mariadb() ? "SELECT @@SESSION.max_statement_time = 0"
                                                   : "SELECT @@SESSION.max_execution_time = 0"));
    ASSERT_TRUE(rows.Next());
    EXPECT_EQ(rows.Int(1), 1);
  }
}

}  // namespace
}  // namespace carillon::test
