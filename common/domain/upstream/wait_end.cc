#include "common/domain/upstream/wait_end.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/domain/run/run_kind.h"

namespace carillon {
namespace {

bool IsAwaiting(const RunRow& row) {
  return row.state == RunState::kPending && row.due == kAwaiting;
}

}  // namespace

Status CheckReleasable(const RunRow& row) {
  if (IsAwaiting(row)) return {};
  return {ErrorCode::kConflict, fmt::format("release: run {} does not wait for runs of other jobs",
                                            EncodeRunId(row.key))};
}

bool StillWaits(const RunRow& row, const WaitItem& item) {
  return IsAwaiting(row) && row.segment == item.segment && row.job_no == item.job_no &&
         row.def_version == item.def_version;
}

WallTime DueAfterWait(const RunRow& row, bool job_paused, WallTime now) {
  if (IsMovedByWorkflow(row.kind)) return kBlocked;
  return job_paused ? kNever : std::max(now, row.key.fire);
}

RunChange UnmetChange(const RunRow& row) {
  return {.state = RunState::kFailed,
          .attempt = row.attempt,
          .def_version = row.def_version,
          .reason = std::string(reason::kUpstreamTimeout),
          .store_result = true,
          .dead_letter = true};
}

std::optional<WallTime> DueAfterEdit(const RunRow& row, bool waits, WallTime now) {
  const bool ahead = row.state == RunState::kPending && IsPlannedAhead(row.kind) &&
                     row.attempt == 1 && row.key.fire > now;
  if (!ahead) return std::nullopt;
  if (waits && IsTime(row.due)) return kAwaiting;
  if (!waits && row.due == kAwaiting) return row.key.fire;
  return std::nullopt;
}

WallTime DueOfNodeAgain(const RunRow& before) {
  const bool waited_in_vain = before.state == RunState::kFailed;
  return before.due == kAwaiting && !waited_in_vain ? kAwaiting : kBlocked;
}

}  // namespace carillon
