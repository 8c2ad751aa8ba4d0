// Tables of the stable names of an enum, as in REST ("latest").
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

template <typename Enum>
struct NameOf {
  Enum value;
  std::string_view name;
};

// Returns "unknown" for a value that is not in the table.
template <typename Enum, size_t kSize>
std::string_view NameIn(const std::array<NameOf<Enum>, kSize>& table, Enum value) {
  for (const auto& row : table) {
    if (row.value == value) return row.name;
  }
  return "unknown";
}

// Case-sensitive. kInvalid, with all names of the table, if `text` is none of them.
template <typename Enum, size_t kSize>
Result<Enum> ValueIn(const std::array<NameOf<Enum>, kSize>& table, std::string_view text) {
  std::string known;
  for (const auto& row : table) {
    if (row.name == text) return row.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  return Error{ErrorCode::kInvalid,
               fmt::format("'{}' is not one of {}", text.substr(0, 64), known)};
}

}  // namespace carillon
