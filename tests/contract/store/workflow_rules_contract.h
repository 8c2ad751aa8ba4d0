// The contract of the rules that a node has in place of those of its job.
#pragma once

#include "common/domain/workflow/node_rules.h"
#include "tests/contract/store/node_driver.h"

namespace carillon::test {

TYPED_TEST(NodeContract, RetriesOfANodeAreItsOwn) {
  NodeDriver s = this->node_driver();
  JobDefinition twice = s.Manual();
  twice.retry_count = 2;
  s.Create("twice", twice);
  const StoredJob once = s.Create("once", s.Manual());
  WorkflowNode more = s.With(s.Node("once"), {.retry_count = 1, .retry_interval_s = 20});
  WorkflowNode less = s.With(s.Node("twice"), {.retry_count = 0});
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({more, less})), kT0);
  EXPECT_EQ(s.RowOf(key, "once").rules, "retry_count=1;retry_interval=20");
  EXPECT_NE(s.RowOf(key, "once").flags & run_flag::kRules, 0u);
  const RunRow started = s.StartNode(key, "once", kT0 + 1s);
  JobDefinition edited = s.Manual();
  edited.retry_intervals_s = {7, 8, 9};
  s.Replace(once, edited, kT0 + 2s);
  const RunRow again = s.EndRun(started, RunState::kFailed, kT0 + 3s);
  EXPECT_EQ(again.state, RunState::kPending);
  EXPECT_EQ(again.attempt, 2);
  EXPECT_EQ(again.due, kT0 + 23s);
  EXPECT_EQ(again.def_version, 2);
  EXPECT_EQ(again.rules, started.rules);
  EXPECT_EQ(s.EndRun(s.StartNode(key, "once", kT0 + 23s), RunState::kFailed, kT0 + 24s).state,
            RunState::kFailed);
  EXPECT_EQ(s.EndRun(s.StartNode(key, "twice", kT0 + 25s), RunState::kFailed, kT0 + 26s).state,
            RunState::kFailed);
  EXPECT_EQ(s.Steps(kT0 + 27s).ended, RunState::kFailed);
}

TYPED_TEST(NodeContract, RunsThatAreNoNodesKeepTheRulesOfTheirJob) {
  NodeDriver s = this->node_driver();
  const StoredJob a = s.Create("a", s.Manual());
  s.Begun(s.CreateFlow(s.Flow({s.With(s.Node("a"), {.retry_count = 3})})), kT0);
  const RunRow row = s.Execute(a, kT0 + 1s);
  EXPECT_TRUE(row.rules.empty());
  EXPECT_EQ(row.flags & run_flag::kRules, 0u);
  EXPECT_EQ(s.EndRun(s.Start(row, 1, s.fence, kT0 + 1s), RunState::kFailed, kT0 + 2s).state,
            RunState::kFailed);
  EXPECT_TRUE(s.v(s.firing.LoadRunRules({row.key})).empty());
}

TYPED_TEST(NodeContract, ConditionsForRetriesOfANode) {
  NodeDriver s = this->node_driver();
  JobDefinition retried = s.Manual();
  retried.retry_count = 2;
  s.Create("a", retried);
  s.Create("b", retried);
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.With(s.Node("a"), {.retry_on = {{"exit:7"}}}),
                                                  s.With(s.Node("b"), {.no_retry_on = {{}}})})),
                             kT0);
  EXPECT_EQ(s.EndRun(s.StartNode(key, "a", kT0 + 1s), RunState::kFailed, kT0 + 2s).state,
            RunState::kFailed);
  EXPECT_EQ(s.EndRun(s.StartNode(key, "b", kT0 + 3s), RunState::kFailed, kT0 + 4s).state,
            RunState::kPending);
}

TYPED_TEST(NodeContract, LossesOfANodeFollowItsOnLost) {
  NodeDriver s = this->node_driver();
  JobDefinition retried = s.Manual();
  retried.retry_count = 1;
  StoredJob a = s.Create("a", retried);
  const std::map<OnLost, RunState> ends = {{OnLost::kRetry, RunState::kPending},
                                           {OnLost::kFail, RunState::kFailed},
                                           {OnLost::kHold, RunState::kHeld}};
  StoredJob flow = s.CreateFlow(s.Flow({s.Node("a")}));
  WallTime now = kT0;
  for (const auto& [on_lost, end] : ends) {
    flow = s.Replace(flow, s.Flow({s.With(s.Node("a"), {.on_lost = on_lost})}), now += 1min);
    const RunKey key = s.Begun(flow, now);
    const RunRow row = s.StartNode(key, "a", now + 1s);
    a = s.Replace(a, retried, now + 2s);  // another version
    s.Lose(row, s.fence, now + 3s);
    EXPECT_EQ(Name(s.Get(row.key).row.state), Name(end));
  }
}

