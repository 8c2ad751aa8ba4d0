#include "common/adapters/mysql/run_rows/keyed_runs.h"

#include <fmt/format.h>

namespace carillon::mysql {

Status ExecuteForKeys(Session& session, const std::string& statement,
                      const std::vector<RunKey>& keys) {
  JsonRows rows;
  for (size_t i = 0; i < keys.size(); ++i) {
    rows.Begin().Add(keys[i]);
    if (rows.size() < kKeysPerStatement && i + 1 < keys.size()) continue;
    CARILLON_TRY(session.Execute(statement, {rows.Take()}));
  }
  return {};
}

std::string KeyedRuns(std::string_view columns) {
  return fmt::format("JSON_TABLE(" CARILLON_JSON
                     ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT "
                     "UNSIGNED PATH '$[2]'{}{})) k",
                     columns.empty() ? "" : ", ", columns);
}

std::string UpdateRuns(std::string_view columns, std::string_view set, std::string_view where) {
  return fmt::format(
      "UPDATE {} STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND "
      "r.schedule_id = k.s AND r.shard = k.h SET {} WHERE {}",
      KeyedRuns(columns), set, where);
}

}  // namespace carillon::mysql
