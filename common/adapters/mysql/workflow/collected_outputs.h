// The output that a mapped node collects from the parts of its run.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/domain/run/run_state.h"

namespace carillon::mysql {

// Adds it to the end of the own run, all of whose parts have ended (AddCollected). Does nothing to
// the run of another node, or of none. kCorrupt: the definition of its workflow is unreadable.
Status CollectOutputs(Session& session, const RunRow& own, RunChange& change,
                      AttemptResult& result);

}  // namespace carillon::mysql
