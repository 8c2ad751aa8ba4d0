// Effect of an edit, a pause or a delete on the unplanned fires of a schedule. Pure.
#pragma once

#include "common/domain/job/misfire.h"

namespace carillon {

// True if `spec` fires at the same instants under both definitions. A cron expression does if both
// have the same rules for clock changes. Other schedules always do.
bool FiresAlike(const JobDefinition& a, const JobDefinition& b, const ScheduleSpec& spec);

// For each schedule of `after`, the index of the schedule of `before` that it continues: one with
// the same fires, used once. If several have the same fires, one with the same parameters comes
// first. A delay schedule also continues one that differs in `every`: it still awaits its open run.
// nullopt: the schedule is new. A null in `before` stands for a schedule that nothing continues.
std::vector<std::optional<size_t>> ContinuedSchedules(
    const std::vector<const ScheduleSpec*>& before, const std::vector<ScheduleSpec>& after);

// The first fire after `after`; kNever if there is none, or if `spec` does not compile (e.g. a
// newer version of Carillon wrote it). A delay schedule fires at its start, or at once. `calendars`
// are those of the schedule.
WallTime FirstFireAfter(const JobDefinition& definition, const ScheduleSpec& spec, WallTime after,
                        const ScheduleCalendars& calendars = {});

// Returns the fires from `next_fire` to `now`, both included, as one range. If there are no fires,
// the range has the count 0. Moves `next_fire` to the first fire after `now`. A delay schedule
// misses nothing: if its fire has passed, it moves to `now`.
GapRange PassOver(const JobDefinition& definition, const ScheduleSpec& spec, GapReason reason,
                  WallTime now, WallTime* next_fire, const ScheduleCalendars& calendars = {});

// The first fire that is not planned, after the calendars of a schedule have changed. `next_fire`
// is the one under the old calendars; `changed` is the effective time of the earliest change since,
// and kNever if there is none. No fire at or after `changed` was planned.
WallTime FireUnderNewCalendars(const JobDefinition& definition, const ScheduleSpec& spec,
                               WallTime next_fire, WallTime changed,
                               const ScheduleCalendars& calendars);

}  // namespace carillon
