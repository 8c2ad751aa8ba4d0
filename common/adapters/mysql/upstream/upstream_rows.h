// The dated runs for which runs of other jobs wait.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/upstream_store.h"

namespace carillon::mysql {

// Implements UpstreamStore::ReadUpstreamRuns. Reads only the runs of each job in its span.
Result<std::vector<UpstreamRuns>> ReadRunsOf(Session& session,
                                             const std::vector<UpstreamSpan>& spans);

}  // namespace carillon::mysql
