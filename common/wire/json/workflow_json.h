// Definitions of workflows as JSON, as REST and the store have them.
//
//   {"max_parallel": 16,
//    "nodes": [{"id": "load", "job": "load-table", "parameters": {"region": "eu"}},
//              {"id": "audit", "job": "audit", "after": ["load"], "trigger_rule": "all"},
//              {"id": "repair", "job": "repair", "allow_failure": false,
//               "after": [{"node": "audit", "on": "failure", "if": "exit_code == 3",
//                          "recovers": true}]}]}
//
// An entry of `after` is an object, or the id of a node for {"node": id, "on": "success"}. A trigger
// rule is "all", "any" or the number of entries that must be met.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/domain/workflow/workflow_check.h"

namespace carillon {

struct ParsedWorkflow {
  WorkflowDefinition definition;  // as far as it could be read
  WorkflowProblems problems;      // empty: it is valid, and the jobs of its nodes can be checked
};

// Reads a definition and checks it (CheckWorkflow). Reports all mistakes at once, except for those
// that may be consequences of others: a node that cannot be found because its id could not be read.
ParsedWorkflow ParseWorkflow(const nlohmann::json& body, const WorkflowCheckOptions& options = {});

// Writes only what differs from the default, apart from max_parallel. Reading it back gives an
// equal definition.
nlohmann::json WorkflowToJson(const WorkflowDefinition& workflow);

// The same as text, for the store. From text: kCorrupt; the limits are not checked, and unknown fields
// are skipped, as in DefinitionFromText.
std::string WorkflowToText(const WorkflowDefinition& workflow);
Result<WorkflowDefinition> WorkflowFromText(std::string_view text);

}  // namespace carillon
