// Divides the cancel of all open runs of a job into transactions, because a fire may have 1,000
// parts and a job many fires: while one is cancelled, claims of the others go on. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "common/domain/run/run.h"

namespace carillon {

inline constexpr size_t kCancelledRowsPerTransaction = 1'000;

// The own runs of `open`, which are open runs of one job and parts of them, in groups of at most
// kCancelledRowsPerTransaction rows with their parts; a fire is not divided, and one of more rows
// is a group of its own. Those of `waiting` come first, so that none of them starts in the place of
// a run that has ended; then the latest. Within a group by key.
std::vector<std::vector<RunKey>> GroupsToCancel(const std::vector<RunKey>& open,
                                                const std::set<RunKey>& waiting);

}  // namespace carillon
