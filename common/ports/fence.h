// The segments that a write of an owner affects, with the epochs under which the owner holds them.
#pragma once

#include <algorithm>
#include <vector>

#include "common/base/ids.h"

namespace carillon {

// A segment with the epoch under which the writer owns it.
struct FencedSegment {
  SegmentId segment;
  Epoch epoch;

  auto operator<=>(const FencedSegment&) const = default;
};

// Sorted by segment, without duplicates. A fenced operation first locks the rows of these segments
// in share mode and compares the epochs. If an epoch differs, the operation writes nothing and
// returns kFenced. The caller can find the segments that it has lost with SegmentStore::ReadEpochs.
using Fence = std::vector<FencedSegment>;

}  // namespace carillon
