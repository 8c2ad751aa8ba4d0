// Effect of an edit, a pause or a delete on the unplanned fires of a schedule. Pure.
#pragma once

#include "common/domain/job/misfire.h"

namespace carillon {

// Whether `spec` fires at the same instants under both definitions: for a cron expression their
// rules for clock changes must be equal too.
bool FiresAlike(const JobDefinition& a, const JobDefinition& b, const ScheduleSpec& spec);

// The first fire after `after`; kNever if there is none, or if `spec` does not compile (a
// definition written by a newer version).
WallTime FirstFireAfter(const JobDefinition& definition, const ScheduleSpec& spec, WallTime after);

// The fires from `next_fire` to `now`, both included, as one range; count 0 if there are none.
// Moves `next_fire` strictly after `now`.
GapRange PassOver(const JobDefinition& definition, const ScheduleSpec& spec, GapReason reason,
                  WallTime now, WallTime* next_fire);

}  // namespace carillon
