#include "common/wire/job_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/domain/schedule.h"
#include "common/wire/job_fields.h"
#include "common/wire/json_text.h"

namespace carillon {
namespace {

using nlohmann::json;

// The text of a job with one schedule that is a cron expression in the job's own zone.
json CronExpressionOf(const JobDefinition& job) {
  if (job.schedules.size() != 1) return nullptr;
  const ScheduleSpec& only = job.schedules[0];
  if (only.kind != ScheduleKind::kCron || only.time_zone != job.time_zone) return nullptr;
  return only.cron_expression;
}

json NextFireTime(const StoredJob& job, WallTime now) {
  const JobDefinition& definition = job.definition;
  if (!definition.enabled) return nullptr;
  WallTime least = kNever;
  for (const ScheduleSpec& spec : definition.schedules) {
    const auto schedule = Schedule::Compile(spec, definition.dst_gap, definition.dst_repeat);
    if (!schedule.ok()) continue;  // stored before a rule changed: it cannot fire
    if (const auto fire = schedule->Next(now)) least = std::min(least, fire->time);
  }
  if (least == kNever) return nullptr;
  return FormatRfc3339(least);
}

// The fields of `body` that only a GET fills in.
bool IsReadOnly(std::string_view name) {
  constexpr std::array kNames = {"version",     "state",       "next_fire_time",
                                 "create_time", "update_time", "pause_reason"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// A cron_expression that stands alone is the one schedule; beside schedules it must say the same.
Status ReconcileCron(const json& body, JobDefinition& job) {
  const auto cron = body.find("cron_expression");
  if (cron == body.end() || cron->is_null()) return {};
  if (!cron->is_string()) {
    return Error{ErrorCode::kInvalid, "cron_expression must be a string", "/cron_expression"};
  }
  if (!body.contains("schedules")) {
    job.schedules = {{.kind = ScheduleKind::kCron,
                      .cron_expression = cron->get<std::string>(),
                      .time_zone = job.time_zone}};
    return {};
  }
  if (*cron != CronExpressionOf(job)) {
    return Error{ErrorCode::kInvalid, "cron_expression and schedules disagree: give one of them",
                 "/cron_expression"};
  }
  return {};
}

// The one schedule of a body that wrote cron_expression stands for that field and time_zone.
Error PointIntoBody(Error error, const json& body) {
  constexpr std::string_view kOnly = "/schedules/0/";
  if (!body.contains("schedules") && error.pointer.starts_with(kOnly)) {
    error.pointer.erase(0, kOnly.size() - 1);
  }
  return error;
}

Result<ParsedJob> ReadRequest(const json& body) {
  if (!body.is_object()) return Error{ErrorCode::kInvalid, "a job must be a JSON object", ""};
  ParsedJob parsed;
  if (const auto id = body.find("job_id"); id != body.end()) {
    if (!id->is_string()) {
      return Error{ErrorCode::kInvalid, "job_id must be a string", "/job_id"};
    }
    parsed.job_id = id->get<std::string>();
    CARILLON_TRY(ValidateJobId(parsed.job_id));
  }
  for (const auto& [name, value] : body.items()) {
    if (name == "job_id" || name == "cron_expression" || IsReadOnly(name)) continue;
    CARILLON_ASSIGN_OR_RETURN(const bool known, ReadJobField(name, value, parsed.definition));
    if (!known) {
      return Error{ErrorCode::kInvalid, "unknown field '" + name + "'", JsonPointer("", name)};
    }
  }
  FillScheduleZones(parsed.definition);
  CARILLON_TRY(ReconcileCron(body, parsed.definition));
  const Status valid = ValidateJob(parsed.definition);
  if (!valid.ok()) return PointIntoBody(valid.error(), body);
  return parsed;
}

// Makes the merged document agree with itself where the patch changed one of two views of the
// same thing and the other still shows the job as it was.
void FollowPatch(const json& patch, const StoredJob& job, json& merged) {
  const bool moves_cron = patch.contains("cron_expression");
  if (patch.contains("schedules")) {
    if (!moves_cron) merged.erase("cron_expression");
    return;
  }
  if (moves_cron) {
    const bool clears = patch["cron_expression"].is_null();
    if (!clears || !CronExpressionOf(job.definition).is_null()) merged.erase("schedules");
    return;
  }
  if (!patch.contains("time_zone") || !patch["time_zone"].is_string()) return;
  for (json& schedule : merged["schedules"]) {
    if (schedule.value("time_zone", "") == job.definition.time_zone) {
      schedule["time_zone"] = patch["time_zone"];
    }
  }
}

}  // namespace

Result<ParsedJob> ParseJob(const json& body) { return ReadRequest(body); }

Result<ParsedJob> ParseJobText(std::string_view body) {
  CARILLON_ASSIGN_OR_RETURN(const json document, ParseJsonText(body));
  return ReadRequest(document);
}

Result<ParsedJob> PatchJob(const StoredJob& job, const json& patch) {
  if (!patch.is_object()) return Error{ErrorCode::kInvalid, "a patch must be a JSON object", ""};
  json merged = JobToJson(job, WallTime{});
  merged.merge_patch(patch);
  FollowPatch(patch, job, merged);
  return ReadRequest(merged);
}

json JobToJson(const StoredJob& job, WallTime now) {
  json body = DefinitionToJson(job.definition);
  for (size_t i = 0; i < job.schedules.size() && i < body["schedules"].size(); ++i) {
    body["schedules"][i]["schedule_id"] = job.schedules[i].schedule_id.value();
  }
  body["job_id"] = job.job_id.value();
  body["version"] = job.version;
  body["state"] = job.definition.enabled ? "ENABLED" : "PAUSED";
  body["pause_reason"] = job.pause_reason.empty() ? json(nullptr) : json(job.pause_reason);
  body["cron_expression"] = CronExpressionOf(job.definition);
  body["next_fire_time"] = NextFireTime(job, now);
  body["create_time"] = FormatRfc3339(job.created);
  body["update_time"] = FormatRfc3339(job.updated);
  return body;
}

std::string DefinitionToText(const JobDefinition& definition) {
  return JsonToText(DefinitionToJson(definition));
}

// Bounds are not checked again and unknown fields are skipped: a definition stays readable when
// the rules get tighter, and while members of two versions write to one store.
Result<JobDefinition> DefinitionFromText(std::string_view text) {
  const json body = json::parse(text.begin(), text.end(), nullptr, false);
  if (!body.is_object()) return Error{ErrorCode::kCorrupt, "stored definition is not an object"};
  JobDefinition definition;
  for (const auto& [name, value] : body.items()) {
    const auto known = ReadJobField(name, value, definition);
    if (!known.ok()) {
      return Error{ErrorCode::kCorrupt, "stored definition: " + known.error().message,
                   known.error().pointer};
    }
  }
  FillScheduleZones(definition);
  return definition;
}

}  // namespace carillon
