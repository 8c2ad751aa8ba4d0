#include "common/domain/nodes/run_rules.h"

#include <gtest/gtest.h>

#include "common/domain/job/job.h"

namespace carillon::test {
namespace {

RunRules EveryRule() {
  return {.type = "shell",
          .timeout_s = 60,
          .retry_count = 3,
          .retry_interval_s = 5,
          .retry_backoff = RetryBackoff::kExponential,
          .retry_intervals_s = {{1, 20, 300}},
          .retry_on = {{"exit:3", "timeout"}},
          .no_retry_on = {{"error:a;b", "error:c,d"}},
          .on_lost = OnLost::kHold,
          .priority = 7,
          .executor_id = "exec-1",
          .executor_selector = "zone=a,disk in (ssd;é)%3B\t",
          .concurrency_group = "db",
          .presume_dead_s = 90,
          .items = 12,
          .as = "file"};
}

TEST(RunRulesTest, ATextHasEveryRule) {
  const RunRules rules = EveryRule();
  const std::string text = ToText(rules);
  const auto read = RunRulesFromText(text);
  ASSERT_TRUE(read.ok()) << text;
  EXPECT_EQ(*read, rules) << text;
  EXPECT_EQ(text.find('\t'), std::string::npos);
}

TEST(RunRulesTest, ATextIsReadable) {
  EXPECT_EQ(ToText(RunRules()), "");
  EXPECT_EQ(ToText(RunRules{.timeout_s = 60, .retry_count = 3}), "timeout=60;retry_count=3");
  EXPECT_EQ(ToText(RunRules{.executor_selector = "zone=a,b;c%"}),
            "executor_selector=zone=a%2Cb%3Bc%25");
  EXPECT_EQ(*RunRulesFromText(""), RunRules());
}

// "" says that the rule of the job does not count; not set leaves it.
TEST(RunRulesTest, AnEmptyRuleIsNotAMissingOne) {
  const RunRules rules{.retry_on = std::vector<std::string>{},
                       .executor_id = "",
                       .executor_selector = "",
                       .concurrency_group = ""};
  EXPECT_EQ(*RunRulesFromText(ToText(rules)), rules);
  EXPECT_NE(rules, RunRules());
}

TEST(RunRulesTest, AnUnknownRuleIsNoRuleLess) {
  for (const std::string text :
       {"color=red", "timeout", "timeout=", "timeout=x", "timeout=1x", "timeout=-1",
        "timeout=99999999999999999999", "retry_backoff=linear", "on_lost=", "type=workflow",
        "type=SHELL", "executor_id=%", "executor_id=%4", "executor_id=%4g", "timeout=1;timeout=2",
        ";", "retry_intervals=1,x", "=1"}) {
    const auto read = RunRulesFromText(text);
    EXPECT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.code(), ErrorCode::kCorrupt) << text;
  }
  EXPECT_FALSE(RunRulesFromText("executor_id=" + std::string(kRunRulesBytesMax, 'a')).ok());
}

TEST(RunRulesTest, TheTypesOfNodesWithoutAJobAreKnown) {
  for (const std::string type :
       {"shell", "script", "http", "container", "handler", "noop", "approval", "wait"}) {
    EXPECT_EQ(RunRulesFromText("type=" + type)->type, type);
  }
}

TEST(RunRulesTest, RulesTakeThePlaceOfThoseOfTheJob) {
  JobDefinition job{.name = "load", .timeout_s = 10, .retry_count = 1, .on_lost = OnLost::kFail};
  job.concurrency_group = "disk";
  EXPECT_EQ(WithRules(job, {}), job);
  const JobDefinition all = WithRules(job, EveryRule());
  EXPECT_EQ(all.timeout_s, 60);
  EXPECT_EQ(all.retry_count, 3);
  EXPECT_EQ(all.retry_interval_s, 5);
  EXPECT_EQ(all.retry_backoff, RetryBackoff::kExponential);
  EXPECT_EQ(all.retry_intervals_s, (std::vector<int64_t>{1, 20, 300}));
  EXPECT_EQ(all.retry_on, (std::vector<std::string>{"exit:3", "timeout"}));
  EXPECT_EQ(all.no_retry_on.size(), 2u);
  EXPECT_EQ(all.on_lost, OnLost::kHold);
  EXPECT_EQ(all.presume_dead_s, 90);
  EXPECT_EQ(all.priority, 7);
  EXPECT_EQ(all.executor_id, "exec-1");
  EXPECT_EQ(all.concurrency_group, "db");
  ASSERT_TRUE(all.shards);
  EXPECT_EQ(all.shards->total, 12);
  EXPECT_EQ(all.name, "load");
  EXPECT_EQ(WithRules(job, {.concurrency_group = ""}).concurrency_group, "");
}

// A list of waits goes before the interval; that of the job must not go before the node's interval.
TEST(RunRulesTest, AnIntervalOfTheNodeGoesBeforeTheListOfTheJob) {
  const JobDefinition job{.retry_intervals_s = {1, 2}};
  EXPECT_TRUE(WithRules(job, {.retry_interval_s = 9}).retry_intervals_s.empty());
  EXPECT_TRUE(WithRules(job, {.retry_backoff = RetryBackoff::kFixed}).retry_intervals_s.empty());
  EXPECT_EQ(WithRules(job, {.retry_count = 9}).retry_intervals_s.size(), 2u);
}

TEST(RunRulesTest, ANodeThatNamesAnExecutorNeedsNoSelectorOfTheJob) {
  JobDefinition chosen;
  chosen.executor_selector = "zone=a";
  EXPECT_EQ(WithRules(chosen, {.executor_id = "e1"}).executor_selector, "");
  EXPECT_EQ(WithRules(chosen, {.executor_id = ""}).executor_selector, "zone=a");
  JobDefinition pinned;
  pinned.executor_id = "e1";
  EXPECT_EQ(WithRules(pinned, {.executor_selector = "zone=b"}).executor_id, "");
  EXPECT_EQ(WithRules(pinned, {.executor_selector = ""}).executor_id, "e1");
}

TEST(RunRulesTest, AMappedNodeDoesNotRunOnEveryHost) {
  JobDefinition job;
  job.broadcast = Broadcast{};
  const JobDefinition mapped = WithRules(job, {.items = 0});
  EXPECT_FALSE(mapped.broadcast);
  EXPECT_EQ(mapped.shards->total, 0);
}

// Whoever has only the row of the run decides as whoever has the task.
TEST(RunRulesTest, TheRulesOfATaskAreTheWholeTruth) {
  JobDefinition task{.type = JobType::kHandler,
                     .timeout_s = 9,
                     .retry_count = 2,
                     .retry_backoff = RetryBackoff::kExponential,
                     .retry_on = {"timeout"},
                     .on_lost = OnLost::kRetry,
                     .presume_dead_s = 60,
                     .priority = 3,
                     .concurrency_group = "db",
                     .executor_selector = "zone=a"};
  task.retry_intervals_s = {4, 5};
  const auto stored = RunRulesFromText(ToText(RulesOfTask(task)));
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->type, "handler");
  EXPECT_EQ(WithRules(task, *stored), task);
  EXPECT_EQ(WithRules({.type = JobType::kHandler}, *stored), task);
}

}  // namespace
}  // namespace carillon::test
