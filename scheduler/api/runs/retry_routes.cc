#include "scheduler/api/runs/retry_routes.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/domain/parts/run_part.h"
#include "common/domain/workflow/skip_rights.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audited_write.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/runs/run_answer.h"
#include "scheduler/api/runs/shard_routes.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// True if the run's next attempt was created, or its waiting attempt became due sooner.
bool IsRetried(const RunRow& before, const RunRow& after) {
  if (after.attempt != before.attempt) return after.attempt > before.attempt;
  return before.state == RunState::kPending && after.due < before.due;
}

// The body of a retry. The choices of nodes are only allowed for the run of a workflow, that of
// parts only for a run that has fanned out.
struct RetryBody {
  bool confirm_overlap = false;
  bool dry_run = false;
  std::string reason = {};
  WorkflowRetry workflow = {};
  bool chooses_nodes = false;
  std::optional<PartChoice> parts = {};
};

Outcome<std::vector<std::string>> NodeList(const json& value, const std::string& pointer) {
  if (!value.is_array() || value.size() > kWorkflowNodesMax) {
    return InvalidField(pointer, "bad_value", "Must be a list of at most 500 nodes.");
  }
  std::vector<std::string> nodes;
  std::set<std::string> seen;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string place = fmt::format("{}/{}", pointer, i);
    if (!value[i].is_string() || !IsNodeId(value[i].get<std::string>())) {
      return InvalidField(place, "bad_value", "Must be the id of a node.");
    }
    nodes.push_back(value[i].get<std::string>());
    if (!seen.insert(nodes.back()).second) {
      return InvalidField(place, "repeated", "This node appears more than once.");
    }
  }
  return nodes;
}

Outcome<bool> ReadFrom(const json& value, WorkflowRetry& retry) {
  if (value == "failed" || value == "start") {
    retry.from = value == "start" ? RetryFrom::kStart : RetryFrom::kFailed;
    return true;
  }
  if (!value.is_array() || value.empty()) {
    return InvalidField("/from", "bad_value", "Must be failed, start or a list of nodes.");
  }
  retry.from = RetryFrom::kNodes;
  CARILLON_ASSIGN_OR_RETURN(retry.nodes, NodeList(value, "/from"));
  return true;
}

Outcome<RetryBody> ReadRetry(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional,
                                                        {"confirm_overlap", "reason", "from",
                                                         "skip", "dry_run", "shards"}));
  RetryBody retry;
  CARILLON_ASSIGN_OR_RETURN(retry.confirm_overlap, FlagMember(body, "confirm_overlap"));
  CARILLON_ASSIGN_OR_RETURN(retry.dry_run, FlagMember(body, "dry_run"));
  CARILLON_ASSIGN_OR_RETURN(retry.reason, TextMember(body, "reason", kReasonCharactersMax));
  retry.workflow.overlap = retry.confirm_overlap ? Overlap::kConfirmed : Overlap::kUnconfirmed;
  const auto given = [&](const char* name) { return body.contains(name) && !body[name].is_null(); };
  if (given("from")) CARILLON_TRY(ReadFrom(body["from"], retry.workflow));
  if (given("skip")) {
    CARILLON_ASSIGN_OR_RETURN(retry.workflow.skip, NodeList(body["skip"], "/skip"));
  }
  CARILLON_ASSIGN_OR_RETURN(retry.parts, ReadPartChoice(body));
  retry.chooses_nodes = given("from") || given("skip") || retry.dry_run;
  return retry;
}

Problem NoNodes(const RunKey& key) {
  return {.status = 422,
          .code = "no_nodes",
          .detail = fmt::format("Workflow run {} has not begun.", EncodeRunId(key))};
}

Problem NotOfWorkflow(const RunDetail& run) {
  const std::string id = EncodeRunId(run.row.key);
  std::string detail = fmt::format(
      "Run {} is not of a workflow: from, skip and dry_run are about the nodes of one.", id);
  if (IsInParts(run.row)) detail += fmt::format(" GET /api/runs/{}/shards lists its parts.", id);
  return {.status = 422, .code = "no_nodes", .detail = std::move(detail)};
}

Problem ExplainRetry(const Error& error) {
  Problem problem = ToProblem(error);
  if (NamesOpenNodes(error)) problem.code = "still_open";
  if (NamesHolder(error)) problem.code = "overlap";
  if (error.code == ErrorCode::kDenied) problem.code = "not_approver";
  return problem;
}

