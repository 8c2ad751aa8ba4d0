#include "scheduler/api/fires.h"

#include <absl/time/time.h>

#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/schedule.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

struct Source {
  Schedule schedule;
  std::optional<Fire> next;
  std::string zone;
};

Result<std::vector<Source>> CompileAll(const JobDefinition& job) {
  std::vector<Source> sources;
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    const ScheduleSpec& spec = job.schedules[i];
    auto schedule = Schedule::Compile(spec, job.dst_gap, job.dst_repeat);
    if (!schedule.ok()) {
      Error error = schedule.error();
      if (error.pointer.empty()) error.pointer = fmt::format("/schedules/{}", i);
      return error;
    }
    const bool cron = spec.kind == ScheduleKind::kCron;
    sources.push_back({.schedule = *std::move(schedule),
                       .next = {},
                       .zone = cron ? spec.time_zone : job.time_zone});
  }
  return sources;
}

json DstName(DstNote note) {
  switch (note) {
    case DstNote::kNone: return nullptr;
    case DstNote::kMovedByGap: return "moved_by_gap";
    case DstNote::kRepeated: return "repeated";
  }
  return nullptr;
}

json FireToJson(const Fire& fire, size_t index, const std::string& zone_name) {
  absl::TimeZone zone = absl::UTCTimeZone();
  absl::LoadTimeZone(zone_name, &zone);
  const absl::Time time = absl::FromUnixMicros(ToUnixMicros(fire.time));
  return {{"schedule", index},
          {"fire_time", FormatRfc3339(fire.time)},
          {"local_time", absl::FormatTime("%Y-%m-%dT%H:%M:%E6S%Ez", time, zone)},
          {"utc_offset", absl::FormatTime("%Ez", time, zone)},
          {"time_zone", zone_name},
          {"dst", DstName(fire.note)}};
}

}  // namespace

Result<json> UpcomingFires(const JobDefinition& job, WallTime after, size_t count) {
  CARILLON_ASSIGN_OR_RETURN(auto sources, CompileAll(job));
  for (Source& source : sources) source.next = source.schedule.Next(after);
  json items = json::array();
  while (items.size() < count) {
    Source* first = nullptr;
    for (Source& source : sources) {
      if (source.next && (first == nullptr || source.next->time < first->next->time)) {
        first = &source;
      }
    }
    if (first == nullptr) break;
    items.push_back(
        FireToJson(*first->next, static_cast<size_t>(first - sources.data()), first->zone));
    first->next = first->schedule.Next(first->next->time);
  }
  return items;
}

Result<std::vector<std::string>> Explain(const JobDefinition& job) {
  CARILLON_ASSIGN_OR_RETURN(const auto sources, CompileAll(job));
  std::vector<std::string> sentences;
  for (const Source& source : sources) sentences.push_back(source.schedule.Explain());
  return sentences;
}

}  // namespace carillon::scheduler
