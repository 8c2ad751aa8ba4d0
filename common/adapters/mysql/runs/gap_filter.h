// Conditions of a GapFilter, without its cursor, on the table `run_gaps g`. Each function returns
// one part of them: the range of one index, or the conditions to check in each row.
#pragma once

#include "common/adapters/mysql/client/conditions.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

// The conditions refer to the texts of the filter, which must outlive them.
Conditions GapsOfJob(const GapFilter& filter);        // by index by_job, newest first
Conditions GapsEndingSince(const GapFilter& filter);  // by index by_end
Conditions OtherwiseOfGaps(const GapFilter& filter);  // checked in each row

}  // namespace carillon::mysql
