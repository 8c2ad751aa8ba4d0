// Finds a schedule in a definition that was read with the ids of its schedules.
#pragma once

#include <algorithm>

#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// The schedule with this id, if it is one of that version; otherwise null.
inline const ScheduleSpec* ScheduleOf(const JobVersionRecord& record, ScheduleId id) {
  const std::vector<ScheduleSpec>& schedules = record.definition.schedules;
  const auto found = std::ranges::find(record.schedule_ids, id);
  const auto position = static_cast<size_t>(found - record.schedule_ids.begin());
  const bool known = position < std::min(record.schedule_ids.size(), schedules.size());
  return known ? &schedules[position] : nullptr;
}

}  // namespace carillon::mysql
