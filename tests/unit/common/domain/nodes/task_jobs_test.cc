#include "common/domain/nodes/task_jobs.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace carillon::test {
namespace {

JobDefinition NightlyWithTasks() {
  JobDefinition nightly{.name = "Nightly", .type = JobType::kWorkflow};
  nightly.time_zone = "Europe/Paris";
  nightly.labels = {{"team", "data"}};
  nightly.user_id = "user-1";
  nightly.name_space = "finance";
  nightly.retention_days = 9;
  const TaskBox task(JobDefinition{.command = "true", .retry_count = 2});
  nightly.workflow =
      WorkflowDefinition{.nodes = {{.id = "job", .job = JobId("load"), .rules = {.timeout_s = 5}},
                                   {.id = "task", .task = task},
                                   {.id = "gate", .approval = Approval{}},
                                   {.id = "pause", .wait = NodeWait{.for_s = 5}}}};
  return nightly;
}

TEST(TaskJobsTest, EachWorkflowHasARowOfItsOwnForItsTasks) {
  const JobNo workflow(42);
  EXPECT_FALSE(IsTaskJob(workflow));
  EXPECT_TRUE(IsTaskJob(TaskJobOf(workflow)));
  EXPECT_EQ(OwnerOf(TaskJobOf(workflow)), workflow);
  EXPECT_EQ(OwnerOf(workflow), workflow);
  EXPECT_EQ(TaskJobOf(TaskJobOf(workflow)), TaskJobOf(workflow));
}

TEST(TaskJobsTest, ATaskHasFromTheWorkflowWhatItCannotSay) {
  const std::vector<NodeJob> jobs = TaskJobs(NightlyWithTasks());
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].position, 1u);
  const JobDefinition& job = jobs[0].job;
  EXPECT_EQ(job.command, "true");
  EXPECT_EQ(job.retry_count, 2);
  EXPECT_EQ(job.name, "Nightly");
  EXPECT_EQ(job.user_id, "user-1");
  EXPECT_EQ(job.name_space, "finance");
  EXPECT_EQ(job.time_zone, "Europe/Paris");
  EXPECT_EQ(job.labels, NightlyWithTasks().labels);
  EXPECT_EQ(job.retention_days, 9);
  ASSERT_TRUE(job.notify.on) << "the workflow's own run is notified";
  EXPECT_TRUE(job.notify.on->empty());
  EXPECT_TRUE(ValidateJob(job).ok());
  EXPECT_TRUE(TaskJobs({.name = "plain"}).empty());
}

