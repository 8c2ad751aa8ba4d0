#include "scheduler/api/runs/run_routes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/domain/executor_state.h"
#include "common/domain/run/hanging.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/audited_write.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/http/short_hash.h"
#include "scheduler/api/http/sort.h"
#include "scheduler/api/runs/run_actions.h"
#include "scheduler/api/runs/shard_routes.h"
#include "scheduler/explain/waiting.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kUserIdBytesMax = 64;
constexpr size_t kNamePartBytesMax = 1000;

// The own run of a fire with parts is never HELD, and runs at no executor.
bool AsksForParts(const RunFilter& filter) {
  return filter.executor ||
         std::ranges::find(filter.states, RunState::kHeld) != filter.states.end() ||
         std::ranges::find(filter.kinds, RunKind::kShard) != filter.kinds.end();
}

std::vector<std::string_view> KindNames() {
  std::vector<std::string_view> names;
  for (const RunKind kind : kRunKinds) names.push_back(Name(kind));
  return names;
}

Outcome<RunFilter> ReadFilter(const Query& query, const Page& page,
                              const std::optional<JobId>& job_id) {
  RunFilter filter{.job_id = job_id, .limit = page.size() + 1};
  if (const auto text = query.Text("job_id")) {
    CARILLON_ASSIGN_OR_RETURN(filter.job_id, FilterJobId(*text));
  }
  if (const auto text = query.Text("executor_id")) {
    if (!IsExecutorId(*text)) {
      return InvalidField("?executor_id", "bad_value",
                          "Must be an executor_id: [a-z0-9][a-z0-9-]{0,62}.");
    }
    filter.executor = ExecutorId(*text);
  }
  for (const std::string& text : query.All("state")) {
    const auto state = ParseRunState(text);
    if (!state.ok())
      return InvalidField("?state", "unknown_value",
                          "Must be PENDING, RUNNING, HELD, COMPLETED, FAILED, TIMED_OUT, "
                          "CANCELLED, LOST or SKIPPED.");
    filter.states.push_back(*state);
  }
  for (const std::string& text : query.All("kind")) {
    const auto kind = ParseRunKind(text);
    if (!kind.ok()) {
      return InvalidField("?kind", "unknown_value",
                          fmt::format("Must be one of {}.", fmt::join(KindNames(), ", ")));
    }
    filter.kinds.push_back(*kind);
  }
  CARILLON_ASSIGN_OR_RETURN(filter.parts, query.Flag("parts"));
  filter.parts = filter.parts || AsksForParts(filter);
  if (const auto text = query.Text("waiting")) {
    if (*text == "approval" || *text == "time") {
      filter.opened = *text == "approval" ? kUndecided : kTimed;
    } else if (*text == "upstream_run") {
      filter.awaiting = true;
    } else {
      return InvalidField("?waiting", "unknown_value", "Must be approval, time or upstream_run.");
    }
  }
  filter.namespaces = query.All("namespace");
  for (const std::string& name_space : filter.namespaces) {
    if (!IsNamespace(name_space)) return BadNamespace("?namespace");
  }
  filter.user_id = query.Text("user_id");
  if (filter.user_id.value_or("").size() > kUserIdBytesMax) {
    return InvalidField("?user_id", "out_of_range", "Must be at most 64 characters.");
  }
  filter.name_contains = query.Text("q").value_or("");
  if (filter.name_contains.size() > kNamePartBytesMax) {
    return InvalidField("?q", "too_long", "Must be at most 1,000 bytes.");
  }
  CARILLON_ASSIGN_OR_RETURN(filter.labels, ReadLabelFilter(query));
  CARILLON_ASSIGN_OR_RETURN(filter.since, query.Time("since"));
  CARILLON_ASSIGN_OR_RETURN(filter.until, query.Time("until"));
  CARILLON_ASSIGN_OR_RETURN(const auto sort, ReadSort(query, {"fire_time"}));
  filter.oldest_first = sort && !sort->descending;
  if (!page.cursor().empty()) {
    const auto before = DecodeRunId(page.cursor());
    if (!before.ok()) return BadPageToken();
    filter.before = *before;
  }
  return filter;
}

Outcome<GapFilter> ReadGapFilter(const Query& query, const Page& page) {
  GapFilter filter{.limit = page.size()};
  if (const auto text = query.Text("job_id")) {
    CARILLON_ASSIGN_OR_RETURN(filter.job_id, FilterJobId(*text));
  }
  CARILLON_ASSIGN_OR_RETURN(filter.since, query.Time("since"));
  CARILLON_ASSIGN_OR_RETURN(filter.until, query.Time("until"));
  for (const std::string& text : query.All("reason")) {
    const auto reason = ParseGapReason(text);
    if (!reason.ok()) {
      return InvalidField("?reason", "unknown_value",
                          "Must be misfire, paused, catch_up_limit, edited or deleted.");
    }
    filter.reasons.push_back(*reason);
  }
  if (!page.cursor().empty()) {
    const auto before = ParseCursor(page.cursor());
    if (!before) return BadPageToken();
    filter.before_id = *before;
  }
  return filter;
}

