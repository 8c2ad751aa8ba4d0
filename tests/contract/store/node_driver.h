// Driver of the contract of nodes that have rules of their own, or no job.
#pragma once

#include <optional>

#include "common/domain/nodes/approval.h"
#include "common/domain/nodes/task_jobs.h"
#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

class NodeDriver : public WorkflowDriver {
 public:
  explicit NodeDriver(StoreHandle& store) : WorkflowDriver(store) {}

  static JobDefinition TaskOf(const std::string& command) {
    JobDefinition task;
    task.command = command;
    return task;
  }
  static WorkflowNode Task(const std::string& id, std::vector<WorkflowEdge> after = {},
                           JobDefinition task = TaskOf("true")) {
    return {.id = id, .task = TaskBox(std::move(task)), .after = std::move(after)};
  }
  static WorkflowNode Ask(const std::string& id, std::vector<WorkflowEdge> after = {},
                          Approval approval = {}) {
    return {.id = id, .approval = std::move(approval), .after = std::move(after)};
  }
  static WorkflowNode Wait(const std::string& id, NodeWait wait,
                           std::vector<WorkflowEdge> after = {}) {
    return {.id = id, .wait = std::move(wait), .after = std::move(after)};
  }
  static WorkflowNode Finally(WorkflowNode node) {
    node.is_finally = true;
    return node;
  }
  static WorkflowNode With(WorkflowNode node, RunRules rules) {
    node.rules = std::move(rules);
    return node;
  }

  Result<WorkflowRunView> TryDecide(const RunKey& key, const std::string& node, Decision decision,
                                    WallTime now, const Decider& who = {"", "anna"},
                                    const std::string& reason = "") {
    return workflows.DecideNode({.key = key, .node = node, .decision = decision},
                                {.now = now, .reason = reason, .decider = who});
  }
  // Decides, and takes the steps that follow.
  StepEffect Decide(const RunKey& key, const std::string& node, Decision decision, WallTime now) {
    EXPECT_OK(TryDecide(key, node, decision, now));
    return Steps(now);
  }
  void SetPaused(std::optional<WallTime> since, Duration paused = {}) {
    ClusterSettings next = v(settings.ReadSettings());
    const int64_t expected = next.version++;
    next.values.erase(std::string(kPauseSince));
    if (since) next.values[std::string(kPauseSince)] = FormatRfc3339(*since);
    v(settings.WriteSettings(expected, next, paused));
  }
  std::vector<RunKey> Opened(WallTime due, WallTime now) {
    std::vector<RunKey> keys;
    for (const RunDetail& run : v(runs.ListRuns({.opened = due}, now)).runs) {
      keys.push_back(run.row.key);
    }
    return keys;
  }
  std::vector<RunKey> Listed(const RunFilter& filter, WallTime now) {
    std::vector<RunKey> keys;
    for (const RunDetail& run : v(runs.ListRuns(filter, now)).runs) keys.push_back(run.row.key);
    return keys;
  }
  std::vector<OpenNotice> Notices(NoticeKind kind) {
    std::vector<OpenNotice> found;
    for (OpenNotice& one : v(notices.ScanNotices(All(), 100))) {
      if (one.notice.kind == kind) found.push_back(std::move(one));
    }
    return found;
  }
};

template <typename Factory>
class NodeContract : public StoreContract<Factory> {
 protected:
  NodeDriver node_driver() { return NodeDriver(this->handle()); }
};
TYPED_TEST_SUITE(NodeContract, StoreFactories);

}  // namespace carillon::test
