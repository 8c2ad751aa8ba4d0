// Proves ownership by the coordinator's session while the store gives no fresh proof. Also
// follows the assignment, because the session proves only the segments that are held under
// the current generation.
//
// Place    Before step 1 of docs/life-of-a-run.md, beside segment_owner.h, which renews the proof
//          by the store.
// Threads  A separate loop calls Step, which never calls the store. A store that hangs blocks its
//          callers for longer than a proof is valid. If this loop called the store, all leases of
//          this member would then end.
// Time     Blocks no longer than the coordinator's time limit for a proof.
// Errors   Retried after half a second. If the store and the coordinator both do not
//          answer, leases expire.
#pragma once

#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/ports/coordinator.h"
#include "scheduler/assign/assignment_follower.h"
#include "scheduler/assign/segment_table.h"

namespace carillon::scheduler {

class SessionProof final : public Stepper {
 public:
  SessionProof(const Clock& clock, Coordinator& coordinator, SegmentTable& table,
               AssignmentFollower& assignment)
      : clock_(clock), coordinator_(coordinator), table_(table), assignment_(assignment) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  void Prove();

  const Clock& clock_;
  Coordinator& coordinator_;
  SegmentTable& table_;
  AssignmentFollower& assignment_;
  SteadyTime next_{};
};

}  // namespace carillon::scheduler
