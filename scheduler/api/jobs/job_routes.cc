#include "scheduler/api/jobs/job_routes.h"

#include <functional>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/executor_state.h"
#include "common/domain/job/spread.h"
#include "common/domain/run_id.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/job/schedule_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/audited_write.h"
#include "scheduler/api/call/calendars.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/edits/job_edit.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/jobs/job_order.h"
#include "scheduler/api/jobs/outside_parameters.h"
#include "scheduler/explain/schedule_warnings.h"
#include "scheduler/explain/upcoming_fires.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kFilterBytesMax = 1000;
constexpr int kIdAttempts = 5;  // generated ids to try

// The job_id in a body must be absent or the same as in the path.
Outcome<ParsedJob> KeepId(Outcome<ParsedJob> parsed, const JobId& id) {
  if (!parsed.ok() || parsed->job_id.empty() || parsed->job_id == id.value()) return parsed;
  return InvalidField("/job_id", "immutable",
                      "The job_id cannot be changed. POST a new job instead.");
}

HttpResponse CreatedResponse(const Call& call, const StoredJob& job, WallTime now) {
  HttpResponse response = WrittenResponse(call, 201, job, now);
  response.headers.emplace_back("Location", "/api/jobs/" + job.job_id.value());
  return response;
}

// Reads the body of a POST as a request that arrived at a time.
using ReadNewJob = std::function<Outcome<ParsedJob>(WallTime now)>;

ReadNewJob ReaderOf(const Call& call, const json& body) {
  return [&call, &body](WallTime now) -> Outcome<ParsedJob> {
    json resolved = body;
    ResolveRelativeTimes(resolved, now);
    CARILLON_ASSIGN_OR_RETURN(ParsedJob parsed, ReadParsed(resolved, [&](Mistakes* further) {
                                return carillon::ParseJob(resolved, further);
                              }));
    if (parsed.definition.user_id.empty()) parsed.definition.user_id = call.caller.OwnerId();
    return parsed;
  };
}

// Returns the job that already has this id, if the request would have created it at its time of
// creation: `in_s` counts from there.
std::optional<StoredJob> FindSame(const Call& call, const JobId& id, const ReadNewJob& read) {
  auto found = call.stores.jobs.GetJob(id);
  if (!found.ok()) return std::nullopt;
  const auto asked = read(found->created);
  if (!asked.ok() || !(found->definition == WithSpread(asked->definition, id))) return std::nullopt;
  return std::move(found).value();
}

Reply CreateNamed(const Call& call, const JobId& id, const JobDefinition& definition,
                  WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const StoredJob created, StoreNew(call, id, definition, now));
  return CreatedResponse(call, created, now);
}

Reply CreateUnnamed(const Call& call, const JobDefinition& definition, const ReadNewJob& read,
                    WallTime now) {
  if (!call.idempotency_key.empty()) {
    const JobId id = Identifiers::JobIdForKey(definition.name,
                                              call.caller.Subject() + " " + call.idempotency_key);
    auto reply = CreateNamed(call, id, definition, now);
    if (reply.ok() || reply.error().code != "exists") return reply;
    // An earlier request with this key created the job, but the answer was lost.
    if (const auto same = FindSame(call, id, read)) {
      call.api.nudge({same->job_no, same->segment});
      return CreatedResponse(call, *same, now);
    }
  }
  for (int attempt = 0; attempt < kIdAttempts; ++attempt) {
    auto reply =
        CreateNamed(call, call.services.identifiers.NewJobId(definition.name), definition, now);
    if (reply.ok() || reply.error().code != "exists") return reply;
  }
  return Problem{
      .status = 503, .code = "exhausted", .detail = "No free job_id was found. Set one."};
}

