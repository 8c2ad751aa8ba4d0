// Runs as the API shows them: job_runs joined with their job, and their earlier attempts.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

// The table of runs that outlived their day (operations/kept_runs.h), and the SQL condition that
// the row r is not in job_runs as well: it is until the day is dropped.
inline constexpr std::string_view kKeptRuns = "kept_runs";
inline constexpr std::string_view kIsOnlyKept =
    "NOT EXISTS (SELECT 1 FROM job_runs o WHERE o.fire_us = r.fire_us AND o.schedule_id = "
    "r.schedule_id AND o.shard = r.shard)";
// True if the run is only in kKeptRuns.
Result<bool> IsOnlyKept(Session& session, const RunKey& key);

// Returns the three parameters of a run's key, for kIsRun.
Params ParamsOf(const RunKey& key);
inline constexpr std::string_view kIsRun = "r.fire_us = ? AND r.schedule_id = ? AND r.shard = ?";

// A query whose rows come in the order of their keys. `index` is the index of the table to use.
struct DetailQuery {
  std::string table = "job_runs";  // or kKeptRuns
  std::string index = "PRIMARY";
  std::string where;
  Params params;
  size_t limit = 1;
  bool oldest_first = false;
};
Result<std::vector<RunDetail>> ReadDetails(Session& session, const DetailQuery& query,
                                           Incarnations& incarnations);
// Returns the columns of ORDER BY for runs in the order of their keys, or in the reverse order.
std::string_view RunOrder(bool oldest_first);
// Reads one run with its attempts, or a kept run. kNotFound: there is no such run.
Result<RunDetail> ReadDetail(Session& session, const RunKey& key, Incarnations& incarnations);

}  // namespace carillon::mysql
