// The contract of tasks, which are written in a workflow: their runs, and the row that these share,
// which nobody lists.
#pragma once

#include "common/domain/workflow/node_rules.h"
#include "tests/contract/store/node_driver.h"

namespace carillon::test {

TYPED_TEST(NodeContract, ATaskRunsByTheTextOfItsWorkflow) {
  NodeDriver s = this->node_driver();
  JobDefinition task = s.TaskOf("load");
  task.retry_count = 2;
  task.priority = 7;
  JobDefinition definition = s.Flow({s.Task("a", {}, task)});
  definition.labels = {{"team", "bills"}};
  const StoredJob flow = s.CreateFlow(definition);
  const JobNo tasks = TaskJobOf(flow.job_no);
  const RunKey key = s.Execute(flow, kT0).key;
  s.ExpectBegin(key, kT0);
  EXPECT_EQ(s.States(key), "a blocked");
  EXPECT_EQ(s.RowOf(key, "a").job_no, tasks);
  EXPECT_EQ(s.RowOf(key, "a").segment, flow.segment);
  const StepEffect effect = s.Steps(kT0 + 1s);
  ASSERT_EQ(effect.released.size(), 1u);

  const RunDetail node = s.NodeOf(key, "a").detail;
  EXPECT_EQ(effect.released[0], node.row);
  EXPECT_EQ(node.row.job_no, tasks);
  EXPECT_EQ(node.row.def_version, flow.version);
  EXPECT_EQ(node.row.priority, 7);
  EXPECT_EQ(node.row.rules, ToText(RulesOfTask(task)));
  EXPECT_NE(node.row.flags & run_flag::kRules, 0u);
  EXPECT_EQ(node.job_id, flow.job_id);
  EXPECT_EQ(node.job_name, "flow");
  EXPECT_EQ(node.job_type, JobType::kShell);
  EXPECT_EQ(s.v(s.firing.LoadRunRequest(node.row.key)).rules, node.row.rules);
  EXPECT_EQ(s.v(s.firing.LoadRunRules({node.row.key, key})),
            (std::map<RunKey, std::string>{{node.row.key, node.row.rules}}));
  EXPECT_EQ(s.Pending(kT0 + 1s), std::vector<RunRow>{node.row});

  const auto loaded = s.v(s.firing.LoadDefinitions({{tasks, flow.version}}));
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(loaded[0].job_no, tasks);
  EXPECT_EQ(loaded[0].job_id, flow.job_id);
  EXPECT_EQ(loaded[0].definition, flow.definition);
  EXPECT_TRUE(loaded[0].readable);
  EXPECT_TRUE(loaded[0].schedule_ids.empty());
  EXPECT_TRUE(s.v(s.firing.LoadDefinitions({{tasks, flow.version + 1}})).empty());

  EXPECT_EQ(s.Finish(key, "a", kT0 + 2s).ended, RunState::kCompleted);
}

TYPED_TEST(NodeContract, NobodyListsTheRowOfTasks) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = s.Flow({s.Task("a")});
  definition.name_space = "bills";
  definition.user_id = "anna";
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey key = s.Begun(flow, kT0);
  const std::vector<StoredJob> listed = s.v(s.jobs.ListJobs({.limit = 10})).jobs;
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].job_id, flow.job_id);
  EXPECT_EQ(s.v(s.jobs.CountJobs({})).seen, 1u);
  EXPECT_EQ(s.v(s.jobs.ListNamespaces("", 10)), std::vector<std::string>{"bills"});
  EXPECT_EQ(s.v(s.jobs.FindJobs({.names = {{"bills", "flow"}}})).jobs.size(), 1u);
  const JobId hidden("." + std::to_string(flow.job_no.value()));
  EXPECT_CODE(s.jobs.GetJob(hidden), ErrorCode::kNotFound);
  EXPECT_CODE(s.jobs.GetJobHead(hidden), ErrorCode::kNotFound);
  EXPECT_CODE(s.jobs.ListVersions(hidden, 10, 10), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.ExecuteJob({.job_id = hidden}, {.now = kT0}), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.CancelJobRuns(hidden, {.now = kT0}), ErrorCode::kNotFound);

  const RunKey task = s.RowOf(key, "a").key;
  const WallTime now = kT0 + 1s;
  EXPECT_EQ(s.Listed({.job_id = flow.job_id}, now), std::vector<RunKey>{key});
  const std::vector<RunKey> both = s.Listed({}, now);
  EXPECT_EQ(std::set<RunKey>(both.begin(), both.end()), (std::set<RunKey>{key, task}));
  EXPECT_EQ(s.Listed({.user_id = "anna"}, now).size(), 2u);
  EXPECT_EQ(s.Listed({.name_contains = "FLOW"}, now).size(), 2u);
  const auto recent = s.v(s.runs.ListRecentRuns({.job_ids = {flow.job_id}, .until = now}));
  ASSERT_EQ(recent.size(), 1u);
  EXPECT_EQ(recent[0].runs.size(), 1u);
  const RunCounts counts = s.v(s.runs.CountOpenRuns());
  EXPECT_EQ(counts.pending, 1);
  EXPECT_EQ(counts.running, 1);
  EXPECT_TRUE(s.v(s.firing.ScanDue(s.All(), kNever, 10)).empty());
}

