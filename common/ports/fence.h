// The segments that a write of an owner concerns, with the epochs under which it holds them.
#pragma once

#include <algorithm>
#include <vector>

#include "common/base/ids.h"

namespace carillon {

struct FencedSegment {
  SegmentId segment;
  Epoch epoch;

  auto operator<=>(const FencedSegment&) const = default;
};

// Sorted by segment, each segment once. A fenced operation first locks these rows in share mode and
// compares; it answers kFenced, having written nothing, when one differs (ask
// SegmentStore::ReadEpochs which).
using Fence = std::vector<FencedSegment>;

}  // namespace carillon
