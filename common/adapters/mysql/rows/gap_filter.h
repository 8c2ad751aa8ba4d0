// A GapFilter on the table `run_gaps g`, without its cursor, by how each part is found.
#pragma once

#include "common/adapters/mysql/client/conditions.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

// The texts are the filter's, which outlives the conditions.
Conditions GapsOfJob(const GapFilter& filter);        // by_job has them, newest first
Conditions GapsEndingSince(const GapFilter& filter);  // by_end has them
Conditions OtherwiseOfGaps(const GapFilter& filter);  // looked at in each row

}  // namespace carillon::mysql
