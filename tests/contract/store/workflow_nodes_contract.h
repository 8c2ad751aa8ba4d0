// The contract of WorkflowStore: the parameters of nodes, changes of their jobs, the deadline, and
// what happens to a workflow run beside its steps.
#pragma once

#include "common/domain/template/fire_date.h"
#include "common/domain/workflow/workflow_release.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

TYPED_TEST(WorkflowContract, ParametersReachTheRunOfTheNode) {
  WorkflowDriver s = this->workflow_driver();
  WorkflowNode b = s.Node("b", {{.node = "a"}});
  b.parameters = {{"path", std::string("{{nodes.a.outputs.file}}")},
                  {"region", std::string("in {{workflow.parameters.region}}")},
                  {"code", std::string("{{nodes.a.exit_code}}")},
                  {"limit", int64_t{5}}};
  JobDefinition definition = s.Flow({s.Node("a"), b});
  definition.parameters = {{"region", std::string("eu")}};
  const StoredJob flow = s.CreateFlow(definition);
  const CreatedRun run = s.v(s.runs.ExecuteJob(
      {.job_id = flow.job_id, .parameters_json = R"({"region":"us"})"}, {.now = kT0}));
  s.ExpectBegin(run.key, kT0);
  s.Steps(kT0);
  s.Finish(run.key, "a", kT0 + 1s, RunState::kCompleted, {{"file", "/data/x"}});
  const RunRequest request = s.v(s.firing.LoadRunRequest(s.RowOf(run.key, "b").key));
  EXPECT_EQ(request.node, "b");
  const RenderedParameters given = s.v(GivenFromText(request.parameters_json));
  EXPECT_EQ(given.values, (Parameters{{"path", std::string("/data/x")},
                                      {"region", std::string("in us")},
                                      {"code", int64_t{0}},
                                      {"limit", int64_t{5}}}));
  EXPECT_EQ(given.untrusted, std::set<std::string>{"path"});
  // Those of a node without parameters are empty.
  EXPECT_EQ(s.v(s.firing.LoadRunRequest(s.RowOf(run.key, "a").key)).parameters_json, "");
}

TYPED_TEST(WorkflowContract, NodesKeepTheTimeZoneOfTheWorkflow) {
  WorkflowDriver s = this->workflow_driver();
  WorkflowNode a = s.Node("a");
  a.parameters = {{"day", std::string("{{fire_date - 1d}}")}, {"at", std::string("{{fire_time}}")}};
  JobDefinition definition = s.Flow({a, s.Node("b")});
  definition.time_zone = "Asia/Tokyo";
  const RunKey key = s.Execute(s.CreateFlow(definition), kT0).key;
  ClaimRequest request = s.RequestFor(key);
  request.keep_zone = true;
  ASSERT_EQ(s.v(s.workflows.Begin(request, s.fence, kT0)).verdict, ClaimVerdict::kAccepted);
  s.Steps(kT0);
  const auto given = [&](const char* node) {
    const RunRequest run = s.v(s.firing.LoadRunRequest(s.RowOf(key, node).key));
    return s.v(GivenFromText(run.parameters_json));
  };
  EXPECT_EQ(given("a").time_zone, "Asia/Tokyo");
  EXPECT_EQ(given("b").time_zone, "Asia/Tokyo");
  const std::string day = s.v(FormatFireDate({.days = -1}, key.fire, "Asia/Tokyo"));
  EXPECT_EQ(given("a").values, (Parameters{{"day", day}, {"at", FormatRfc3339(key.fire)}}));
}

TYPED_TEST(WorkflowContract, LongParametersAreReleasedInSeveralSteps) {
  WorkflowDriver s = this->workflow_driver();
  constexpr size_t kLong = 32'000;
  std::vector<WorkflowNode> nodes;
  for (int i = 0; i < 6; ++i) {
    nodes.push_back(s.Node("n" + std::to_string(i)));
    for (int k = 0; k < 30; ++k) {
      nodes[i].parameters["p" + std::to_string(k)] = std::string("{{workflow.parameters.q}}");
    }
  }
  JobDefinition definition = s.Flow(nodes);
  definition.parameters = {{"q", std::string(kLong, 'x')}};
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey key = s.Execute(flow, kT0).key;
  s.ExpectBegin(key, kT0);
  const StepRequest request = s.StepOf(key);
  const StepEffect first = s.Step(request, kT0);
  // Nodes of about 0.96 MB, until 4 MiB are exceeded.
  EXPECT_EQ(first.released.size(), kReleasedBytesPerStep / (30 * kLong) + 1);
  EXPECT_TRUE(first.again);
  const StepEffect second = s.Step(request, kT0);
  EXPECT_EQ(first.released.size() + second.released.size(), nodes.size());
  EXPECT_FALSE(second.again);
}

