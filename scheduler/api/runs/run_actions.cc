#include "scheduler/api/runs/run_actions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "common/domain/job/job_types.h"
#include "common/domain/nodes/approval.h"
#include "common/domain/parts/part_retry.h"
#include "common/domain/run/hanging.h"
#include "common/domain/run/run_state.h"
#include "common/domain/upstream/wait_end.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/skip_rights.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audited_write.h"
#include "scheduler/api/runs/shard_routes.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

bool MayCancel(const RunRow& row) {
  return DecideCancel(row, CancelMode::kKill, Overlap::kConfirmed) != CancelEffect::kNothing;
}

bool MayRetryAlone(const RunRow& row, bool deleted, WallTime now) {
  const JobRow job{.job_no = row.job_no, .deleted = deleted};
  return DecideRetryByHand(row, job, Overlap::kConfirmed, now).ok();
}

// Together with its own run, which begins again if it has ended. A part that was SKIPPED has done
// nothing yet, so that its retry is one of the work.
bool MayRetryPart(const Call& call, const RunRow& row, bool deleted, WallTime now) {
  if (row.state != RunState::kSkipped && !MayRetryAlone(row, deleted, now)) return false;
  const auto own = call.stores.runs.GetRun(OwnRunOf(row.key));
  return own.ok() && MayRetryParts(*own, deleted);
}

bool IsNested(const RunRow& own) { return NodePlaceOf(own.key).has_value(); }

bool MayRetryNode(const JudgedWorkflow& workflow, size_t position, WallTime now) {
  const RunRow& own = workflow.view.own.row;
  const RunRow& row = workflow.view.nodes[position].detail.row;
  if (row.state == RunState::kPending && !IsUnreleased(row.due)) {
    return MayRetryAlone(row, false, now);
  }
  if (IsNested(own) || !CheckMayRetry(own, workflow.is_late).ok()) return false;
  const auto plan = PlanRetry(workflow.graph, workflow.rows,
                              {.from = RetryFrom::kNodes,
                               .nodes = {workflow.graph.node(position).id},
                               .overlap = Overlap::kConfirmed},
                              BeginsAgain(own));
  return plan.ok() && !plan->refused() && !plan->changes.empty();
}

// True unless it is an approval that others decide.
bool MayAnswer(const Call& call, const WorkflowNode& node) {
  return !node.approval || CheckMayDecide(*node.approval, DeciderOf(call.caller)).ok();
}

bool MayDecide(const Call& call, const WorkflowRunView& view, size_t position) {
  const RunRow& row = view.nodes[position].detail.row;
  const WorkflowNode& node = view.definition.nodes[position];
  return row.state == RunState::kPending && row.due == kUndecided && node.approval &&
         MayAnswer(call, node);
}

bool MayDecideAny(const Call& call, const WorkflowRunView& view) {
  for (size_t i = 0; i < view.nodes.size(); ++i) {
    if (MayDecide(call, view, i)) return true;
  }
  return false;
}

bool MaySkipNode(const Call& call, const JudgedWorkflow& workflow, size_t position) {
  if (!CheckMaySkipNode(workflow.graph, position, &workflow.rows, DeciderOf(call.caller)).ok()) {
    return false;
  }
  if (!CheckMaySkip(workflow.view.own.row, workflow.is_late).ok()) return false;
  const auto plan = PlanSkip(workflow.graph, workflow.rows, workflow.graph.node(position).id,
                             Overlap::kUnconfirmed);
  return plan.ok() && !plan->refused();
}

void Keep(json& actions, std::string_view action, bool possible) {
  if (possible) return;
  actions.erase(std::remove(actions.begin(), actions.end(), json(action)), actions.end());
}

void AddExecute(const Call& call, const JobAccessScope& job, json& actions) {
  if (job.deleted) return;
  const json of_job = AllowedActions(call, Owned::kJob, job);
  if (std::find(of_job.begin(), of_job.end(), "execute") == of_job.end()) return;
  actions.push_back("execute");
  std::sort(actions.begin(), actions.end());
}

// Whoever may cancel a run may give up its function.
void AddGiveUp(const Call& call, const RunDetail& run, json& actions) {
  const bool may_cancel = std::find(actions.begin(), actions.end(), "cancel") != actions.end();
  if (!may_cancel || !MayGiveUp(run.row, IsCooperative(run.job_type))) return;
  if (!call.api.upgrade.FeatureOn(kFanOutMigration)) return;
  actions.push_back("give_up");
  std::sort(actions.begin(), actions.end());
}

