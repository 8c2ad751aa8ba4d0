// JSON of what a workflow's node runs, and of the rules that it has of its own.
//
//   "task": {"type": "shell", "command": "./load", "retry_count": 3}, or "./load" for a shell task
//   "approval": {"message": "publish?", "timeout_s": 14400, "on_timeout": "refuse", "by": ["ada"]}
//   "wait": {"until": "06:30", "day": 1} or {"for_s": 900}
//   "timeout": 600, "retry_count": 3, …: rules, beside "job"
//
// Errors   Readers return all mistakes that they find, each kInvalid with a pointer that begins
//          with the given one. The bounds are checked by the domain (workflow_check.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/workflow/workflow_spec.h"

namespace carillon {

using NodeMistakes = std::vector<Error>;

// A store may have been written by a newer version; a request may not have unknown fields.
enum class UnknownFields { kReport, kSkip };

NodeMistakes ReadTask(const nlohmann::json& value, const std::string& pointer,
                      UnknownFields unknown, TaskBox& out);
NodeMistakes ReadApproval(const nlohmann::json& value, const std::string& pointer,
                          UnknownFields unknown, std::optional<Approval>& out);
NodeMistakes ReadWait(const nlohmann::json& value, const std::string& pointer,
                      UnknownFields unknown, std::optional<NodeWait>& out);

// The names of the rules: those of the fields of a job that they take the place of.
const std::vector<std::string_view>& NodeRuleNames();
// Reads the rule `name`, which is one of NodeRuleNames().
Status ReadNodeRule(std::string_view name, const nlohmann::json& value, const std::string& pointer,
                    RunRules& out);

nlohmann::json TaskToJson(const TaskBox& task);  // of one that is not empty
nlohmann::json ApprovalToJson(const Approval& approval);
nlohmann::json WaitToJson(const NodeWait& wait);
// Only what is set; an empty object without rules.
nlohmann::json RulesToJson(const RunRules& rules);

}  // namespace carillon