TYPED_TEST(WorkflowContract, DefaultsOfTheWorkflowAreParametersToo) {
  WorkflowDriver s = this->workflow_driver();
  WorkflowNode a = s.Node("a");
  a.parameters = {{"region", std::string("{{workflow.parameters.region}}")},
                  {"run", std::string("{{workflow.run_id}}")}};
  JobDefinition definition = s.Flow({a});
  definition.parameters = {{"region", std::string("eu")}};
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  const RunRequest request = s.v(s.firing.LoadRunRequest(s.RowOf(key, "a").key));
  EXPECT_EQ(s.v(GivenFromText(request.parameters_json)).values,
            (Parameters{{"region", std::string("eu")}, {"run", EncodeRunId(key)}}));
}

TYPED_TEST(WorkflowContract, ParametersOfTheScheduleOverrideTheDefaults) {
  WorkflowDriver s = this->workflow_driver();
  WorkflowNode a = s.Node("a");
  a.parameters = {{"region", std::string("{{workflow.parameters.region}}")},
                  {"size", std::string("{{workflow.parameters.size}}")}};
  JobDefinition definition = s.Flow({a});
  definition.parameters = {{"region", std::string("eu")}, {"size", int64_t{1}}};
  definition.schedules = {{.kind = ScheduleKind::kRate,
                           .every = 10s,
                           .start = kT0,
                           .parameters = {{"region", std::string("us")}}}};
  s.CreateFlow(definition);
  s.Plan(kT0 + 10s, s.fence);
  const RunKey key = s.OnlyPending(kT0 + 10s).key;
  s.ExpectBegin(key, kT0 + 10s);
  s.Steps(kT0 + 10s);
  const RunRequest request = s.v(s.firing.LoadRunRequest(s.RowOf(key, "a").key));
  EXPECT_EQ(s.v(GivenFromText(request.parameters_json)).values,
            (Parameters{{"region", std::string("us")}, {"size", int64_t{1}}}));
}

TYPED_TEST(WorkflowContract, NodeWithoutAValueIsSkippedAsBadParameters) {
  WorkflowDriver s = this->workflow_driver();
  WorkflowNode b = s.Node("b", {{.node = "a"}});
  b.parameters = {{"path", std::string("{{nodes.a.outputs.file}}")}};
  const RunKey key =
      s.Begun(s.CreateFlow(s.Flow({s.Node("a"), b, s.Node("c", {{.node = "b"}})})), kT0);
  EXPECT_EQ(s.Finish(key, "a", kT0 + 1s).ended, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a COMPLETED, b SKIPPED bad_parameters, c SKIPPED upstream_failed");
  EXPECT_NE(s.NodeOf(key, "b").detail.result.error.find("/parameters/path"), std::string::npos);
}

TYPED_TEST(WorkflowContract, NodeWhoseJobRefusesAValueIsSkippedAsBadParameters) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition counted = s.Manual();
  counted.parameter_rules = {{"count", {.type = ParameterType::kInteger}}};
  s.Create("a", counted);
  WorkflowNode a = s.Node("a");
  a.parameters = {{"count", std::string("many")}};
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({a})), kT0);
  EXPECT_EQ(s.States(key), "a SKIPPED bad_parameters");
  s.ExpectEnd(key, RunState::kFailed, reason::kNodeFailed);
}

TYPED_TEST(WorkflowContract, OutputsDoNotBecomePartOfACommand) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition shell = s.Manual();
  shell.command = "cat {{params.path}}";
  s.Create("b", shell);
  WorkflowNode b = s.Node("b", {{.node = "a"}});
  b.parameters = {{"path", std::string("{{nodes.a.outputs.file}}")}};
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), b})), kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kCompleted, {{"file", "x; rm -r /"}});
  EXPECT_EQ(s.States(key), "a COMPLETED, b SKIPPED unsafe_parameter");
}

