#include "common/wire/json/job/job_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/domain/calendar/schedule_problem.h"
#include "common/domain/job/job_mistakes.h"
#include "common/domain/job/spread.h"
#include "common/domain/schedule/schedule.h"
#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/workflow/workflow_json.h"

namespace carillon {
namespace {

using nlohmann::json;

// The cron expression of a job whose only schedule is a cron schedule in the job's own zone,
// without a window and jitter; else null.
json CronExpressionOf(const JobDefinition& job) {
  if (job.schedules.size() != 1) return nullptr;
  const ScheduleSpec& only = job.schedules[0];
  const ScheduleSpec plain{.kind = ScheduleKind::kCron,
                           .cron_expression = only.cron_expression,
                           .time_zone = job.time_zone,
                           .spread = only.spread};
  return only == plain ? json(only.cron_expression) : json(nullptr);
}

// Null if the calendars of a schedule are not known.
json NextFireTime(const StoredJob& job, WallTime now, const CalendarSet* known) {
  static const CalendarSet kNone;
  const CalendarSet& calendars = known == nullptr ? kNone : *known;
  const JobDefinition& definition = job.definition;
  if (!definition.enabled) return nullptr;
  WallTime least = kNever;
  for (const ScheduleSpec& spec : definition.schedules) {
    auto limits = calendars.Of(spec.calendar, spec.blackout);
    if (!limits.ok()) return nullptr;
    const auto schedule =
        Schedule::Compile(spec, definition.dst_gap, definition.dst_repeat, std::move(*limits));
    if (!schedule.ok()) continue;  // it cannot fire
    if (const auto fire = schedule->Next(now)) least = std::min(least, fire->time);
  }
  if (least == kNever) return nullptr;
  return FormatRfc3339(least);
}

// Fields of `body` that only an answer has.
bool IsReadOnly(std::string_view name) {
  constexpr std::array kNames = {"version",     "state",           "next_fire_time",
                                 "create_time", "update_time",     "pause_reason",
                                 "paused_by",   "allowed_actions", "schedule_problem",
                                 "problem",     "warnings"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Moves the schedules that are in the job's previous time zone to its new time zone.
void MoveSchedules(const JobDefinition& before, JobDefinition& job) {
  for (ScheduleSpec& spec : job.schedules) {
    const bool follows = spec.kind == ScheduleKind::kCron && spec.time_zone == before.time_zone;
    if (follows) spec.time_zone = job.time_zone;
  }
}

// Decides between cron_expression (with time_zone) and schedules, which are two forms of the same
// data. The form that differs from `before` was changed by the client and is used; if both differ,
// they must agree. A body may have cron_expression without schedules. Returns true if the schedules
// were set from cron_expression.
Result<bool> ReconcileCron(const json& body, const JobDefinition& before, JobDefinition& job) {
  const json cron = body.value("cron_expression", json(nullptr));
  if (!cron.is_null() && !cron.is_string()) {
    return Error{ErrorCode::kInvalid, "cron_expression must be a string", "/cron_expression"};
  }
  const auto write_short = [&] {
    job.schedules.clear();
    if (cron.is_null()) return true;
    job.schedules.push_back({.kind = ScheduleKind::kCron,
                             .cron_expression = cron.get<std::string>(),
                             .time_zone = job.time_zone});
    return true;
  };
  if (!body.contains("schedules")) return write_short();
  const bool list_changed = job.schedules != before.schedules;
  const bool cron_changed = body.contains("cron_expression") && cron != CronExpressionOf(before);
  if (!list_changed && cron_changed) return write_short();
  if (!list_changed && body.contains("time_zone")) MoveSchedules(before, job);
  // A null does not contradict a changed list.
  const bool agree = !cron_changed || cron.is_null() || cron == CronExpressionOf(job);
  if (agree) return false;
  return Error{ErrorCode::kConflict,
               "cron_expression and schedules disagree; change or omit one of them",
               "/cron_expression"};
}

// If the body has cron_expression, an error in the only schedule is reported at the fields that the
// client sent: "/schedules/0/cron_expression" becomes "/cron_expression", and likewise time_zone.
Error PointIntoShort(Error error) {
  constexpr std::string_view kOnly = "/schedules/0/";
  if (error.pointer.starts_with(kOnly)) error.pointer.erase(0, kOnly.size() - 1);
  return error;
}

Error UnknownField(const std::string& name) {
  return {ErrorCode::kInvalid, "unknown field '" + name + "'" + DidYouMean(name, JobFieldNames()),
          JsonPointer("", name)};
}

constexpr size_t kMistakesMax = 20;  // reported mistakes of one body

// Reads the workflow of a request, and notes all mistakes of its form. FindMistakes reports the
// others once the parameters of the job are known.
void ReadWorkflowOf(const json& value, JobDefinition& job, Mistakes& mistakes) {
  ParsedWorkflow read = ReadWorkflow(value);
  job.workflow = std::move(read.definition);
  for (WorkflowProblem& problem : read.problems) {
    if (mistakes.size() >= kMistakesMax) return;
    mistakes.push_back(
        {ErrorCode::kInvalid, std::move(problem.message), "/workflow" + problem.pointer});
  }
}

// Reads a field, and notes its mistake; of a map of values, each of them.
void ReadFieldOf(const std::string& name, const json& value, JobDefinition& job,
                 Mistakes& mistakes) {
  const auto known = ReadJobField(name, value, job);
  if (known.ok()) {
    if (!*known) mistakes.push_back(UnknownField(name));
    return;
  }
  const bool of_values = name == "env" || name == "labels" || name == "parameters";
  if (!of_values || !value.is_object()) {
    mistakes.push_back(known.error());
    return;
  }
  for (const auto& [entry, text] : value.items()) {
    if (mistakes.size() == kMistakesMax) return;
    JobDefinition alone;
    const auto one = ReadJobField(name, json{{entry, text}}, alone);
    if (!one.ok()) mistakes.push_back(one.error());
  }
}

// Objects that mean something by being there. In YAML, a name without a value is null: a job with
// `broadcast:` would run once, on any executor. A patch has lost its nulls before it is read.
struct NamedByPresence {
  std::string_view pointer;
  std::string_view instead;
};
constexpr std::array<NamedByPresence, 3> kByPresence = {
    {{"/shards", "write shards: {total: 8}"},
     {"/broadcast", "write broadcast: {} for its defaults"},
     {"/http/poll", "write poll: {} for its defaults"}}};

void NoteNulls(const json& body, Mistakes& mistakes) {
  for (const auto& [pointer, instead] : kByPresence) {
    const json::json_pointer at{std::string(pointer)};
    if (mistakes.size() == kMistakesMax) return;
    if (!body.contains(at) || !body.at(at).is_null()) continue;
    mistakes.push_back({ErrorCode::kInvalid,
                        "has no value; " + std::string(instead) + ", or leave it out",
                        std::string(pointer)});
  }
}

// A mistake in `part` may be a consequence of a mistake in `on`.
struct Dependence {
  std::string_view part;
  std::string_view on;
};
constexpr std::array<Dependence, 23> kDependences = {{{"/command", "/type"},
                                                      {"/limits", "/type"},
                                                      {"/run_as", "/type"},
                                                      {"/script", "/type"},
                                                      {"/script", "/script"},
                                                      {"/script", "/parameters"},
                                                      {"/http", "/type"},
                                                      {"/http", "/http"},
                                                      {"/http", "/parameters"},
                                                      {"/handler", "/type"},
                                                      {"/handler", "/handler"},
                                                      {"/container", "/type"},
                                                      {"/container", "/container"},
                                                      {"/container", "/parameters"},
                                                      {"/workflow", "/type"},
                                                      {"/workflow", "/workflow"},
                                                      {"/workflow", "/parameters"},
                                                      {"/command", "/parameters"},
                                                      {"/env", "/parameters"},
                                                      {"/cron_expression", "/schedules"},
                                                      {"/working_directory", "/type"},
                                                      {"/output_encoding", "/type"},
                                                      {"/wait_limit_s", "/waits_for"}}};

// True if the mistake `found` is probably a consequence of the mistake `known`, so that it is not
// reported: a part that could not be read has its default value, which may not fit other parts.
bool IsGuess(const Error& found, const Error& known) {
  if (IsWithin(found.pointer, known.pointer)) return true;
  return std::any_of(kDependences.begin(), kDependences.end(), [&](const Dependence& one) {
    return IsWithin(found.pointer, one.part) && IsWithin(known.pointer, one.on);
  });
}

void NoteFurther(Mistakes& mistakes, std::vector<Error> found) {
  const size_t read = mistakes.size();
  for (Error& one : found) {
    if (mistakes.size() == kMistakesMax) return;
    const auto end = mistakes.begin() + static_cast<long>(read);
    const bool guess = std::any_of(mistakes.begin(), end,
                                   [&one](const Error& known) { return IsGuess(one, known); });
    if (!guess) mistakes.push_back(std::move(one));
  }
}

// True if the total becomes a number, which has no limit.
bool FixesTotal(const json& patch) {
  const auto shards = patch.find("shards");
  if (shards == patch.end() || !shards->is_object() || shards->contains("max")) return false;
  const auto total = shards->find("total");
  return total != shards->end() && total->is_number();
}

// True if the job shall wait for no other one, and the patch names no limit for it.
bool EndsWaits(const json& patch) {
  const auto waits = patch.find("waits_for");
  return waits != patch.end() && (waits->is_null() || *waits == json::array()) &&
         !patch.contains("wait_limit_s");
}

// Returns the first mistake, and moves the others to `further`.
Error FirstOf(Mistakes mistakes, Mistakes* further) {
  if (further != nullptr) further->assign(mistakes.begin() + 1, mistakes.end());
  return std::move(mistakes.front());
}

// The job as it is before the request; without an id and definition if the request makes it.
struct Before {
  JobId id = {};
  const JobDefinition& definition;
};

// `mistakes` are those already found in the same request.
Result<ParsedJob> ReadRequest(const json& body, const Before& before, Mistakes* further,
                              Mistakes mistakes = {}) {
  if (!body.is_object()) return Error{ErrorCode::kInvalid, "a job must be a JSON object", ""};
  ParsedJob parsed;
  if (const auto id = body.find("job_id"); id != body.end()) {
    if (!id->is_string()) {
      return Error{ErrorCode::kInvalid, "job_id must be a string", "/job_id"};
    }
    parsed.job_id = id->get<std::string>();
    const Status valid = ValidateJobId(parsed.job_id);
    if (!valid.ok()) mistakes.push_back(valid.error());
  }
  NoteNulls(body, mistakes);
  for (const auto& [name, value] : body.items()) {
    if (name == "job_id" || name == "cron_expression" || IsReadOnly(name)) continue;
    // The other fields are not read, so the job as a whole cannot be validated.
    if (mistakes.size() >= kMistakesMax) return FirstOf(std::move(mistakes), further);
    if (name == "workflow" && !value.is_null()) {
      ReadWorkflowOf(value, parsed.definition, mistakes);
      continue;
    }
    ReadFieldOf(name, value, parsed.definition, mistakes);
  }
  const bool workflow = parsed.definition.type == JobType::kWorkflow;
  if (workflow && !body.contains("timeout")) parsed.definition.timeout_s = kWorkflowTimeoutS;
  FillScheduleZones(parsed.definition);
  const JobId id = before.id.empty() ? JobId(parsed.job_id) : before.id;
  if (!id.empty()) SetSpread(parsed.definition, id);
  const auto is_short = ReconcileCron(body, before.definition, parsed.definition);
  if (!id.empty()) SetSpread(parsed.definition, id);
  std::vector<Error> invalid;
  if (!is_short.ok()) invalid.push_back(is_short.error());
  for (Error& one : FindMistakes(parsed.definition)) {
    const bool in_short = is_short.ok() && *is_short;
    invalid.push_back(in_short ? PointIntoShort(std::move(one)) : std::move(one));
  }
  NoteFurther(mistakes, std::move(invalid));
  if (mistakes.empty()) return parsed;
  return FirstOf(std::move(mistakes), further);
}

}  // namespace

Result<ParsedJob> ParseJob(const json& body, Mistakes* further) {
  return ReadRequest(body, {.definition = JobDefinition{}}, further);
}

Result<ParsedJob> ParseJobText(std::string_view body) {
  CARILLON_ASSIGN_OR_RETURN(const json document, ParseJsonText(body));
  return ParseJob(document);
}

Result<ParsedJob> ParseReplacement(const StoredJob& job, const json& body, Mistakes* further) {
  CARILLON_ASSIGN_OR_RETURN(ParsedJob parsed,
                            ReadRequest(body, {job.job_id, job.definition}, further));
  if (!body.contains("enabled")) parsed.definition.enabled = job.definition.enabled;
  return parsed;
}

Result<ParsedJob> PatchJob(const StoredJob& job, const json& patch, Mistakes* further) {
  if (!patch.is_object()) return Error{ErrorCode::kInvalid, "a patch must be a JSON object", ""};
  json merged = JobToJson(job, WallTime{});
  json known = patch;
  Mistakes unknown;
  const std::vector<std::string_view> fields = JobFieldNames();
  for (const auto& [name, value] : patch.items()) {
    // Unknown fields must be found before the merge, because the merge drops fields whose value is
    // null. `merged` lacks some fields that are not set.
    const bool is_field = std::find(fields.begin(), fields.end(), name) != fields.end();
    if (is_field || merged.contains(name) || IsReadOnly(name)) continue;
    if (unknown.size() < kMistakesMax) unknown.push_back(UnknownField(name));
    known.erase(name);
  }
  merged.merge_patch(known);
  if (FixesTotal(known)) merged["shards"].erase("max");
  if (EndsWaits(known)) merged.erase("wait_limit_s");
  // In a merge patch, null removes a field. These three fields are set to their defaults instead,
  // because ReconcileCron treats an absent field as one that the client did not send.
  const auto reset = [&](const char* name, json fallback) {
    if (patch.contains(name) && patch[name].is_null()) merged[name] = std::move(fallback);
  };
  reset("cron_expression", nullptr);
  reset("schedules", json::array());
  reset("time_zone", JobDefinition{}.time_zone);
  return ReadRequest(merged, {job.job_id, job.definition}, further, std::move(unknown));
}

json JobToJson(const StoredJob& job, WallTime now, const CalendarSet* calendars) {
  json body = DefinitionToJson(job.definition);
  for (size_t i = 0; i < job.schedules.size() && i < body["schedules"].size(); ++i) {
    body["schedules"][i]["schedule_id"] = job.schedules[i].schedule_id.value();
  }
  body["job_id"] = job.job_id.value();
  body["version"] = job.version;
  body["state"] = job.definition.enabled ? "ENABLED" : "PAUSED";
  body["pause_reason"] = job.pause_reason.empty() ? json(nullptr) : json(job.pause_reason);
  if (job.paused_by_failures) body["paused_by"] = "failures";
  body["cron_expression"] = CronExpressionOf(job.definition);
  body["next_fire_time"] = NextFireTime(job, now, calendars);
  if (calendars != nullptr && job.definition.enabled) {
    std::string problem = ScheduleProblem(job.definition.schedules, job.definition.dst_gap,
                                          job.definition.dst_repeat, *calendars);
    if (!problem.empty()) body["schedule_problem"] = std::move(problem);
  }
  body["create_time"] = FormatRfc3339(job.created);
  body["update_time"] = FormatRfc3339(job.updated);
  return body;
}

std::string DefinitionToText(const JobDefinition& definition) {
  return JsonToText(DefinitionToJson(definition));
}

// Does not check the bounds, and skips unknown fields: a definition must stay readable after the
// rules have become stricter, and while members of two versions use one store.
Result<JobDefinition> DefinitionFromText(std::string_view text, const JobId& id) {
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
  if (!id.empty()) SetSpread(definition, id);
  return definition;
}

}  // namespace carillon
