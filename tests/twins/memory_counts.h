// The counts of lists: each counts the rows that the list itself finds.
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

// Returns the filter from the first page on, with the limit of a count.
template <typename Filter>
Filter WithLimit(Filter filter) {
  filter.limit = kOneMore;
  return filter;
}

}  // namespace carillon::memory
