// The order of jobs of which some come before others.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace carillon {

// The numbers below `count` in their order, except that each comes after those of before(number).
template <typename Before>
std::vector<size_t> Ordered(size_t count, const Before& before) {
  std::vector<size_t> order;
  std::set<size_t> seen;
  // An explicit stack, because a list may be one long chain. True: all before the number are done.
  for (size_t first = 0; first < count; ++first) {
    std::vector<std::pair<size_t, bool>> stack{{first, false}};
    while (!stack.empty()) {
      const auto [i, done] = stack.back();
      stack.pop_back();
      if (done) order.push_back(i);
      if (done || !seen.insert(i).second) continue;
      stack.emplace_back(i, true);
      for (const size_t other : before(i)) stack.emplace_back(other, false);
    }
  }
  return order;
}

}  // namespace carillon
