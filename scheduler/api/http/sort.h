// The requested order of a list: `sort=name`, or `sort=-create_time` for descending order.
//
// Errors   400; the detail names the fields by which the list can be sorted.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

struct Sort {
  std::string by;
  bool descending = false;
};
// Returns the requested order, by one of `names`. nullopt: the list's default order.
Outcome<std::optional<Sort>> ReadSort(const Query& query,
                                      std::initializer_list<std::string_view> names);

}  // namespace carillon::scheduler