TYPED_TEST(WorkflowContract, NodeOfAPausedJobWaitsForItsResume) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  const RunKey key = s.Execute(s.CreateFlow(s.Chain()), kT0).key;
  s.Pause(a, kT0);
  s.ExpectBegin(key, kT0 + 1s);
  EXPECT_TRUE(s.Steps(kT0 + 2s).released.empty());
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  EXPECT_EQ(s.RowOf(key, "a").due, kNever);
  s.Resume(a, kT0 + 3s);
  EXPECT_EQ(s.RowOf(key, "a").due, kT0 + 3s);
  // A blocked node stays blocked.
  s.Pause(b, kT0 + 4s);
  EXPECT_EQ(s.RowOf(key, "b").due, kBlocked);
  const StoredJob resumed = s.Resume(b, kT0 + 5s);
  EXPECT_EQ(s.RowOf(key, "b").due, kBlocked);
  EXPECT_EQ(s.RowOf(key, "b").def_version, resumed.version);
  EXPECT_TRUE(s.WakeUps().empty());
  s.Finish(key, "a", kT0 + 6s);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 7s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, EditOfANodesJobAppliesToItsRun) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob b = s.Create("b", s.Manual());
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  JobDefinition edited = s.Manual();
  edited.command = "other";
  edited.priority = 9;
  const StoredJob newer = s.Replace(b, edited, kT0 + 1s);
  RunRow row = s.RowOf(key, "b");
  EXPECT_EQ(row.due, kBlocked);
  EXPECT_EQ(row.def_version, newer.version);
  EXPECT_EQ(row.priority, 9);
  s.Finish(key, "a", kT0 + 2s);
  row = s.RowOf(key, "b");
  EXPECT_EQ(row.def_version, newer.version);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 3s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, DeleteOfANodesJobEndsItsRun) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob b = s.Create("b", s.Manual());
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  ASSERT_OK(s.jobs.DeleteJob(b.job_id, b.version, {.now = kT0 + 1s, .force = true}));
  EXPECT_EQ(s.States(key), "a PENDING, b SKIPPED deleted");
  EXPECT_EQ(s.WakeUps().size(), 1u);
  EXPECT_EQ(s.Finish(key, "a", kT0 + 2s).ended, RunState::kFailed);
  EXPECT_EQ(s.Get(key).result.error, "A node failed: b.");
}

// Only a node that the present version has may be of a deleted job: otherwise the workflow could
// never be edited again.
TYPED_TEST(WorkflowContract, AWorkflowWhoseNodesJobIsGoneCanBeEdited) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob b = s.Create("b", s.Manual());
  const StoredJob gone = s.Create("gone", s.Manual());
  StoredJob flow = s.CreateFlow(s.Chain());
  for (const StoredJob& job : {b, gone}) {
    ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 1s, .force = true}));
  }
  JobDefinition edited = flow.definition;
  edited.description = "nightly";
  flow = s.Replace(flow, edited, kT0 + 2s);
  const JobDependencies named = s.v(s.jobs.ListDependencies(flow.job_id));
  ASSERT_EQ(named.upstream.size(), 2u);
  EXPECT_TRUE(named.upstream[1].deleted);
  edited.workflow = s.Flow({s.Node("a"), s.Node("gone")}).workflow;
  EXPECT_CODE(s.jobs.ReplaceJob(flow.job_id, flow.version, edited, {.now = kT0 + 3s}),
              ErrorCode::kInvalid);
  edited.workflow = s.Flow({s.Node("a")}).workflow;
  flow = s.Replace(flow, edited, kT0 + 4s);
  EXPECT_EQ(s.v(s.jobs.ListDependencies(flow.job_id)).upstream.size(), 1u);
}

