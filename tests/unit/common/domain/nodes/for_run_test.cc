#include "common/domain/nodes/for_run.h"

#include <gtest/gtest.h>

#include "common/domain/nodes/run_rules.h"
#include "common/domain/nodes/task_jobs.h"

namespace carillon::test {
namespace {

JobRow RowOfJob() {
  JobRow job{.job_no = JobNo(7), .version = 5, .priority = 2};
  job.retry = {.retry_count = 1, .interval = 10s, .intervals = {1s, 2s}, .on_lost = OnLost::kFail};
  return job;
}

RunRow RunWith(const RunRules& rules) {
  RunRow run;
  run.job_no = JobNo(7);
  run.def_version = 3;
  run.flags = run_flag::kNode | run_flag::kRules;
  run.rules = ToText(rules);
  return run;
}

TEST(ForRunTest, ARunWithoutRulesHasThoseOfItsJob) {
  RunRow run = RunWith({.retry_count = 9});
  run.flags &= ~run_flag::kRules;
  const JobRow job = ForRun(RowOfJob(), run);
  EXPECT_EQ(job.retry, RowOfJob().retry);
  EXPECT_EQ(job.version, 5);
}

TEST(ForRunTest, EveryRuleOfTheRunTakesThePlaceOfTheJobs) {
  const auto with = [](const RunRules& rules) { return ForRun(RowOfJob(), RunWith(rules)); };
  EXPECT_EQ(with({.retry_count = 4}).retry.retry_count, 4);
  EXPECT_EQ(with({.retry_count = 4}).retry.intervals.size(), 2u);
  EXPECT_EQ(with({.retry_interval_s = 4}).retry.interval, 4s);
  EXPECT_TRUE(with({.retry_interval_s = 4}).retry.intervals.empty());
  const RetryBackoff exponential = RetryBackoff::kExponential;
  EXPECT_EQ(with({.retry_backoff = exponential}).retry.backoff, exponential);
  EXPECT_EQ(with({.retry_intervals_s = {{8}}}).retry.intervals, std::vector<Duration>{8s});
  EXPECT_EQ(with({.retry_on = {{"timeout"}}}).retry.conditions.retry_on.size(), 1u);
  EXPECT_EQ(with({.no_retry_on = {{"timeout"}}}).retry.conditions.no_retry_on.size(), 1u);
  EXPECT_EQ(with({.on_lost = OnLost::kRetry}).retry.on_lost, OnLost::kRetry);
  EXPECT_EQ(with({.presume_dead_s = 60}).retry.presume_dead, 60s);
  EXPECT_EQ(with({.priority = 9}).priority, 9);
  EXPECT_EQ(with({.timeout_s = 9}).retry, RowOfJob().retry);
  EXPECT_EQ(with({.timeout_s = 9}).version, 5) << "its job may be edited meanwhile";
}

// What ForRun says of a row is what the definition with the rules says.
TEST(ForRunTest, AgreesWithTheDefinition) {
  const JobDefinition definition{
      .retry_count = 1, .retry_intervals_s = {1, 2}, .on_lost = OnLost::kFail};
  for (const RunRules& rules : {RunRules{.retry_count = 0}, RunRules{.retry_interval_s = 3},
                                RunRules{.retry_intervals_s = std::vector<int64_t>{}},
                                RunRules{.retry_on = {{"exit:1-3"}}, .on_lost = OnLost::kHold},
                                RunRules{.presume_dead_s = 7},
                                RunRules{.retry_interval_s = 3, .retry_intervals_s = {{7, 8}}}}) {
    JobRow job = RowOfJob();
    job.retry = RetryRulesOf(definition);
    EXPECT_EQ(ForRun(job, RunWith(rules)).retry, RetryRulesOf(WithRules(definition, rules)))
        << ToText(rules);
  }
}

TEST(ForRunTest, AnAttemptOfAnotherVersionIsLostByTheRulesOfTheRun) {
  JobRow job = RowOfJob();
  job.attempt_rules = LossRules{.on_lost = OnLost::kFail, .cooperative = true};
  EXPECT_EQ(ForRun(job, RunWith({.on_lost = OnLost::kHold})).attempt_rules->on_lost, OnLost::kHold);
  EXPECT_EQ(ForRun(job, RunWith({.retry_count = 2})).attempt_rules->on_lost, OnLost::kFail);
  EXPECT_TRUE(ForRun(job, RunWith({.on_lost = OnLost::kHold})).attempt_rules->cooperative);
}

TEST(ForRunTest, RulesThatNobodyCanReadRiskNothing) {
  RunRow run = RunWith({.retry_count = 9});
  run.rules = "retry_count=9;color=red";
  const JobRow job = ForRun(RowOfJob(), run);
  EXPECT_EQ(job.retry.retry_count, 0);
  EXPECT_EQ(job.retry.on_lost, OnLost::kHold);
}

TEST(ForRunTest, ATaskHasTheVersionAndTheTypeOfItsRun) {
  JobRow tasks{.job_no = TaskJobOf(JobNo(7)), .version = 1};
  tasks.attempt_rules = LossRules{};
  RunRow run = RunWith(RulesOfTask({.type = JobType::kHandler, .retry_count = 2}));
  run.job_no = tasks.job_no;
  const JobRow handler = ForRun(tasks, run);
  EXPECT_EQ(handler.version, 3);
  EXPECT_TRUE(handler.cooperative);
  EXPECT_FALSE(handler.attempt_rules) << "all its attempts are of one version";
  EXPECT_EQ(handler.retry.retry_count, 2);
  run.rules = ToText(RulesOfTask({.type = JobType::kShell}));
  EXPECT_FALSE(ForRun(tasks, run).cooperative);
  run.flags = run_flag::kNode;  // it was not released yet
  EXPECT_EQ(ForRun(tasks, run).version, 3);
}

}  // namespace
}  // namespace carillon::test
