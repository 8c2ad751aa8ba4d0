// A person gives up the attempt of a run, in the caller's transaction.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

// Implements RunStore::CancelRun with WriteContext::give_up.
Result<bool> GiveUpRun(Session& session, const RunKey& key, const WriteContext& context,
                       Incarnations& incarnations);

}  // namespace carillon::mysql
