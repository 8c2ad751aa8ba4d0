// Daily partitions: they are created ahead of time, and dropped when none of their runs is open.
#include <atomic>
#include <future>
#include <thread>

#include "common/adapters/mysql/operations/run_retention.h"
#include "common/adapters/mysql/schema/partitions.h"
#include "tests/infra/mysql/schema_fixture.h"

namespace carillon::test {
namespace {

class PartitionTest : public SchemaTest {
 protected:
  void SetUp() override {
    today_ = StoreDriver::v(handle_.segments().Now());
    today_ -= today_.time_since_epoch() % Duration(24h);
  }
  StoreDriver driver() { return StoreDriver(handle_); }
  std::vector<std::string> Names(const std::string& table = "job_runs") {
    auto rows = outside_->Query(
        "SELECT PARTITION_NAME FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = "
        "DATABASE() AND TABLE_NAME = ? ORDER BY PARTITION_ORDINAL_POSITION",
        {table});
    CARILLON_CHECK(rows.ok(), "partitions");
    std::vector<std::string> names;
    while (rows->Next()) names.push_back(rows->Text(1));
    return names;
  }
  int64_t RowsIn(const std::string& partition) {
    return Number(*outside_, "SELECT COUNT(*) FROM job_runs PARTITION (" + partition + ")");
  }
  // Creates a manual run at `at` and completes it.
  RunKey Finished(StoreDriver& s, const StoredJob& job, const Fence& fence, WallTime at) {
    const RunRow row = s.Start(s.Execute(job, at), ++tokens_, fence, at);
    s.Apply(s.ReportOf(row, RunState::kCompleted, at), fence, at);
    return row.key;
  }

  MysqlHandle handle_{database_.Open(kSegments)};
  std::unique_ptr<mysql::Session> outside_ = database_.Connect();
  WallTime today_;
  uint64_t tokens_ = 0;
};

TEST_F(PartitionTest, EveryDayGetsItsPartitionAheadOfTime) {
  StoreDriver s = driver();
  const size_t before = Names().size();
  ASSERT_OK(s.housekeeping.Maintain(today_, {.runs = 14 * 24h}));
  EXPECT_EQ(Names().size(), before);  // the partitions already exist
  ASSERT_OK(s.housekeeping.Maintain(today_ + 24h, {.runs = 14 * 24h}));
  ASSERT_OK(s.housekeeping.Maintain(today_ + 48h, {.runs = 14 * 24h}));
  EXPECT_EQ(Names().size(), before + 2);
  EXPECT_EQ(Names("run_attempts"), Names());
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  for (int day = 0; day < 5; ++day) s.Execute(job, today_ + day * 24h + 1h);
  EXPECT_EQ(RowsIn("p_past"), 0);
  EXPECT_EQ(RowsIn("p_future"), 0);
}

// While a read takes seconds, claims must not wait behind the drop of a day's partition.
TEST_F(PartitionTest, RetentionDoesNotQueueForATableThatIsRead) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunKey first = Finished(s, job, fence, today_ + 1h);
  const auto reader = database_.Connect();
  ASSERT_OK(LetIdleInTransactions(*reader));
  ASSERT_OK(reader->Begin());
  ASSERT_OK(reader->Ask("SELECT COUNT(*) FROM job_runs"));  // locks the table until its end
  std::atomic<bool> ended = false;
  std::thread upkeep([&] {
    EXPECT_CODE(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}),
                ErrorCode::kUnavailable);
    ended = true;
  });
  int64_t queued = 0;
  while (!ended) {
    mysql::Rows rows = StoreDriver::v(
        outside_->Ask("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE "
                      "'Waiting for table metadata lock'"));
    ASSERT_TRUE(rows.Next());
    queued = std::max(queued, rows.Int(1));
  }
  upkeep.join();
  EXPECT_TRUE(queued == 0 || OnMysql())
      << queued;  // whose LOCK TABLES has no NOWAIT: it queues for a second
  ASSERT_OK(reader->Commit());
  ASSERT_OK(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(first), ErrorCode::kNotFound);
}

