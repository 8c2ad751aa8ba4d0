#include "scheduler/api/workflows/run_node_routes.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/domain/workflow/workflow_graph.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/workflow/workflow_json.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audited_write.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/runs/run_actions.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// The graph and the state of a workflow run, as decisions see them.
struct JudgedNodes {
  WorkflowGraph graph;
  NodeRows rows;
  std::set<size_t> failures;
};

Outcome<JudgedNodes> JudgeAll(const WorkflowRunView& view) {
  CARILLON_ASSIGN_OR_RETURN(WorkflowGraph graph, WorkflowGraph::Compile(view.definition));
  NodeRows rows;
  for (const WorkflowNodeRun& node : view.nodes) rows.push_back(node.row);
  const std::vector<size_t> failures = FailuresOf(graph, rows);
  return JudgedNodes{std::move(graph), std::move(rows), {failures.begin(), failures.end()}};
}

json ShowRunNode(const RunDetail& run, const JudgedNodes& judged, size_t position) {
  json shown = CompleteNodeToJson(judged.graph.node(position));
  const json told = RunToJson(run, false);
  for (const char* field : {"job_id", "job_name", "job_type", "run_id", "state", "reason", "error",
                            "attempt", "started_at", "ended_at", "exit_code", "executor_id"}) {
    shown[field] = told[field];
  }
  // Executors report the start of a process together with its end.
  if (shown["started_at"].is_null() && run.row.state == RunState::kRunning) {
    shown["started_at"] = told["claimed_at"];
  }
  const NodeRow& row = judged.rows[position];
  shown["blocked"] = IsBlocked(row);
  shown["awaiting"] = row.awaiting;
  shown["failure"] = judged.failures.contains(position);
  shown["repaired"] =
      EndOf(row) == NodeEnd::kFailure && IsRepaired(judged.graph, position, judged.rows);
  const auto& upstream = judged.graph.upstream(position);
  for (size_t i = 0; i < upstream.size(); ++i) {
    const WorkflowGraph::Edge& edge = judged.graph.edges()[upstream[i]];
    shown["after"][i]["verdict"] = Name(JudgeEdge(judged.graph, edge, judged.rows));
  }
  return shown;
}

Reply NodesResponse(const Call& call, const WorkflowRunView& view) {
  CARILLON_ASSIGN_OR_RETURN(const JudgedNodes judged, JudgeAll(view));
  const WallTime now = TimeOf(call);
  CARILLON_ASSIGN_OR_RETURN(const json permitted,
                            AllowedActions(call, Owned::kRun, view.own.job_id));
  const JudgedWorkflow workflow{
      .view = view, .graph = judged.graph, .rows = judged.rows, .is_late = IsLate(call, view, now)};
  json nodes = json::array();
  for (size_t i = 0; i < view.nodes.size(); ++i) {
    nodes.push_back(ShowRunNode(view.nodes[i].detail, judged, i));
    nodes.back()["allowed_actions"] = ActionsOnNode(permitted, workflow, i, now);
  }
  const RunDetail& own = view.own;
  return JsonResponse(
      200,
      {{"run_id", EncodeRunId(own.row.key)},
       {"job_id", own.job_id.value()},
       {"job_version", view.def_version},
       {"state", Name(own.row.state)},
       {"deadline", view.deadline == kNever ? json(nullptr) : json(FormatRfc3339(view.deadline))},
       {"max_parallel", view.definition.max_parallel},
       {"nodes", std::move(nodes)}});
}

// 404 if there is no such run, 422 if it has no nodes; otherwise the problem of the error.
Problem ExplainNodes(const Call& call, const RunKey& key, const Error& error) {
  if (error.code != ErrorCode::kNotFound) return ToProblem(error);
  const auto run = call.stores.runs.GetRun(key);
  if (!run.ok()) return ToProblem(run.error());
  if (run->kept) {
    return {
        .status = 422,
        .code = "no_nodes",
        .detail = fmt::format("Run {} is older than the retention: the runs of its nodes are no "
                              "longer stored.",
                              EncodeRunId(key))};
  }
  return {
      .status = 422,
      .code = "no_nodes",
      .detail = fmt::format("Run {} is not of a workflow, or has not begun.", EncodeRunId(key))};
}

Problem ExplainSkip(const Call& call, const SkipNodeRequest& request, const Error& error) {
  if (error.code == ErrorCode::kInvalid) {
    return NotFound(fmt::format("Run {} has no node {}.", EncodeRunId(request.key), request.node));
  }
  if (error.code == ErrorCode::kConflict) {
    return {.status = 409, .code = "not_skippable", .detail = error.message};
  }
  if (IsUnknown(Status(error))) {
    return OutcomeUnknown(
        "It is unknown whether the node was skipped. GET the nodes before trying again.", error);
  }
  return ExplainNodes(call, request.key, error);
}

}  // namespace

Reply GetRunNodes(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  const auto view = call.stores.workflows.GetWorkflowRun(key);
  if (!view.ok()) return ExplainNodes(call, key, view.error());
  return NodesResponse(call, *view);
}

Reply SkipRunNode(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const SkipNodeRequest request{.key = key, .node = call.arguments.at(1)};
  call.note.reason = fmt::format("node {}", request.node);
  AuditedWrite write(call, now, why);
  const auto skipped = write.Count(call.stores.workflows.SkipNode(request, write.context()));
  if (!skipped.ok()) return ExplainSkip(call, request, skipped.error());
  const RunRow& own = skipped->own.row;
  call.api.nudge({own.job_no, own.segment, own.key});
  return NodesResponse(call, *skipped);
}

}  // namespace carillon::scheduler
