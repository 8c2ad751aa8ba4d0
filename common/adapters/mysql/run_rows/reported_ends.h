// Ends that executors report after the attempts were given up: no process is left to ask about.
#pragma once

#include <set>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {

// The members of `runs` whose last attempt the executor has reported after it was given up. The own
// run of a fire in parts is one if each of its parts is, or was not given up.
Result<std::set<RunKey>> ReportedOf(Session& session, const std::vector<StoredRun>& runs);

}  // namespace carillon::mysql
