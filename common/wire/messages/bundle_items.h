// Finds the items of a bundle, and the segment of each, without decoding them. So a reader that
// needs the items of a few segments need not decode the others.
//
// Errors   kCorrupt: the bytes cannot be split into fields. Never throws, never reads out
//          of bounds.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace carillon::wire {

struct BundleItem {
  std::string_view bytes;  // part of the bundle, which must outlive the item
  // The segment that a decoder would find. nullopt if a decoder would reject the item, because the
  // item cannot be split into fields or the number is not a valid segment.
  std::optional<SegmentId> segment;
};

// Items are field 1 of a bundle; `segment_field` is the field number of `segment` in an item.
Result<std::vector<BundleItem>> ItemsOfBundle(std::string_view bundle, int segment_field);

}  // namespace carillon::wire
