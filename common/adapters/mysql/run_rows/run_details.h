// Runs as the API shows them: job_runs joined with their job, and their earlier attempts.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

// Returns the three parameters of a run's key, for kIsRun.
Params ParamsOf(const RunKey& key);
inline constexpr std::string_view kIsRun = "r.fire_us = ? AND r.schedule_id = ? AND r.shard = ?";

// A query whose rows come in the order of their keys. `index` is the index of job_runs to use.
struct DetailQuery {
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
// Reads one run with its attempts. kNotFound: there is no such run.
Result<RunDetail> ReadDetail(Session& session, const RunKey& key, Incarnations& incarnations);

}  // namespace carillon::mysql
