// Rows of run_completions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/session.h"
#include "common/domain/run/completion.h"

namespace carillon::mysql {

// Adds the run to `rows`, for kInsertCompletions, once for each target that waits for its end.
// `row` has its final state already; `ended` is the time that is stored with it.
void AddCompletion(const RunRow& row, WallTime ended, JsonRows& rows);
extern const std::string kInsertCompletions;

// Adds a wake-up of the workflow of which the run is a node, for kInsertCompletions.
void AddWakeUp(const RunRow& node, WallTime now, JsonRows& rows);

Status DeleteCompletions(Session& session, const std::vector<uint64_t>& ids);

}  // namespace carillon::mysql