// The number of nodes that run although their workflow was cancelled.
int64_t FinallyNodesLeft(const Call& call, const RunDetail& run, CancelMode mode) {
  if (mode == CancelMode::kKill || run.job_type != JobType::kWorkflow) return 0;
  const auto view = call.stores.workflows.GetWorkflowRun(run.row.key);
  if (!view.ok() || IsFinal(view->own.row.state)) return 0;
  int64_t left = 0;
  for (size_t i = 0; i < view->nodes.size(); ++i) {
    const bool open = !IsFinal(view->nodes[i].detail.row.state);
    if (open && view->definition.nodes[i].is_finally) ++left;
  }
  return left;
}

// The terms of a cancel, from the body of the request.
struct CancelOrder {
  std::string why;
  bool confirm = false;
  CancelMode mode = CancelMode::kGraceful;
  bool give_up = false;
};

Outcome<CancelOrder> ReadCancel(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const json body,
      ReadObject(call.request, Body::kOptional, {"reason", "confirm_overlap", "mode", "give_up"}));
  CancelOrder order;
  CARILLON_ASSIGN_OR_RETURN(order.why, TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(order.confirm, FlagMember(body, "confirm_overlap"));
  CARILLON_ASSIGN_OR_RETURN(order.mode, CancelModeMember(body));
  CARILLON_ASSIGN_OR_RETURN(order.give_up, FlagMember(body, "give_up"));
  if (!order.give_up) return order;
  if (body.contains("mode") && !body["mode"].is_null()) {
    return InvalidField("/mode", "unused", "Has no effect with give_up.");
  }
  // The owner of the run, an older member, would not find the request.
  if (!call.api.upgrade.FeatureOn(kFanOutMigration)) return UpgradeUnfinished("give_up");
  return order;
}

Problem NotCancelled(const Error& error) {
  Problem problem = ToProblem(error);
  if (error.code == ErrorCode::kConflict && error.pointer == "/give_up") {
    problem.code = "not_hanging";
    for (FieldError& one : problem.errors) one.code = problem.code;
  }
  return problem;
}

// One run as JSON, with the actions that this caller may take on it.
Outcome<json> ShowRun(const Call& call, const RunDetail& run) {
  json shown = RunToJson(run, true);
  if (run.trigger) {
    // Null if that job was deleted since.
    const auto upstream = call.stores.jobs.GetJob(run.trigger->job_id);
    if (upstream.ok()) shown["trigger"]["job_name"] = upstream->definition.name;
  }
  if (HasCounts(run)) {
    CARILLON_ASSIGN_OR_RETURN(auto counts, CountsOfParts(call, {run.row.key}));
    if (!counts.empty()) shown["shards"] = std::move(counts.begin()->second);
  }
  CARILLON_ASSIGN_OR_RETURN(shown["allowed_actions"], ActionsOnRun(call, run));
  return shown;
}

// Returns the reason why the run has not started, or does not go on; null if it does not wait.
Outcome<json> ShowWaiting(const Call& call, const RunDetail& run) {
  if (run.row.state != RunState::kPending && !PresumedDeadAt(run.row)) return json(nullptr);
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const auto waiting,
                            ExplainWaiting({.jobs = call.stores.jobs,
                                            .executors = call.stores.executors,
                                            .queues = call.stores.queues,
                                            .groups = call.stores.groups,
                                            .upstream = call.stores.upstream,
                                            .firing = call.stores.firing,
                                            .workflows = call.stores.workflows,
                                            .live = LiveExecutors(call.api.status.Read())},
                                           {.now = now,
                                            .row = run.row,
                                            .cluster_paused = call.api.settings.paused(),
                                            .opened = run.result.started,
                                            .until = run.until,
                                            .node = run.node},
                                           run.job_id));
  if (!waiting) return json(nullptr);
  json shown = {{"code", waiting->code}, {"detail", waiting->detail}};
  if (waiting->place) {
    shown["position"] = waiting->place->position;
    shown["length"] = waiting->place->length;
    shown["since"] = FormatRfc3339(waiting->place->since);
    if (!waiting->place->group.empty()) shown["group"] = waiting->place->group;
  }
  return shown;
}

