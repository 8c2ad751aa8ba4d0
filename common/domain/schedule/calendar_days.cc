#include "common/domain/schedule/calendar_days.h"

#include <utility>

namespace carillon {
namespace {

CronExpression ForEveryDay(CronExpression expression) {
  for (const CronUnit unit : {CronUnit::kDayOfMonth, CronUnit::kMonth, CronUnit::kDayOfWeek}) {
    const CronBounds bounds = BoundsOf(unit);
    expression.fields[static_cast<size_t>(unit)] = {
        .starred = true, .items = {{.from = bounds.least, .to = bounds.most}}};
  }
  expression.fields[static_cast<size_t>(CronUnit::kYear)] = {};
  expression.has_years = false;
  return expression;
}

}  // namespace

CalendarDays::CalendarDays(const CronExpression& expression, const Zone& zone, DstGap gap,
                           DstRepeat repeat, ScheduleCalendars calendars)
    : zone_(zone),
      every_day_(ForEveryDay(expression), zone, gap, repeat),
      calendars_(std::move(calendars)) {}

bool CalendarDays::Has(int64_t day) const {
  const WallTime end = BeginOfDay(zone_, day + 1);
  WallTime at = BeginOfDay(zone_, day) - Duration(1);
  for (;;) {
    const auto fire = every_day_.Next(at);
    if (!fire || fire->time >= end) return false;
    const WallTime allowed = calendars_.NextAllowed(fire->time, end);
    if (allowed == fire->time) return true;
    at = allowed - Duration(1);
  }
}

}  // namespace carillon
