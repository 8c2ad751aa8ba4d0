// Fixtures on MariaDB that measure how many rows the server reads during some work.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {

class StoreLimitsTest : public ::testing::Test {
 protected:
  StoreDriver driver() { return StoreDriver(handle_); }

  // Starts `count` manual runs of a new job.
  std::vector<RunRow> Running(StoreDriver& s, const Fence& fence, size_t count) {
    const StoredJob job = s.Create("job", s.Manual());
    std::vector<ClaimRequest> requests;
    for (size_t i = 0; i < count; ++i) requests.push_back(s.ClaimOf(s.Execute(job, kT0), i + 1));
    s.v(s.firing.Claim(requests, fence, kT0 + 1s));
    std::vector<RunRow> rows;
    for (const ClaimRequest& request : requests) rows.push_back(s.Get(request.key).row);
    return rows;
  }

  MariadbDatabase database_;
  MysqlHandle handle_{database_.Open(kSegments)};
};

// A store with many rows, so that a query plan that does not use the primary key is detected.
class StoreReadsTest : public StoreLimitsTest {
 protected:
  static constexpr int64_t kHistoryRows = 20'000;

  void SetUp() override {
    StoreDriver s = driver();
    fence_ = s.Take();
    JobDefinition definition = s.Every(1h);
    for (int i = 0; i < 8; ++i) {
      jobs_.push_back(s.Create("job" + std::to_string(i), definition));
    }
    outside_ = database_.Connect();
    // Adds runs one hour before the runs of the test, in the same partition. A tenth of
    // them is open.
    ASSERT_OK(outside_->Execute(
        "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
        "state, due_us, def_version) SELECT ? + seq, 1000000 + seq MOD 100, 0, ?, ?, "
        "IF(seq MOD 10 = 0, ?, NULL), 'CRON', IF(seq MOD 10 = 0, 'PENDING', 'COMPLETED'), "
        "? + seq, 1 FROM " +
            Sequence(20'000) + " n",
        {ToUnixMicros(kT0 - 1h), jobs_[0].job_no.value(), uint64_t{jobs_[0].segment.value()},
         uint64_t{jobs_[0].segment.value()}, ToUnixMicros(kT0 + 24h)}));
    ASSERT_OK(outside_->Ask("ANALYZE TABLE job_runs, job_schedules, jobs, segments, executors"));
  }

  // Returns the increase of the server's counters while `work` ran.
  template <typename Work>
  int64_t Grown(const std::string& counters, Work work) {
    const int64_t before = Sum(counters);
    work();
    return Sum(counters) - before;
  }
  // Returns the number of rows that the server read, by index or scan, while `work` ran.
  template <typename Work>
  int64_t RowsRead(Work work) {
    return Grown(
        "'HANDLER_READ_FIRST', 'HANDLER_READ_KEY', 'HANDLER_READ_LAST', 'HANDLER_READ_NEXT', "
        "'HANDLER_READ_PREV', 'HANDLER_READ_RND', 'HANDLER_READ_RND_NEXT'",
        work);
  }

  PlanBatch PlanOf(size_t runs, int64_t at) {
    PlanBatch batch;
    for (size_t i = 0; i < runs; ++i) {
      const StoredJob& job = jobs_[i % jobs_.size()];
      batch.runs.push_back(
          {.key = {kT0 + Duration(at + static_cast<int64_t>(i)), job.schedules[0].schedule_id, 0},
           .job_no = job.job_no,
           .segment = job.segment,
           .due = kT0,
           .def_version = job.version});
    }
    return batch;
  }

  // Returns the claims of the planned runs, and their results.
  static std::pair<std::vector<ClaimRequest>, std::vector<ResultReport>> WorkOf(
      const PlanBatch& plan) {
    std::vector<ClaimRequest> claims;
    std::vector<ResultReport> reports;
    for (const PlannedRun& run : plan.runs) {
      claims.push_back({.key = run.key,
                        .segment = run.segment,
                        .job_no = run.job_no,
                        .def_version = run.def_version,
                        .token = StoreDriver::Token(claims.size() + 1),
                        .executor = ExecutorId("e1"),
                        .incarnation = Incarnation("x1")});
      reports.push_back({.key = run.key,
                         .segment = run.segment,
                         .job_no = run.job_no,
                         .token = claims.back().token,
                         .executor = ExecutorId("e1")});
    }
    return {std::move(claims), std::move(reports)};
  }

  int64_t Sum(const std::string& names) {
    auto rows = outside_->Ask("SHOW GLOBAL STATUS WHERE Variable_name IN (" + names + ")");
    CARILLON_CHECK(rows.ok(), "status");
    int64_t sum = 0;
    while (rows->Next()) sum += std::stoll(rows->Text(2));
    return sum;
  }

  Fence fence_;
  std::vector<StoredJob> jobs_;
  std::unique_ptr<mysql::Session> outside_;
};

// Inserts 20,000 jobs in four namespaces, with 500 names and the same times.
inline void FillJobs(mysql::Session& session) {
  ASSERT_OK(session.Run(
      "INSERT INTO jobs (job_no, job_id, segment, version, manual_schedule_id, enabled, "
      "pause_reason, name, type, command, priority, timeout, retry_count, retry_interval, "
      "retry_backoff, retry_intervals, on_lost, overlap_policy, create_time, update_time, "
      "namespace) SELECT 1000000 + seq, CONCAT('many-', seq), 0, 1, 9, 1, '', CONCAT('job ', seq "
      "MOD 500), 'noop', '', 0, 0, 0, 0, 'fixed', '', 'fail', 'allow', NOW(), NOW(), "
      "CONCAT('team-', seq MOD 4) FROM " +
      Sequence(20'000) + " n"));
  ASSERT_OK(session.Ask("ANALYZE TABLE jobs"));
}

}  // namespace carillon::test