// Lists runs, for /api/runs?job_id= and for the history of a job.
Reply ListRunsOf(const Call& call, const std::optional<JobId>& job_id) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      job_id ? Query::Read(call.request,
                           {"executor_id", "parts", "waiting", "since", "until", "sort",
                            "page_size", "page_token"},
                           {"state", "kind"})
             : Query::Read(call.request,
                           {"job_id", "executor_id", "parts", "waiting", "user_id", "q", "since",
                            "until", "sort", "page_size", "page_token"},
                           {"state", "kind", "namespace", "label"}));
  CARILLON_ASSIGN_OR_RETURN(Page page,
                            Page::Read(query, job_id ? "runs/" + job_id->value() : "runs"));
  CARILLON_ASSIGN_OR_RETURN(const RunFilter filter, ReadFilter(query, page, job_id));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto found = call.stores.runs.ListRuns(filter, now);
  if (!found.ok() && found.code() != ErrorCode::kNotFound) return found.error();
  const bool none = !found.ok() || (found->runs.empty() && !found->searched_to);
  if (job_id && page.cursor().empty() && none) {
    // Without runs, answer 404 if there is no such job. With runs, a deleted job is shown too.
    CARILLON_TRY(LiveHead(call, *job_id));
  }
  const auto count = [&] { return call.stores.runs.CountRuns(filter, now); };
  if (!found.ok()) return page.Finish(false, count);
  // A fire may have 1,000 parts, and a page many fires. Of an ended one, the state says enough.
  std::vector<RunKey> fires;
  for (const RunDetail& run : found->runs) {
    if (HasCounts(run) && !IsFinal(run.row.state)) fires.push_back(run.row.key);
  }
  CARILLON_ASSIGN_OR_RETURN(auto counts, CountsOfParts(call, fires));
  for (const RunDetail& run : found->runs) {
    json shown = RunToJson(run, false);
    const auto parts = counts.find(run.row.key);
    if (parts != counts.end()) shown["shards"] = std::move(parts->second);
    if (!page.Add(shown, EncodeRunId(run.row.key))) break;
  }
  if (found->searched_to)
    page.SearchedTo(EncodeRunId(*found->searched_to), found->searched_to->fire);
  return page.Finish(found->searched_to.has_value(), count);
}

}  // namespace

Reply ListRuns(const Call& call) { return ListRunsOf(call, std::nullopt); }

Reply JobHistory(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  return ListRunsOf(call, id);
}

Reply GetRun(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.stores.runs.GetRun(key));
  CARILLON_ASSIGN_OR_RETURN(json shown, ShowRun(call, run));
  CARILLON_ASSIGN_OR_RETURN(shown["waiting"], ShowWaiting(call, run));
  HttpResponse response = JsonResponse(200, shown);
  response.headers.emplace_back("ETag", "\"" + ShortHash(response.body) + "\"");
  return response;
}

Reply CancelRun(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const CancelOrder order, ReadCancel(call));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  AuditedWrite write(call, now, order.why, order.confirm, order.mode);
  if (order.give_up) {
    write.GiveUp();
    call.note.reason = "give_up";
  } else {
    NoteCancelMode(call, order.mode);
  }
  const auto cancelled =
      RetryIfUnknown([&] { return write.Count(call.stores.runs.CancelRun(key, write.context())); });
  if (IsUnknown(cancelled)) {
    return OutcomeUnknown("It is unknown whether the run was cancelled. Retrying is safe.",
                          cancelled.error());
  }
  if (!cancelled.ok()) return NotCancelled(cancelled.error());
  json answer = {{"cancelled", *cancelled ? 1 : 0}};
  const auto run = call.stores.runs.GetRun(key);
  if (!*cancelled || !run.ok()) return JsonResponse(202, answer);
  // Wakes the owner of the run's segment. This only saves time: the owner would also find the
  // change with its next scan.
  call.api.nudge({run->row.job_no, run->row.segment, key});
  const int64_t left = FinallyNodesLeft(call, *run, order.mode);
  if (left > 0) answer["finally_nodes"] = left;
  return JsonResponse(202, answer);
}

Reply ListGaps(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      Query::Read(call.request, {"job_id", "since", "until", "page_size", "page_token"},
                  {"reason"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "gaps"));
  CARILLON_ASSIGN_OR_RETURN(const GapFilter filter, ReadGapFilter(query, page));
  const auto gaps = call.stores.runs.ListGaps(filter);
  if (!gaps.ok() && gaps.code() != ErrorCode::kNotFound) return gaps.error();
  const auto count = [&] { return call.stores.runs.CountGaps(filter); };
  if (!gaps.ok()) return page.Finish(false, count);
  const std::string next = gaps->next ? std::to_string(*gaps->next) : "";
  // Gaps are small, so a whole page always fits. So the store's cursor is the cursor of the
  // page's last item.
  for (const GapRecord& gap : gaps->gaps) page.Add(GapToJson(gap), next);
  return page.Finish(gaps->next.has_value(), count);
}

}  // namespace carillon::scheduler
