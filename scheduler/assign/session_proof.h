// Proves ownership by the coordinator's session whenever the store's proof is not fresh.
//
// Place    DESIGN §5, beside segment_owner.h, which asks the store.
// Threads  One loop of its own calls Step. Never calls the store: one that hangs holds up every
// loop
//          that asks it, for longer than a proof lasts, and would end every lease of this member.
// Time     Waits for the coordinator's time limit of a proof at most.
// Errors   Tried again soon; without the coordinator as well, leases end.
#pragma once

#include "common/base/clock.h"
#include "common/base/loop.h"
#include "common/ports/coordinator.h"
#include "scheduler/assign/segment_table.h"

namespace carillon::scheduler {

class SessionProof final : public Stepper {
 public:
  SessionProof(const Clock& clock, Coordinator& coordinator, SegmentTable& table)
      : clock_(clock), coordinator_(coordinator), table_(table) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  void Prove();

  const Clock& clock_;
  Coordinator& coordinator_;
  SegmentTable& table_;
  SteadyTime next_{};
};

}  // namespace carillon::scheduler
