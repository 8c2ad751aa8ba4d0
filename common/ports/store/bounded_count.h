// The size of a list, shown with its first page. Counting stops at a bound, so that its cost does
// not grow with the list.
//
// Each store that lists things counts them as well (CountJobs beside ListJobs).
//
// Errors   As the list. kExhausted: counting took longer than kCountTimeMax. If the filter names a
//          job or bulk action that does not exist, the result is zero or kNotFound.
// Always   A count ignores the page of its filter (cursor, limit, order). It includes rows that
//          cannot be read, although lists leave them out.
#pragma once

#include <cstddef>

#include "common/base/time.h"

namespace carillon {

inline constexpr size_t kListedCountMax = 1'000;
// If no index selects exactly the rows of the filter, at most this many rows are examined, from the
// beginning of the list.
inline constexpr size_t kCountLookedAtMax = 20'000;
// The same for runs. (For a page of runs, up to kRunSearchMax runs are examined.)
inline constexpr size_t kRunCountLookedAtMax = 10'000;
inline constexpr Duration kCountTimeMax = 1s;

struct BoundedCount {
  size_t seen = 0;   // at most kListedCountMax
  bool all = false;  // true: `seen` is the exact number; false: there may be more
};

}  // namespace carillon
