#include "scheduler/api/jobs/backfill_routes.h"

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/audited_write.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/jobs/backfill_request.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

json TextOrNull(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json TermsToJson(const BackfillTerms& terms) {
  return {{"job_id", terms.job_id.value()},
          {"schedule_id", terms.schedule_id.value()},
          {"from", FormatRfc3339(terms.from)},
          {"to", FormatRfc3339(terms.to)},
          {"order", Name(terms.order)},
          {"rerun", Name(terms.rerun)},
          {"concurrency", terms.concurrency},
          {"priority", terms.priority ? json(*terms.priority) : json(nullptr)},
          {"parameters", GivenValues(terms.parameters_json)}};
}

json BackfillToJson(const Backfill& backfill, const json& allowed_actions) {
  const BackfillCounts& counts = backfill.counts;
  json shown = TermsToJson(backfill.terms);
  shown["backfill_id"] = backfill.number;
  shown["state"] = Name(backfill.state);
  shown["fires"] = backfill.fires;
  shown["done"] = DoneOf(counts);
  shown["created"] = counts.created;
  shown["run_again"] = counts.rerun;
  shown["existing"] = counts.existing;
  shown["refused"] = counts.refused;
  shown["succeeded"] = counts.succeeded;
  shown["failed"] = counts.failed;
  shown["running"] = backfill.runs.size();
  shown["cursor_time"] = FormatRfc3339(backfill.cursor);
  shown["error"] = TextOrNull(backfill.error);
  shown["actor"] = backfill.actor;
  shown["create_time"] = FormatRfc3339(backfill.created);
  shown["end_time"] = HasEnded(backfill) ? json(FormatRfc3339(backfill.ended)) : json(nullptr);
  shown["allowed_actions"] = allowed_actions;
  return shown;
}

StoredAnswer CreatedAnswer(const Backfill& backfill, const json& allowed_actions) {
  return {.status = 201,
          .body = JsonToText(BackfillToJson(backfill, allowed_actions)),
          .location = fmt::format("/api/backfills/{}", backfill.number),
          .etag = {}};
}

Problem NoSuchBackfill() { return NotFound("No such backfill. Old ones are deleted."); }

Outcome<uint64_t> PathNumber(const Call& call) {
  const auto number = ParseCursor(call.arguments.at(0));
  if (!number) return NoSuchBackfill();
  return *number;
}

// The problem of a backfill that the store refused.
Problem Refused(const Call& call, const BackfillTerms& terms, const Error& error) {
  switch (error.code) {
    case ErrorCode::kExists:
      return {
          .status = 409,
          .code = "backfill_open",
          .detail = fmt::format("Job {} has a backfill that is not finished. Cancel it, or wait "
                                "until it has ended.",
                                terms.job_id.value())};
    case ErrorCode::kConflict:
      return {.status = 409,
              .code = "conflict",
              .detail = "The schedule was replaced meanwhile. Read the job and try again."};
    case ErrorCode::kExhausted:
      return {.status = 422,
              .code = "too_many_fires",
              .detail = fmt::format("The range has more than {} fires. Choose a shorter one.",
                                    kBackfillFiresMax),
              .errors = {{"/to", "too_many_fires", "Too many fires in the range."}}};
    default: return Explain(call, terms.job_id, error);
  }
}

Reply DryRun(const Call& call, const BackfillTerms& terms) {
  call.note.told = true;  // nothing was changed, so there is no record
  const auto preview = call.stores.backfills.PreviewBackfill(terms);
  if (!preview.ok()) return Refused(call, terms, preview.error());
  json body = TermsToJson(terms);
  body["fires"] = preview->fires;
  body["to_run"] = preview->to_run;
  body["existing"] = preview->existing;
  body["refused"] = preview->refused;
  body["fires_max"] = kBackfillFiresMax;
  body["first_fires"] = json::array();
  for (const WallTime fire : preview->first) body["first_fires"].push_back(FormatRfc3339(fire));
  return JsonResponse(200, body);
}

Reply Create(const Call& call, const BackfillTerms& terms, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const json allowed,
                            AllowedActions(call, Owned::kBackfill, terms.job_id));
  const auto answer = [&allowed](const Backfill& made) { return CreatedAnswer(made, allowed); };
  std::optional<KeyedAnswer<Backfill>> keyed;
  if (!call.idempotency_key.empty()) {
    keyed = {.scope = call.idempotency_scope, .key = call.idempotency_key, .answer = answer};
  }
  const AuditedWrite write(call, now);
  const auto made = call.stores.backfills.CreateBackfill(terms, keyed, write.context());
  if (IsUnknown(made)) {
    return OutcomeUnknown(
        "It is unknown whether the backfill was created. Check GET /api/backfills before retrying.",
        made.error());
  }
  if (!made.ok()) return Refused(call, terms, made.error());
  NoteChanges(call, json::object(), TermsToJson(terms));
  call.api.nudge({made->job_no, made->segment});
  return FromStored(answer(*made));
}

