#include "scheduler/explain/schedule_warnings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "common/domain/calendar/calendar_end.h"
#include "common/domain/schedule/explain.h"
#include "scheduler/explain/upcoming_fires.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

Status AddSameInstants(const JobDefinition& job, const CalendarSet& calendars, WallTime after,
                       json& warnings) {
  if (job.schedules.size() < 2) return {};
  CARILLON_ASSIGN_OR_RETURN(const json fires,
                            UpcomingFires(job, calendars, after, static_cast<size_t>(kFiresMax)));
  std::set<size_t> told;
  for (size_t i = 1; i < fires.size(); ++i) {
    if (fires[i]["fire_time"] != fires[i - 1]["fire_time"]) continue;
    const auto first = fires[i - 1]["schedule"].get<size_t>();
    const auto second = fires[i]["schedule"].get<size_t>();
    if (!told.insert(second).second) continue;
    CARILLON_ASSIGN_OR_RETURN(const WallTime time,
                              ParseRfc3339(fires[i]["fire_time"].get<std::string>()));
    warnings.push_back(
        {{"schedule", second},
         {"code", "same_instant"},
         {"detail", fmt::format("Schedules {} and {} both fire at {}: that makes two runs.",
                                first + 1, second + 1, ReadableTime(time))}});
  }
  return {};
}

}  // namespace

Result<json> ScheduleWarnings(const JobDefinition& job, const CalendarSet& calendars,
                              WallTime after) {
  json warnings = json::array();
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    for (const ScheduleWarning& one :
         LintInCalendars(job.schedules[i], job.dst_gap, job.dst_repeat, after, calendars)) {
      warnings.push_back({{"schedule", i}, {"code", one.code}, {"detail", one.detail}});
    }
  }
  CARILLON_TRY(AddSameInstants(job, calendars, after, warnings));
  return warnings;
}

}  // namespace carillon::scheduler
