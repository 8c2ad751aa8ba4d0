// A cron pattern in a time zone: which instants fire. Pure; the periods of the zone are a table.
//
// The set of fires does not depend on who asks or when: an instant t fires if
//   - the local time of t is in the pattern, and t is not the copy of a repeated local time that
//     the repeat policy leaves out; or
//   - t is the first instant after a gap, the gap policy is kFire, and the pattern has a local time
//     inside the gap (several collapse into this one instant).
// Next is the least such instant after `after`, Count their number.
#pragma once

#include <optional>
#include <string>

#include "common/domain/cron.h"
#include "common/domain/schedule.h"
#include "common/domain/zone.h"

namespace carillon {

// How far a search goes before it says that there is no fire: 100 years of 365.25 days.
inline constexpr int64_t kCronSearchSeconds = 3'155'760'000;

class CronSchedule {
 public:
  CronSchedule(const CronExpression& expression, const Zone& zone, DstGap gap, DstRepeat repeat);

  std::optional<Fire> Next(WallTime after) const;
  int64_t Count(WallTime from, WallTime until) const;
  std::string Explain() const;

 private:
  struct Window;
  Window WindowOf(const ZonePeriod& period) const;
  bool FiresAfterGap(const ZonePeriod& period) const;

  const Zone& zone_;  // lives as long as the process
  const CronPattern pattern_;
  const std::string text_;  // normalised; Explain reads it again
  const bool fire_after_gap_;
  const bool keep_first_;  // of the two copies of a repeated local time
  const bool keep_second_;
};

}  // namespace carillon
