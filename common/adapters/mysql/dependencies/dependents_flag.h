// The mark of jobs whose ends others wait for.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/base/ids.h"

namespace carillon::mysql {

// Marks the jobs: their rows, their schedules, so that a plan in progress conflicts and is made
// again, and their open runs. The mark is never taken back. Runs in a transaction of its own before
// the first dependent is written, because it locks the rows of other jobs. Ignores ids of which
// there is no job.
Status RaiseDependentsFlags(Session& session, const std::vector<JobId>& ids,
                            Incarnations& incarnations);

}  // namespace carillon::mysql
