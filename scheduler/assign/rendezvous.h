// Assigns each segment to a member by rendezvous hashing (highest random weight). If a member joins
// or leaves, only the segments that it gains or gives up change their owner. Pure.
#pragma once

#include <map>
#include <vector>

#include "common/base/ids.h"

namespace carillon::scheduler {

// Empty if there are no members. The result does not depend on the order of `members`.
std::map<SegmentId, MemberId> AssignSegments(uint32_t segment_count,
                                             const std::vector<MemberId>& members);

}  // namespace carillon::scheduler
