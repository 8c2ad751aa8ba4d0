#include "scheduler/api/edits/job_edit.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/job/spread.h"
#include "common/domain/schedule/schedule_twins.h"
#include "common/wire/json/job/job_changes.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audited_write.h"
#include "scheduler/api/call/calendars.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/edits/dependency_check.h"
#include "scheduler/api/edits/edit_rules.h"
#include "scheduler/api/edits/written_parts.h"
#include "scheduler/api/http/page.h"
#include "scheduler/explain/node_warnings.h"
#include "scheduler/explain/schedule_warnings.h"

namespace carillon::scheduler {
namespace {

constexpr std::string_view kReservedJobId = "new";

// After an unknown outcome: returns the jobs if they exist exactly as they were to be created.
Result<std::vector<StoredJob>> FindMade(const Call& call, const std::vector<NewJob>& jobs) {
  JobKeys keys;
  for (const NewJob& job : jobs) keys.ids.push_back(job.job_id);
  auto found = call.stores.jobs.FindJobs(keys);
  if (!found.ok()) return {ErrorCode::kTimeout, found.error().message};
  std::map<JobId, StoredJob> by_id;
  for (StoredJob& job : found->jobs) by_id.emplace(job.job_id, std::move(job));
  std::vector<StoredJob> made;
  for (const NewJob& job : jobs) {
    const auto at = by_id.find(job.job_id);
    const bool ours =
        at != by_id.end() && at->second.version == 1 && at->second.definition == job.definition;
    if (!ours) return {ErrorCode::kConflict, "job " + job.job_id.value() + " is not there"};
    made.push_back(std::move(at->second));
  }
  return made;
}

// A new job that is paused has nothing to plan.
void NudgeNew(const Call& call, const StoredJob& job) {
  if (job.definition.enabled) call.api.nudge({job.job_no, job.segment});
}

// 409 if the definition uses a field that members of the previous release would misread.
Outcome<bool> CheckNewFields(const Call& call, const JobDefinition& definition) {
  const std::vector<WrittenPart> parts = PartsOf(definition);
  for (const NewField& field : call.api.new_fields) {
    if (call.api.upgrade.FeatureOn(field.migration)) continue;
    const bool used =
        std::ranges::any_of(parts, [&field](const auto& part) { return field.is_used(part.job); });
    if (used) return UpgradeUnfinished(field.name);
  }
  return true;
}

// 400 if a schedule repeats another one. A job that was stored with such schedules may keep them,
// but not change them into others that repeat.
Outcome<bool> CheckTwins(const JobDefinition* stored, const JobDefinition& definition) {
  std::vector<ScheduleSpec> known;
  if (stored != nullptr) {
    for (const ScheduleTwin& twin : FindTwins(stored->schedules)) {
      known.push_back(stored->schedules[twin.second]);
    }
  }
  for (const ScheduleTwin& twin : FindTwins(definition.schedules)) {
    const ScheduleSpec& wanted = definition.schedules[twin.second];
    const auto kept = std::find_if(known.begin(), known.end(), [&wanted](ScheduleSpec one) {
      one.spread = wanted.spread;  // of a definition that is not placed yet there is none
      return one == wanted;
    });
    if (kept == known.end()) {
      return InvalidField(fmt::format("/schedules/{}", twin.second), "duplicate",
                          TwinText(twin.first));
    }
    known.erase(kept);
  }
  return true;
}

}  // namespace

using nlohmann::json;

JobAccessScope ScopeOf(const JobBase& base) {
  JobAccessScope place = ScopeOf(base.job.definition);
  if (!base.readable) place.labels.reset();
  return place;
}

namespace {

// Of a job whose definition cannot be read.
json ShowColumns(const Call& call, const StoredJob& job) {
  const JobDefinition& known = job.definition;
  JobAccessScope place = ScopeOf(known);
  place.labels.reset();
  return {{"job_id", job.job_id.value()},
          {"name", known.name},
          {"type", Name(known.type)},
          {"user_id", known.user_id},
          {"namespace", known.name_space},
          {"version", job.version},
          {"state", known.enabled ? "ENABLED" : "PAUSED"},
          {"pause_reason", job.pause_reason.empty() ? json(nullptr) : json(job.pause_reason)},
          {"problem", job.problem},
          {"create_time", FormatRfc3339(job.created)},
          {"update_time", FormatRfc3339(job.updated)},
          {"allowed_actions", AllowedActions(call, Owned::kJob, place)}};
}

}  // namespace

json ShowJob(const Call& call, const StoredJob& job, WallTime now) {
  if (!job.problem.empty()) return ShowColumns(call, job);
  const auto calendars = CalendarsFor(call, job.definition);
  json shown = JobToJson(job, now, calendars.ok() ? calendars->get() : nullptr);
  shown["allowed_actions"] = AllowedActions(call, Owned::kJob, ScopeOf(job.definition));
  return shown;
}

namespace {

HttpResponse Tagged(int status, const StoredJob& job, const json& shown) {
  HttpResponse response = JsonResponse(status, shown);
  response.headers.emplace_back("ETag", VersionTag(job.version));
  return response;
}

}  // namespace

HttpResponse JobResponse(const Call& call, int status, const StoredJob& job, WallTime now) {
  return Tagged(status, job, ShowJob(call, job, now));
}

json WarningsAbout(const Call& call, const JobId& id, const JobDefinition& definition,
                   WallTime now) {
  const auto calendars = CalendarsFor(call, definition);
  if (!calendars.ok()) return json::array();
  auto warnings = ScheduleWarnings(WithSpread(definition, id), **calendars, now);
  json all = warnings.ok() ? std::move(*warnings) : json::array();
  for (json& one : NodeWarnings(definition)) all.push_back(std::move(one));
  return all;
}

HttpResponse WrittenResponse(const Call& call, int status, const StoredJob& job, WallTime now) {
  json shown = ShowJob(call, job, now);
  json warnings = WarningsAbout(call, job.job_id, job.definition, now);
  if (!warnings.empty()) shown["warnings"] = std::move(warnings);
  return Tagged(status, job, shown);
}

Outcome<JobBase> ReadBase(const Call& call, const JobId& id) {
  auto job = call.stores.jobs.GetJob(id);
  if (job.ok()) return JobBase{.job = std::move(job).value()};
  if (job.code() != ErrorCode::kCorrupt) return job.error();
  CARILLON_ASSIGN_OR_RETURN(const JobHead head, LiveHead(call, id));
  JobBase base{.job = {.job_no = head.job_no,
                       .job_id = id,
                       .segment = head.segment,
                       .version = head.version,
                       .definition = {},
                       .schedules = {},
                       .pause_reason = head.pause_reason,
                       .created = head.created,
                       .updated = head.updated,
                       .problem = job.error().message},
               .readable = false};
  base.job.definition.name = head.name;
  base.job.definition.type = head.type;
  base.job.definition.user_id = head.user_id;
  base.job.definition.name_space = head.name_space;
  base.job.definition.enabled = head.enabled;
  return base;
}

Problem StaleVersion(const Call& call, const JobBase& base, WallTime now) {
  const StoredJob& job = base.job;
  Problem problem{
      .status = 412,
      .code = "stale_version",
      .detail = fmt::format(
          "The job is now at version {}. Review `current` and send If-Match with its ETag.",
          job.version)};
  problem.members["current_version"] = job.version;
  problem.members["current"] = base.readable ? ShowJob(call, job, now) : json(nullptr);
  problem.headers.emplace_back("ETag", VersionTag(job.version));
  return problem;
}

Outcome<JobBase> ReadAtVersion(const Call& call, const JobId& id, const EntityTags& wanted,
                               WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(JobBase base, ReadBase(call, id));
  if (!wanted.MatchesStrongly(VersionTag(base.job.version))) return StaleVersion(call, base, now);
  return base;
}

Outcome<ParsedJob> ReadParsed(const json& body,
                              const std::function<Result<ParsedJob>(Mistakes*)>& parse) {
  Mistakes further;
  auto parsed = parse(&further);
  if (parsed.ok()) return std::move(parsed).value();
  const Error& error = parsed.error();
  if (error.code != ErrorCode::kConflict) {
    Problem problem = ToProblem(error);
    for (const Error& one : further) {
      problem.errors.push_back({one.pointer, problem.code, one.message});
    }
    NameWorkflowMistakes(body, problem);
    return problem;
  }
  return Problem{.status = 422,
                 .code = "contradiction",
                 .detail = error.message,
                 .errors = {{error.pointer, "contradiction", error.message}}};
}

Outcome<bool> CheckEdit(const Call& call, const JobId& id, const JobBase* before,
                        const JobDefinition& definition, const ComingJobs& coming) {
  const JobDefinition* stored = DefinitionOf(before);
  const Editor editor{.caller = call.caller, .owns_all = call.owns_all};
  CARILLON_TRY(DecidePlace(editor, before, definition));
  CARILLON_ASSIGN_OR_RETURN(const EditFacts facts,
                            ReadEditFacts(call, id, stored, definition, coming));
  CARILLON_TRY(DecideEdit(editor, before, definition, facts));
  CARILLON_TRY(CheckTwins(stored, definition));
  return CheckNewFields(call, definition);
}

Outcome<bool> CheckNew(const Call& call, const JobId& id, const JobDefinition& definition,
                       const ComingJobs& coming) {
  if (id.value() == kReservedJobId) {
    return InvalidField(
        "/job_id", "bad_value",
        "This job_id is reserved for the console's page /jobs/new. Choose another.");
  }
  return CheckEdit(call, id, nullptr, definition, coming);
}

Result<std::vector<StoredJob>> StoreAllNew(const Call& call, const std::vector<NewJob>& jobs,
                                           WallTime now) {
  AuditedWrite write(call, now);
  auto created = call.stores.jobs.CreateJobs(jobs, write.context());
  if (IsUnknown(created)) created = FindMade(call, jobs);
  if (!created.ok()) return created;
  for (const StoredJob& job : *created) NudgeNew(call, job);
  return created;
}

namespace {

// The way out differs: a job that is there can be edited, the id of a deleted one is gone.
std::string UsedIdSentence(const Call& call, const JobId& id) {
  const auto found = call.stores.jobs.GetJob(id);
  if (found.ok() || found.code() == ErrorCode::kCorrupt) {
    return "This job_id is already used. Edit that job, or choose another job_id.";
  }
  if (found.code() != ErrorCode::kNotFound) {
    return "This job_id is already used, possibly by a deleted job. Choose another.";
  }
  return "This job_id belonged to a job that was deleted, and its runs keep it: it cannot be used "
         "again. Choose another job_id. To change a job, edit it instead of deleting it.";
}

}  // namespace

Outcome<StoredJob> StoreNew(const Call& call, const JobId& id, const JobDefinition& wanted,
                            WallTime now) {
  const JobDefinition definition = WithSpread(wanted, id);
  CARILLON_TRY(CheckNew(call, id, definition));
  AuditedWrite write(call, now);
  auto created = call.stores.jobs.CreateJob(id, definition, write.context());
  if (IsUnknown(created)) {
    auto found = call.stores.jobs.GetJob(id);
    if (!found.ok() || found->version != 1 || !(found->definition == definition)) {
      return OutcomeUnknown(
          fmt::format("It is unknown whether job {} was created. GET it before retrying.",
                      id.value()),
          created.error());
    }
    created = std::move(found);
  }
  if (!created.ok() && created.code() == ErrorCode::kExists) {
    return Problem{.status = 409,
                   .code = "exists",
                   .detail = UsedIdSentence(call, id),
                   .errors = {{"/job_id", "exists", "This job_id is already used."}}};
  }
  if (!created.ok()) return DependencyProblem(created.error());
  call.note.changes_json = JsonToText(AuditedChanges(JobChanges(definition)));
  NudgeNew(call, *created);
  return std::move(created).value();
}

Outcome<StoredJob> StoreDefinition(const Call& call, const JobBase& base,
                                   const JobDefinition& definition, WallTime now,
                                   const ComingJobs& coming) {
  const StoredJob& job = base.job;
  if (base.readable && definition == job.definition) return job;
  CARILLON_TRY(CheckEdit(call, job.job_id, &base, definition, coming));
  AuditedWrite write(call, now);
  auto written = write.Count(
      call.stores.jobs.ReplaceJob(job.job_id, job.version, definition, write.context()));
  if (IsUnknown(written)) {
    auto found = call.stores.jobs.GetJob(job.job_id);
    const bool ours =
        found.ok() && found->version == job.version + 1 && found->definition == definition;
    if (!ours) {
      return OutcomeUnknown(
          "It is unknown whether the change was stored. GET the job before retrying.",
          written.error());
    }
    written = std::move(found);
  }
  if (!written.ok() && written.code() == ErrorCode::kConflict) {
    CARILLON_ASSIGN_OR_RETURN(const JobBase current, ReadBase(call, job.job_id));
    return StaleVersion(call, current, now);
  }
  if (!written.ok()) return DependencyProblem(written.error());
  if (base.readable) {
    call.note.changes_json = JsonToText(AuditedChanges(JobChanges(job.definition, definition)));
  }
  call.api.nudge({written->job_no, written->segment});
  return std::move(written).value();
}

Reply WriteDefinition(const Call& call, const JobBase& base, const JobDefinition& definition,
                      WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const StoredJob written, StoreDefinition(call, base, definition, now));
  return WrittenResponse(call, 200, written, now);
}

