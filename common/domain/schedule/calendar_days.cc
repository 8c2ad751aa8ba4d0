#include "common/domain/schedule/calendar_days.h"

#include <algorithm>
#include <utility>

namespace carillon {
namespace {

constexpr int64_t kOffsetMax = 26 * int64_t{3'600};  // no zone is farther from UTC

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

// The first instant at which the clock of the zone shows this day or a later one.
WallTime CalendarDays::BeginOf(int64_t day) const {
  const int64_t local = day * kSecondsPerDay;
  const int64_t from = std::clamp(local - kOffsetMax, kZoneBegin, kZoneEnd - 1);
  for (size_t i = zone_.IndexAt(from); i < zone_.size(); ++i) {
    const ZonePeriod period = zone_.Period(i);
    const int64_t second = std::max(period.begin, local - period.offset);
    if (second < period.end) return FromUnixMicros(second * kMicrosPerSecond);
  }
  return FromUnixMicros(kZoneEnd * kMicrosPerSecond);
}

bool CalendarDays::Has(int64_t day) const {
  const WallTime end = BeginOf(day + 1);
  WallTime at = BeginOf(day) - Duration(1);
  for (;;) {
    const auto fire = every_day_.Next(at);
    if (!fire || fire->time >= end) return false;
    const WallTime allowed = calendars_.NextAllowed(fire->time, end);
    if (allowed == fire->time) return true;
    at = allowed - Duration(1);
  }
}

}  // namespace carillon
