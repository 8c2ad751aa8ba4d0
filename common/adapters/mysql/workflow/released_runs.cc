#include "common/adapters/mysql/workflow/released_runs.h"

#include <string>

#include <fmt/format.h>

#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {

size_t ReleasedRuns::Add(const StoredRun& run, const NodeRelease& release, WallTime until) {
  const std::string parameters = GivenToText(release.parameters);
  const size_t bytes = parameters.size() + run.row.rules.size();
  bytes_ += bytes;
  rows_.Begin()
      .Add(run.row.key)
      .Add(run.row.due)
      .Add(run.row.def_version)
      .Add(run.row.priority)
      .AddBytes(parameters)
      .Add(run.row.flags & kFlagsOfRelease)
      .AddBytes(run.row.rules)
      .Add(run.started)
      .Add(until);
  return bytes;
}

Status ReleasedRuns::Write(Session& session) {
  static const std::string statement = UpdateRuns(
      "u BIGINT PATH '$[3]', v BIGINT PATH '$[4]', p INT PATH '$[5]', m LONGTEXT PATH '$[6]', "
      "l INT UNSIGNED PATH '$[7]', y LONGTEXT PATH '$[8]', b BIGINT PATH '$[9]', "
      "e BIGINT PATH '$[10]'",
      fmt::format("r.due_us = k.u, r.def_version = k.v, r.priority = k.p, r.parameters = "
                  "NULLIF(CONVERT(FROM_BASE64(k.m) USING utf8mb4), ''), "
                  "r.flags = r.flags & ~{} | k.l, "
                  "r.rules = NULLIF(CONVERT(FROM_BASE64(k.y) USING utf8mb4), ''), "
                  "r.started_us = k.b, r.until_us = k.e",
                  kFlagsOfRelease),
      "r.state = 'PENDING'");
  if (rows_.empty()) return {};
  const auto expected = static_cast<int64_t>(rows_.size());
  CARILLON_ASSIGN_OR_RETURN(const int64_t matched, session.Execute(statement, {rows_.Take()}));
  bytes_ = 0;
  if (matched == expected) return {};
  return {ErrorCode::kConflict, "a node is not blocked any more"};
}

}  // namespace carillon::mysql
