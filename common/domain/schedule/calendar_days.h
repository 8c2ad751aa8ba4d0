// The days on which the calendars of a cron schedule allow one of its times, for expressions with
// C#1, 25< or 25>.
//
// Place    Schedule::Compile gives it to CronPattern, which chooses days by it. The fires of the
//          chosen days must still be allowed one by one, as those of other schedules must.
// Always   A day is in the calendars if the same expression, but for every day, would have an
//          allowed fire on it: clock changes and calendars with times of day or with another time
//          zone are judged as for all fires.
#pragma once

#include "common/domain/calendar/calendar.h"
#include "common/domain/cron/cron.h"
#include "common/domain/schedule/schedule_cron.h"

namespace carillon {

class CalendarDays final : public CronDays {
 public:
  CalendarDays(const CronExpression& expression, const Zone& zone, DstGap gap, DstRepeat repeat,
               ScheduleCalendars calendars);

  bool Has(int64_t day) const override;

 private:
  const Zone& zone_;  // lives until the process ends
  const CronSchedule every_day_;
  const ScheduleCalendars calendars_;
};

}  // namespace carillon
