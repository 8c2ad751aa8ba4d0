// The segments that the assignment gives to this member.
#pragma once

#include "common/base/ids.h"

namespace carillon::scheduler {

class AssignedSegments {
 public:
  virtual ~AssignedSegments() = default;
  // True if the assignment gives the segment to this member, even if the member has not taken it
  // yet. Thread-safe.
  virtual bool Wants(SegmentId segment) const = 0;
  // The number of members that share the segments by the assignment, this one included; at least
  // 1. Thread-safe.
  virtual int Members() const { return 1; }
};

}  // namespace carillon::scheduler
