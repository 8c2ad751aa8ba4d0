// Driver of the contract of workflow runs: short forms of what happens to a workflow and its nodes.
#pragma once

#include <map>

#include "common/domain/workflow/node_key.h"
#include "tests/contract/store/store_driver.h"

namespace carillon::test {

// Nodes run the jobs of the same name, unless a case says otherwise.
class WorkflowDriver : public StoreDriver {
 public:
  explicit WorkflowDriver(StoreHandle& store) : StoreDriver(store), fence(Take()) {}

  static WorkflowNode Node(const std::string& id, std::vector<WorkflowEdge> after = {}) {
    return {.id = id, .job = JobId(id), .after = std::move(after)};
  }
  static JobDefinition Flow(std::vector<WorkflowNode> nodes) {
    JobDefinition definition;
    definition.name = "flow";
    definition.type = JobType::kWorkflow;
    definition.timeout_s = 3600;
    definition.workflow = WorkflowDefinition{.nodes = std::move(nodes)};
    return definition;
  }
  // a, then b.
  static JobDefinition Chain() { return Flow({Node("a"), Node("b", {{.node = "a"}})}); }
  // Creates the jobs that do not exist yet, and then the workflow.
  StoredJob CreateFlow(const JobDefinition& definition, const std::string& id = "flow") {
    for (const WorkflowNode& node : definition.workflow->nodes) {
      if (RunsNoJob(node)) continue;
      if (!jobs.GetJobHead(node.job).ok()) Create(node.job.value(), Manual());
    }
    return Create(id, definition);
  }

  // The request of the owner, which is no executor.
  ClaimRequest RequestFor(const RunKey& key) {
    const RunRow row = Get(key).row;
    ClaimRequest request = ClaimOf(row, 0);
    request.token = {};
    request.executor = {};
    request.incarnation = {};
    const auto found = v(firing.LoadDefinitions({{row.job_no, row.def_version}}));
    EXPECT_EQ(found.size(), 1u);
    if (!found.empty()) request.overlap = OverlapRulesOf(found.front().definition);
    return request;
  }
  BeginReply Begin(const RunKey& key, WallTime now) {
    return v(workflows.Begin(RequestFor(key), fence, now));
  }
  void ExpectBegin(const RunKey& key, WallTime now) {
    const BeginReply reply = Begin(key, now);
    EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted) << Name(reply.reason);
  }
  // Runs the workflow by hand; its first nodes are released.
  RunKey Begun(const StoredJob& flow, WallTime now) {
    const RunKey key = Execute(flow, now).key;
    ExpectBegin(key, now);
    Steps(now);
    return key;
  }

  std::vector<WakeUp> WakeUps() { return v(workflows.ScanWakeUps(All(), 100)); }
  StepEffect Step(const StepRequest& request, WallTime now) {
    return v(workflows.Step({request}, fence, now)).at(0);
  }
  // Takes steps for all wake-ups, as owners do, until nothing is left to be done. Returns the sum
  // of their effects.
  StepEffect Steps(WallTime now) {
    StepEffect sum;
    for (int round = 0; round < 50; ++round) {
      std::map<WorkflowRunId, StepRequest> asked;
      for (const WakeUp& wake_up : WakeUps()) {
        StepRequest& request = asked[wake_up.run];
        request.run = wake_up.run;
        request.segment = wake_up.segment;
        request.wake_ups.push_back(wake_up.id);
      }
      if (asked.empty()) return sum;
      for (auto& [run, request] : asked) StepOn(request, now, &sum);
    }
    ADD_FAILURE() << "the steps do not come to an end";
    return sum;
  }
  // Takes a step of each open workflow run, as the rotation does.
  StepEffect Rotate(WallTime now) {
    StepEffect sum;
    for (const OpenWorkflowRun& open : v(workflows.ScanOpen(All(), 0, 100))) {
      StepOn({.run = open.run, .segment = open.segment}, now, &sum);
    }
    return sum;
  }

  WorkflowRunView View(const RunKey& key) { return v(workflows.GetWorkflowRun(key)); }
  StepRequest StepOf(const RunKey& key) {
    const WorkflowRunView view = View(key);
    return {.run = view.run, .segment = view.own.row.segment};
  }
  WorkflowNodeRun NodeOf(const RunKey& key, const std::string& node) {
    const WorkflowRunView view = View(key);
    for (size_t i = 0; i < view.nodes.size(); ++i) {
      if (view.definition.nodes[i].id == node) return view.nodes[i];
    }
    ADD_FAILURE() << "no node " << node;
    return {};
  }
  RunRow RowOf(const RunKey& key, const std::string& node) { return NodeOf(key, node).detail.row; }
  RunState StateOf(const RunKey& key) { return Get(key).row.state; }
  // "a COMPLETED, b blocked, c PENDING": all nodes, with the reasons of those that were SKIPPED.
  std::string States(const RunKey& key) {
    std::string text;
    const WorkflowRunView view = View(key);
    for (size_t i = 0; i < view.nodes.size(); ++i) {
      const NodeRow& row = view.nodes[i].row;
      text += text.empty() ? "" : ", ";
      text += view.definition.nodes[i].id + " ";
      text += IsBlocked(row) ? "blocked" : std::string(Name(row.state));
      if (row.state == RunState::kSkipped) text += " " + row.reason;
    }
    return text;
  }

  RunRow StartNode(const RunKey& key, const std::string& node, WallTime now) {
    return Start(RowOf(key, node), ++token_, fence, now);
  }
  RunRow EndRun(const RunRow& row, RunState state, WallTime now, const Outputs& outputs = {}) {
    ResultReport report = ReportOf(row, state, now);
    report.result.outputs = outputs;
    EXPECT_EQ(Apply(report, fence, now).verdict, ResultVerdict::kApplied);
    return Get(row.key).row;
  }
  // Starts the node, ends it, and takes the steps that follow.
  StepEffect Finish(const RunKey& key, const std::string& node, WallTime now,
                    RunState state = RunState::kCompleted, const Outputs& outputs = {}) {
    EndRun(StartNode(key, node, now), state, now, outputs);
    return Steps(now);
  }
  void ExpectEnd(const RunKey& key, RunState state, std::string_view reason = "") {
    const RunDetail run = Get(key);
    EXPECT_EQ(Name(run.row.state), Name(state));
    EXPECT_EQ(run.result.reason, reason);
  }
  static std::vector<RunKey> KeysOf(const std::vector<RunRow>& rows) {
    std::vector<RunKey> keys;
    for (const RunRow& row : rows) keys.push_back(row.key);
    return keys;
  }

  Fence fence;

 private:
  void StepOn(StepRequest request, WallTime now, StepEffect* sum) {
    for (int round = 0; round < 50; ++round) {
      const StepEffect effect = Step(request, now);
      sum->released.insert(sum->released.end(), effect.released.begin(), effect.released.end());
      sum->skipped += effect.skipped;
      sum->cancelled += effect.cancelled;
      sum->stopping += effect.stopping;
      if (effect.ended) sum->ended = effect.ended;
      sum->freed_slot |= effect.freed_slot;
      sum->completed |= effect.completed;
      if (!effect.again) return;
      request.wake_ups.clear();
    }
    ADD_FAILURE() << "the step is never done";
  }

  uint64_t token_ = 400;
};

template <typename Factory>
class WorkflowContract : public StoreContract<Factory> {
 protected:
  WorkflowDriver workflow_driver() { return WorkflowDriver(this->handle()); }
};
TYPED_TEST_SUITE(WorkflowContract, StoreFactories);

}  // namespace carillon::test