using BackfillChange = Result<Backfill> (BackfillStore::*)(uint64_t, const WriteContext&);

// Each change is idempotent, so it is tried once more after an unknown outcome.
Reply Control(const Call& call, BackfillChange change, int status) {
  CARILLON_ASSIGN_OR_RETURN(const uint64_t number, PathNumber(call));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  AuditedWrite write(call, now, why);
  const auto changed = RetryIfUnknown(
      [&] { return write.Count((call.stores.backfills.*change)(number, write.context())); });
  if (IsUnknown(changed)) {
    return OutcomeUnknown("It is unknown whether the backfill was changed. Retrying is safe.",
                          changed.error());
  }
  if (!changed.ok() && changed.code() == ErrorCode::kNotFound) return NoSuchBackfill();
  if (!changed.ok() && changed.code() == ErrorCode::kConflict) {
    return Problem{.status = 409,
                   .code = "conflict",
                   .detail = "The backfill has ended, so it can no longer be changed."};
  }
  if (!changed.ok()) return changed.error();
  call.api.nudge({changed->job_no, changed->segment});
  CARILLON_ASSIGN_OR_RETURN(const json allowed,
                            AllowedActions(call, Owned::kBackfill, changed->terms.job_id));
  return JsonResponse(status, BackfillToJson(*changed, allowed));
}

Outcome<BackfillFilter> ReadFilter(const Query& query, const Page& page) {
  BackfillFilter filter{.limit = page.size() + 1};
  if (const auto text = query.Text("job_id")) {
    CARILLON_ASSIGN_OR_RETURN(filter.job_id, FilterJobId(*text));
  }
  if (const auto text = query.Text("state")) {
    const auto state = ParseBackfillState(*text);
    if (!state.ok()) {
      return InvalidField("?state", "unknown_value",
                          "Must be RUNNING, PAUSED, COMPLETED, CANCELLED or STOPPED.");
    }
    filter.state = *state;
  }
  if (!page.cursor().empty()) {
    const auto before = ParseCursor(page.cursor());
    if (!before) return BadPageToken();
    filter.before_number = *before;
  }
  return filter;
}

}  // namespace

Reply StartBackfill(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto job = call.stores.jobs.GetJob(id);
  if (!job.ok()) return Explain(call, id, job.error());
  CARILLON_ASSIGN_OR_RETURN(const BackfillRequest request, ReadBackfillRequest(call, *job, now));
  if (request.dry_run) return DryRun(call, request.terms);
  return Create(call, request.terms, now);
}

Reply ListBackfills(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query, Query::Read(call.request, {"job_id", "state", "page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "backfills"));
  CARILLON_ASSIGN_OR_RETURN(const BackfillFilter filter, ReadFilter(query, page));
  CARILLON_ASSIGN_OR_RETURN(const auto found, call.stores.backfills.ListBackfills(filter));
  std::map<JobId, json> allowed;
  for (const Backfill& backfill : found) {
    const JobId& job = backfill.terms.job_id;
    if (!allowed.contains(job)) {
      CARILLON_ASSIGN_OR_RETURN(allowed[job], AllowedActions(call, Owned::kBackfill, job));
    }
    if (!page.Add(BackfillToJson(backfill, allowed[job]), std::to_string(backfill.number))) break;
  }
  return page.Finish(false, [&] { return call.stores.backfills.CountBackfills(filter); });
}

Reply GetBackfill(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const uint64_t number, PathNumber(call));
  const auto backfill = call.stores.backfills.GetBackfill(number);
  if (!backfill.ok() && backfill.code() == ErrorCode::kNotFound) return NoSuchBackfill();
  if (!backfill.ok()) return backfill.error();
  CARILLON_ASSIGN_OR_RETURN(const json allowed,
                            AllowedActions(call, Owned::kBackfill, backfill->terms.job_id));
  return JsonResponse(200, BackfillToJson(*backfill, allowed));
}

Reply PauseBackfill(const Call& call) { return Control(call, &BackfillStore::PauseBackfill, 200); }
Reply ResumeBackfill(const Call& call) {
  return Control(call, &BackfillStore::ResumeBackfill, 200);
}
Reply CancelBackfill(const Call& call) {
  return Control(call, &BackfillStore::CancelBackfill, 202);
}

}  // namespace carillon::scheduler
