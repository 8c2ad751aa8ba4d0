#include "scheduler/plan/plan_builder.h"

#include <algorithm>

#include "common/base/failpoint.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kRowsBesideRuns = 3;  // the advance of the schedule and up to two gaps

RunKind KindOf(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kCron: return RunKind::kCron;
    case ScheduleKind::kRate: return RunKind::kRate;
    case ScheduleKind::kOnce: return RunKind::kOnce;
    case ScheduleKind::kManual: return RunKind::kManual;
    case ScheduleKind::kDelay: return RunKind::kDelay;
    case ScheduleKind::kAfter: return RunKind::kAfter;
    case ScheduleKind::kEvent: return RunKind::kEvent;
  }
  return RunKind::kManual;
}

// Returns how far to plan this schedule. Periods of length `horizon` - `look` have a phase that is
// derived from the schedule's id; the result is the first end of a period after now + `look`. So
// each schedule is planned once a period, at its own time, even if all were created together.
WallTime HorizonEnd(ScheduleId id, const PlanTimes& times) {
  const int64_t period = (times.horizon - times.look).count();
  if (period <= 0) return times.now + times.horizon;
  const uint64_t hash = (id.value() + 1) * 0x9e3779b97f4a7c15ull;
  const auto phase = static_cast<int64_t>((hash >> 16) % static_cast<uint64_t>(period));
  const int64_t since = (times.now + times.look).time_since_epoch().count() - phase;
  const int64_t into = (since % period + period) % period;
  return times.now + times.look + Duration(period - into);
}

}  // namespace

PlannedSchedule PlanSchedule(const DueSchedule& due, const Schedule& compiled,
                             const PlanTimes& times, size_t rows_max) {
  const WallTime limit = due.calendars.any() ? times.calendar_end : kNever;
  const WallTime end = std::min(HorizonEnd(due.schedule_id, times), limit);
  const size_t fires_max = rows_max > kRowsBesideRuns ? rows_max - kRowsBesideRuns : 1;
  const DueTimes due_times(compiled, due.schedule_id);
  FirePlan plan =
      PlanFires(compiled, due.next_fire, times.now, end, due.misfire, fires_max, due_times);
  if (failpoint::Broken("plan.next_after_now")) {
    const auto next = compiled.Next(times.now);
    plan.next = next ? std::optional<WallTime>(next->time) : std::nullopt;
  }
  PlannedSchedule planned{.due = due};
  planned.runs.reserve(plan.fires.size());
  // A delay schedule has one fire at a time: the end of its run makes the next one.
  const bool waits = due.spec.kind == ScheduleKind::kDelay;
  // The end of its wait makes such a run due, without jitter.
  const bool awaits = (due.run_flags & run_flag::kWaits) != 0;
  const uint32_t flags = (due.run_flags & ~run_flag::kWaits) | (waits ? run_flag::kDelay : 0);
  for (WallTime fire : plan.fires) {
    planned.runs.push_back({.key = {.fire = fire, .schedule_id = due.schedule_id},
                            .job_no = due.job_no,
                            .segment = due.segment,
                            .kind = KindOf(due.spec.kind),
                            .due = awaits ? kAwaiting : due_times.Of(fire),
                            .priority = due.priority,
                            .def_version = due.job_version,
                            .flags = flags});
  }
  for (const GapRange& range : plan.gaps) {
    planned.gaps.push_back({.schedule_id = due.schedule_id, .job_no = due.job_no, .range = range});
  }
  planned.advance = {.schedule_id = due.schedule_id,
                     .segment = due.segment,
                     .version = due.version,
                     .expected_next = due.next_fire,
                     .next_fire = plan.next.value_or(kNever),
                     .awaited = waits && !plan.fires.empty() ? plan.fires.front() : WallTime{},
                     .calendar_version = due.calendar_version};
  planned.more = planned.advance.next_fire <= end;
  return planned;
}

PlannedSchedule MoveToNewCalendars(const DueSchedule& due, const Schedule& compiled,
                                   const CalendarSet& calendars) {
  PlannedSchedule moved{.due = due};
  const WallTime changed = calendars.ChangedSince(due.calendars, due.calendar_version);
  // Up to `changed`, fires were planned by the older version, at most until next_fire. After it,
  // none was.
  const WallTime start = std::min(due.next_fire, changed);
  const auto first = start == kNever ? std::nullopt : compiled.Nth(start, 0);
  moved.advance = {.schedule_id = due.schedule_id,
                   .segment = due.segment,
                   .version = due.version,
                   .expected_next = due.next_fire,
                   .next_fire = first.value_or(kNever),
                   .calendar_version = due.calendar_version,
                   .new_calendar_version = calendars.VersionOf(due.calendars)};
  moved.more = true;
  return moved;
}

PlanBatch ToBatch(std::span<const PlannedSchedule> planned) {
  PlanBatch batch;
  for (const PlannedSchedule& one : planned) {
    batch.runs.insert(batch.runs.end(), one.runs.begin(), one.runs.end());
    batch.gaps.insert(batch.gaps.end(), one.gaps.begin(), one.gaps.end());
    batch.advances.push_back(one.advance);
  }
  return batch;
}

}  // namespace carillon::scheduler
