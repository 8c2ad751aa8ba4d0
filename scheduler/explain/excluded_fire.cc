#include "scheduler/explain/excluded_fire.h"

#include <algorithm>
#include <vector>

#include "common/domain/cron/cron.h"
#include "common/domain/schedule/calendar_days.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/zone.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kMoveMax = (kCronMoveDaysMax + 1) * 24h;

// The direction in which all days of the expression move; kNone if they differ or do not move.
CronMove MoveOf(const CronExpression& cron) {
  std::vector<CronMove> moves;
  for (const CronUnit unit : {CronUnit::kDayOfMonth, CronUnit::kDayOfWeek}) {
    for (const CronItem& item : cron.field(unit).items) {
      if (item.move != CronMove::kNone) moves.push_back(item.move);
    }
  }
  const bool one = !moves.empty() && std::count(moves.begin(), moves.end(), moves[0]) ==
                                         static_cast<std::ptrdiff_t>(moves.size());
  return one ? moves[0] : CronMove::kNone;
}

// Where the fire at `excluded` has moved to; nullopt if its day is in the calendars, or if there is
// no other one near.
std::optional<WallTime> MovedTo(const JobDefinition& job, const ScheduleSpec& spec,
                                const ScheduleCalendars& limits, WallTime excluded) {
  if (spec.kind != ScheduleKind::kCron) return std::nullopt;
  const auto cron = ParseCron(spec.cron_expression, spec.spread);
  const auto zone = Zone::Load(spec.time_zone);
  const auto schedule = Schedule::Compile(spec, job.dst_gap, job.dst_repeat, limits);
  if (!cron.ok() || !zone.ok() || !schedule.ok()) return std::nullopt;
  const CronMove move = MoveOf(*cron);
  if (move == CronMove::kNone) return std::nullopt;
  const int64_t second = FloorDiv(ToUnixMicros(excluded), kMicrosPerSecond);
  const CalendarDays days(*cron, **zone, job.dst_gap, job.dst_repeat, limits);
  if (days.Has(FloorDiv(second + (*zone)->OffsetAt(second), kSecondsPerDay))) return std::nullopt;
  const WallTime from = move == CronMove::kNext ? excluded : excluded - kMoveMax;
  const WallTime until = move == CronMove::kNext ? excluded + kMoveMax : excluded;
  const int64_t count = schedule->Count(from, until);
  if (count == 0) return std::nullopt;
  return schedule->Nth(from, move == CronMove::kNext ? 0 : count - 1);
}

}  // namespace

std::optional<ExcludedFire> FindExcluded(const JobDefinition& job, const CalendarSet& calendars,
                                         WallTime from, WallTime until) {
  std::optional<ExcludedFire> first;
  for (const ScheduleSpec& spec : job.schedules) {
    const auto limits = calendars.Of(spec.calendar, spec.blackout);
    const auto schedule = Schedule::Compile(spec, job.dst_gap, job.dst_repeat);
    if (!limits.ok() || !limits->any() || !schedule.ok()) continue;
    const auto fire = schedule->Next(from - Duration(1));
    if (!fire || fire->time >= until || limits->Allow(fire->time)) continue;
    if (first && first->time <= fire->time) continue;
    const bool blackout = limits->blackout != nullptr && limits->blackout->Contains(fire->time);
    first = ExcludedFire{.time = fire->time,
                         .calendar = blackout ? spec.blackout : spec.calendar,
                         .blackout = blackout,
                         .moved_to = MovedTo(job, spec, *limits, fire->time)};
  }
  return first;
}

}  // namespace carillon::scheduler
