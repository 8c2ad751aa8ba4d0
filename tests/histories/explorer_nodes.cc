// Workflows, and decisions about their nodes.
#include <fmt/format.h>

#include "tests/histories/explorer.h"

namespace carillon::test {
namespace {

constexpr const char* kAnna = "u-anna";

}  // namespace

RunRules Explorer::NewRules() {
  static const std::vector<OnLost> kOnLost = {OnLost::kRetry, OnLost::kFail, OnLost::kHold};
  RunRules rules;
  if (Chance(0.5)) rules.retry_count = static_cast<int64_t>(Below(3));
  if (Chance(0.5)) rules.retry_interval_s = static_cast<int64_t>(Below(3));
  if (Chance(0.3)) rules.on_lost = Pick(kOnLost);
  if (Chance(0.3)) rules.priority = static_cast<int>(Below(101));
  if (Chance(0.2)) rules.concurrency_group = Chance(0.5) ? "x1" : "";
  return rules;
}

WorkflowNode Explorer::NewNode(const std::vector<StoredJob>& jobs) {
  WorkflowNode node;
  switch (Below(10)) {
    case 0:
    case 1: {
      JobDefinition task;
      task.command = fmt::format("ms={} term={}", 5 + Below(400), Below(100));
      if (Chance(0.3)) task.command += " exit=3";
      task.retry_count = static_cast<int64_t>(Below(2));
      if (Chance(0.2)) task.concurrency_group = "x2";
      node.task = TaskBox(std::move(task));
      break;
    }
    case 2:
      node.approval = Approval{.message = Chance(0.5) ? "Go on?" : "",
                               .timeout_s = Chance(0.3) ? kApprovalTimeoutMinS : 0,
                               .approves_on_timeout = Chance(0.5)};
      if (Chance(0.3)) node.approval->by = {kAnna};
      break;
    case 3: node.wait = NodeWait{.for_s = 1 + static_cast<int64_t>(Below(5))}; break;
    default: node.job = Pick(jobs).job_id;
  }
  const bool runs = !node.approval && !node.wait;
  if (runs && Chance(0.15)) {
    node.over = "{{workflow.parameters.list}}";
    node.as = "item";
    if (Chance(0.5)) node.collect = "rows";
  }
  if (!RunsNoJob(node) && Chance(0.3)) node.rules = NewRules();
  if (runs && Chance(0.3)) node.parameters = {{"city", "{{ city }}"}};
  node.allow_failure = Chance(0.1);
  return node;
}

WorkflowDefinition Explorer::NewWorkflow(const std::vector<StoredJob>& jobs) {
  WorkflowDefinition workflow{.max_parallel = 1 + static_cast<int64_t>(Below(4))};
  if (Chance(0.5)) workflow.finally_timeout_s = 1 + static_cast<int64_t>(Below(10));
  const size_t nodes = 1 + Below(4);
  for (size_t i = 0; i < nodes; ++i) {
    WorkflowNode node = NewNode(jobs);
    node.id = fmt::format("n{}", i);
    node.is_finally = i > 0 && i + 1 == nodes && Chance(0.3);
    for (size_t before = 0; before < i && !node.is_finally; ++before) {
      if (!Chance(0.6)) continue;
      WorkflowEdge edge{.node = fmt::format("n{}", before)};
      if (Chance(0.3)) edge.on = Chance(0.5) ? EdgeOn::kDone : EdgeOn::kFailure;
      edge.recovers = edge.on != EdgeOn::kSuccess && Chance(0.4);
      node.after.push_back(edge);
    }
    if (!node.after.empty() && Chance(0.2)) node.trigger_rule.least = TriggerRule::kAny;
    if (!node.after.empty() && Chance(0.1)) node.trigger_rule.succeeded = true;
    workflow.nodes.push_back(node);
  }
  return workflow;
}

void Explorer::DecideNode() {
  const auto page = s_.runs.ListRuns({.opened = kUndecided, .limit = 10}, now_);
  if (!page.ok() || page->runs.empty()) return;
  const RunDetail& run = Pick(page->runs);
  if (!run.node) return;
  const RunKey& own = run.node->workflow_run;
  const Decision decision = Chance(0.7) ? Decision::kApprove : Decision::kRefuse;
  const auto decided = s_.workflows.DecideNode(
      {.key = own, .node = run.node->node, .decision = decision}, Context());
  if (!decided.ok()) return;
  (*nudge_)({decided->own.row.job_no, decided->own.row.segment, own});
}

}  // namespace carillon::test
