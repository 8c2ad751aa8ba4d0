// Finds the items of a bundle and the segment of each without decoding them. A reader that wants
// the items of a few segments only pays for those.
//
// Errors   kCorrupt: the bytes do not divide into fields. Never throws, never reads out of bounds.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace carillon::wire {

struct BundleItem {
  std::string_view bytes;  // of the bundle, which must outlive it
  // What a decoder would find in it. nullopt where it would refuse the item: the item does not
  // divide into fields, or no segment has such a number.
  std::optional<SegmentId> segment;
};

// Items are field 1 of a bundle; `segment_field` is the number of their field `segment`.
Result<std::vector<BundleItem>> ItemsOfBundle(std::string_view bundle, int segment_field);

}  // namespace carillon::wire
