// A time zone as a list of periods of constant offset from UTC.
//
// Threads  Load is thread-safe; a Zone is immutable.
// Owns     Zones live until the process ends and are shared: at most one per zone of the host's tz
//          database. Changes of the database take effect after a restart.
// Errors   Load: kInvalid if the name is not an IANA zone of this host (package tzdata).
// Always   Periods cover kZoneBegin to kZoneEnd without holes; neighbours differ in their offset.
//          Seconds are UTC since 1970; a local time is seconds on the zone's own calendar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

inline constexpr int64_t kZoneBegin = -31'536'000;   // 1969-01-01
inline constexpr int64_t kZoneEnd = 10'413'792'000;  // 2300-01-01
inline constexpr int kSecondsPerDay = 86'400;

// `a / b`, rounded down; `b` > 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// [begin, end) in UTC. Local clocks go from begin + offset to end + offset.
struct ZonePeriod {
  int64_t begin = 0;
  int64_t end = 0;
  int32_t offset = 0;
  // Local times [gap_from, begin + offset) were skipped at `begin`; gap_from == begin + offset if
  // none were.
  int64_t gap_from = 0;
  // Instants [begin, second_until) repeat earlier local times; == begin if none do.
  int64_t second_until = 0;
  // Instants [first_from, end) have local times that occur again; == end if none do.
  int64_t first_from = 0;
};

class Zone {
 public:
  static Result<const Zone*> Load(std::string_view name);

  const std::string& name() const { return name_; }
  size_t size() const { return steps_.size(); }
  ZonePeriod Period(size_t index) const;
  // The period that contains `second`, which must lie in [kZoneBegin, kZoneEnd).
  size_t IndexAt(int64_t second) const;
  int32_t OffsetAt(int64_t second) const { return steps_[IndexAt(second)].offset; }

 private:
  struct Step {
    int64_t begin;
    int32_t offset;
  };
  Zone(std::string name, std::vector<Step> steps)
      : name_(std::move(name)), steps_(std::move(steps)) {}

  const std::string name_;
  const std::vector<Step> steps_;
};

// The first instant at which the clock of the zone shows this day or a later one; days since 1970.
WallTime BeginOfDay(const Zone& zone, int64_t day);

}  // namespace carillon