// If the drop never queued for the lock, it would never get a table that is always in use.
TEST_F(PartitionTest, RetentionQueuesForATableThatIsAlwaysInUse) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const RunKey first = Finished(s, s.Create("a", s.Manual()), fence, today_ + 1h);
  const auto reader = database_.Connect();
  ASSERT_OK(LetIdleInTransactions(*reader));
  ASSERT_OK(reader->Begin());
  ASSERT_OK(reader->Ask("SELECT COUNT(*) FROM job_runs"));
  const auto is_queued = [&] {
    return Number(*outside_,
                  "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting "
                  "for table metadata lock'") > 0;
  };
  int refusals = 0;
  bool queued = false;
  for (; refusals < 20 && !queued; ++refusals) {
    auto upkeep = std::async(std::launch::async, [&] {
      return handle_.housekeeping().Maintain(today_ + 20 * 24h, {.runs = 14 * 24h});
    });
    while (!queued && upkeep.wait_for(0s) != std::future_status::ready) queued = is_queued();
    if (queued) {
      ASSERT_OK(reader->Commit());
    } else {
      EXPECT_CODE(upkeep.get(), ErrorCode::kUnavailable);
    }
  }
  EXPECT_TRUE(queued);
  EXPECT_GT(refusals, OnMysql() ? 0 : mysql::kRefusalsBeforeQueueing);
  ASSERT_OK(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(first), ErrorCode::kNotFound);
  EXPECT_EQ(Names("run_attempts"), Names());
}

TEST(PartitionQueueTest, GrowsToATenthOfASecond) {
  EXPECT_EQ(mysql::QueueFor(0), Duration{});
  EXPECT_EQ(mysql::QueueFor(2), Duration{});
  EXPECT_EQ(mysql::QueueFor(3), 10ms);
  EXPECT_EQ(mysql::QueueFor(4), 20ms);
  EXPECT_EQ(mysql::QueueFor(1'000'000), 100ms);
}

TEST_F(PartitionTest, LongStandstillIsBridgedByAFewPartitions) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  s.Execute(job, today_ + 100 * 24h);  // waits in p_future
  ASSERT_OK(s.housekeeping.Maintain(today_ + 400 * 24h, {.runs = 1000 * 24h}));
  EXPECT_LE(Names().size(), 60u);
  EXPECT_EQ(RowsIn("p_future"), 0);
  EXPECT_EQ(s.Pending(today_ + 400 * 24h).size(), 1u);
}

TEST_F(PartitionTest, RetentionDropsOldDaysButNotOnesWithSomethingOpen) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunKey first = Finished(s, job, fence, today_ + 1h);
  const RunKey second = Finished(s, job, fence, today_ + 25h);
  const RunRow open = s.Execute(job, today_ + 26h);
  const size_t before = Names().size();
  ASSERT_OK(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(first), ErrorCode::kNotFound);
  EXPECT_EQ(s.Get(second).row.state, RunState::kCompleted);
  EXPECT_EQ(s.Get(open.key).row, open);
  EXPECT_TRUE(s.v(s.runs.CancelRun(open.key, {.now = today_ + 26h})));
  ASSERT_OK(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(second), ErrorCode::kNotFound);
  EXPECT_LT(Names().size(), before + 20);
  EXPECT_EQ(Names("run_attempts"), Names());
}

TEST_F(PartitionTest, IncarnationsGoWhenNoRunIsLeftOfThem) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.on_lost = OnLost::kHold;
  const StoredJob job = s.Create("a", definition);
  const auto claim_as = [&](const std::string& incarnation) {
    s.v(s.executors.RegisterExecutor({.id = ExecutorId("e1"),
                                      .incarnation = Incarnation(incarnation),
                                      .last_heartbeat = today_,
                                      .registered = today_}));
    ClaimRequest request = s.ClaimOf(s.Execute(job, today_), ++tokens_);
    request.incarnation = Incarnation(incarnation);
    EXPECT_EQ(s.Claim(request, fence, today_ + 1s).verdict, ClaimVerdict::kAccepted);
    return s.Get(request.key).row;
  };
  const auto count = [&] {
    auto rows = s.v(outside_->Ask("SELECT COUNT(*) FROM executor_incarnations"));
    rows.Next();
    return rows.Int(1);
  };
  const RunRow done = claim_as("x1");
  const RunRow held = claim_as("x2");
  const RunRow last = claim_as("x3");
  for (const RunRow& row : {done, last}) {
    s.Apply(s.ReportOf(row, RunState::kCompleted), fence, today_ + 2s);
  }
  s.Lose(held, fence, today_ + 1min);
  ASSERT_OK(s.housekeeping.Maintain(today_ + 1h, {.runs = 14 * 24h}));
  EXPECT_EQ(count(), 3);
  // Incarnation x1 is deleted. x2 stays because it has an open run, x3 because it is current.
  ASSERT_OK(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(count(), 2);
  s.v(s.runs.CancelRun(held.key, {.now = today_ + 20 * 24h, .confirm_overlap = true}));
  ASSERT_OK(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(count(), 1);
}

TEST_F(PartitionTest, OpenReaderDelaysTheDropButBlocksNobody) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunKey old = Finished(s, job, fence, today_ + 1h);
  ASSERT_OK(LetIdleInTransactions(*outside_));
  ASSERT_OK(outside_->Begin());
  ASSERT_OK(outside_->Ask("SELECT COUNT(*) FROM job_runs"));
  EXPECT_CODE(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}),
              ErrorCode::kUnavailable);
  EXPECT_EQ(s.Get(old).row.state, RunState::kCompleted);
  Finished(s, job, fence, today_ + 2h);  // writers continue
  ASSERT_OK(outside_->Commit());
  ASSERT_OK(s.housekeeping.Maintain(today_ + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.runs.GetRun(old), ErrorCode::kNotFound);
}