// The run's state alone would not say that no choice of parts helps.
Problem ExplainRetryOf(const RunDetail& run, const Error& error) {
  Problem problem = ExplainRetry(error);
  if (error.code == ErrorCode::kConflict && !run.node && HadZeroShards(run)) {
    problem.detail = fmt::format(
        "Run {} had no shards when it began, so it has nothing to run again. Execute its job "
        "instead; a backfill with \"rerun\": \"all\" begins a run of a schedule anew.",
        EncodeRunId(run.row.key));
  }
  return problem;
}

// A dry run refuses the person whom the retry would refuse.
Status CheckSkips(const Call& call, const WorkflowRunView& view, const RetryPlan& plan) {
  CARILLON_ASSIGN_OR_RETURN(const WorkflowGraph graph, WorkflowGraph::Compile(view.definition));
  for (const NodeChange& change : plan.changes) {
    if (change.to != NodeChange::To::kSkippedByHand) continue;
    CARILLON_TRY(CheckMaySkipNode(graph, change.position, nullptr, DeciderOf(call.caller)));
  }
  return {};
}

// The nodes that the retry would change. Changes nothing, so there is no audit record, and an
// Idempotency-Key may be used again.
Reply Preview(const Call& call, const RunKey& key, const WorkflowRetry& retry) {
  call.note.told = true;
  if (!call.idempotency_key.empty()) {
    CARILLON_TRY(
        call.stores.idempotency.AbandonRequest(call.idempotency_scope, call.idempotency_key));
  }
  const auto view = call.stores.workflows.GetWorkflowRun(key);
  if (!view.ok()) {
    return view.code() == ErrorCode::kNotFound ? NoNodes(key) : ToProblem(view.error());
  }
  const auto plan = call.stores.workflows.PreviewRetry(key, retry);
  if (!plan.ok()) return ExplainRetry(plan.error());
  const Status may_skip = CheckSkips(call, *view, *plan);
  if (!may_skip.ok()) return ExplainRetry(may_skip.error());
  json skipped = json::array();
  for (const NodeChange& change : plan->changes) {
    if (change.to == NodeChange::To::kSkippedByHand) {
      skipped.push_back(view->definition.nodes[change.position].id);
    }
  }
  return JsonResponse(200, {{"run_again", plan->run_again}, {"skipped", std::move(skipped)}});
}

}  // namespace

Reply RetryRun(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const RetryBody retry, ReadRetry(call));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const RunDetail before, call.stores.runs.GetRun(key));
  if (before.kept) return ToProblem(OnlyKept(key));
  if (retry.parts && IsPart(key)) {
    return InvalidField("/shards", "bad_value",
                        fmt::format("Must be left out: run {} is itself a part, of run {}.",
                                    EncodeRunId(key), EncodeRunId(OwnRunOf(key))));
  }
  if (retry.chooses_nodes && before.job_type != JobType::kWorkflow) return NotOfWorkflow(before);
  CARILLON_TRY(CheckWorkflowOf(call, before, "retry"));
  if (retry.dry_run) return Preview(call, key, retry.workflow);
  CARILLON_ASSIGN_OR_RETURN(const json allowed, AllowedActions(call, Owned::kRun, before.job_id));
  const AuditedWrite write(call, now, retry.reason, retry.confirm_overlap);
  RetryRequest request{.key = key, .workflow = retry.workflow, .parts = retry.parts};
  if (!call.idempotency_key.empty()) {
    request.keyed = KeyedAnswer<RunDetail>{
        .scope = call.idempotency_scope,
        .key = call.idempotency_key,
        .answer = [&allowed](const RunDetail& run) { return KeptRunAnswer(run, allowed); }};
  }
  const auto retried = call.stores.runs.RetryRun(request, write.context());
  if (retried.ok()) return AcceptedRun(call, *retried, allowed);
  if (retried.code() != ErrorCode::kTimeout) return ExplainRetryOf(before, retried.error());
  // With an Idempotency-Key, the client repeats the request to learn whether the retry took
  // effect. Without a key, the run's state is the best evidence, although another request may
  // have caused it.
  if (call.idempotency_key.empty()) {
    const auto after = call.stores.runs.GetRun(key);
    if (after.ok() && IsRetried(before.row, after->row)) return AcceptedRun(call, *after, allowed);
  }
  return OutcomeUnknown(
      "It is unknown whether the run will be retried. GET it before trying again.",
      retried.error());
}

}  // namespace carillon::scheduler
