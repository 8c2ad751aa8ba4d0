// Takes steps of workflow runs in the caller's transaction.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/database/version_cache.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/workflow_store.h"

namespace carillon::mysql {

struct StepWrite {
  Incarnations& incarnations;
  VersionCache& versions;
  const Fence& fence;
  WallTime now;
};

// Implements WorkflowStore::Step.
Result<std::vector<StepEffect>> StepRuns(Session& session, const std::vector<StepRequest>& requests,
                                         const StepWrite& rules);

// Implements ScanWakeUps and ScanOpen. `segments` is not empty.
Result<std::vector<WakeUp>> ReadWakeUps(Session& session, const std::vector<SegmentId>& segments,
                                        size_t limit);
Result<std::vector<OpenWorkflowRun>> ReadOpenWorkflows(Session& session,
                                                       const std::vector<SegmentId>& segments,
                                                       uint64_t after, size_t limit);

}  // namespace carillon::mysql