// The copy of a run is made before its day is dropped. Meanwhile the run may change.
TEST_F(PartitionTest, CopiesOfKeptRunsAreThoseOfTheDrop) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow run = s.Start(s.Execute(job, today_ + 1h), ++tokens_, fence, today_ + 1h);
  s.Apply(s.ReportOf(run, RunState::kFailed, today_ + 1h), fence, today_ + 1h);
  const WallTime later = today_ + 20 * 24h;
  const auto maintain = [&] {
    return s.housekeeping.Maintain(later, {.runs = 14 * 24h, .keep_last = 3});
  };
  ASSERT_OK(s.housekeeping.Maintain(later, {.runs = 20 * 24h}));  // this day is the oldest one
  ASSERT_OK(LetIdleInTransactions(*outside_));
  ASSERT_OK(outside_->Begin());
  ASSERT_OK(outside_->Ask("SELECT COUNT(*) FROM job_runs"));
  EXPECT_CODE(maintain(), ErrorCode::kUnavailable);
  const auto reader = database_.Connect();
  EXPECT_EQ(Number(*reader, "SELECT COUNT(*) FROM kept_runs"), 1);
  const RunFilter of_job{.job_id = job.job_id};
  EXPECT_EQ(s.v(s.runs.ListRuns(of_job, later)).runs.size(), 1u);
  EXPECT_EQ(s.v(s.runs.CountRuns(of_job, later)).seen, 1u);
  EXPECT_FALSE(s.Get(run.key).kept);
  s.v(s.runs.RetryRun({.key = run.key}, {.now = later}));
  EXPECT_EQ(s.v(s.runs.ListRuns(of_job, later)).runs[0].row.state, RunState::kPending);
  const RunRow again = s.Start(s.Get(run.key).row, ++tokens_, fence, later);
  s.Apply(s.ReportOf(again, RunState::kCompleted, later), fence, later);
  ASSERT_OK(outside_->Commit());
  EXPECT_EQ(s.v(maintain()), Upkeep::kBehind);  // the copy is of the first attempt
  EXPECT_EQ(s.v(maintain()), Upkeep::kDone);
  const RunDetail kept = s.Get(run.key);
  EXPECT_TRUE(kept.kept);
  EXPECT_EQ(kept.row.state, RunState::kCompleted);
  EXPECT_EQ(kept.row.attempt, 2);
}