TYPED_TEST(NodeContract, AReleaseWritesTheRulesOfTheGraph) {
  NodeDriver s = this->node_driver();
  StoredJob flow = s.CreateFlow(s.Flow({s.With(s.Node("a"), {.timeout_s = 60})}));
  const RunKey key = s.Begun(flow, kT0);
  EXPECT_EQ(s.Finish(key, "a", kT0 + 1s, RunState::kFailed).ended, RunState::kFailed);
  flow = s.Replace(flow, s.Flow({s.Node("a")}), kT0 + 2s);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}));
  s.ExpectBegin(key, kT0 + 3s);
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.RowOf(key, "a").rules, "timeout=60");
  const RunKey after = s.Begun(flow, kT0 + 4s);
  EXPECT_TRUE(s.RowOf(after, "a").rules.empty());
}

TYPED_TEST(NodeContract, PriorityOfANode) {
  NodeDriver s = this->node_driver();
  JobDefinition urgent = s.Manual();
  urgent.priority = 50;
  StoredJob a = s.Create("a", urgent);
  const StoredJob flow = s.CreateFlow(
      s.Flow({s.With(s.Node("a"), {.priority = 3}), s.With(s.Node("b"), {.priority = 9})}));
  const RunKey key = s.Begun(flow, kT0);
  EXPECT_EQ(s.RowOf(key, "a").priority, 3);
  EXPECT_EQ(s.RowOf(key, "b").priority, 9);
  urgent.priority = 60;
  s.Replace(a, urgent, kT0 + 1s);
  EXPECT_EQ(s.RowOf(key, "a").priority, 3);
}

TYPED_TEST(NodeContract, NestedWorkflowEndsByTheTimeoutOfItsNode) {
  NodeDriver s = this->node_driver();
  s.CreateFlow(s.Flow({s.Node("a")}), "inner");
  WorkflowNode node = s.With(s.Node("n"), {.timeout_s = 10});
  node.job = JobId("inner");
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({node})), kT0);
  const RunKey inner = s.RowOf(key, "n").key;
  s.ExpectBegin(inner, kT0 + 1s);
  EXPECT_EQ(s.View(inner).deadline, kT0 + 11s);
  s.Rotate(kT0 + 11s);
  EXPECT_EQ(s.StateOf(inner), RunState::kTimedOut);
}

// ---- groups -------------------------------------------------------------------------------------

TYPED_TEST(NodeContract, ANodeNamesAGroup) {
  NodeDriver s = this->node_driver();
  s.Create("a", s.Manual());
  const JobDefinition definition =
      s.Flow({s.With(s.Node("a"), {.concurrency_group = "db"}), s.Task("t")});
  EXPECT_CODE(s.jobs.CreateJob(JobId("flow"), definition, {.now = kT0}), ErrorCode::kInvalid);
  s.v(s.groups.PutGroup("db", {.limit = 1}, kT0));
  StoredJob flow = s.Create("flow", definition);
  EXPECT_EQ(s.v(s.groups.GetGroup("db", 10, kT0)).group.jobs, 1);
  EXPECT_CODE(s.groups.DeleteGroup("db"), ErrorCode::kConflict);
  flow = s.Replace(flow, s.Flow({s.Node("a")}), kT0 + 1s);
  EXPECT_OK(s.groups.DeleteGroup("db"));
  EXPECT_CODE(s.jobs.ReplaceJob(flow.job_id, flow.version, definition, {.now = kT0 + 2s}),
              ErrorCode::kInvalid);
  s.v(s.groups.PutGroup("db", {.limit = 1}, kT0));
  JobDefinition task = s.TaskOf("true");
  task.concurrency_group = "db";
  flow = s.Replace(flow, s.Flow({s.Task("t", {}, task)}), kT0 + 3s);
  EXPECT_CODE(s.groups.DeleteGroup("db"), ErrorCode::kConflict);
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 4s}));
  EXPECT_OK(s.groups.DeleteGroup("db"));
}

