#include "common/domain/queue/slot_start.h"

#include <algorithm>

#include "common/base/failpoint.h"

namespace carillon {

WallTime StartInSlot(RunState from, const AttemptResult& result, WallTime now) {
  const bool held = from == RunState::kRunning || from == RunState::kHeld;
  if (!held || failpoint::Broken("group.from_claim")) return WallTime{};
  return std::min(result.started, now);
}

}  // namespace carillon
