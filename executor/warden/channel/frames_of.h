// Splits a list into parts that fit into a frame of the warden's channel each.
#pragma once

#include <algorithm>
#include <vector>

#include "executor/warden/channel/warden_protocol.h"

namespace carillon::executor {

template <typename Item>
std::vector<std::vector<Item>> FramesOf(const std::vector<Item>& items) {
  std::vector<std::vector<Item>> parts;
  for (size_t i = 0; i < items.size(); i += kHeldPerFrameMax) {
    const auto begin = items.begin() + static_cast<ptrdiff_t>(i);
    parts.emplace_back(
        begin, begin + static_cast<ptrdiff_t>(std::min(kHeldPerFrameMax, items.size() - i)));
  }
  return parts;
}

}  // namespace carillon::executor
