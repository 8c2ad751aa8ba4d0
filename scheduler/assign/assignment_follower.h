// Applies the assignment to what this member owns: drops what is given to others, keeps the rest
// under the new generation.
//
// Place    Between the coordinator and segment_table.h. Two loops call it: segment_owner.h, which
//          then releases and takes in the store, and session_proof.h, which never waits for it.
// Threads  Thread-safe. Never calls the store: while that hangs the generation moves on all the
//          same, and what another member was given must be dropped.
// Always   Assignments are applied in the order in which they were read.
#pragma once

#include <vector>

#include "common/base/mutex.h"
#include "common/ports/coordinator.h"
#include "scheduler/assign/segment_table.h"

namespace carillon::scheduler {

class AssignmentFollower {
 public:
  AssignmentFollower(Coordinator& coordinator, SegmentTable& table, MemberId self)
      : coordinator_(coordinator), table_(table), self_(std::move(self)) {}

  // Returns the assignment that was applied. Without contact to the coordinator, or before there is
  // an assignment (generation 0), a member goes on with what it has.
  Result<Assignment> Follow();

  // What was dropped since the last call: to be released in the store.
  Fence TakeDropped();

  // The assignment gives the segment to this member (it may not be taken yet).
  bool Wants(SegmentId segment) const;
  // Everything wanted is owned and active.
  bool settled() const;

 private:
  void DropUnwanted() REQUIRES(mu_);

  Coordinator& coordinator_;
  SegmentTable& table_;
  const MemberId self_;
  mutable Mutex mu_;
  std::vector<SegmentId> wanted_ GUARDED_BY(mu_);  // ascending
  bool assignment_known_ GUARDED_BY(mu_) = false;
  Fence dropped_ GUARDED_BY(mu_);  // not released yet; at most every segment that was owned
};

}  // namespace carillon::scheduler
