#include "common/adapters/mysql/run_rows/count_rows.h"

#include <algorithm>

#include <fmt/core.h>

namespace carillon::mysql {

Result<BoundedCount> CountIn(Pool& pool, const CountedRows& rows) {
  return InCount(pool, [&](Session& session) { return CountRows(session, rows); });
}

Result<BoundedCount> CountRows(Session& session, const CountedRows& rows) {
  const bool looks = !rows.wanted.empty();
  const size_t limit = looks ? rows.looked_at_max : kListedCountMax + 1;
  Params params = rows.wanted.params();
  params.insert(params.end(), rows.within.params().begin(), rows.within.params().end());
  params.push_back(static_cast<uint64_t>(limit));
  // The order matters only if rows beyond the limit are not read.
  const std::string order = looks ? " ORDER BY " + rows.order : "";
  CARILLON_ASSIGN_OR_RETURN(
      Rows found,
      session.Query(fmt::format("SELECT COUNT(*), CAST(COALESCE(SUM(x.hit), 0) AS UNSIGNED) FROM "
                                "(SELECT ({}) AS hit FROM {} WHERE {}{} LIMIT ?) x",
                                rows.wanted.text(), rows.from, rows.within.text(), order),
                    params));
  found.Next();
  const size_t looked_at = found.Unsigned(1);
  const size_t hits = found.Unsigned(2);
  return BoundedCount{.seen = std::min(hits, kListedCountMax),
                      .all = looked_at < limit && hits <= kListedCountMax};
}

}  // namespace carillon::mysql