TYPED_TEST(NodeContract, AnEditIsForLaterRuns) {
  NodeDriver s = this->node_driver();
  StoredJob flow = s.CreateFlow(s.Flow({s.Task("a"), s.Task("b", {{.node = "a"}})}));
  const RunKey before = s.Begun(flow, kT0);
  const RunRow started = s.StartNode(before, "a", kT0 + 1s);
  // The node b is gone.
  flow = s.Replace(flow, s.Flow({s.Task("a", {}, s.TaskOf("false"))}), kT0 + 2s);
  EXPECT_EQ(s.RowOf(before, "a").def_version, 1);
  s.EndRun(started, RunState::kCompleted, kT0 + 3s);
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.States(before), "a COMPLETED, b PENDING");
  EXPECT_EQ(s.RowOf(before, "b").def_version, 1);
  const RunKey after = s.Begun(flow, kT0 + 4s);
  EXPECT_EQ(s.RowOf(after, "a").def_version, 2);
  EXPECT_EQ(s.Finish(before, "b", kT0 + 5s, RunState::kFailed).ended, RunState::kFailed);

  // A retry runs what ran before, as often as its graph says.
  EXPECT_OK(s.runs.RetryRun({.key = before}, {.now = kT0 + 6s}));
  s.ExpectBegin(before, kT0 + 6s);
  s.Steps(kT0 + 6s);
  EXPECT_EQ(s.States(before), "a COMPLETED, b PENDING");
  EXPECT_EQ(s.RowOf(before, "b").def_version, 1);
  EXPECT_EQ(s.RowOf(before, "b").attempt, 2);
  EXPECT_EQ(s.Finish(before, "b", kT0 + 7s).ended, RunState::kCompleted);
}

TYPED_TEST(NodeContract, TasksComeAndGo) {
  NodeDriver s = this->node_driver();
  StoredJob flow = s.CreateFlow(s.Chain());
  for (int round = 0; round < 2; ++round) {
    const WallTime now = kT0 + round * 1h;
    flow = s.Replace(flow, s.Flow({s.Task("t")}), now);
    const RunKey with = s.Begun(flow, now + 1s);
    EXPECT_EQ(s.RowOf(with, "t").job_no, TaskJobOf(flow.job_no));
    flow = s.Replace(flow, s.Chain(), now + 2s);
    const RunKey without = s.Begun(flow, now + 3s);
    EXPECT_EQ(s.States(without), "a PENDING, b blocked");
    EXPECT_EQ(s.Finish(with, "t", now + 4s).ended, RunState::kCompleted);
  }
}

TYPED_TEST(NodeContract, TasksOfAnOpenRunGoOnWithoutTheWorkflow) {
  NodeDriver s = this->node_driver();
  StoredJob flow = s.CreateFlow(s.Flow({s.Task("a"), s.Task("b", {{.node = "a"}})}));
  const RunKey key = s.Begun(flow, kT0);
  flow = s.Pause(flow, kT0 + 1s);
  EXPECT_EQ(s.RowOf(key, "a").due, kT0);
  s.Finish(key, "a", kT0 + 2s);
  EXPECT_EQ(s.RowOf(key, "b").due, kT0 + 2s);
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 3s}));
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING");
  EXPECT_EQ(s.Get(s.RowOf(key, "b").key).job_id, flow.job_id);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 4s).ended, RunState::kCompleted);
}

TYPED_TEST(NodeContract, TasksMoveWithTheirWorkflow) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = s.Flow({s.Task("a")});
  definition.user_id = "anna";
  StoredJob flow = s.CreateFlow(definition);
  const RunKey key = s.Begun(flow, kT0);
  const RunKey task = s.RowOf(key, "a").key;
  EXPECT_EQ(s.RowOf(key, "a").flags & run_flag::kOnBehalf, 0u);
  definition.name_space = "other";
  definition.user_id = "bert";
  definition.name = "renamed";
  definition.labels = {{"team", "bills"}};
  s.Replace(flow, definition, kT0 + 1s);
  const WallTime now = kT0 + 2s;
  EXPECT_TRUE(s.Listed({.namespaces = {"default"}}, now).empty());
  EXPECT_EQ(s.Listed({.namespaces = {"other"}}, now).size(), 2u);
  EXPECT_EQ(s.Listed({.user_id = "bert"}, now).size(), 2u);
  EXPECT_EQ(s.Listed({.name_contains = "renamed"}, now).size(), 2u);
  EXPECT_EQ(s.Listed({.labels = {{"team", {"bills"}}}}, now).size(), 2u);
  // The text of the task is anna's.
  EXPECT_NE(s.Get(task).row.flags & run_flag::kOnBehalf, 0u);
}

