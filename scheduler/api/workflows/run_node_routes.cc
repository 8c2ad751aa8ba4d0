#include "scheduler/api/workflows/run_node_routes.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/domain/nodes/run_rules.h"
#include "common/domain/workflow/workflow_graph.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/notice_json.h"
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

// The decision about an approval; its outputs tell it.
json ShowDecision(const WorkflowNode& node, const RunDetail& run, const Outputs& outputs) {
  const auto text = [&outputs](const char* name) {
    const auto found = outputs.find(name);
    return found == outputs.end() || found->second.empty() ? json(nullptr) : json(found->second);
  };
  const json decision = text("decision");
  if (!node.approval || !IsFinal(run.row.state) || decision.is_null()) return nullptr;
  const WallTime at = run.result.ended;
  return {{"decision", decision},
          {"by", text("by")},
          {"reason", text("reason")},
          {"at", at == WallTime{} ? json(nullptr) : json(FormatRfc3339(at))}};
}

// The fields that only some kinds of nodes have.
void ShowKind(const WorkflowNode& node, const RunDetail& run, const NodeRow& row, json& shown) {
  if (RunsNoJob(node)) shown["job_id"] = shown["job_name"] = nullptr;
  if (!node.task.empty()) shown["job_type"] = Name(node.task.job().type);
  if (node.approval || node.wait) shown["job_type"] = nullptr;
  const bool ends = IsOpenedNode(run.row.due) && run.until != WallTime{};
  shown["until"] = ends ? json(FormatRfc3339(run.until)) : json(nullptr);
  const std::string message =
      node.approval && !IsBlocked(row) ? ApprovalMessageOf(run) : std::string();
  shown["message"] = message.empty() ? json(nullptr) : json(ToValidUtf8(message));
  shown["decision"] = ShowDecision(node, run, row.outputs);
  const auto rules = RunRulesFromText(run.row.rules);
  const bool mapped = rules.ok() && rules->items;
  shown["items"] = mapped ? json(*rules->items) : json(nullptr);
}

json ShowRunNode(const RunDetail& run, const JudgedNodes& judged, size_t position) {
  json shown = CompleteNodeToJson(judged.graph.node(position));
  const json told = RunToJson(run, false);
  for (const char* field : {"job_id", "job_name", "job_type", "run_id", "state", "reason", "error",
                            "attempt", "started_at", "ended_at", "exit_code", "executor_id"}) {
    shown[field] = told[field];
  }
  ShowKind(judged.graph.node(position), run, judged.rows[position], shown);
  // Executors report the start of a process together with its end.
  if (shown["started_at"].is_null() && run.row.state == RunState::kRunning) {
    shown["started_at"] = told["claimed_at"];
  }
  const NodeRow& row = judged.rows[position];
  shown["blocked"] = IsBlocked(row);
  shown["awaiting"] = row.awaiting;
  shown["failure"] = judged.failures.contains(position);
  const NodeEnd end = EndOf(row);
  const bool has_failed = end == NodeEnd::kFailure || end == NodeEnd::kTooFew;
  shown["repaired"] = has_failed && IsRepaired(judged.graph, position, judged.rows);
  const auto& upstream = judged.graph.upstream(position);
  for (size_t i = 0; i < upstream.size(); ++i) {
    const WorkflowGraph::Edge& edge = judged.graph.edges()[upstream[i]];
    shown["after"][i]["verdict"] = Name(JudgeEdge(judged.graph, edge, judged.rows));
  }
  return shown;
}

// Reads nothing from the store, so that it can be asked in the middle of a write.
Outcome<json> ShowNodes(const Call& call, const json& permitted, const WorkflowRunView& view,
                        WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const JudgedNodes judged, JudgeAll(view));
  const JudgedWorkflow workflow{
      .view = view, .graph = judged.graph, .rows = judged.rows, .is_late = IsLate(call, view, now)};
  json nodes = json::array();
  for (size_t i = 0; i < view.nodes.size(); ++i) {
    nodes.push_back(ShowRunNode(view.nodes[i].detail, judged, i));
    nodes.back()["allowed_actions"] = ActionsOnNode(call, permitted, workflow, i, now);
  }
  const RunDetail& own = view.own;
  return json{
      {"run_id", EncodeRunId(own.row.key)},
      {"job_id", own.job_id.value()},
      {"job_version", view.def_version},
      {"state", Name(own.row.state)},
      {"deadline", view.deadline == kNever ? json(nullptr) : json(FormatRfc3339(view.deadline))},
      {"max_parallel", view.definition.max_parallel},
      {"nodes", std::move(nodes)}};
}

Reply NodesResponse(const Call& call, const WorkflowRunView& view) {
  CARILLON_ASSIGN_OR_RETURN(const json permitted,
                            AllowedActions(call, Owned::kRun, view.own.job_id));
  CARILLON_ASSIGN_OR_RETURN(const json shown, ShowNodes(call, permitted, view, TimeOf(call)));
  return JsonResponse(200, shown);
}

