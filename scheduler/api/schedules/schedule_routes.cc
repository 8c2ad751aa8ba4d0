#include "scheduler/api/schedules/schedule_routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/domain/cron/cron.h"
#include "common/domain/schedule/explain.h"
#include "common/domain/schedule/schedule_twins.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/job/schedule_json.h"
#include "scheduler/api/call/calendars.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/explain/fire_load.h"
#include "scheduler/explain/schedule_warnings.h"
#include "scheduler/explain/upcoming_fires.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kBucketsMax = 4'320;     // enough for three days in buckets of a minute
constexpr size_t kBucketsByJobMax = 200;  // enough for a week in buckets of an hour
constexpr size_t kJobsShown = 100;
constexpr size_t kNeighboursReadMax = 2'000;
constexpr size_t kNeighboursReported = 5;

json ErrorsOf(const Error& error) {
  return json::array(
      {{{"pointer", error.pointer}, {"code", "invalid"}, {"detail", error.message}}});
}

// Parses the schedules of a preview in the same way as those of a job that is written at `after`.
// The values of H are those of the job `own`, or examples if it is not a valid id.
Outcome<Result<ParsedJob>> ReadPreview(const json& body, WallTime after, const std::string& own) {
  json probe = {{"name", "preview"}, {"type", "noop"}};
  for (const char* name : {"cron_expression", "schedules", "time_zone", "dst_gap", "dst_repeat"}) {
    if (body.contains(name) && !body[name].is_null()) probe[name] = body[name];
  }
  if (!probe.contains("cron_expression") && !probe.contains("schedules")) {
    return InvalidField("/cron_expression", "missing",
                        "Either cron_expression or schedules is required.");
  }
  ResolveRelativeTimes(probe, after);
  if (ValidateJobId(own).ok()) probe["job_id"] = own;
  return carillon::ParseJob(probe);
}

// Adds a warning if other jobs fire in the minute of the first fire. The warning is only a hint. It
// is left out if the store does not answer.
void AddNeighbours(const Call& call, const json& fires, const std::string& own, json* warnings) {
  if (fires.empty()) return;
  const auto first = ParseRfc3339(fires[0]["fire_time"].get<std::string>());
  if (!first.ok()) return;
  const WallTime minute{std::chrono::floor<std::chrono::minutes>(*first)};
  const auto calendars = call.stores.calendars.LoadCalendars();
  if (!calendars.ok()) return;
  const auto load = CountFires(call.stores.jobs, *calendars,
                               {.from = minute, .until = minute + 60s, .bucket = 60s},
                               {.jobs = kNeighboursReadMax});
  if (!load.ok()) return;
  const auto others = static_cast<size_t>(
      std::count_if(load->jobs.begin(), load->jobs.end(),
                    [&own](const JobLoad& job) { return job.job_id.value() != own; }));
  if (others < kNeighboursReported) return;
  warnings->push_back(
      {{"schedule", fires[0]["schedule"]},
       {"code", "crowded_minute"},
       {"detail", fmt::format("{}{} other jobs fire in the minute of the first fire, {}.",
                              load->truncated ? "At least " : "", others, ReadableTime(minute))}});
}

Outcome<json> Warnings(const Call& call, const JobDefinition& job, const CalendarSet& calendars,
                       const json& fires, WallTime after, const std::string& own) {
  CARILLON_ASSIGN_OR_RETURN(json warnings, ScheduleWarnings(job, calendars, after));
  AddNeighbours(call, fires, own, &warnings);
  return warnings;
}

// The cron expression of each schedule in canonical form; null for other kinds of schedules.
Outcome<json> CronExpressions(const JobDefinition& job) {
  json expressions = json::array();
  for (const ScheduleSpec& spec : job.schedules) {
    if (spec.kind != ScheduleKind::kCron) {
      expressions.push_back(nullptr);
      continue;
    }
    CARILLON_ASSIGN_OR_RETURN(const CronExpression expression,
                              ParseCron(spec.cron_expression, spec.spread));
    expressions.push_back(FormatCron(expression));
  }
  return expressions;
}

Outcome<WallTime> ReadAfter(const Call& call, const json& body) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text,
                            TextMember(body, "after", kReasonCharactersMax));
  if (text.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
    return now;
  }
  const auto time = ParseRfc3339(text);
  if (!time.ok())
    return InvalidField("/after", "bad_time", "Must be an RFC 3339 time from 1970 to 4253.");
  return *time;
}

struct LoadQuestion {
  LoadSpan span;
  bool by_job = false;
};

Outcome<Duration> ReadBucket(const Query& query) {
  const std::string bucket = query.Text("bucket").value_or("minute");
  if (bucket == "minute") return Duration(60s);
  if (bucket == "hour") return Duration(3600s);
  return InvalidField("?bucket", "unknown_value", "Must be minute or hour.");
}

Outcome<bool> ReadByJob(const Query& query) {
  const std::string by_job = query.Text("by_job").value_or("false");
  if (by_job == "true" || by_job == "false") return by_job == "true";
  return InvalidField("?by_job", "unknown_value", "Must be true or false.");
}

