// The start from which a freed slot of a concurrency group cools (group.h). Pure.
//
// A claim sets the time of a slot. The process starts later: by some milliseconds, or by far more
// on a loaded host. So the end of an attempt moves the time of its slot to its start, never back.
// Then `per` passes between two starts in one slot, and not only between their claims.
#pragma once

#include "common/domain/run/run.h"

namespace carillon {

// The start of the attempt that held a slot until its run left the state `from`, at most `now`: a
// clock of an executor that is ahead delays the next start a little, but not for ever. Zero: it
// never started, nobody knows, or the slot was only reserved.
WallTime StartInSlot(RunState from, const AttemptResult& result, WallTime now);

}  // namespace carillon