TEST(TaskJobsTest, ARunFindsItsDefinitionByItsPosition) {
  const JobDefinition nightly = NightlyWithTasks();
  EXPECT_EQ(*TaskAt(nightly, 1), TaskJobs(nightly)[0].job);
  for (const size_t position : {2u, 3u}) {
    const auto none = TaskAt(nightly, position);
    ASSERT_TRUE(none.ok());
    EXPECT_EQ(none->type, JobType::kNoop);
    EXPECT_EQ(none->user_id, "user-1");
  }
  EXPECT_EQ(TaskAt(nightly, 0).code(), ErrorCode::kCorrupt) << "it runs a job";
  EXPECT_EQ(TaskAt(nightly, 4).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(TaskAt({.name = "plain"}, 0).code(), ErrorCode::kCorrupt);
}

TEST(TaskJobsTest, TheRunOfANodeKnowsItsKind) {
  const auto nodes = NightlyWithTasks().workflow->nodes;
  EXPECT_EQ(RulesOfNode(nodes[0]), (RunRules{.timeout_s = 5}));
  EXPECT_EQ(RulesOfNode(nodes[1]), RulesOfTask(nodes[1].task.job()));
  EXPECT_EQ(RulesOfNode(nodes[2]), (RunRules{.type = "approval"}));
  EXPECT_EQ(RulesOfNode(nodes[3]), (RunRules{.type = "wait"}));
}

TEST(TaskJobsTest, OnlyAWorkflowWithSuchNodesNeedsTheRow) {
  JobDefinition nightly = NightlyWithTasks();
  EXPECT_TRUE(NeedsTaskJob(nightly));
  nightly.workflow->nodes.resize(1);
  EXPECT_FALSE(NeedsTaskJob(nightly));
  EXPECT_FALSE(NeedsTaskJob({.name = "plain"}));
}

TEST(TaskJobsTest, ATaskHasWhatDescribesItsWork) {
  JobDefinition task{.command = "true",
                     .timeout_s = 5,
                     .kill_grace_s = 3,
                     .retry_count = 4,
                     .retry_on = {"timeout"},
                     .on_lost = OnLost::kHold,
                     .priority = 8,
                     .concurrency_group = "db",
                     .routing = Routing::kConsistentHash,
                     .routing_key = "a",
                     .executor_selector = "zone=a",
                     .env = {{"A", "b"}},
                     .run_as = "etl",
                     .working_directory = "/tmp",
                     .output_encoding = "gbk"};
  task.limits = Limits{};
  EXPECT_TRUE(CheckTask(task).ok());
}

// A field of a job that is neither allowed nor refused would be lost in silence.
TEST(TaskJobsTest, AllOtherFieldsAreOfTheWorkflow) {
  struct Case {
    std::string pointer;
    std::function<void(JobDefinition&)> set;
  };
  const std::vector<Case> cases{
      {"/task/type", [](auto& t) { t.type = JobType::kWorkflow; }},
      {"/task/name", [](auto& t) { t.name = "x"; }},
      {"/task/workflow", [](auto& t) { t.workflow = WorkflowDefinition{}; }},
      {"/task/schedules", [](auto& t) { t.schedules.emplace_back(); }},
      {"/task/time_zone", [](auto& t) { t.time_zone = "Asia/Tokyo"; }},
      {"/task/queue_timeout", [](auto& t) { t.queue_timeout_s = 1; }},
      {"/task/pause_after_failures", [](auto& t) { t.pause_after_failures = 1; }},
      {"/task/enabled", [](auto& t) { t.enabled = false; }},
      {"/task/misfire_policy", [](auto& t) { t.misfire_policy = MisfirePolicy::kAll; }},
      {"/task/misfire_grace", [](auto& t) { t.misfire_grace_s = 1; }},
      {"/task/catch_up_window", [](auto& t) { t.catch_up_window_s = 1; }},
      {"/task/catch_up_max", [](auto& t) { t.catch_up_max = 1; }},
      {"/task/overlap_policy", [](auto& t) { t.overlap_policy = OverlapPolicy::kSkip; }},
      {"/task/max_running", [](auto& t) { t.max_running = 2; }},
      {"/task/queue_max", [](auto& t) { t.queue_max = 2; }},
      {"/task/waits_for", [](auto& t) { t.waits_for.emplace_back(); }},
      {"/task/wait_limit", [](auto& t) { t.wait_limit_s = 60; }},
      {"/task/dst_gap", [](auto& t) { t.dst_gap = DstGap::kSkip; }},
      {"/task/dst_repeat", [](auto& t) { t.dst_repeat = DstRepeat::kBoth; }},
      {"/task/shards", [](auto& t) { t.shards = Shards{}; }},
      {"/task/broadcast", [](auto& t) { t.broadcast = Broadcast{}; }},
      {"/task/parameters", [](auto& t) { t.parameters["a"] = int64_t{1}; }},
      {"/task/labels", [](auto& t) { t.labels["a"] = "b"; }},
      {"/task/retention_days", [](auto& t) { t.retention_days = 1; }},
      {"/task/parameter_rules", [](auto& t) { t.parameter_rules["a"] = {}; }},
      {"/task/notify", [](auto& t) { t.notify.late_after_s = 1; }},
      {"/task/description", [](auto& t) { t.description = "x"; }},
      {"/task/user_id", [](auto& t) { t.user_id = "x"; }},
      {"/task/namespace", [](auto& t) { t.name_space = "x"; }},
  };
  for (const Case& one : cases) {
    JobDefinition task{.command = "true"};
    one.set(task);
    const Status checked = CheckTask(task);
    ASSERT_FALSE(checked.ok()) << one.pointer;
    EXPECT_EQ(checked.error().pointer, one.pointer);
  }
}

}  // namespace
}  // namespace carillon::test
