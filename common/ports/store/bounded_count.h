// The size of a list, for its first page: counted up to a bound, whatever there is.
//
// Each store that lists things counts them as well (CountJobs beside ListJobs).
//
// Errors   As the list; kExhausted: it took longer than kCountTimeMax. Things of a job or bulk
//          action that is not there: none, or kNotFound.
// Always   A count ignores the page of its filter (cursor, limit, order). It counts things that
//          cannot be read, although lists leave them out.
#pragma once

#include <cstddef>

#include "common/base/time.h"

namespace carillon {

inline constexpr size_t kListedCountMax = 1'000;
// Where no index has just what a filter wants, so many are looked at, the first of the list.
inline constexpr size_t kCountLookedAtMax = 20'000;
// Of runs, of which a page looks at kRunSearchMax.
inline constexpr size_t kRunCountLookedAtMax = 10'000;
inline constexpr Duration kCountTimeMax = 1s;

struct BoundedCount {
  size_t seen = 0;   // at most kListedCountMax
  bool all = false;  // there are no others
};

}  // namespace carillon
