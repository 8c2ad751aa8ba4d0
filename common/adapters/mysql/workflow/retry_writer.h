// Writes the plan of a retry or a skip into the runs of nodes.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/workflow/workflow_rows.h"
#include "common/domain/workflow/workflow_retry.h"

namespace carillon::mysql {

struct NodeWriteRules {
  Incarnations& incarnations;
  WallTime now;
};

// Locks the jobs of the nodes to be changed, and their runs. kConflict: one of them is not as in
// `nodes` any more.
Status WriteRetryPlan(Session& session, const NodeStates& nodes, const RetryPlan& plan,
                      const NodeWriteRules& rules);

// Takes run_flag::kAnew from the row, which is locked: its next begin continues its workflow run.
// Takes run_flag::kParts, too, which a fire may have from before its job became a workflow.
Status ClearAnew(Session& session, const RunKey& own);

// The result of the run's last attempt, to be recorded with its earlier ones.
Result<AttemptResult> EndedAttempt(Session& session, const StoredRun& run,
                                   Incarnations& incarnations);

}  // namespace carillon::mysql
