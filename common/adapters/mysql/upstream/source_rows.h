// The jobs, schedules and backfills that make the fires for which runs of other jobs wait.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/upstream/upstream_sources.h"

namespace carillon::mysql {

// Implements UpstreamStore::ReadSources. Reads two statements for each job of the longest chain
// and a few more, however many targets there are.
Result<std::vector<UpstreamSources>> ReadSourcesOf(Session& session,
                                                   const std::vector<UpstreamTarget>& targets);

}  // namespace carillon::mysql
