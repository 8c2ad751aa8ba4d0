// Finds the instants at which a cron pattern fires in a time zone. Pure; the zone is a table
// of periods.
//
// The set of fires is fixed: an instant t fires if
//   - the local time of t matches the pattern, and t is not the copy of a repeated local time that
//     the repeat policy leaves out; or
//   - t is the first instant after a gap, the gap policy is kFire, and the pattern matches a local
//     time inside the gap (several of them become this one fire).
// Days such as 25< are those that `days` decides (calendar_days.h).
//
// Next returns the earliest such instant after `after`; Count returns their number.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/domain/cron/cron.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/zone.h"

namespace carillon {

// The period that a search covers: 100 years of 365.25 days. If no fire lies in this period, the
// search reports that there is none.
inline constexpr int64_t kCronSearchSeconds = 3'155'760'000;
// The same if calendars decide about the days.
inline constexpr int64_t kCalendarSearchSeconds = kCalendarLook / std::chrono::seconds(1);

class CronSchedule {
 public:
  CronSchedule(const CronExpression& expression, const Zone& zone, DstGap gap, DstRepeat repeat,
               std::shared_ptr<const CronDays> days = {});

  std::optional<Fire> Next(WallTime after) const;
  int64_t Count(WallTime from, WallTime until) const;
  std::string Explain() const;

 private:
  struct Window;
  Window WindowOf(const ZonePeriod& period) const;
  bool FiresAfterGap(const ZonePeriod& period) const;

  const int64_t search_seconds_;
  const Zone& zone_;  // lives until the process ends
  const CronPattern pattern_;
  const std::string text_;  // normalised; parsed again by Explain
  const bool fire_after_gap_;
  const bool keep_first_;  // of the two copies of a repeated local time
  const bool keep_second_;
};

}  // namespace carillon
