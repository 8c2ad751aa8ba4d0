// Proves ownership by the coordinator's session while the store gives no fresh proof. It also
// follows the assignment, because the session proves only the segments that are held under the
// current generation.
//
// Place    Before step 1 of docs/life-of-a-run.md, beside segment_owner.h, which renews the proof
//          by the store.
// Threads  A loop of its own calls Step. Never calls the store: a store that hangs blocks every
//          loop that calls it for longer than a proof is valid, and that would end all leases of
//          this member.
// Time     Blocks no longer than the coordinator's time limit for a proof.
// Errors   Retried after half a second. If neither store nor coordinator answers, leases expire.
#pragma once

#include "common/base/clock.h"
#include "common/base/loop.h"
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
