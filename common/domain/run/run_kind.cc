#include "common/domain/run/run_kind.h"

namespace carillon {

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
