#include "executor/agent/claim_gate.h"

#include <algorithm>

namespace carillon::executor {

bool ClaimGate::Accepts(Lane lane) const {
  if (draining() || !rooms_.runner.handed_over()) return false;
  if (rooms_.runs.reporting_bytes() > kReportingBytesMax) return false;
  if (rooms_.saver.placing_bytes() > kPlacingBytesMax) return false;
  if (lane != Lane::kProcess && rooms_.sender.blocked()) return false;
  if (lane == Lane::kLight) return true;
  if (lane == Lane::kHandler) return rooms_.runs.count(RunStage::kReporting) < kReportingMax;
  return processes_open_ && rooms_.runs.count(RunStage::kReporting) < kReportingMax &&
         rooms_.warden.CanStart().ok();
}

int ClaimGate::FreeSlots(const std::string& handler) const {
  const auto found = offers_->find(handler);
  return found == offers_->end() ? 0 : std::max(0, found->second - rooms_.runs.used(handler));
}

int ClaimGate::FreeSlots(Lane lane) const {
  const int slots = lane == Lane::kLight ? light_slots_ : slots_.load();
  return std::max(0, slots - rooms_.runs.used(lane));
}

}  // namespace carillon::executor
