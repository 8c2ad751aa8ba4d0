#include "tests/sim/calendar_log.h"

namespace carillon::sim {
namespace {

constexpr int64_t kMinutesAhead = 8;

int64_t MinuteOfDay(WallTime t) {
  return t.time_since_epoch() / std::chrono::minutes(1) % kMinutesPerDay;
}

}  // namespace

CalendarDefinition CalendarLog::Draw(uint64_t draw, WallTime now) {
  CalendarDefinition definition;
  const uint64_t bits = (draw + 1) * 0x9e3779b97f4a7c15ull >> 40;
  for (int64_t ahead = 0; ahead < kMinutesAhead; ++ahead) {
    if (((bits >> ahead) & 1) == 0 && ahead + 1 < kMinutesAhead) continue;
    const auto from = static_cast<int>((MinuteOfDay(now) + ahead) % kMinutesPerDay);
    definition.intervals.push_back({.from = from, .to = from + 1});
  }
  return definition;
}

void CalendarLog::Put(const CalendarDefinition& definition, WallTime effective) {
  Version version{.minutes = {}, .effective = effective};
  for (const CalendarInterval& interval : definition.intervals) {
    version.minutes.insert(interval.from);
  }
  versions_.push_back(std::move(version));
}

bool CalendarLog::Allows(const Version& version, const ScheduleSpec& spec, WallTime fire) {
  const bool inside = version.minutes.contains(MinuteOfDay(fire));
  return (spec.calendar.empty() || inside) && (spec.blackout.empty() || !inside);
}

// The last version that is in effect at `fire`, or the first of all.
size_t CalendarLog::FirstConcerned(WallTime fire) const {
  size_t first = 0;
  for (size_t i = 0; i < versions_.size(); ++i) {
    if (versions_[i].effective <= fire) first = i;
  }
  return first;
}

bool CalendarLog::MayAllow(const ScheduleSpec& spec, WallTime fire) const {
  if (spec.calendar.empty() && spec.blackout.empty()) return true;
  for (size_t i = FirstConcerned(fire); i < versions_.size(); ++i) {
    if (Allows(versions_[i], spec, fire)) return true;
  }
  return false;
}

bool CalendarLog::MustAllow(const ScheduleSpec& spec, WallTime fire) const {
  for (size_t i = FirstConcerned(fire); i < versions_.size(); ++i) {
    if (!Allows(versions_[i], spec, fire)) return false;
  }
  return true;
}

}  // namespace carillon::sim
