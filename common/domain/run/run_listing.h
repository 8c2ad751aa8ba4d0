// Runs that a list without states shows: those that are more than planned. Pure.
//
// Place    The stores list runs by it; SQL says the same (run_search.cc).
//
// A run whose fire is in the future need not be only planned: somebody may have cancelled it, or
// have cancelled and retried it, before it was due. In the list of one job all of these are shown.
// In the list of all jobs those with fires beyond kListAhead are found by an index, without a look
// at the many that are only planned: what has ended before it was due, or while it waited for runs
// of other jobs. So a run that was retried early is shown from its fire on.
#pragma once

#include "common/domain/run/run_kind.h"

namespace carillon {

inline constexpr Duration kListAhead = 1s;  // after `now`

enum class ListOf { kOneJob, kAllJobs };

inline bool IsListed(const RunRow& row, ListOf list, WallTime now) {
  if (list == ListOf::kAllJobs && row.key.fire > now + kListAhead) {
    return IsFinal(row.state) && row.due > now && (IsTime(row.due) || row.due == kAwaiting);
  }
  const bool planned =
      row.state == RunState::kPending && row.attempt == 1 && IsPlannedAhead(row.kind);
  return !planned || row.key.fire <= now;
}

}  // namespace carillon
