// The jobs and schedules that make the fires for which runs of other jobs wait.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/upstream/upstream_sources.h"

namespace carillon::mysql {

// Implements UpstreamStore::ReadSources. Reads two statements for each job of the longest chain,
// however many targets there are.
Result<std::vector<UpstreamSources>> ReadSourcesOf(Session& session,
                                                   const std::vector<UpstreamTarget>& targets);

}  // namespace carillon::mysql
