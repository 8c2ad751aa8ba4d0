// Begins a workflow run in the caller's transaction.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/firing/claim_batch.h"
#include "common/ports/store/workflow_store.h"

namespace carillon::mysql {

// Implements WorkflowStore::Begin. `no` is the number of the new workflow run, if there is one.
Result<BeginReply> BeginWorkflow(Session& session, const ClaimRequest& request,
                                 const ClaimRules& rules, uint64_t no);

}  // namespace carillon::mysql
