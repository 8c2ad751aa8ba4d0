#include "common/domain/run/run_kind.h"

#include "common/base/failpoint.h"

namespace carillon {

bool IsDated(RunKind kind, uint32_t flags) {
  const bool by_hand = (flags & run_flag::kByHand) != 0 && !failpoint::Broken("await.by_hand");
  return IsOfAFire(kind) && !by_hand;
}

WallTime QueueExpiry(const RunRow& row, Duration queue_timeout, WallTime queued) {
  const bool expires = queue_timeout > Duration::zero() && MayExpire(row.kind, row.flags);
  return expires ? queued + queue_timeout : kNever;
}

Status CheckReopening(const RunRow& row, RunState to, Reopener by) {
  const bool reopens = IsFinal(row.state) && to == RunState::kPending;
  if (!reopens || by == Reopener::kWorkflows || !IsMovedByWorkflow(row.kind)) return {};
  return {ErrorCode::kConflict,
          "run " + EncodeRunId(row.key) + " is of a node: only its workflow may run it again"};
}

}  // namespace carillon
