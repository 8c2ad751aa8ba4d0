#include "common/domain/job/fire_zone.h"

namespace carillon {

const std::string& FireZone(const JobDefinition& job, const ScheduleSpec* schedule) {
  const bool of_schedule = schedule != nullptr && schedule->kind == ScheduleKind::kCron;
  return of_schedule ? schedule->time_zone : job.time_zone;
}

ZoneChange::ZoneChange(const JobDefinition& before, const Specs& had, const JobDefinition& after,
                       const Specs& has) {
  const auto spec = [](const Specs& specs, ScheduleId id) {
    const auto found = specs.find(id);
    return found == specs.end() ? nullptr : found->second;
  };
  bool any = false;
  for (const auto& [id, old] : had) {
    const std::string& zone = FireZone(before, old);
    auto& kept = by_schedule_[id];
    if (zone != FireZone(after, spec(has, id))) kept = zone;
    any = any || kept;
  }
  if (before.time_zone != after.time_zone) of_others_ = before.time_zone;
  if (!any && !of_others_) by_schedule_.clear();
}

std::optional<std::string> ZoneChange::ToKeep(ScheduleId id) const {
  const auto found = by_schedule_.find(id);
  return found == by_schedule_.end() ? of_others_ : found->second;
}

}  // namespace carillon
