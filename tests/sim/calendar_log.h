// The versions of the calendar of a world, as they were acknowledged, and what they allow, with
// plain arithmetic on minutes instead of the scheduler's code.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "common/domain/calendar/calendar.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon::sim {

class CalendarLog {
 public:
  static constexpr const char* kName = "sim";

  // A definition that lets some of the next minutes in, the same for the same `draw`. Any later
  // minute is out of it.
  static CalendarDefinition Draw(uint64_t draw, WallTime now);
  void Put(const CalendarDefinition& definition, WallTime effective);
  size_t versions() const { return versions_.size(); }

  // A version concerns a fire if it is the one in effect, or takes effect later.
  // True if some version that concerns the fire allows it, or if all do.
  bool MayAllow(const ScheduleSpec& spec, WallTime fire) const;
  bool MustAllow(const ScheduleSpec& spec, WallTime fire) const;

 private:
  struct Version {
    std::set<int64_t> minutes;  // of the day, UTC
    WallTime effective;
  };
  static bool Allows(const Version& version, const ScheduleSpec& spec, WallTime fire);
  size_t FirstConcerned(WallTime fire) const;

  std::vector<Version> versions_;
};

}  // namespace carillon::sim