TYPED_TEST(WorkflowContract, JobsOfNodesAreDependenciesOfTheWorkflow) {
  WorkflowDriver s = this->workflow_driver();
  WorkflowNode again = s.Node("again", {{.node = "a"}});
  again.job = JobId("a");
  const StoredJob a = s.Create("a", s.Manual());
  StoredJob flow = s.CreateFlow(s.Flow({s.Node("a"), again, s.Node("b")}));
  const JobDependencies of_flow = s.v(s.jobs.ListDependencies(flow.job_id));
  EXPECT_EQ(of_flow.upstream,
            (std::vector<JobDependency>{
                {.job_id = a.job_id, .job_name = "job", .kind = DependencyKind::kNode},
                {.job_id = JobId("b"), .job_name = "job", .kind = DependencyKind::kNode}}));
  EXPECT_TRUE(of_flow.downstream.empty());
  const JobDependencies of_a = s.v(s.jobs.ListDependencies(a.job_id));
  EXPECT_EQ(of_a.downstream,
            (std::vector<JobDependency>{
                {.job_id = flow.job_id, .job_name = "flow", .kind = DependencyKind::kNode}}));
  EXPECT_CODE(s.jobs.DeleteJob(a.job_id, a.version, {.now = kT0}), ErrorCode::kExists);
  flow = s.Replace(flow, s.Flow({s.Node("b")}), kT0 + 1s);
  EXPECT_TRUE(s.v(s.jobs.ListDependencies(a.job_id)).downstream.empty());
  ASSERT_OK(s.jobs.DeleteJob(a.job_id, a.version, {.now = kT0 + 2s}));
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 3s}));
  const StoredJob b = s.v(s.jobs.GetJob(JobId("b")));
  ASSERT_OK(s.jobs.DeleteJob(b.job_id, b.version, {.now = kT0 + 4s}));
}

TYPED_TEST(WorkflowContract, BegunRunKeepsItsGraph) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Begun(flow, kT0);
  s.Create("c", s.Manual());
  s.Replace(flow, s.Flow({s.Node("c")}), kT0 + 1s);
  EXPECT_EQ(s.View(key).def_version, flow.version);
  s.Finish(key, "a", kT0 + 2s);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 3s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, BegunRunOfAPausedOrDeletedWorkflowFinishes) {
  WorkflowDriver s = this->workflow_driver();
  StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Begun(flow, kT0);
  flow = s.Pause(flow, kT0 + 1s);
  s.Finish(key, "a", kT0 + 2s);
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 3s}));
  EXPECT_EQ(s.StateOf(key), RunState::kRunning);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 4s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, DeadlineEndsTheRun) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Flow({s.Node("a"), s.Node("b"), s.Node("c", {{.node = "a"}})});
  definition.timeout_s = 60;
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey key = s.Begun(flow, kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  EXPECT_EQ(s.Rotate(kT0 + 60s - 1us).cancelled, 0);
  const StepEffect effect = s.Rotate(kT0 + 60s);
  EXPECT_EQ(effect.cancelled, 2);
  EXPECT_EQ(effect.stopping, 1);
  EXPECT_FALSE(effect.ended.has_value());
  EXPECT_EQ(s.States(key), "a RUNNING, b CANCELLED, c CANCELLED");
  EXPECT_EQ(s.RowOf(key, "a").cancel_requested, CancelMode::kGraceful);
  s.EndRun(a, RunState::kCompleted, kT0 + 61s);  // it has ended before it was stopped
  EXPECT_EQ(s.Steps(kT0 + 62s).ended, RunState::kTimedOut);
  s.ExpectEnd(key, RunState::kTimedOut, reason::kTimeout);
  EXPECT_EQ(s.Get(key).result.error, "Nodes failed: b, c.");
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({.job_id = flow.job_id}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].state, RunState::kTimedOut);
}

