// Checks a node of a workflow by itself: its kind, what goes with it, and bounds of fields. Pure.
//
// Place    CheckWorkflow (workflow_check.h), which looks at the graph and at templates, too.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/domain/workflow/workflow_spec.h"

namespace carillon {

// True if it says what runs: a job, a task, an approval or a wait.
bool HasKind(const WorkflowNode& node);

// Each with a pointer below the node: "/task/command", "/timeout".
std::vector<Error> FindNodeMistakes(const WorkflowNode& node);

}  // namespace carillon
