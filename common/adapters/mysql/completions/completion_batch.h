// Reads the ends of runs that something waits for, and acts on them, in the caller's transaction.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/completion_store.h"

namespace carillon::mysql {

// Implement the scans of CompletionStore. `segments` is not empty.
Result<std::vector<RunCompletion>> ReadCompletions(Session& session,
                                                   const std::vector<SegmentId>& segments,
                                                   size_t limit);
Result<std::vector<StuckSchedule>> ReadStuck(Session& session,
                                             const std::vector<SegmentId>& segments, size_t limit);

// Implement Apply and Revive of CompletionStore. Lock the segments, the jobs and the schedules, in
// this order.
Result<std::vector<CompletionEffect>> ApplyCompletions(Session& session,
                                                       const std::vector<RunCompletion>& ends,
                                                       const Fence& fence, WallTime now);
Result<bool> ReviveSchedule(Session& session, const StuckSchedule& stuck, const Fence& fence,
                            WallTime now);

}  // namespace carillon::mysql
