// Proves ownership by the coordinator's session whenever the store's proof is not fresh, and
// follows the assignment: the session proves what is held under its present generation only.
//
// Place    Before step 1 of docs/life-of-a-run.md, beside segment_owner.h, which asks the store.
// Threads  One loop of its own calls Step. Never calls the store: one that hangs holds up every
//          loop that asks it, for longer than a proof lasts, and would end every lease of this
//          member.
// Time     Waits for the coordinator's time limit of a proof at most.
// Errors   Tried again soon; without the coordinator as well, leases end.
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
