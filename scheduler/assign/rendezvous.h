// Chooses the member that should own each segment. Pure: highest random weight, so that a member
// that joins or leaves moves only the segments it gains or gives up.
#pragma once

#include <map>
#include <vector>

#include "common/base/ids.h"

namespace carillon::scheduler {

// Empty without members. The same for every order of `members`.
std::map<SegmentId, MemberId> AssignSegments(uint32_t segment_count,
                                             const std::vector<MemberId>& members);

}  // namespace carillon::scheduler
