// The size of a list, shown with its first page. Counting stops at a bound, so that its cost does
// not grow with the list.
//
// Each store that lists things counts them as well (CountJobs beside ListJobs).
//
// Errors   As the list. kExhausted: counting took longer than kCountTimeMax. If the job or bulk
//          action of the filter does not exist: a count of zero, or kNotFound.
// Always   A count ignores the page of its filter (cursor, limit, order). It includes rows that
//          cannot be read, although lists leave them out.
#pragma once

#include <cstddef>

#include "common/base/time.h"

namespace carillon {

inline constexpr size_t kListedCountMax = 1'000;
// If no index selects exactly what a filter wants, only so many rows are examined: the first of
// the list.
inline constexpr size_t kCountLookedAtMax = 20'000;
// The same for runs. A page of runs examines up to kRunSearchMax.
inline constexpr size_t kRunCountLookedAtMax = 10'000;
inline constexpr Duration kCountTimeMax = 1s;

struct BoundedCount {
  size_t seen = 0;   // at most kListedCountMax
  bool all = false;  // there are no others
};

}  // namespace carillon