// The store has no index on labels. At most kLookedThroughMax jobs are examined for one page. Then
// the page ends, even if it is empty, and the next page continues the search. The total counts the
// matches among the examined jobs. The search limit of the other filters is divided among the
// batches, so that a page costs no more than without a selector.
Reply ListSelected(const Call& call, JobFilter filter, const Selector& selector, Page page) {
  constexpr size_t kBatch = 500;
  constexpr size_t kLookedThroughMax = 2000;
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  filter.limit = kBatch;
  filter.search_max = kJobSearchMax / (kLookedThroughMax / kBatch);
  size_t matching = 0;
  bool all = false;
  const auto count = [&] {
    BoundedCount found = CountOf(matching);
    found.all = found.all && all;
    return found;
  };
  for (size_t seen = 0; seen < kLookedThroughMax; seen += kBatch) {
    CARILLON_ASSIGN_OR_RETURN(const JobPage found, call.stores.jobs.ListJobs(filter));
    bool full = false;
    for (const StoredJob& job : found.jobs) {
      // The labels of a job whose definition cannot be read are not known.
      if (!job.problem.empty() || !selector.Matches(job.definition.labels)) {
        page.Skip(JobCursor(filter, job));
        continue;
      }
      ++matching;
      if (!full) full = !page.Add(ShowJob(call, job, now), JobCursor(filter, job));
    }
    filter.after = PlaceAfter(found, filter);
    all = !filter.after;
    if (full || all) return page.Finish(full, count);
    if (found.searched_to) page.Skip(JobCursor(filter, *found.searched_to));
  }
  return page.Finish(true, count);
}

using StateChange = Result<StoredJob> (JobStore::*)(const JobId&, const std::string&,
                                                    const WriteContext&);

// Pause and resume are idempotent, so they are tried once more after an unknown outcome.
Reply ChangeState(const Call& call, StateChange change) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  AuditedWrite write(call, now, why);
  const auto changed = RetryIfUnknown(
      [&] { return write.Count((call.stores.jobs.*change)(id, why, write.context())); });
  if (IsUnknown(changed)) {
    return OutcomeUnknown(
        "It is unknown whether the state of the job was changed. Retrying is safe.",
        changed.error());
  }
  if (!changed.ok()) return Explain(call, id, changed.error());
  call.api.nudge({changed->job_no, changed->segment});
  return JobResponse(call, 200, *changed, now);
}

// Reads the overrides of a manual run and checks them by the rules for the fields of a job.
Outcome<ExecuteRequest> ReadExecute(const Call& call, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional,
                                                        {"parameters", "executor_id", "priority"}));
  json probe = {{"name", "run"}, {"type", "noop"}};
  for (const char* name : {"parameters", "priority"}) {
    if (body.contains(name) && !body[name].is_null()) probe[name] = body[name];
  }
  CARILLON_ASSIGN_OR_RETURN(const ParsedJob checked, carillon::ParseJob(probe));
  ExecuteRequest request{.job_id = id, .trace_id = std::string(call.trace_id)};
  // No parameters are no text from outside, and ask for no right.
  const json given = probe.value("parameters", json::object());
  if (!given.empty()) request.parameters_json = JsonToText(given);
  if (probe.contains("priority")) request.priority = checked.definition.priority;
  if (!body.contains("executor_id") || body["executor_id"].is_null()) return request;
  CARILLON_ASSIGN_OR_RETURN(const std::string executor,
                            TextMember(body, "executor_id", kReasonCharactersMax));
  if (IsExecutorId(executor)) {
    request.executor = ExecutorId(executor);
    const auto known = call.stores.executors.GetExecutor(request.executor);
    if (known.ok()) return request;
    if (known.code() != ErrorCode::kNotFound) return known.error();
  }
  return InvalidField(
      "/executor_id", "unknown_executor",
      "No such executor. Omit it to use any, or choose one from GET /api/executors.");
}

// The run keeps who gave its parameters, because it may start later. A workflow itself runs on no
// executor, and the parameters reach the jobs of its nodes. A job that cannot be read is left to
// the store, which reports the error.
Outcome<bool> CheckGiven(const Call& call, ExecuteRequest& request) {
  if (request.executor.empty() && request.parameters_json.empty()) return true;
  const auto job = call.stores.jobs.GetJob(request.job_id);
  if (!job.ok()) return true;
  CARILLON_ASSIGN_OR_RETURN(request.parameters_json,
                            MarkOutside(call, job->definition, GivenValues(request.parameters_json),
                                        request.parameters_json));
  request.parameters_json = WithGiver(std::move(request.parameters_json), call.caller.user_id);
  if (!request.executor.empty() && FansOut(job->definition)) {
    return InvalidField("/executor_id", "unused",
                        "Must be left out: the parts of a fire choose their executors.");
  }
  if (!job->definition.workflow) return true;
  if (!request.executor.empty()) {
    return InvalidField("/executor_id", "unused", "Must be left out: a workflow has no executor.");
  }
  return CheckNodeJobs(call, request.job_id, job->definition);
}

// The answer to an execute, which is also stored for its Idempotency-Key.
StoredAnswer ExecutedAnswer(const CreatedRun& created) {
  const std::string run_id = EncodeRunId(created.key);
  return {.status = 202,
          .body = JsonToText({{"run_id", run_id}}),
          .location = "/api/runs/" + run_id,
          .etag = {}};
}

}  // namespace

