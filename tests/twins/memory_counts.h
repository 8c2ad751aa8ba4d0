// Counts of lists, taken with the list's own search, so that count and list agree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/base/result.h"
#include "common/ports/store/bounded_count.h"

namespace carillon::memory {

inline constexpr size_t kOneMore = kListedCountMax + 1;

inline BoundedCount Bounded(size_t found, bool all = true) {
  return {.seen = std::min(found, kListedCountMax), .all = all && found <= kListedCountMax};
}

template <typename Item>
Result<BoundedCount> Bounded(const Result<std::vector<Item>>& found) {
  if (!found.ok()) return found.error();
  return Bounded(found->size());
}

// Returns the filter for a count: it begins at the first page and has the limit of a count.
template <typename Filter>
Filter WithLimit(Filter filter) {
  filter.limit = kOneMore;
  return filter;
}

}  // namespace carillon::memory
