// One statement for a question about several things, of which each needs constants of its own for
// the ranges of an index. Their number is rounded up, so that the set of texts is bounded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace carillon::mysql {

inline constexpr size_t kUnionMax = 128;

// The number of parts for `wanted` questions, at most kUnionMax. The others get parameters for
// which there is nothing.
inline size_t RoundUpUnion(size_t wanted) {
  size_t parts = 1;
  while (parts < wanted) parts *= 2;
  return parts;
}

inline std::string UnionAll(std::string_view part, size_t parts) {
  std::string statement(part);
  for (size_t i = 1; i < parts; ++i) statement.append(" UNION ALL ").append(part);
  return statement;
}

}  // namespace carillon::mysql