TYPED_TEST(NodeContract, RunsOfANodeTakeSlotsOfItsGroup) {
  NodeDriver s = this->node_driver();
  s.v(s.groups.PutGroup("db", {.limit = 1}, kT0));
  s.v(s.groups.PutGroup("web", {.limit = 1}, kT0));
  JobDefinition grouped = s.Manual();
  grouped.concurrency_group = "web";
  StoredJob a = s.Create("a", grouped);
  const StoredJob flow = s.CreateFlow(s.Flow({s.With(s.Node("a"), {.concurrency_group = "db"})}));
  const RunKey first = s.Begun(flow, kT0);
  const RunKey second = s.Begun(flow, kT0 + 1s);
  const auto offer = [&](const RunKey& key, WallTime now) {
    ClaimRequest request = s.ClaimOf(s.RowOf(key, "a"), key == first ? 81 : 82);
    request.group = "db";
    return s.Claim(request, s.fence, now).verdict;
  };
  EXPECT_EQ(offer(first, kT0 + 2s), ClaimVerdict::kAccepted);
  EXPECT_EQ(offer(second, kT0 + 2s), ClaimVerdict::kEnqueued);
  // The group of the job moves no run of the node.
  grouped.concurrency_group = "";
  a = s.Replace(a, grouped, kT0 + 3s);
  EXPECT_EQ(s.RowOf(second, "a").due, kQueued);
  const GroupDetail detail = s.v(s.groups.GetGroup("db", 10, kT0 + 3s));
  EXPECT_EQ(detail.holders.size(), 1u);
  EXPECT_EQ(detail.queue.size(), 1u);
  s.EndRun(s.RowOf(first, "a"), RunState::kCompleted, kT0 + 4s);
  for (const QueuedGroup& group :
       s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0 + 5s)).groups) {
    s.v(s.queues.AdmitGroup(group, s.fence, kT0 + 5s));
  }
  EXPECT_EQ(s.RowOf(second, "a").due, kT0 + 5s);
  EXPECT_EQ(offer(second, kT0 + 6s), ClaimVerdict::kAccepted);
}

TYPED_TEST(NodeContract, AGroupStaysWhileRunsOfEarlierGraphsWaitForIt) {
  NodeDriver s = this->node_driver();
  s.v(s.groups.PutGroup("db", {.limit = 1}, kT0));
  JobDefinition task = s.TaskOf("true");
  task.concurrency_group = "db";
  StoredJob flow = s.CreateFlow(s.Flow({s.Task("t", {}, task)}));
  const RunKey first = s.Begun(flow, kT0);
  const RunKey second = s.Begun(flow, kT0 + 1s);
  const auto offer = [&](const RunKey& key, uint64_t token) {
    ClaimRequest request = s.ClaimOf(s.RowOf(key, "t"), token);
    request.group = "db";
    return s.Claim(request, s.fence, kT0 + 2s).verdict;
  };
  EXPECT_EQ(offer(first, 81), ClaimVerdict::kAccepted);
  EXPECT_EQ(offer(second, 82), ClaimVerdict::kEnqueued);
  flow = s.Replace(flow, s.Flow({s.Task("t")}), kT0 + 3s);
  EXPECT_CODE(s.groups.DeleteGroup("db"), ErrorCode::kConflict);
  s.EndRun(s.RowOf(first, "t"), RunState::kCompleted, kT0 + 4s);
  for (const QueuedGroup& group :
       s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0 + 5s)).groups) {
    s.v(s.queues.AdmitGroup(group, s.fence, kT0 + 5s));
  }
  EXPECT_EQ(s.RowOf(second, "t").due, kT0 + 5s);
  EXPECT_OK(s.groups.DeleteGroup("db"));
}

TYPED_TEST(NodeContract, ATaskInAGroupIsShownByItsWorkflow) {
  NodeDriver s = this->node_driver();
  s.v(s.groups.PutGroup("db", {.limit = 1}, kT0));
  JobDefinition task = s.TaskOf("true");
  task.concurrency_group = "db";
  const StoredJob flow = s.CreateFlow(s.Flow({s.Task("t", {}, task)}));
  const RunKey key = s.Begun(flow, kT0);
  ClaimRequest request = s.ClaimOf(s.RowOf(key, "t"), 81);
  request.group = "db";
  EXPECT_EQ(s.Claim(request, s.fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
  const GroupDetail detail = s.v(s.groups.GetGroup("db", 10, kT0 + 2s));
  ASSERT_EQ(detail.holders.size(), 1u);
  EXPECT_EQ(detail.holders[0].job_id, flow.job_id);
  EXPECT_EQ(detail.holders[0].job_name, "flow");
}

}  // namespace carillon::test
