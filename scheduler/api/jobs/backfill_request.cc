#include "scheduler/api/jobs/backfill_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/job/parameters_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/jobs/outside_parameters.h"
#include "scheduler/api/workflows/node_job_check.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr int64_t kScheduleIdMax = int64_t{1} << 52;
constexpr Duration kDay = 24h;

Problem Unfit(std::string pointer, std::string code, std::string detail) {
  return {.status = 422,
          .code = code,
          .detail = detail,
          .errors = {{std::move(pointer), std::move(code), std::move(detail)}}};
}

Outcome<WallTime> TimeMember(const json& body, std::string_view name) {
  const std::string pointer = fmt::format("/{}", name);
  CARILLON_ASSIGN_OR_RETURN(const std::string text, TextMember(body, name, kReasonCharactersMax));
  if (text.empty()) return InvalidField(pointer, "missing", "A time is required.");
  const auto time = ParseRfc3339(text);
  if (!time.ok()) {
    return InvalidField(pointer, "bad_time", "Must be an RFC 3339 time from 1970 to 4253.");
  }
  return *time;
}

template <typename Enum>
Outcome<Enum> ChoiceMember(const json& body, std::string_view name, Enum fallback,
                           Result<Enum> (*parse)(std::string_view), std::string_view choices) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text, TextMember(body, name, kReasonCharactersMax));
  if (text.empty()) return fallback;
  const auto parsed = parse(text);
  if (parsed.ok()) return *parsed;
  return InvalidField(fmt::format("/{}", name), "unknown_value",
                      fmt::format("Must be {}.", choices));
}

bool Repeats(const ScheduleSpec& spec) {
  return spec.kind == ScheduleKind::kCron || spec.kind == ScheduleKind::kRate;
}

Outcome<StoredSchedule> ChooseSchedule(const StoredJob& job, std::optional<int64_t> wanted) {
  std::vector<StoredSchedule> repeated;
  for (const StoredSchedule& schedule : job.schedules) {
    if (Repeats(schedule.spec)) repeated.push_back(schedule);
  }
  if (repeated.empty()) {
    return Unfit("/schedule_id", "no_schedule",
                 "The job has no cron or rate schedule, so it has no past fires.");
  }
  if (!wanted && repeated.size() == 1) return repeated.front();
  if (!wanted) {
    return Unfit("/schedule_id", "ambiguous",
                 "The job has several cron or rate schedules. Name one by its schedule_id.");
  }
  const auto found = std::find_if(repeated.begin(), repeated.end(), [&](const auto& schedule) {
    return schedule.schedule_id.value() == static_cast<uint64_t>(*wanted);
  });
  if (found != repeated.end()) return *found;
  return Unfit("/schedule_id", "no_schedule", "The job has no cron or rate schedule with this id.");
}

Duration RetentionOf(const Call& call) {
  std::vector<std::string> left_out;
  const config::Config config = call.api.config.With(call.api.settings.Current().values, &left_out);
  return config.Time("retention_days");
}

Outcome<bool> CheckRange(const Call& call, const StoredJob& job, const BackfillTerms& terms,
                         WallTime now) {
  if (terms.to <= terms.from) {
    return InvalidField("/to", "out_of_range", "Must be after `from`.");
  }
  if (terms.to > now) {
    return Unfit("/to", "in_the_future",
                 "Must not be in the future: later fires run by themselves.");
  }
  const Duration retention = RetentionOf(call);
  const int64_t job_days = job.definition.retention_days;
  const Duration kept = job_days > 0 ? std::min(retention, kDay * job_days) : retention;
  const WallTime first = KeptFrom(now, retention, job_days);
  if (terms.from >= first) return true;
  return Unfit("/from", "not_kept",
               fmt::format("Runs are kept for {} days, so that a run before {} could not be kept. "
                           "Begin there or later.",
                           kept / kDay, FormatRfc3339(first)));
}

// The parameters of the runs: those of the schedule, overridden by those of the request. They are
// checked as those of a manual run.
Outcome<std::string> ReadParameters(const json& body, const JobDefinition& job,
                                    const ScheduleSpec& spec) {
  json merged = json::object();
  for (const auto& [name, value] : spec.parameters) {
    std::visit([&merged, &name = name](const auto& one) { merged[name] = one; }, value);
  }
  if (body.contains("parameters") && !body["parameters"].is_null()) {
    const json& given = body["parameters"];
    const json probe = {{"name", "run"}, {"type", "noop"}, {"parameters", given}};
    CARILLON_ASSIGN_OR_RETURN(const ParsedJob checked, carillon::ParseJob(probe));
    merged.update(given);
  }
  std::string text = merged.empty() ? std::string() : JsonToText(merged);
  CARILLON_TRY(CheckParametersText(job, text));
  return text;
}

}  // namespace

Outcome<BackfillRequest> ReadBackfillRequest(const Call& call, const StoredJob& job, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(
      const json body, ReadObject(call.request, Body::kRequired,
                                  {"from", "to", "schedule_id", "order", "rerun", "concurrency",
                                   "priority", "parameters", "dry_run"}));
  BackfillRequest request{.terms = {.job_id = job.job_id, .schedule_id = {}, .from = {}, .to = {}}};
  BackfillTerms& terms = request.terms;
  CARILLON_ASSIGN_OR_RETURN(terms.from, TimeMember(body, "from"));
  CARILLON_ASSIGN_OR_RETURN(terms.to, TimeMember(body, "to"));
  CARILLON_ASSIGN_OR_RETURN(const auto schedule_id,
                            NumberMember(body, "schedule_id", {.low = 1, .high = kScheduleIdMax}));
  CARILLON_ASSIGN_OR_RETURN(
      terms.order, ChoiceMember(body, "order", BackfillOrder::kAscending, &ParseBackfillOrder,
                                "ascending or descending"));
  CARILLON_ASSIGN_OR_RETURN(terms.rerun, ChoiceMember(body, "rerun", BackfillRerun::kNone,
                                                      &ParseBackfillRerun, "none, failed or all"));
  CARILLON_ASSIGN_OR_RETURN(
      const auto concurrency,
      NumberMember(body, "concurrency", {.low = 1, .high = kBackfillConcurrencyMax}));
  terms.concurrency = concurrency.value_or(1);
  CARILLON_ASSIGN_OR_RETURN(const auto priority,
                            NumberMember(body, "priority", {.low = 0, .high = 100}));
  if (priority) terms.priority = static_cast<int>(*priority);
  CARILLON_ASSIGN_OR_RETURN(request.dry_run, FlagMember(body, "dry_run"));
  CARILLON_ASSIGN_OR_RETURN(const StoredSchedule schedule, ChooseSchedule(job, schedule_id));
  terms.schedule_id = schedule.schedule_id;
  CARILLON_ASSIGN_OR_RETURN(terms.parameters_json,
                            ReadParameters(body, job.definition, schedule.spec));
  const bool given =
      body.contains("parameters") && !body["parameters"].empty();  // null is empty, too
  if (given) {
    CARILLON_ASSIGN_OR_RETURN(
        terms.parameters_json,
        MarkOutside(call, job.definition, body["parameters"], terms.parameters_json));
  }
  if (given && job.definition.workflow) {
    CARILLON_TRY(CheckNodeJobs(call, job.job_id, job.definition));
  }
  if (given)
    terms.parameters_json = WithGiver(std::move(terms.parameters_json), call.caller.user_id);
  CARILLON_TRY(CheckRange(call, job, terms, now));
  return request;
}

}  // namespace carillon::scheduler
