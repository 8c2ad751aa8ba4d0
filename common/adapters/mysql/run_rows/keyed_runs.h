// Parts of statements about runs that a JSON parameter names by their keys.
#pragma once

#include <string>
#include <string_view>

namespace carillon::mysql {

// Returns the JSON_TABLE k of one JSON parameter, which has the columns of a run's key and
// then `columns`.
std::string KeyedRuns(std::string_view columns);

// Returns an UPDATE of job_runs r from one JSON parameter k: the key, then `columns`.
std::string UpdateRuns(std::string_view columns, std::string_view set, std::string_view where);

}  // namespace carillon::mysql
