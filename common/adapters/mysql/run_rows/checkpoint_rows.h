// Rows of run_checkpoints: the progress and the checkpoints of runs.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/run/run_state.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

Result<SavedState> ReadSaved(Session& session, const RunKey& key);
// Deletes the rows of the runs that these results have completed. `effects`: of the results,
// in order.
Status DeleteSavedOfCompleted(Session& session, const std::vector<ResultReport>& reports,
                              const std::vector<RunEffect>& effects);

}  // namespace carillon::mysql
