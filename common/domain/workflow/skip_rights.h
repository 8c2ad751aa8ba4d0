// Decides whether a person may skip a node of a workflow run. Pure.
#pragma once

#include <cstddef>

#include "common/domain/nodes/approval.h"
#include "common/domain/workflow/node_rules.h"
#include "common/domain/workflow/workflow_graph.h"

namespace carillon {

// To skip an approval is to decide it, and to skip a node behind one is to go past it. kDenied: the
// node, or one before it that is no success, is an approval about which others decide. `rows` null:
// as if no node was a success, because they may wait again.
Status CheckMaySkipNode(const WorkflowGraph& graph, size_t position, const NodeRows* rows,
                        const Decider& who);

}  // namespace carillon
