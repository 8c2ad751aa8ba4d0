#include "common/domain/schedule/schedule_cron.h"

#include <algorithm>
#include <utility>

#include "common/domain/schedule/explain.h"

namespace carillon {
namespace {

// The first whole second at or after `t`, inside [0, kZoneEnd].
int64_t SecondAtOrAfter(WallTime t) {
  const int64_t us = std::max<int64_t>(ToUnixMicros(t), 0);
  const int64_t second = us / kMicrosPerSecond + (us % kMicrosPerSecond != 0 ? 1 : 0);
  return std::min(second, kZoneEnd);
}

bool KeepsSecond(DstRepeat repeat, bool names_hour) {
  if (repeat == DstRepeat::kAuto) return !names_hour;
  return repeat != DstRepeat::kEarly;
}

}  // namespace

// The part [from, until) of a period in which an instant fires if its own local time matches.
struct CronSchedule::Window {
  int64_t from;
  int64_t until;
};

CronSchedule::CronSchedule(const CronExpression& expression, const Zone& zone, DstGap gap,
                           DstRepeat repeat, std::shared_ptr<const CronDays> days)
    : search_seconds_(days == nullptr ? kCronSearchSeconds : kCalendarSearchSeconds),
      zone_(zone),
      pattern_(expression, std::move(days)),
      text_(FormatCron(expression)),
      fire_after_gap_(gap == DstGap::kFire),
      keep_first_(repeat != DstRepeat::kLate),
      keep_second_(KeepsSecond(repeat, pattern_.names_hour())) {}

CronSchedule::Window CronSchedule::WindowOf(const ZonePeriod& period) const {
  return {.from = keep_second_ ? period.begin : period.second_until,
          .until = keep_first_ ? period.end : period.first_from};
}

// True if period.begin fires only because the pattern matches a local time that was skipped there,
// and not because it matches the local time of period.begin.
bool CronSchedule::FiresAfterGap(const ZonePeriod& period) const {
  const int64_t local = period.begin + period.offset;
  return fire_after_gap_ && period.gap_from < local &&
         pattern_.Next(period.gap_from, local).has_value() && !pattern_.Matches(local);
}

std::optional<Fire> CronSchedule::Next(WallTime after) const {
  if (after >= FromUnixMicros(kZoneEnd * kMicrosPerSecond)) return std::nullopt;
  const int64_t from = SecondAtOrAfter(after + Duration(1));
  const int64_t until = std::min(from + search_seconds_, kZoneEnd);
  if (from >= until) return std::nullopt;
  for (size_t i = zone_.IndexAt(from); i < zone_.size(); ++i) {
    const ZonePeriod period = zone_.Period(i);
    if (period.begin >= until) break;
    if (period.begin >= from && FiresAfterGap(period)) {
      return Fire{FromUnixMicros(period.begin * kMicrosPerSecond), DstNote::kMovedByGap};
    }
    const Window window = WindowOf(period);
    const auto local = pattern_.Next(std::max(window.from, from) + period.offset,
                                     std::min(window.until, until) + period.offset);
    if (!local) continue;
    const int64_t second = *local - period.offset;
    const bool repeated = second < period.second_until || second >= period.first_from;
    return Fire{FromUnixMicros(second * kMicrosPerSecond),
                repeated ? DstNote::kRepeated : DstNote::kNone};
  }
  return std::nullopt;
}

int64_t CronSchedule::Count(WallTime from_time, WallTime until_time) const {
  const int64_t from = SecondAtOrAfter(from_time);
  const int64_t until = SecondAtOrAfter(until_time);
  if (from >= until) return 0;
  int64_t count = 0;
  for (size_t i = zone_.IndexAt(from); i < zone_.size(); ++i) {
    const ZonePeriod period = zone_.Period(i);
    if (period.begin >= until) break;
    if (period.begin >= from && FiresAfterGap(period)) ++count;
    const Window window = WindowOf(period);
    count += pattern_.Count(std::max(window.from, from) + period.offset,
                            std::min(window.until, until) + period.offset);
  }
  return count;
}

std::string CronSchedule::Explain() const {
  return ExplainCron(ParseCron(text_).value(), zone_.name());
}

}  // namespace carillon
