// The people on whose behalf a workflow run acts, as the store has them now.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/access/standing.h"
#include "common/domain/job/job.h"

namespace carillon::mysql {

// The owner of the workflow's job, if it has one, and `givers`, by their ids. Nobody is among them twice.
Result<std::vector<Backer>> ReadBackers(Session& session, JobNo workflow,
                                        const std::set<std::string>& givers);

}  // namespace carillon::mysql
