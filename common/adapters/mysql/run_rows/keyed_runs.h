// Parts of statements about runs that a JSON parameter names by their keys.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/session.h"

namespace carillon::mysql {

// An edit of a job may change more runs than fit into a packet, or than a statement can change in
// its time. 5,000 rows of 150 bytes are below a quarter of the smallest packet, 4 MiB.
inline constexpr size_t kKeysPerStatement = 5'000;

// Executes a statement whose only parameter is a list of keys, for that many at a time.
Status ExecuteForKeys(Session& session, const std::string& statement,
                      const std::vector<RunKey>& keys);

// Returns the JSON_TABLE k of one JSON parameter, which has the columns of a run's key and
// then `columns`.
std::string KeyedRuns(std::string_view columns);

// Returns an UPDATE of job_runs r from one JSON parameter k: the key, then `columns`.
std::string UpdateRuns(std::string_view columns, std::string_view set, std::string_view where);

}  // namespace carillon::mysql
