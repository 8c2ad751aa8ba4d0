#include "scheduler/api/http/sort.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace carillon::scheduler {

Outcome<std::optional<Sort>> ReadSort(const Query& query,
                                      std::initializer_list<std::string_view> names) {
  const auto text = query.Text("sort");
  if (!text) return std::optional<Sort>();
  Sort sort{.by = *text};
  if (sort.by.starts_with('-')) {
    sort.by.erase(0, 1);
    sort.descending = true;
  }
  if (std::find(names.begin(), names.end(), sort.by) != names.end()) return std::optional(sort);
  return InvalidField("?sort", "unknown_value",
                      fmt::format("Must be one of {}; prefix it with - for descending order.",
                                  fmt::join(names, ", ")));
}

}  // namespace carillon::scheduler
