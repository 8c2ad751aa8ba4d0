// Applies the assignment to the segments of this member. Drops the segments that are now assigned
// to other members, and keeps the remaining ones under the new generation.
//
// Place    Between the coordinator and segment_table.h. Two loops call it: segment_owner.h, which
//          then releases and takes segments in the store, and session_proof.h, which never waits
//          for the store.
// Threads  Thread-safe. Never calls the store, because the generation advances even while the store
//          hangs. Even then, segments that were given to other members must be dropped.
// Always   Assignments are applied in the order in which they were read.
#pragma once

#include <atomic>
#include <vector>

#include "common/base/mutex.h"
#include "common/ports/coordinator.h"
#include "scheduler/assign/assigned_segments.h"
#include "scheduler/assign/segment_table.h"

namespace carillon::scheduler {

class AssignmentFollower final : public AssignedSegments {
 public:
  AssignmentFollower(Coordinator& coordinator, SegmentTable& table, MemberId self)
      : coordinator_(coordinator), table_(table), self_(std::move(self)) {}

  // Reads the assignment, applies it and returns it. The member keeps the segments that it has if
  // there is no contact to the coordinator, or no assignment yet (generation 0).
  Result<Assignment> Follow();

  // Returns the segments dropped since the last call. The caller releases them in the store.
  Fence TakeDropped();

  bool Wants(SegmentId segment) const override;
  int Members() const override { return members_.load(std::memory_order_relaxed); }
  // True if all assigned segments are owned and active.
  bool settled() const;

 private:
  void DropUnwanted() REQUIRES(mu_);

  Coordinator& coordinator_;
  SegmentTable& table_;
  const MemberId self_;
  mutable Mutex mu_;
  std::vector<SegmentId> wanted_ GUARDED_BY(mu_);  // ascending
  bool assignment_known_ GUARDED_BY(mu_) = false;
  std::atomic<int> members_{1};
  Fence dropped_ GUARDED_BY(mu_);  // dropped, but not returned by TakeDropped yet
};

}  // namespace carillon::scheduler
