// Definitions of workflows as JSON, as REST and the store have them.
//
//   {"max_parallel": 16,
//    "nodes": [{"id": "load", "job": "load-table", "parameters": {"region": "eu"}},
//              {"id": "audit", "job": "audit", "after": ["load"], "trigger_rule": "all"},
//              {"id": "repair", "job": "repair", "allow_failure": false,
//               "after": [{"node": "audit", "on": "failure", "if": "exit_code == 3",
//                          "recovers": true}]}]}
//
// A node has "job", or one of "task", "approval" and "wait" (node_json.h), and may have "finally",
// or "over", "as" and "collect". The workflow may have "finally_timeout" and "outputs". An entry of
// `after` is an object, or the id of a node for {"node": id, "on": "success"}. A trigger rule is
// "all", "any" or the number of entries that must be met; or {"succeeded": number or "all"}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
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

// The same without CheckWorkflow.
ParsedWorkflow ReadWorkflow(const nlohmann::json& body);

// Writes only what differs from the default, apart from max_parallel. Reading it back gives an
// equal definition.
nlohmann::json WorkflowToJson(const WorkflowDefinition& workflow);

// A node as graphs and runs show it, with all defaults and without its parameters:
//   {"id", "kind", "job_id", "after": [{"node", "on", "if", "recovers"}], "trigger_rule",
//    "allow_failure", "finally"}
// `kind` is job, task, approval or wait; `job_id` is null unless it is job.
nlohmann::json CompleteNodeToJson(const WorkflowNode& node);
nlohmann::json NodeParametersToJson(const WorkflowNode& node);
std::string_view KindOf(const WorkflowNode& node);
// The rest of the definition of the node; null for what it does not have:
//   {"task", "approval", "wait", "rules", "over", "as", "collect"}
nlohmann::json NodeWorkToJson(const WorkflowNode& node);

// A definition as text, for the store. From text: kCorrupt; the limits are not checked, and unknown
// fields are skipped, as in DefinitionFromText.
std::string WorkflowToText(const WorkflowDefinition& workflow);
Result<WorkflowDefinition> WorkflowFromText(std::string_view text);
// The field of a job; null: none. kInvalid with the pointer: it cannot be read. ValidateJob checks
// the rest.
Status ReadWorkflowField(const nlohmann::json& value, const std::string& pointer,
                         std::optional<WorkflowDefinition>& out);
Result<WorkflowDefinition> WorkflowFromJson(const nlohmann::json& body);

}  // namespace carillon