// The position of the node whose run it is; nullopt: the run is not of this workflow run any more.
std::optional<size_t> PositionOf(const WorkflowRunView& view, const RunKey& key) {
  for (size_t i = 0; i < view.nodes.size(); ++i) {
    if (view.nodes[i].detail.row.key == key) return i;
  }
  return std::nullopt;
}

bool MayDecideAsNode(const Call& call, const RunDetail& run) {
  if (!run.node || run.row.due != kUndecided) return false;
  const auto view = call.stores.workflows.GetWorkflowRun(run.node->workflow_run);
  if (!view.ok()) return false;
  const auto position = PositionOf(*view, run.row.key);
  return position && MayDecide(call, *view, *position);
}

bool MayRetryAsNode(const Call& call, const RunDetail& run, WallTime now) {
  const auto view = call.stores.workflows.GetWorkflowRun(run.node->workflow_run);
  if (!view.ok()) return false;
  const auto graph = WorkflowGraph::Compile(view->definition);
  const auto position = PositionOf(*view, run.row.key);
  if (!graph.ok() || !position) return false;
  NodeRows rows;
  for (const WorkflowNodeRun& node : view->nodes) rows.push_back(node.row);
  return MayRetryNode(
      {.view = *view, .graph = *graph, .rows = rows, .is_late = IsLate(call, *view, now)},
      *position, now);
}

}  // namespace

WallTime TimeOf(const Call& call) {
  const auto now = call.api.cluster_now();
  return now.ok() ? *now : WallTime{};
}

bool IsLate(const Call& call, const WorkflowRunView& view, WallTime now) {
  return !call.api.settings.paused() && view.deadline <= now;
}

Outcome<json> ActionsOnRun(const Call& call, const RunDetail& run) {
  CARILLON_ASSIGN_OR_RETURN(const JobAccessScope place, FindPlace(call, run.job_id));
  json actions = AllowedActions(call, Owned::kRun, place);
  if (actions.empty()) return actions;
  AddExecute(call, place, actions);
  if (run.kept) {
    for (const char* change : {"cancel", "decide", "release", "retry", "skip"})
      Keep(actions, change, false);
    return actions;
  }
  Keep(actions, "cancel", MayCancel(run.row));
  AddGiveUp(call, run, actions);
  Keep(actions, "release", CheckReleasable(run.row).ok());
  const WallTime now = TimeOf(call);
  if (run.job_type == JobType::kWorkflow) {
    const auto view = call.stores.workflows.GetWorkflowRun(run.row.key);
    if (view.ok()) {
      const bool is_late = IsLate(call, *view, now);
      const bool ended = IsFinal(run.row.state);
      const bool retried = !IsNested(run.row) && !(ended && place.deleted);
      Keep(actions, "retry", retried && CheckMayRetry(run.row, is_late).ok());
      Keep(actions, "skip", CheckMaySkip(run.row, is_late).ok());
      Keep(actions, "decide", MayDecideAny(call, *view));
      return actions;
    }
  }
  Keep(actions, "skip", false);
  Keep(actions, "decide", MayDecideAsNode(call, run));
  if (IsPart(run.row.key) && NodePlaceOf(OwnRunOf(run.row.key))) {
    Keep(actions, "retry", false);  // the workflow retries the fire as a whole
    return actions;
  }
  // That of a node is retried as a whole, by its workflow.
  if (!run.node && IsRetriedByParts(run.row)) {
    Keep(actions, "retry", MayRetryParts(run, place.deleted));
    return actions;
  }
  if (IsPart(run.row.key)) {
    Keep(actions, "retry", MayRetryPart(call, run.row, place.deleted, now));
    return actions;
  }
  Keep(actions, "retry",
       run.node ? MayRetryAsNode(call, run, now) : MayRetryAlone(run.row, place.deleted, now));
  return actions;
}

json ActionsOnNode(const Call& call, const json& permitted, const JudgedWorkflow& workflow,
                   size_t position, WallTime now) {
  json actions = permitted;
  Keep(actions, "cancel", false);
  Keep(actions, "release", CheckReleasable(workflow.view.nodes[position].detail.row).ok());
  Keep(actions, "retry", MayRetryNode(workflow, position, now));
  Keep(actions, "skip", MaySkipNode(call, workflow, position));
  Keep(actions, "decide", MayDecide(call, workflow.view, position));
  return actions;
}

}  // namespace carillon::scheduler