Outcome<bool> Remove(const Call& call, const JobBase& base, WallTime now, bool force) {
  const StoredJob& job = base.job;
  if (!call.owns_all && !MayAct(call.caller, ScopeOf(base))) {
    return NotOwner(Permission::kWriteJobs);
  }
  AuditedWrite write(call, now);
  WriteContext context = write.context();
  context.force = force;
  const Status deleted = write.Count(call.stores.jobs.DeleteJob(job.job_id, job.version, context));
  if (IsUnknown(deleted)) {
    const auto found = call.stores.jobs.GetJob(job.job_id);
    if (found.ok() || found.code() != ErrorCode::kNotFound) {
      return OutcomeUnknown("It is unknown whether the job was deleted. GET it before retrying.",
                            deleted.error());
    }
  } else if (!deleted.ok() && deleted.code() == ErrorCode::kConflict) {
    CARILLON_ASSIGN_OR_RETURN(const JobBase current, ReadBase(call, job.job_id));
    return StaleVersion(call, current, now);
  } else if (!deleted.ok() && deleted.code() == ErrorCode::kExists) {
    return HasDependents(call, job.job_id);
  } else if (!deleted.ok()) {
    return deleted.error();
  }
  call.api.nudge({job.job_no, job.segment});
  return true;
}

}  // namespace carillon::scheduler
