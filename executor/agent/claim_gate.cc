#include "executor/agent/claim_gate.h"

#include <algorithm>

namespace carillon::executor {

bool ClaimGate::Accepts(Lane lane) const {
  if (draining() || !rooms_.runner.handed_over()) return false;
  if (rooms_.runs.reporting_bytes() > kReportingBytesMax) return false;
  if (lane == Lane::kLight) return !rooms_.sender.blocked();
  return rooms_.runs.count(RunStage::kReporting) < kReportingMax && rooms_.warden.CanStart().ok();
}

int ClaimGate::FreeSlots(Lane lane) const {
  const int slots = lane == Lane::kLight ? light_slots_ : slots_.load();
  return std::max(0, slots - rooms_.runs.used(lane));
}

}  // namespace carillon::executor
