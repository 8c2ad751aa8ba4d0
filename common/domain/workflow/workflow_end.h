// The end of a workflow run as it is written to its row. Pure; both stores write what it says.
#pragma once

#include "common/domain/run/run_state.h"
#include "common/domain/template/node_template.h"
#include "common/domain/workflow/workflow_graph.h"
#include "common/domain/workflow/workflow_step.h"

namespace carillon {

struct WorkflowEnding {
  RunChange change;
  // Names the nodes that failed, whatever has ended the run; but not those that it has cancelled.
  AttemptResult result;
};

// `own` is the row of the workflow run. A run that completes has the outputs of its definition; if
// they are too large, it is FAILED (bad_outputs) instead.
WorkflowEnding EndingOf(const RunRow& own, const WorkflowEnd& end, const WorkflowGraph& graph,
                        const NodeRows& rows, const WorkflowFacts& facts, WallTime now);

}  // namespace carillon
