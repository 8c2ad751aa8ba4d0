// Begins a fire whose job fans out, in the caller's transaction.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/firing/claim_batch.h"
#include "common/ports/store/workflow_store.h"

namespace carillon::mysql {

// Implements WorkflowStore::BeginParts.
Result<PartsReply> BeginPartsOf(Session& session, const PartsRequest& parts,
                                const ClaimRules& rules);

}  // namespace carillon::mysql