Outcome<LoadQuestion> ReadLoadQuestion(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"from", "until", "bucket", "by_job"}));
  CARILLON_ASSIGN_OR_RETURN(const auto from, query.Time("from"));
  CARILLON_ASSIGN_OR_RETURN(const auto until, query.Time("until"));
  LoadQuestion asked;
  CARILLON_ASSIGN_OR_RETURN(asked.span.bucket, ReadBucket(query));
  CARILLON_ASSIGN_OR_RETURN(asked.by_job, ReadByJob(query));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  asked.span.from = from.value_or(WallTime{std::chrono::floor<std::chrono::minutes>(now)});
  asked.span.until = until.value_or(asked.span.from + 24h);
  if (asked.span.until <= asked.span.from) {
    return InvalidField("?until", "out_of_range", "Must be after `from`.");
  }
  const size_t most = asked.by_job ? kBucketsByJobMax : kBucketsMax;
  const Duration longest = asked.span.bucket * static_cast<int64_t>(most);
  if (asked.span.until - asked.span.from > longest) {
    return InvalidField("?until", "out_of_range",
                        fmt::format("At most {} buckets of one {} are allowed{}.", most,
                                    asked.span.bucket == Duration(60s) ? "minute" : "hour",
                                    asked.by_job ? " with by_job=true" : ""));
  }
  return asked;
}

std::string StartOf(const LoadSpan& span, size_t bucket) {
  return FormatRfc3339(span.from + static_cast<int64_t>(bucket) * span.bucket);
}

json JobLoadToJson(const JobLoad& job, const LoadSpan& span) {
  json buckets = json::array();
  for (const auto& [bucket, fires] : job.buckets) {
    buckets.push_back({{"start", StartOf(span, bucket)}, {"fires", fires}});
  }
  return {{"job_id", job.job_id.value()},
          {"name", job.name},
          {"fires", job.fires},
          {"first_fire_time", FormatRfc3339(job.first)},
          {"buckets", std::move(buckets)}};
}

}  // namespace

Reply PreviewSchedule(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired,
                                       {"cron_expression", "schedules", "time_zone", "dst_gap",
                                        "dst_repeat", "n", "after", "job_id"}));
  CARILLON_ASSIGN_OR_RETURN(const auto count,
                            NumberMember(body, "n", {.low = 1, .high = kFiresMax}));
  CARILLON_ASSIGN_OR_RETURN(const std::string own,
                            TextMember(body, "job_id", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const WallTime after, ReadAfter(call, body));
  CARILLON_ASSIGN_OR_RETURN(const auto parsed, ReadPreview(body, after, own));
  json answer = {{"valid", false},
                 {"errors", json::array()},
                 {"cron_expressions", json::array()},
                 {"explanations", json::array()},
                 {"items", json::array()},
                 {"skipped", json::array()},
                 {"warnings", json::array()}};
  std::shared_ptr<const CalendarSet> calendars;
  if (parsed.ok()) {
    // A stored job may keep schedules that repeat, so a preview of it says nothing of them.
    const auto twins = FindTwins(parsed->definition.schedules);
    if (own.empty() && !twins.empty()) {
      answer["errors"] = json::array({{{"pointer", fmt::format("/schedules/{}", twins[0].second)},
                                       {"code", "duplicate"},
                                       {"detail", TwinText(twins[0].first)}}});
      return JsonResponse(200, answer);
    }
    CARILLON_ASSIGN_OR_RETURN(calendars, CalendarsFor(call, parsed->definition));
  }
  const auto fires = parsed.ok() ? UpcomingFires(parsed->definition, *calendars, after,
                                                 static_cast<size_t>(count.value_or(kFiresDefault)))
                                 : Result<json>(parsed.error());
  if (!fires.ok()) {
    answer["errors"] = ErrorsOf(fires.error());
    return JsonResponse(200, answer);
  }
  CARILLON_ASSIGN_OR_RETURN(const auto explanations, Explain(parsed->definition, *calendars));
  answer["valid"] = true;
  answer["explanations"] = explanations;
  CARILLON_ASSIGN_OR_RETURN(answer["cron_expressions"], CronExpressions(parsed->definition));
  answer["items"] = *fires;
  CARILLON_ASSIGN_OR_RETURN(answer["skipped"],
                            SkippedByDst(parsed->definition, *calendars, after, *fires));
  CARILLON_ASSIGN_OR_RETURN(answer["warnings"],
                            Warnings(call, parsed->definition, *calendars, *fires, after, own));
  return JsonResponse(200, answer);
}

Reply ScheduleLoad(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const LoadQuestion asked, ReadLoadQuestion(call));
  CARILLON_ASSIGN_OR_RETURN(const CalendarSet calendars, call.stores.calendars.LoadCalendars());
  CARILLON_ASSIGN_OR_RETURN(const FireLoad load,
                            CountFires(call.stores.jobs, calendars, asked.span));
  json body = {{"from", FormatRfc3339(asked.span.from)},
               {"until", FormatRfc3339(asked.span.until)},
               {"buckets", json::array()},
               {"busiest", nullptr},
               {"jobs", load.jobs.size()},
               {"jobs_read", load.jobs_read},
               {"truncated", load.truncated}};
  for (size_t i = 0; i < load.buckets.size(); ++i) {
    body["buckets"].push_back({{"start", StartOf(asked.span, i)}, {"fires", load.buckets[i]}});
  }
  const auto busiest = std::max_element(load.buckets.begin(), load.buckets.end());
  if (busiest != load.buckets.end() && *busiest > 0) {
    body["busiest"] = body["buckets"][static_cast<size_t>(busiest - load.buckets.begin())];
  }
  if (asked.by_job) {
    body["items"] = json::array();
    for (size_t i = 0; i < std::min(kJobsShown, load.jobs.size()); ++i) {
      body["items"].push_back(JobLoadToJson(load.jobs[i], asked.span));
    }
  }
  return JsonResponse(200, body);
}

}  // namespace carillon::scheduler