TYPED_TEST(WorkflowContract, DeadlineDoesNotMatterOnceAllNodesHaveEnded) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Flow({s.Node("a")});
  definition.timeout_s = 60;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  s.EndRun(s.StartNode(key, "a", kT0 + 58s), RunState::kCompleted, kT0 + 59s);
  EXPECT_EQ(s.Steps(kT0 + 70s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, HousekeepingDeletesWorkflowRunsWithTheirRuns) {
  WorkflowDriver s = this->workflow_driver();
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  const StoredJob flow = s.CreateFlow(s.Flow({s.Node("a")}));
  const RunKey old = s.Begun(flow, kT0 + 1h);
  s.Finish(old, "a", kT0 + 2h);
  const RunKey node = s.RowOf(old, "a").key;
  const RunKey open = s.Begun(flow, kT0 + 25h);
  for (int i = 0; i < 2; ++i)
    ASSERT_OK(s.housekeeping.Maintain(kT0 + 20 * 24h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.workflows.GetWorkflowRun(old), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.GetRun(node), ErrorCode::kNotFound);
  EXPECT_EQ(s.States(open), "a PENDING");
}

TYPED_TEST(WorkflowContract, TheVersionOfAWorkflowRunIsKept) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition lasting = s.Chain();
  lasting.timeout_s = 7 * 86'400;
  StoredJob flow = s.CreateFlow(lasting);
  const JobVersionKey begun{flow.job_no, flow.version};
  const RunKey key = s.Begun(flow, kT0);
  for (int i = 0; i < 105; ++i) flow = s.Replace(flow, flow.definition, kT0 + i * 1min);
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 6 * 24h, {.runs = 2 * 24h}));
  EXPECT_EQ(s.v(s.firing.LoadDefinitions({begun})).size(), 1u);
  EXPECT_TRUE(s.v(s.firing.LoadDefinitions({{flow.job_no, begun.version + 1}})).empty());
  s.Finish(key, "a", kT0 + 6 * 24h);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 6 * 24h + 1s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, NodeWhoseJobCannotBeReadWaitsWithoutAskingForMoreSteps) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const StoredJob b = s.v(s.jobs.GetJob(JobId("b")));
  const RunKey key = s.Begun(flow, kT0);
  this->handle().DamageDefinition(b, true);
  s.EndRun(s.StartNode(key, "a", kT0 + 1s), RunState::kCompleted, kT0 + 2s);
  const StepEffect effect = s.Step(s.StepOf(key), kT0 + 2s);
  EXPECT_FALSE(effect.again);
  EXPECT_TRUE(effect.released.empty());
  this->handle().DamageDefinition(b, false);
  EXPECT_EQ(s.Rotate(kT0 + 3s).released.size(), 1u);
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING");
}

TYPED_TEST(WorkflowContract, NodesAreKeptAsLongAsTheWorkflowRun) {
  WorkflowDriver s = this->workflow_driver();
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  JobDefinition brief = s.Manual();
  brief.retention_days = 1;
  s.Create("a", brief);
  JobDefinition brief_flow = s.Flow({s.Node("b")});
  brief_flow.retention_days = 1;
  const RunKey kept = s.Begun(s.CreateFlow(s.Flow({s.Node("a")})), kT0 + 1h);
  s.Finish(kept, "a", kT0 + 2h);
  const RunKey gone = s.Begun(s.CreateFlow(brief_flow, "brief"), kT0 + 1h);
  s.Finish(gone, "b", kT0 + 2h);
  const RunKey node = s.RowOf(gone, "b").key;
  for (int i = 0; i < 3; ++i) ASSERT_OK(s.housekeeping.Maintain(kT0 + 4 * 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(s.States(kept), "a COMPLETED");
  EXPECT_CODE(s.workflows.GetWorkflowRun(gone), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.GetRun(node), ErrorCode::kNotFound);
}

TYPED_TEST(WorkflowContract, RunOfAScheduleBeginsAndStartsDelayedFires) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Flow({s.Node("a")});
  definition.schedules = {{.kind = ScheduleKind::kDelay, .every = 10s, .start = kT0 + 10s}};
  s.CreateFlow(definition);
  s.Plan(kT0 + 10s, s.fence);
  const RunKey key = s.OnlyPending(kT0 + 10s).key;
  s.ExpectBegin(key, kT0 + 10s);
  s.Steps(kT0 + 10s);
  EXPECT_TRUE(s.Finish(key, "a", kT0 + 15s).completed);
  const std::vector<RunCompletion> ends = s.v(s.completions.ScanCompletions(s.All(), 100));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].target, CompletionTarget::kSchedule);
  EXPECT_EQ(s.v(s.completions.Apply(ends, s.fence, kT0 + 16s))[0].next_fire, kT0 + 25s);
}

}  // namespace carillon::test
