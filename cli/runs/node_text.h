// Nodes of workflows and of their runs, as tables show them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/terminal/session.h"

namespace carillon::cli {

// The list `nodes` of a graph, a workflow or a run of one; empty if there is none.
nlohmann::json NodesOf(const nlohmann::json& graph);

// True for the node of a run that FAILED, TIMED_OUT or was LOST.
bool HasFailed(const nlohmann::json& node);

// True for a node of `run`, its nodes as the API shows them, that the error of the run names.
bool MakesRunFail(const nlohmann::json& run, const nlohmann::json& node);

// Prints a graph. In a table, a node also has
//   `after_text`   "load, audit (failure, if exit_code == 3, recovers)"
//   `why`          of a run: its reason, or what it waits for
//   `decided_by`   of an approval that was decided
//   `is_finally`   of a finally node
// and a trigger rule is a text.
void PrintNodes(Session& session, const nlohmann::json& graph, const View& view);

}  // namespace carillon::cli