Reply ListJobs(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request,
                                        {"status", "paused_by", "type", "user_id", "q", "selector",
                                         "sort", "page_size", "page_token"},
                                        {"namespace"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "jobs"));
  CARILLON_ASSIGN_OR_RETURN(JobFilter filter,
                            WithOrder({.user_id = query.Text("user_id"),
                                       .name_contains = query.Text("q").value_or(""),
                                       .limit = page.size() + 1,
                                       .unreadable = true},
                                      query, page));
  if (filter.user_id.value_or("").size() > kFilterBytesMax ||
      filter.name_contains.size() > kFilterBytesMax) {
    return InvalidField("?q", "too_long", "Must be at most 1,000 bytes.");
  }
  filter.namespaces = query.All("namespace");
  for (const std::string& name_space : filter.namespaces) {
    if (!IsNamespace(name_space)) return BadNamespace("?namespace");
  }
  if (const auto status = query.Text("status")) {
    if (*status != "ENABLED" && *status != "PAUSED") {
      return InvalidField("?status", "unknown_value", "Must be ENABLED or PAUSED.");
    }
    filter.enabled = *status == "ENABLED";
  }
  if (const auto by = query.Text("paused_by")) {
    if (*by != "failures") {
      return InvalidField("?paused_by", "unknown_value", "Must be failures.");
    }
    filter.paused_by_failures = true;
  }
  if (const auto text = query.Text("type")) {
    const auto type = ParseName<JobType>(*text);
    if (!type.ok()) {
      return InvalidField("?type", "unknown_value",
                          "Must be a type of jobs, such as shell or http.");
    }
    filter.type = *type;
  }
  CARILLON_ASSIGN_OR_RETURN(const auto selector, ReadSelector(query));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  if (selector) return ListSelected(call, filter, *selector, std::move(page));
  CARILLON_ASSIGN_OR_RETURN(const JobPage found, call.stores.jobs.ListJobs(filter));
  for (const StoredJob& job : found.jobs) {
    if (!page.Add(ShowJob(call, job, now), JobCursor(filter, job))) break;
  }
  if (found.searched_to) page.SearchEnded(JobCursor(filter, *found.searched_to));
  return page.Finish(found.searched_to.has_value(),
                     [&] { return call.stores.jobs.CountJobs(filter); });
}

Reply CreateJob(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadJson(call.request, Body::kRequired));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const ReadNewJob read = ReaderOf(call, body);
  CARILLON_ASSIGN_OR_RETURN(const ParsedJob parsed, read(now));
  if (parsed.job_id.empty()) return CreateUnnamed(call, parsed.definition, read, now);
  return CreateNamed(call, JobId(parsed.job_id), parsed.definition, now);
}

Reply GetJob(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto job = call.stores.jobs.GetJob(id);
  if (job.ok()) return JobResponse(call, 200, *job, now);
  if (job.code() != ErrorCode::kCorrupt) return Explain(call, id, job.error());
  CARILLON_ASSIGN_OR_RETURN(const JobBase base, ReadBase(call, id));
  return JobResponse(call, 200, base.job, now);
}

Reply ReplaceJob(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const EntityTags wanted, RequireIfMatch(call.request));
  CARILLON_ASSIGN_OR_RETURN(json body, ReadJson(call.request, Body::kRequired));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  ResolveRelativeTimes(body, now);
  return WriteMatching(wanted, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const JobBase base, ReadAtVersion(call, id, wanted, now));
    const auto parse = [&](Mistakes* further) {
      return carillon::ParseReplacement(base.job, body, further);
    };
    CARILLON_ASSIGN_OR_RETURN(ParsedJob parsed, KeepId(ReadParsed(body, parse), id));
    JobDefinition& definition = parsed.definition;
    if (definition.user_id.empty()) definition.user_id = base.job.definition.user_id;
    if (!body.contains("namespace")) definition.name_space = base.job.definition.name_space;
    return WriteDefinition(call, base, definition, now);
  });
}