TEST_F(PartitionTest, LastRunsAreKeptInBoundedSteps) {
  StoreDriver s = driver();
  const StoredJob job = s.Create("a", s.Manual());
  s.Execute(job, today_ + 48h);  // the row that is copied; it stays open
  // A job for each run, so that each is the last one of its job.
  const auto fill = [&](const std::string& table, const std::string& columns,
                        const std::string& values) {
    ASSERT_OK(outside_->Execute(
        "INSERT INTO " + table + " (" + columns + ") SELECT " + values + " FROM " +
            Sequence(2'500) + " n JOIN jobs j ON j.job_no = " + std::to_string(job.job_no.value()),
        {}));
  };
  std::string columns;
  {
    mysql::Rows rows = s.v(outside_->Ask(
        "SELECT GROUP_CONCAT(COLUMN_NAME SEPARATOR ', ') FROM information_schema.COLUMNS WHERE "
        "TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'jobs' AND COLUMN_NAME NOT IN ('job_no', "
        "'job_id') AND EXTRA NOT LIKE '%GENERATED%'"));
    ASSERT_TRUE(rows.Next());
    columns = rows.Text(1);
  }
  fill("jobs", "job_no, job_id, " + columns, "1000000 + n.seq, CONCAT('copy-', n.seq), " + columns);
  const std::string fire = std::to_string(ToUnixMicros(today_)) + " + n.seq";
  fill("job_runs",
       "fire_us, schedule_id, shard, job_no, segment, kind, state, due_us, def_version, ended_us",
       fire + ", 9000000 + n.seq, 0, 1000000 + n.seq, 0, 'MANUAL', 'COMPLETED', " + fire + ", 1, " +
           fire);
  const WallTime later = today_ + 20 * 24h;
  int behind = 0;
  while (s.v(s.housekeeping.Maintain(later, {.runs = 14 * 24h, .keep_last = 1})) ==
         Upkeep::kBehind) {
    ++behind;
  }
  EXPECT_EQ(behind, 2);  // kKeptJobsPerCall
  EXPECT_EQ(Number(*outside_, "SELECT COUNT(*) FROM kept_runs"), 2'500);
  EXPECT_EQ(Number(*outside_, "SELECT COUNT(*) FROM job_runs"), 1);
}

TEST_F(PartitionTest, RetryThatReopensAnOldRunWinsOrLosesWhole) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  for (int round = 0; round < 5; ++round) {
    const WallTime day = today_ + round * 24h;
    const RunRow row = s.Start(s.Execute(job, day + 1h), ++tokens_, fence, day + 1h);
    s.Apply(s.ReportOf(row, RunState::kFailed, day + 1h), fence, day + 1h);
    auto retried = std::async(std::launch::async, [&] {
      return handle_.runs().RetryRun({.key = row.key}, {.now = day + 20 * 24h});
    });
    const Result<Upkeep> kept = s.housekeeping.Maintain(day + 20 * 24h, {.runs = 14 * 24h});
    EXPECT_TRUE(kept.ok() || kept.code() == ErrorCode::kUnavailable);
    const Result<RunDetail> retry = retried.get();
    if (retry.ok()) {
      EXPECT_EQ(s.Get(row.key).row.state, RunState::kPending);
    } else {
      EXPECT_EQ(retry.code(), ErrorCode::kNotFound) << retry.error().message;
    }
  }
}

TEST_F(PartitionTest, ShortRetentionDeletesABoundedNumberOfRunsPerCall) {
  StoreDriver s = driver();
  JobDefinition brief = s.Manual();
  brief.retention_days = 2;
  const StoredJob job = s.Create("a", brief);
  const StoredJob second = s.Create("b", brief);
  s.Create("c", s.Manual());
  const int64_t first_us = ToUnixMicros(today_);
  const auto fill = [&](const StoredJob& of, int64_t count) {
    s.Execute(of, today_);  // the row that is copied; it stays open
    ASSERT_OK(outside_->Execute(
        "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, kind, state, due_us, "
        "def_version, ended_us) SELECT ? + n.seq, r.schedule_id, 0, r.job_no, r.segment, r.kind, "
        "'COMPLETED', ? + n.seq, 1, ? + n.seq FROM " +
            Sequence(1'500) +
            " n JOIN job_runs r ON r.job_no = ? "
            "AND r.fire_us = ? WHERE n.seq <= ?",
        {first_us, first_us, first_us, of.job_no.value(), first_us, count}));
  };
  fill(job, 1500);
  fill(second, 700);
  ASSERT_OK(
      outside_->Execute("INSERT INTO run_attempts (fire_us, schedule_id, shard, attempt, "
                        "state) SELECT fire_us, schedule_id, shard, 1, 'LOST' FROM job_runs",
                        {}));
  const auto left = [&](const char* table) {
    return Number(*outside_, std::string("SELECT COUNT(*) FROM ") + table);
  };
  const WallTime later = today_ + 3 * 24h;
  EXPECT_EQ(s.v(s.housekeeping.Maintain(later, {.runs = 14 * 24h})), Upkeep::kBehind);
  EXPECT_EQ(left("job_runs"), 2202 - mysql::kShortLivedRunsPerCall);
  EXPECT_EQ(left("run_attempts"), 2202 - mysql::kShortLivedRunsPerCall);
  while (s.v(s.housekeeping.Maintain(later, {.runs = 14 * 24h})) == Upkeep::kBehind) continue;
  EXPECT_EQ(left("job_runs"), 2);  // the open ones
  EXPECT_EQ(left("run_attempts"), 2);
}

TEST_F(PartitionTest, ShortRetentionDeletesABoundedNumberOfDeadLettersPerCall) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  JobDefinition brief = s.Manual();
  brief.retention_days = 2;
  const StoredJob job = s.Create("a", brief);
  const RunRow row = s.Start(s.Execute(job, today_), ++tokens_, fence, today_);
  s.Apply(s.ReportOf(row, RunState::kFailed, today_), fence, today_);
  const int64_t first_us = ToUnixMicros(today_);
  ASSERT_OK(outside_->Execute(
      "INSERT INTO dead_letters (fire_us, schedule_id, shard, job_no, state, attempts, created_us) "
      "SELECT ? + n.seq, 1, 0, ?, 'FAILED', 1, ? + n.seq FROM " +
          Sequence(12'000) + " n",
      {first_us, job.job_no.value(), first_us}));
  const auto left = [&](const char* table) {
    return Number(*outside_, std::string("SELECT COUNT(*) FROM ") + table);
  };
  const WallTime later = today_ + 3 * 24h;
  EXPECT_EQ(s.v(s.housekeeping.Maintain(later, {.runs = 14 * 24h})), Upkeep::kBehind);
  EXPECT_EQ(left("dead_letters"), 12'001 - mysql::kShortLivedRowsPerCall);
  EXPECT_EQ(left("job_runs"), 1) << "letters go first, so that none is left without its run";
  while (s.v(s.housekeeping.Maintain(later, {.runs = 14 * 24h})) == Upkeep::kBehind) continue;
  EXPECT_EQ(left("dead_letters"), 0);
  EXPECT_EQ(left("job_runs"), 0);
}

// A call ends after a bounded number of rows, not of fires.
TEST_F(PartitionTest, ShortRetentionCountsThePartsOfFires) {
  StoreDriver s = driver();
  JobDefinition brief = s.Manual();
  brief.retention_days = 2;
  const StoredJob job = s.Create("a", brief);
  s.Execute(job, today_);  // the row that is copied; it stays open
  const int64_t first_us = ToUnixMicros(today_);
  // Twelve fires; row n of all is part n % 1001 of fire n / 1001, and part 0 the own run.
  ASSERT_OK(outside_->Execute(
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, kind, state, due_us, "
      "def_version, ended_us, flags, shard_total) SELECT ? + 1 + (n.seq - 1) DIV 1001, "
      "r.schedule_id, (n.seq - 1) MOD 1001, r.job_no, r.segment, IF((n.seq - 1) MOD 1001 = 0, "
      "'MANUAL', 'SHARD'), 'COMPLETED', r.due_us, 1, ? + 99, IF((n.seq - 1) MOD 1001 = 0, 4096, "
      "0), 1000 FROM " +
          Sequence(12'012) + " n JOIN job_runs r ON r.job_no = ? AND r.fire_us = ?",
      {first_us, first_us, job.job_no.value(), first_us}));
  const auto left = [&] { return Number(*outside_, "SELECT COUNT(*) FROM job_runs"); };
  ASSERT_EQ(left(), 12'013);
  const WallTime later = today_ + 3 * 24h;
  EXPECT_EQ(s.v(s.housekeeping.Maintain(later, {.runs = 14 * 24h})), Upkeep::kBehind);
  EXPECT_EQ(left(), 12'013 - 10 * 1'001);
  while (s.v(s.housekeeping.Maintain(later, {.runs = 14 * 24h})) == Upkeep::kBehind) continue;
  EXPECT_EQ(left(), 1);
}

// Not all of a workflow in one transaction: its nodes may have 1,000 parts each.
TEST_F(PartitionTest, ShortRetentionDeletesThePartsOfNodesFireByFire) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  JobDefinition brief = s.Manual();
  brief.retention_days = 2;
  const StoredJob job = s.Create("a", brief);
  const RunKey own = Finished(s, job, fence, today_);
  ASSERT_OK(outside_->Execute(
      "INSERT INTO workflow_runs (no, fire_us, schedule_id, shard, job_no, segment, def_version, "
      "deadline_us, parameters) VALUES (1, ?, ?, 0, ?, ?, 1, 0, '')",
      {ToUnixMicros(own.fire), own.schedule_id.value(), job.job_no.value(),
       uint64_t{job.segment.value()}}));
  // Three nodes; row n of all is part n % 1001 of node n / 1001, and part 0 the own run.
  ASSERT_OK(outside_->Execute(
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, kind, state, due_us, "
      "def_version, ended_us, flags, shard_total) SELECT r.fire_us, 2251799813685248 + 1024 + "
      "(n.seq - 1) DIV 1001, (n.seq - 1) MOD 1001, r.job_no, r.segment, IF((n.seq - 1) MOD 1001 = "
      "0, 'WORKFLOW', 'SHARD'), 'COMPLETED', r.due_us, 1, r.ended_us, IF((n.seq - 1) MOD 1001 = 0, "
      "4100, 8192), 1000 FROM " +
          Sequence(3'003) + " n JOIN job_runs r ON r.fire_us = ? AND r.schedule_id = ?",
      {ToUnixMicros(own.fire), own.schedule_id.value()}));
  const auto commits = [&] {
    mysql::Rows rows =
        StoreDriver::v(outside_->Ask("SHOW GLOBAL STATUS WHERE Variable_name IN ('COM_COMMIT')"));
    return rows.Next() ? std::stoll(rows.Text(2)) : 0;
  };
  const auto commits_of_a_call = [&] {
    const auto before = commits();
    EXPECT_OK(s.housekeeping.Maintain(today_ + 3 * 24h, {.runs = 14 * 24h}));
    return commits() - before;
  };
  ASSERT_EQ(Number(*outside_, "SELECT COUNT(*) FROM job_runs"), 3'004);
  int64_t most = 0;
  for (int i = 0; i < 3; ++i) most = std::max<int64_t>(most, commits_of_a_call());
  EXPECT_EQ(Number(*outside_, "SELECT COUNT(*) FROM job_runs"), 0);
  EXPECT_GE(most, commits_of_a_call() + 4);
}

TEST_F(PartitionTest, ShortRetentionIsReadFromTheIndexOfTheJob) {
  mysql::Rows rows = StoreDriver::v(
      outside_->Query(std::string(OnMysql() ? "EXPLAIN FORMAT=TRADITIONAL" : "EXPLAIN") +
                          " SELECT r.fire_us FROM job_runs r FORCE INDEX (by_job) WHERE r.job_no = "
                          "? AND r.fire_us < ? AND "
                          "r.open_segment IS NULL AND r.ended_us < ? ORDER BY r.fire_us LIMIT 1000",
                      {1, ToUnixMicros(today_), ToUnixMicros(today_)}));
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.Text(OnMysql() ? 5 : 4), "range");
  EXPECT_EQ(rows.Text(OnMysql() ? 7 : 6), "by_job");
}

// A retry by hand while its run is deleted either finds the run, and keeps it, or does not.
TEST_F(PartitionTest, RetryDuringShortRetentionWinsOrLosesWhole) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  JobDefinition brief = s.Manual();
  brief.retention_days = 1;
  const StoredJob job = s.Create("a", brief);
  for (int round = 0; round < 5; ++round) {
    const WallTime at = today_ + round * 1h;
    const RunRow row = s.Start(s.Execute(job, at), ++tokens_, fence, at);
    s.Apply(s.ReportOf(row, RunState::kFailed, at), fence, at);
    auto retried = std::async(std::launch::async, [&] {
      return handle_.runs().RetryRun({.key = row.key}, {.now = at + 25h});
    });
    const Result<Upkeep> kept = s.housekeeping.Maintain(at + 25h, {.runs = 14 * 24h});
    EXPECT_TRUE(kept.ok() || kept.code() == ErrorCode::kUnavailable);
    const Result<RunDetail> retry = retried.get();
    if (retry.ok()) {
      EXPECT_EQ(s.Get(row.key).row.state, RunState::kPending);
    } else {
      EXPECT_EQ(retry.code(), ErrorCode::kNotFound) << retry.error().message;
    }
  }
}

}  // namespace
}  // namespace carillon::test
