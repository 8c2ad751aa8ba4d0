// Counts of the rows of a list, up to the bounds of bounded_count.h.
#pragma once

#include <string>

#include "common/adapters/mysql/client/conditions.h"
#include "common/adapters/mysql/client/pool.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/ports/store/bounded_count.h"

namespace carillon::mysql {

template <typename Body>
auto InCount(Pool& pool, Body body) -> std::invoke_result_t<Body, Session&> {
  return InLimitedRead(pool, "count", kCountTimeMax, std::move(body));
}

// The rows of a list, in the order in which the list reads them.
struct CountedRows {
  std::string from;                          // the table, with its alias
  std::string order;                         // ORDER BY of the list
  Conditions within;                         // a range of an index
  Conditions wanted = {};                    // checked in each row
  size_t looked_at_max = kCountLookedAtMax;  // most rows read if `wanted` is not empty
};
Result<BoundedCount> CountRows(Session& session, const CountedRows& rows);
Result<BoundedCount> CountIn(Pool& pool, const CountedRows& rows);

inline constexpr BoundedCount kNoneCounted = {.seen = 0, .all = true};

}  // namespace carillon::mysql