Reply PatchJobFields(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const EntityTags wanted, RequireIfMatch(call.request));
  CARILLON_ASSIGN_OR_RETURN(json patch, ReadJson(call.request, Body::kRequired));
  if (!patch.is_object()) return InvalidField("", "wrong_type", "A patch must be an object.");
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  ResolveRelativeTimes(patch, now);
  return WriteMatching(wanted, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const JobBase base, ReadAtVersion(call, id, wanted, now));
    if (!base.readable) return Unreadable(id, base.job.version);
    const auto parse = [&](Mistakes* further) {
      return carillon::PatchJob(base.job, patch, further);
    };
    CARILLON_ASSIGN_OR_RETURN(ParsedJob parsed, KeepId(ReadParsed(patch, parse), id));
    if (parsed.definition.user_id.empty()) parsed.definition.user_id = call.caller.OwnerId();
    return WriteDefinition(call, base, parsed.definition, now);
  });
}

Reply DeleteJob(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const EntityTags wanted, RequireIfMatch(call.request));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {"force"}));
  CARILLON_ASSIGN_OR_RETURN(const bool force, query.Flag("force"));
  return WriteMatching(wanted, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const JobBase base, ReadAtVersion(call, id, wanted, now));
    CARILLON_TRY(Remove(call, base, now, force));
    return HttpResponse{.status = 204};
  });
}

Reply PauseJob(const Call& call) { return ChangeState(call, &JobStore::PauseJob); }
Reply ResumeJob(const Call& call) { return ChangeState(call, &JobStore::ResumeJob); }

Reply ExecuteJob(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(ExecuteRequest request, ReadExecute(call, id));
  CARILLON_TRY(CheckGiven(call, request));
  if (!call.idempotency_key.empty()) {
    request.keyed = KeyedAnswer<CreatedRun>{
        .scope = call.idempotency_scope, .key = call.idempotency_key, .answer = &ExecutedAnswer};
  }
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  AuditedWrite write(call, now);
  const auto created = call.stores.runs.ExecuteJob(request, write.context());
  if (IsUnknown(created)) {
    return OutcomeUnknown(
        fmt::format(
            "It is unknown whether a run was created. Check /api/jobs/{}/history before retrying.",
            id.value()),
        created.error());
  }
  if (!created.ok()) return Explain(call, id, created.error());
  call.api.nudge({created->job_no, created->segment, created->key});
  call.api.metrics.counter("carillon_fires_total", Name(RunKind::kManual)).Add();
  return FromStored(ExecutedAnswer(*created));
}

Reply CancelJobRuns(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional,
                                                        {"reason", "confirm_overlap", "mode"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const bool confirm, FlagMember(body, "confirm_overlap"));
  CARILLON_ASSIGN_OR_RETURN(const CancelMode mode, CancelModeMember(body));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  NoteCancelMode(call, mode);
  AuditedWrite write(call, now, why, confirm, mode);
  const auto cancelled = write.Count(call.stores.runs.CancelJobRuns(id, write.context()));
  if (IsUnknown(cancelled)) {
    return OutcomeUnknown("It is unknown how many runs were cancelled. Retrying is safe.",
                          cancelled.error());
  }
  if (!cancelled.ok()) return cancelled.error();
  // The nudge only speeds up the cancel: the segment's owner also finds it with its next scan.
  const auto job = call.stores.jobs.GetJobHead(id);
  if (job.ok()) call.api.nudge({job->job_no, job->segment});
  return JsonResponse(202, {{"cancelled", *cancelled}});
}

Reply NextFires(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {"n"}));
  CARILLON_ASSIGN_OR_RETURN(const auto count, query.Number("n", {.low = 1, .high = kFiresMax}));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto read = call.stores.jobs.GetJob(id);
  if (!read.ok()) return Explain(call, id, read.error());
  const StoredJob& job = *read;
  json body = {{"job_id", id.value()},
               {"state", job.definition.enabled ? "ENABLED" : "PAUSED"},
               {"items", json::array()},
               {"skipped", json::array()},
               {"warnings", json::array()}};
  if (!job.definition.enabled) {
    body["pause_reason"] = job.pause_reason;
    return JsonResponse(200, body);
  }
  CARILLON_ASSIGN_OR_RETURN(const auto calendars, CalendarsFor(call, job.definition));
  CARILLON_ASSIGN_OR_RETURN(body["items"],
                            UpcomingFires(job.definition, *calendars, now,
                                          static_cast<size_t>(count.value_or(kFiresDefault))));
  CARILLON_ASSIGN_OR_RETURN(body["skipped"],
                            SkippedByDst(job.definition, *calendars, now, body["items"]));
  CARILLON_ASSIGN_OR_RETURN(body["warnings"], ScheduleWarnings(job.definition, *calendars, now));
  return JsonResponse(200, body);
}

}  // namespace carillon::scheduler
