// Runs that wait for runs of other jobs, read for the owner's look.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/upstream_store.h"

namespace carillon::mysql {

// Implements UpstreamStore::ScanAwaiting. Reads exactly these runs, through open_runs.
Result<AwaitingPage> ReadAwaiting(Session& session, const std::vector<SegmentId>& segments,
                                  WallTime until, const std::optional<RunKey>& after, size_t limit);

}  // namespace carillon::mysql
