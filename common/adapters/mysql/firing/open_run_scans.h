// Reads the open runs, for step 2 of docs/life-of-a-run.md and for recovery.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

using Position = std::pair<WallTime, RunKey>;

// Implement the scans of FiringStore. `segments` is not empty, and `limit` is at least 1.
Result<PendingPage> ReadPending(Session& session, Incarnations& incarnations,
                                const std::vector<SegmentId>& segments, WallTime until,
                                const std::optional<Position>& after, size_t limit);
Result<JobPendingPage> ReadPendingOfJob(Session& session, Incarnations& incarnations,
                                        const JobWindow& window, const std::optional<RunKey>& after,
                                        size_t limit);
Result<RunningPage> ReadRunning(Session& session, Incarnations& incarnations,
                                const std::vector<SegmentId>& segments,
                                const std::optional<RunCursor>& after, size_t limit);
Result<RunningPage> ReadCancelRequests(Session& session, Incarnations& incarnations,
                                       const std::vector<SegmentId>& segments,
                                       const std::optional<RunCursor>& after, size_t limit);
Result<RunningPage> ReadPresumed(Session& session, Incarnations& incarnations,
                                 const std::vector<SegmentId>& segments,
                                 const std::optional<RunCursor>& after, size_t limit);
// Implement LoadRunRequest, LoadRunRules and ReadOverdue of FiringStore.
Result<RunRequest> ReadRunRequest(Session& session, const RunKey& key);
Result<std::map<RunKey, std::string>> ReadRunRules(Session& session,
                                                   const std::vector<RunKey>& keys);
Result<OverdueReport> ReadOverdueRows(Session& session, uint32_t segment_count, WallTime now);

}  // namespace carillon::mysql