TYPED_TEST(NodeContract, TasksInANestedWorkflow) {
  NodeDriver s = this->node_driver();
  s.CreateFlow(s.Flow({s.Task("deep")}), "inner");
  WorkflowNode node = s.Node("n");
  node.job = JobId("inner");
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({node, s.Task("t", {{.node = "n"}})})), kT0);
  const RunKey inner = s.RowOf(key, "n").key;
  s.ExpectBegin(inner, kT0 + 1s);
  s.Steps(kT0 + 1s);
  s.Finish(inner, "deep", kT0 + 2s);
  EXPECT_EQ(s.States(key), "n COMPLETED, t PENDING");
  EXPECT_EQ(s.Finish(key, "t", kT0 + 3s).ended, RunState::kCompleted);
}

TYPED_TEST(NodeContract, RetriesOfATaskAreItsOwn) {
  NodeDriver s = this->node_driver();
  JobDefinition task = s.TaskOf("load");
  task.retry_count = 1;
  task.retry_interval_s = 30;
  task.no_retry_on = {"exit:9"};
  JobDefinition definition = s.Flow({s.Task("a", {}, task)});
  definition.retry_count = 0;
  StoredJob flow = s.CreateFlow(definition);
  const RunKey key = s.Begun(flow, kT0);
  RunRow row = s.StartNode(key, "a", kT0 + 1s);
  flow = s.Replace(flow, s.Flow({s.Task("a")}), kT0 + 2s);
  row = s.EndRun(row, RunState::kFailed, kT0 + 3s);
  EXPECT_EQ(row.state, RunState::kPending);
  EXPECT_EQ(row.attempt, 2);
  EXPECT_EQ(row.due, kT0 + 33s);
  EXPECT_EQ(row.def_version, 1);
  row = s.EndRun(s.StartNode(key, "a", kT0 + 33s), RunState::kFailed, kT0 + 40s);
  EXPECT_EQ(row.state, RunState::kFailed);
  EXPECT_EQ(s.Steps(kT0 + 40s).ended, RunState::kFailed);
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].key, key);
}

TYPED_TEST(NodeContract, LossesOfATaskFollowItsOnLost) {
  NodeDriver s = this->node_driver();
  const std::map<OnLost, RunState> ends = {{OnLost::kRetry, RunState::kLost},
                                           {OnLost::kFail, RunState::kFailed},
                                           {OnLost::kHold, RunState::kHeld}};
  StoredJob flow = s.CreateFlow(s.Flow({s.Task("a")}));
  WallTime now = kT0;
  for (const auto& [on_lost, end] : ends) {
    JobDefinition task = s.TaskOf("true");
    task.on_lost = on_lost;
    flow = s.Replace(flow, s.Flow({s.Task("a", {}, task)}), now += 1min);
    const RunKey key = s.Begun(flow, now);
    const RunRow row = s.StartNode(key, "a", now + 1s);
    // Another version does not matter.
    flow = s.Replace(flow, s.Flow({s.Task("a")}), now + 2s);
    s.Lose(row, s.fence, now + 3s);
    EXPECT_EQ(Name(s.Get(row.key).row.state), Name(end));
  }
}

TYPED_TEST(NodeContract, OnlyTheOwnRunStartsDependents) {
  NodeDriver s = this->node_driver();
  const StoredJob flow = s.CreateFlow(s.Flow({s.Task("a")}));
  JobDefinition after = s.Manual();
  after.name = "after";
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "flow"}};
  const StoredJob dependent = s.Create("after", after);
  const RunKey key = s.Begun(flow, kT0);
  EXPECT_EQ(s.RowOf(key, "a").flags & run_flag::kDependents, 0u);
  s.Finish(key, "a", kT0 + 1s);
  const auto ends = s.v(s.completions.ScanCompletions(s.All(), 10));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].key, key);
  s.v(s.completions.Apply(ends, s.fence, kT0 + 2s));
  EXPECT_EQ(s.Listed({.job_id = dependent.job_id}, kT0 + 2s).size(), 1u);
}

TYPED_TEST(NodeContract, ATaskWaitsForNoUnreadableJob) {
  NodeDriver s = this->node_driver();
  const StoredJob first = s.CreateFlow(s.Flow({s.Task("a")}));
  const RunKey key = s.Execute(first, kT0).key;
  s.ExpectBegin(key, kT0);
  const StoredJob second = s.Replace(first, s.Flow({s.Task("b")}), kT0 + 1s);
  this->handle().DamageDefinition(second, true);
  s.Steps(kT0 + 2s);
  EXPECT_EQ(s.States(key), "a PENDING");
  const auto loaded = s.v(s.firing.LoadDefinitions(
      {{TaskJobOf(first.job_no), first.version}, {TaskJobOf(first.job_no), second.version}}));
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_NE(loaded[0].readable, loaded[1].readable);
}

}  // namespace carillon::test
