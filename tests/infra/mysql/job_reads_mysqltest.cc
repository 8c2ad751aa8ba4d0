// Lists and searches of jobs: the number of rows that they may read among many jobs; and the retry
// of a run of a job with many dead letters.
#include <fmt/core.h>

#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

TEST_F(StoreReadsTest, NamespacesAndNamesAreFoundWithoutReadingTheJobsOfOne) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  FillJobs(*outside_);
  std::vector<std::string> names;
  const auto namespaces = [&] { names = s.v(s.jobs.ListNamespaces("", 51)); };
  namespaces();
  EXPECT_LT(RowsRead(namespaces), kReadsMax);
  EXPECT_EQ(names, (std::vector<std::string>{"default", "team-0", "team-1", "team-2", "team-3"}));
  const auto name = [&] {
    s.v(s.jobs.ListJobs({.namespaces = {"team-1"}, .name = "job 1", .limit = 2}));
  };
  EXPECT_LT(RowsRead(name), kReadsMax);
  const auto page = [&] { s.v(s.jobs.ListJobs({.namespaces = {"team-2"}, .limit = 8})); };
  EXPECT_LT(RowsRead(page), kReadsMax);
}

TEST_F(StoreReadsTest, EachOrderOfJobsIsFoundAtAnyDepth) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  FillJobs(*outside_);
  mysql::Rows rows = StoreDriver::v(
      outside_->Ask("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', create_time) FROM jobs WHERE "
                    "job_id = 'many-15250'"));
  ASSERT_TRUE(rows.Next());
  const WallTime made = rows.Time(1);
  for (const JobOrder order :
       {JobOrder::kJobId, JobOrder::kName, JobOrder::kCreated, JobOrder::kUpdated}) {
    for (const bool descending : {false, true}) {
      JobFilter filter{.order = order, .descending = descending, .limit = 8};
      const auto page = [&] { s.v(s.jobs.ListJobs(filter)); };
      page();
      EXPECT_LT(RowsRead(page), kReadsMax) << static_cast<int>(order) << descending;
      filter.after = JobListPlace{"many-15250", "job 250", made};
      page();
      EXPECT_LT(RowsRead(page), kReadsMax) << static_cast<int>(order) << descending;
      filter.namespaces = {"team-2"};
      if (order != JobOrder::kName) continue;  // the other orders sort a whole namespace
      page();
      EXPECT_LT(RowsRead(page), kReadsMax) << descending;
    }
  }
}

TEST_F(StoreReadsTest, ASearchLooksAtNoMoreJobsThanItMay) {
  constexpr int64_t kOverhead = 1'500;
  constexpr size_t kSearchMax = 2'000;
  StoreDriver s = driver();
  FillJobs(*outside_);
  const std::vector<JobFilter> filters = {{.name_contains = "nothing"},
                                          {.name_contains = "job"},
                                          {.enabled = false},
                                          {.user_id = "nobody"},
                                          {.enabled = false, .name_contains = "job"},
                                          {.namespaces = {"team-2"}, .name_contains = "nothing"},
                                          {.namespaces = {"team-2", "team-3"}},
                                          {.enabled = false, .namespaces = {"team-2", "default"}}};
  for (size_t i = 0; i < filters.size(); ++i) {
    for (const JobOrder order :
         {JobOrder::kJobId, JobOrder::kName, JobOrder::kCreated, JobOrder::kUpdated}) {
      for (const bool descending : {false, true}) {
        JobFilter filter = filters[i];
        filter.order = order;
        filter.descending = descending;
        filter.limit = 8;
        filter.search_max = kSearchMax;
        for (int round = 0; round < 3; ++round) {
          JobPage page;
          const auto search = [&] { page = s.v(s.jobs.ListJobs(filter)); };
          // The rows are read once to find the end of the search, and once for the result.
          EXPECT_LT(RowsRead(search), int64_t{2 * kSearchMax} + kOverhead)
              << i << " " << static_cast<int>(order) << descending << " " << round;
          filter.after = PlaceAfter(page, filter);
          ASSERT_TRUE(filter.after || round == 2);
        }
      }
    }
  }
}

TEST_F(StoreReadsTest, AFewJobsOfANamespaceAreFoundAmongManyInAnyOrder) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  FillJobs(*outside_);
  for (const JobOrder order :
       {JobOrder::kJobId, JobOrder::kName, JobOrder::kCreated, JobOrder::kUpdated}) {
    JobPage page;
    const auto search = [&] {
      page =
          s.v(s.jobs.ListJobs({.namespaces = {"default"}, .name_contains = "job", .order = order}));
    };
    EXPECT_LT(RowsRead(search), kReadsMax) << static_cast<int>(order);
    EXPECT_EQ(page.jobs.size(), jobs_.size());
    EXPECT_FALSE(page.searched_to);
  }
}

// Its edit has taken nothing from the run, so it does not matter whether that has a letter.
TEST_F(StoreReadsTest, ARetryDoesNotReadTheDeadLettersOfItsJob) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  const StoredJob job = s.Create("failing", s.Manual());
  ASSERT_OK(outside_->Run(fmt::format(
      "INSERT INTO dead_letters (fire_us, schedule_id, shard, job_no, state, attempts, reason, "
      "created_us) SELECT {0} + seq, 1000000, 0, {1}, 'FAILED', 1, 'exit_code', {0} + seq FROM {2} "
      "n",
      ToUnixMicros(kT0 - 1h), job.job_no.value(), Sequence(20'000))));
  ASSERT_OK(outside_->Ask("ANALYZE TABLE dead_letters"));
  std::vector<RunKey> failed;
  for (const uint64_t token : {1, 2}) {
    const RunRow row = s.Start(s.Execute(job, kT0), token, fence_, kT0 + 1s);
    s.Apply(s.ReportOf(row, RunState::kFailed, kT0 + 2s), fence_, kT0 + 2s);
    failed.push_back(row.key);
  }
  JobDefinition edited = job.definition;
  edited.priority = 7;
  s.Replace(job, edited, kT0 + 3s);
  const auto retry = [&](const RunKey& key) {
    s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 4s}));
  };
  retry(failed[0]);
  EXPECT_LT(RowsRead([&] { retry(failed[1]); }), kReadsMax);
}

}  // namespace
}  // namespace carillon::test
