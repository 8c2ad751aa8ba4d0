// The people on whose behalf runs act, as the store has them now.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/access/standing.h"
#include "common/domain/job/job.h"
#include "common/domain/run_id.h"

namespace carillon::mysql {

// The owners of these workflows' jobs. Jobs without an owner are not in the map.
Result<std::map<JobNo, Backer>> ReadOwners(Session& session, const std::set<JobNo>& workflows);
// `owner`, if there is one, and `givers`, by their ids. Nobody is among them twice.
Result<std::vector<Backer>> ReadBackers(Session& session, const std::optional<Backer>& owner,
                                        const std::set<std::string>& givers);

// RefusalOf for each of `runs` that somebody behind it may not run; the others are not in the map.
// Of a node they are the people of its workflow run, of other runs those who gave it parameters.
// One statement, without locks, for all runs. Texts that cannot be read name nobody, so that one
// run never hinders the others.
Result<std::map<RunKey, std::string>> ReadRefusals(Session& session,
                                                   const std::vector<RunKey>& runs);

}  // namespace carillon::mysql