Problem NotApprover(const Error& error) {
  return {.status = 403, .code = "not_approver", .detail = error.message};
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
  // Lists of runs show the runs of nodes, so people name them.
  if (run->node && run->job_type != JobType::kWorkflow) {
    return {.status = 422,
            .code = "no_nodes",
            .detail =
                fmt::format("Run {} is that of node {} of run {}. Name that one.", EncodeRunId(key),
                            run->node->node, EncodeRunId(run->node->workflow_run))};
  }
  return {
      .status = 422,
      .code = "no_nodes",
      .detail = fmt::format("Run {} is not of a workflow, or has not begun.", EncodeRunId(key))};
}

// The decision that was made before: by another person, or by this caller, who lost the answer.
std::string EarlierDecision(const Call& call, const DecideNodeRequest& request) {
  const auto view = call.stores.workflows.GetWorkflowRun(request.key);
  if (!view.ok()) return {};
  for (size_t i = 0; i < view->nodes.size() && i < view->definition.nodes.size(); ++i) {
    const WorkflowNode& node = view->definition.nodes[i];
    if (node.id != request.node) continue;
    const json made = ShowDecision(node, view->nodes[i].detail, view->nodes[i].row.outputs);
    if (!made.is_object() || !made["by"].is_string()) return {};
    return fmt::format("; it was {} by {}{}", made["decision"].get<std::string>(),
                       made["by"].get<std::string>(),
                       made["at"].is_string() ? " at " + made["at"].get<std::string>() : "");
  }
  return {};
}

Problem ExplainDecision(const Call& call, const DecideNodeRequest& request, const Error& error) {
  const std::string run = EncodeRunId(request.key);
  if (error.code == ErrorCode::kInvalid) {
    return NotFound(fmt::format("Run {} has no node {}.", run, request.node));
  }
  if (error.code == ErrorCode::kConflict) {
    return {.status = 409,
            .code = "not_open",
            .detail = error.message + EarlierDecision(call, request)};
  }
  if (error.code == ErrorCode::kDenied) return NotApprover(error);
  if (IsUnknown(Status(error))) {
    return OutcomeUnknown(
        "It is unknown whether the decision was stored. GET the nodes before trying again.", error);
  }
  return ExplainNodes(call, request.key, error);
}

struct DecisionBody {
  Decision decision = Decision::kApprove;
  std::string reason = {};
};

Outcome<DecisionBody> ReadDecision(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired, {"decision", "reason"}));
  DecisionBody read;
  CARILLON_ASSIGN_OR_RETURN(read.reason, TextMember(body, "reason", kReasonCharactersMax));
  const json decision = body.value("decision", json(nullptr));
  if (decision != Name(Decision::kApprove) && decision != Name(Decision::kRefuse)) {
    return InvalidField("/decision", "bad_value", "Must be approve or refuse.");
  }
  if (decision == Name(Decision::kApprove)) return read;
  read.decision = Decision::kRefuse;
  if (read.reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    return InvalidField("/reason", "missing", "Must be given for refuse.");
  }
  return read;
}

Problem ExplainSkip(const Call& call, const SkipNodeRequest& request, const Error& error) {
  if (error.code == ErrorCode::kInvalid) {
    return NotFound(fmt::format("Run {} has no node {}.", EncodeRunId(request.key), request.node));
  }
  if (error.code == ErrorCode::kConflict) {
    return {.status = 409, .code = "not_skippable", .detail = error.message};
  }
  if (error.code == ErrorCode::kDenied) return NotApprover(error);
  if (IsUnknown(Status(error))) {
    return OutcomeUnknown(
        "It is unknown whether the node was skipped. GET the nodes before trying again.", error);
  }
  return ExplainNodes(call, request.key, error);
}

// The answer that is stored with an Idempotency-Key.
StoredAnswer KeptNodes(const Call& call, const json& permitted, const WorkflowRunView& view,
                       WallTime now) {
  const auto shown = ShowNodes(call, permitted, view, now);
  return {
      .status = 200, .body = shown.ok() ? JsonToText(*shown) : "{}", .location = {}, .etag = {}};
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

Reply DecideRunNode(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const DecisionBody body, ReadDecision(call));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const RunDetail own, call.stores.runs.GetRun(key));
  CARILLON_ASSIGN_OR_RETURN(const json permitted, AllowedActions(call, Owned::kRun, own.job_id));
  DecideNodeRequest request{.key = key, .node = call.arguments.at(1), .decision = body.decision};
  if (!call.idempotency_key.empty()) {
    request.keyed = KeyedAnswer<WorkflowRunView>{.scope = call.idempotency_scope,
                                                 .key = call.idempotency_key,
                                                 .answer = [&](const WorkflowRunView& view) {
                                                   return KeptNodes(call, permitted, view, now);
                                                 }};
  }
  call.note.reason = fmt::format("node {}: {}", request.node, Name(request.decision));
  AuditedWrite write(call, now, body.reason);
  const auto decided = write.Count(call.stores.workflows.DecideNode(request, write.context()));
  if (!decided.ok()) return ExplainDecision(call, request, decided.error());
  const RunRow& row = decided->own.row;
  call.api.nudge({row.job_no, row.segment, row.key});
  return FromStored(KeptNodes(call, permitted, *decided, now));
}

}  // namespace carillon::scheduler
