#include "scheduler/explain/upcoming_fires.h"

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/zone.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

struct Source {
  Schedule schedule;
  std::optional<Fire> next;
  std::string zone;
};

Result<std::vector<Source>> CompileAll(const JobDefinition& job, const CalendarSet& calendars) {
  CARILLON_ASSIGN_OR_RETURN(const auto limits, calendars.OfAll(job.schedules));
  std::vector<Source> sources;
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    const ScheduleSpec& spec = job.schedules[i];
    auto schedule = Schedule::Compile(spec, job.dst_gap, job.dst_repeat, limits[i]);
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

// The local time in a zone, and its offset from UTC as "+02:00".
struct LocalTime {
  std::string time;
  std::string offset;
};

Result<LocalTime> ToLocal(WallTime time, const std::string& zone_name) {
  CARILLON_ASSIGN_OR_RETURN(const Zone* zone, Zone::Load(zone_name));
  const int64_t second = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  const int32_t offset = zone->OffsetAt(std::clamp(second, kZoneBegin, kZoneEnd - 1));
  const int32_t minutes = std::abs(offset) / 60;
  LocalTime local;
  local.offset = fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
  local.time = FormatRfc3339(time + std::chrono::seconds(offset));
  local.time.pop_back();  // the Z
  local.time += local.offset;
  return local;
}

Result<json> FireToJson(const Fire& fire, size_t index, const std::string& zone_name) {
  CARILLON_ASSIGN_OR_RETURN(const LocalTime local, ToLocal(fire.time, zone_name));
  return json{{"schedule", index},        {"fire_time", FormatRfc3339(fire.time)},
              {"local_time", local.time}, {"utc_offset", local.offset},
              {"time_zone", zone_name},   {"dst", DstName(fire.note)}};
}

}  // namespace

Result<json> UpcomingFires(const JobDefinition& job, const CalendarSet& calendars, WallTime after,
                           size_t count) {
  CARILLON_ASSIGN_OR_RETURN(auto sources, CompileAll(job, calendars));
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
    const auto index = static_cast<size_t>(first - sources.data());
    CARILLON_ASSIGN_OR_RETURN(json item, FireToJson(*first->next, index, first->zone));
    items.push_back(std::move(item));
    first->next = first->schedule.Next(first->next->time);
  }
  return items;
}

Result<json> SkippedByDst(const JobDefinition& job, const CalendarSet& calendars, WallTime after,
                          const json& fires) {
  json skipped = json::array();
  const bool all = job.dst_gap == DstGap::kFire && job.dst_repeat == DstRepeat::kBoth;
  if (fires.empty() || all) return skipped;
  CARILLON_ASSIGN_OR_RETURN(const WallTime last,
                            ParseRfc3339(fires.back()["fire_time"].get<std::string>()));
  CARILLON_ASSIGN_OR_RETURN(const auto own, CompileAll(job, calendars));
  const auto fires_at = [&](size_t i, WallTime time) {
    const auto next = own[i].schedule.Next(time - Duration(1));
    return next && next->time == time;
  };
  JobDefinition other = job;
  other.dst_gap = DstGap::kFire;
  other.dst_repeat = DstRepeat::kBoth;
  CARILLON_ASSIGN_OR_RETURN(const auto sources, CompileAll(other, calendars));
  for (size_t i = 0; i < sources.size(); ++i) {
    auto fire = sources[i].schedule.Next(after);
    for (; fire && fire->time <= last; fire = sources[i].schedule.Next(fire->time)) {
      if (fire->note == DstNote::kNone || fires_at(i, fire->time)) continue;
      if (skipped.size() == static_cast<size_t>(kFiresMax)) return skipped;
      CARILLON_ASSIGN_OR_RETURN(json item, FireToJson(*fire, i, sources[i].zone));
      item["dst"] = fire->note == DstNote::kMovedByGap ? "skipped_by_gap" : "not_repeated";
      skipped.push_back(std::move(item));
    }
  }
  return skipped;
}

Result<std::vector<std::string>> Explain(const JobDefinition& job, const CalendarSet& calendars) {
  CARILLON_ASSIGN_OR_RETURN(const auto sources, CompileAll(job, calendars));
  std::vector<std::string> sentences;
  sentences.reserve(sources.size());
  for (const Source& source : sources) sentences.push_back(source.schedule.Explain());
  return sentences;
}

}  // namespace carillon::scheduler
