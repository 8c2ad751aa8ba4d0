// Bounds of the rows that the server reads for nodes with rules of their own, and for open ones.
#include <fmt/core.h>

#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

class NodeReadsTest : public StoreReadsTest {
 protected:
  // `count` open nodes of a job, a second apart, which end by themselves at `until`.
  void InsertOpened(const StoredJob& job, int64_t count, WallTime due, WallTime until) {
    ASSERT_OK(outside_->Run(fmt::format(
        "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
        "state, due_us, def_version, until_us) SELECT {} + seq * 1000000, {}, 0, {}, {}, {}, "
        "'WORKFLOW', 'PENDING', {}, 1, {} FROM {} n",
        ToUnixMicros(kT0), job.schedules[0].schedule_id.value(), job.job_no.value(),
        job.segment.value(), job.segment.value(), ToUnixMicros(due), ToUnixMicros(until),
        Sequence(count))));
    ASSERT_OK(outside_->Ask("ANALYZE TABLE job_runs"));
  }
  std::vector<WallTime> UntilOf(WallTime due) {
    auto rows = outside_->Ask(
        fmt::format("SELECT DISTINCT until_us FROM job_runs WHERE due_us = {}", ToUnixMicros(due)));
    std::vector<WallTime> found;
    while (rows->Next()) found.push_back(rows->Time(1));
    return found;
  }
};

TEST_F(NodeReadsTest, RulesAreReadOfTheRunsThatAreAsked) {
  StoreDriver s = driver();
  const StoredJob& job = jobs_[1];
  ASSERT_OK(outside_->Run(fmt::format(
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, kind, state, due_us, "
      "def_version, flags, rules) SELECT {} + seq, {}, 0, {}, {}, 'WORKFLOW', 'PENDING', 0, 1, "
      "IF(seq = 3, 0, {}), 'timeout=60' FROM {} n",
      ToUnixMicros(kT0), job.schedules[0].schedule_id.value(), job.job_no.value(),
      job.segment.value(), run_flag::kRules, Sequence(100))));
  std::vector<RunKey> keys;
  for (int i = 1; i <= 4; ++i) keys.push_back({kT0 + Duration(i), job.schedules[0].schedule_id, 0});
  keys[1].shard = 7;  // a part has those of its own run
  std::map<RunKey, std::string> rules;
  const auto load = [&] { rules = s.v(s.firing.LoadRunRules(keys)); };
  load();
  EXPECT_LT(RowsRead(load), 30);
  EXPECT_EQ(rules, (std::map<RunKey, std::string>{
                       {keys[0], "timeout=60"}, {keys[1], "timeout=60"}, {keys[3], "timeout=60"}}));
}

TEST_F(NodeReadsTest, AListOfOpenNodesReadsTheseAlone) {
  StoreDriver s = driver();
  InsertOpened(jobs_[1], 30, kUndecided, WallTime{});
  InsertOpened(jobs_[2], 5'000, kTimed, kT0 + 1h);
  InsertOpened(jobs_[3], 5'000, kBlocked, WallTime{});
  size_t found = 0;
  const auto list = [&] {
    found = s.v(s.runs.ListRuns({.opened = kUndecided, .limit = 100}, kT0)).runs.size();
  };
  list();
  EXPECT_LT(RowsRead(list), 500);
  EXPECT_EQ(found, 30u);
}

TEST_F(NodeReadsTest, AResumeMovesTheEndsOfApprovalsAlone) {
  StoreDriver s = driver();
  InsertOpened(jobs_[1], 30, kUndecided, kT0 + 1h);
  InsertOpened(jobs_[2], 5'000, kTimed, kT0 + 1h);
  InsertOpened(jobs_[3], 5'000, kBlocked, WallTime{});
  const auto resume = [&] {
    ClusterSettings settings = s.v(handle_.settings().ReadSettings());
    const int64_t version = settings.version++;
    s.v(handle_.settings().WriteSettings(version, settings, 10min));
  };
  resume();
  EXPECT_EQ(UntilOf(kUndecided), std::vector{kT0 + 70min});
  EXPECT_EQ(UntilOf(kTimed), std::vector{kT0 + 1h});
  EXPECT_EQ(UntilOf(kBlocked), std::vector{WallTime{}});
  EXPECT_LT(RowsRead(resume), 500);
}

TEST_F(NodeReadsTest, AnApprovalWithoutATimeoutKeepsNone) {
  StoreDriver s = driver();
  InsertOpened(jobs_[1], 3, kUndecided, WallTime{});
  ClusterSettings settings = s.v(handle_.settings().ReadSettings());
  const int64_t version = settings.version++;
  s.v(handle_.settings().WriteSettings(version, settings, 10min));
  EXPECT_EQ(UntilOf(kUndecided), std::vector{WallTime{}});
}

}  // namespace
}  // namespace carillon::test
