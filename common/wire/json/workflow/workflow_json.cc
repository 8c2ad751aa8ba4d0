#include "common/wire/json/workflow/workflow_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/nearest.h"
#include "common/domain/job/job.h"
#include "common/wire/json/job/parameter_rules_json.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"
#include "common/wire/json/workflow/node_json.h"

namespace carillon {
namespace {

using nlohmann::json;
using Mistake = WorkflowMistake;

constexpr size_t kFieldShownMax = 64;
constexpr std::array<std::string_view, 4> kWorkflowFields = {"max_parallel", "nodes",
                                                             "finally_timeout", "outputs"};
// Exactly one of them says what the node is.
constexpr std::array<std::string_view, 4> kKinds = {"job", "task", "approval", "wait"};

std::vector<std::string_view> NodeFields() {
  std::vector<std::string_view> names = {
      "id",    "job",          "task",    "approval", "wait",       "over",         "as",
      "after", "trigger_rule", "finally", "collect",  "parameters", "allow_failure"};
  names.insert(names.end(), NodeRuleNames().begin(), NodeRuleNames().end());
  return names;
}

bool IsRule(std::string_view name) {
  return std::ranges::find(NodeRuleNames(), name) != NodeRuleNames().end();
}

// Reads a definition, and notes every field that it cannot read.
class WorkflowReader {
 public:
  explicit WorkflowReader(UnknownFields unknown_fields) : unknown_fields_(unknown_fields) {}

  WorkflowDefinition Read(const json& body) {
    WorkflowDefinition workflow;
    if (!body.is_object()) {
      Wrong("", "must be an object");
      return workflow;
    }
    for (const auto& [name, value] : body.items()) {
      const std::string pointer = JsonPointer("", name);
      if (name == "max_parallel") {
        ReadWhole(value, pointer, workflow.max_parallel);
      } else if (name == "nodes") {
        ReadNodes(value, pointer, workflow.nodes);
      } else if (name == "finally_timeout") {
        ReadSeconds(value, pointer, workflow.finally_timeout_s);
      } else if (name == "outputs") {
        ReadOutputs(value, pointer, workflow.outputs);
      } else {
        Unknown(name, pointer, "a workflow", {kWorkflowFields.begin(), kWorkflowFields.end()});
      }
    }
    if (!body.contains("nodes")) Wrong("/nodes", "is missing");
    return workflow;
  }

  const WorkflowProblems& problems() const { return problems_; }
  // False if the ids of the nodes or their edges are not all known.
  bool graph_complete() const { return graph_complete_; }

 private:
  void Wrong(std::string pointer, std::string message) {
    if (problems_.size() >= kWorkflowProblemsMax) return;
    problems_.push_back({Mistake::kBadField, std::move(pointer), std::move(message)});
  }
  void WrongGraph(std::string pointer, std::string message) {
    graph_complete_ = false;
    Wrong(std::move(pointer), std::move(message));
  }
  void Note(NodeMistakes mistakes) {
    for (Error& one : mistakes) Wrong(std::move(one.pointer), std::move(one.message));
  }
  void Unknown(const std::string& name, std::string pointer, std::string_view where,
               const std::vector<std::string_view>& known) {
    if (unknown_fields_ == UnknownFields::kSkip) return;
    const std::string shown = name.substr(0, kFieldShownMax);
    Wrong(std::move(pointer),
          fmt::format("unknown field '{}' in {}{}", shown, where, DidYouMean(shown, known)));
  }

  // As in the fields of a job, 60.0 counts as 60. A number beyond the range of int64_t becomes
  // INT64_MAX, which is out of every bound of a workflow.
  bool ReadWhole(const json& value, const std::string& pointer, int64_t& out) {
    if (value.is_number_integer()) {
      const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
      out = huge ? INT64_MAX : value.get<int64_t>();
      return true;
    }
    constexpr double kExactMax = 9007199254740992.0;  // 2^53
    const double number = value.is_number_float() ? value.get<double>() : 0.5;
    if (std::trunc(number) != number || std::fabs(number) > kExactMax) {
      Wrong(pointer, "must be a whole number");
      return false;
    }
    out = static_cast<int64_t>(number);
    return true;
  }
  void ReadSeconds(const json& value, const std::string& pointer, int64_t& out) {
    const Status read = json_value::ReadSeconds(value, pointer, out);
    if (!read.ok()) Wrong(pointer, read.error().message);
  }
  void ReadFlag(const json& value, const std::string& pointer, bool& out) {
    if (!value.is_boolean()) return Wrong(pointer, "must be true or false");
    out = value.get<bool>();
  }
  bool ReadText(const json& value, const std::string& pointer, std::string& out) {
    if (!value.is_string()) {
      Wrong(pointer, "must be a string");
      return false;
    }
    out = value.get<std::string>();
    return true;
  }

  void ReadOutputs(const json& value, const std::string& pointer,
                   std::map<std::string, std::string>& out) {
    if (!value.is_object()) return Wrong(pointer, "must be an object");
    for (const auto& [name, entry] : value.items()) {
      ReadText(entry, JsonPointer(pointer, name), out[name]);
    }
  }

  void ReadNodes(const json& value, const std::string& pointer, std::vector<WorkflowNode>& out) {
    if (!value.is_array()) return WrongGraph(pointer, "must be a list");
    for (size_t i = 0; i < value.size(); ++i) {
      ReadNode(value[i], JsonPointer(pointer, std::to_string(i)), out.emplace_back());
    }
  }

  void ReadNode(const json& value, const std::string& pointer, WorkflowNode& out) {
    if (!value.is_object()) return WrongGraph(pointer, "must be an object");
    for (const auto& [name, entry] : value.items()) {
      ReadNodeField(name, entry, JsonPointer(pointer, name), out);
    }
    if (!value.contains("id")) WrongGraph(pointer + "/id", "is missing");
    const auto given = [&value](std::string_view kind) { return value.contains(kind); };
    const auto kinds = std::ranges::count_if(kKinds, given);
    if (kinds == 0) Wrong(pointer + "/job", "is missing; a node has a job, task, approval or wait");
    if (kinds > 1) Wrong(pointer, "has more than one of job, task, approval and wait");
  }

  void ReadNodeField(const std::string& name, const json& value, const std::string& pointer,
                     WorkflowNode& out) {
    if (name == "id") {
      if (!ReadText(value, pointer, out.id)) graph_complete_ = false;
    } else if (name == "job") {
      std::string job;
      if (ReadText(value, pointer, job)) out.job = JobId(std::move(job));
    } else if (name == "task") {
      Note(ReadTask(value, pointer, unknown_fields_, out.task));
    } else if (name == "approval") {
      Note(ReadApproval(value, pointer, unknown_fields_, out.approval));
    } else if (name == "wait") {
      Note(ReadWait(value, pointer, unknown_fields_, out.wait));
    } else if (name == "parameters") {
      ReadParameters(value, pointer, out);
    } else if (name == "after") {
      ReadAfter(value, pointer, out.after);
    } else if (name == "trigger_rule") {
      ReadRule(value, pointer, out.trigger_rule);
    } else if (name == "allow_failure") {
      ReadFlag(value, pointer, out.allow_failure);
    } else if (IsRule(name)) {
      const Status read = ReadNodeRule(name, value, pointer, out.rules);
      if (!read.ok()) Wrong(read.error().pointer, read.error().message);
    } else {
      ReadMapping(name, value, pointer, out);
    }
  }

  void ReadMapping(const std::string& name, const json& value, const std::string& pointer,
                   WorkflowNode& out) {
    if (name == "finally") {
      ReadFlag(value, pointer, out.is_finally);
    } else if (name == "over") {
      ReadText(value, pointer, out.over);
    } else if (name == "as") {
      ReadText(value, pointer, out.as);
    } else if (name == "collect") {
      ReadText(value, pointer, out.collect);
    } else {
      Unknown(name, pointer, "a node", NodeFields());
    }
  }

  void ReadParameters(const json& value, const std::string& pointer, WorkflowNode& out) {
    if (!value.is_object()) return Wrong(pointer, "must be an object");
    for (const auto& [name, entry] : value.items()) {
      const Status read =
          ReadParameterValue(entry, JsonPointer(pointer, name), out.parameters[name]);
      if (!read.ok()) Wrong(read.error().pointer, read.error().message);
    }
  }

  void ReadAfter(const json& value, const std::string& pointer, std::vector<WorkflowEdge>& out) {
    if (!value.is_array()) return WrongGraph(pointer, "must be a list");
    for (size_t i = 0; i < value.size(); ++i) {
      ReadEdge(value[i], JsonPointer(pointer, std::to_string(i)), out.emplace_back());
    }
  }

  void ReadEdge(const json& value, const std::string& pointer, WorkflowEdge& out) {
    if (value.is_string()) {
      out.node = value.get<std::string>();
      return;
    }
    if (!value.is_object()) return WrongGraph(pointer, "must be the id of a node or an object");
    for (const auto& [name, entry] : value.items()) {
      ReadEdgeField(name, entry, JsonPointer(pointer, name), out);
    }
    if (!value.contains("node")) WrongGraph(pointer + "/node", "is missing");
  }

  void ReadEdgeField(const std::string& name, const json& value, const std::string& pointer,
                     WorkflowEdge& out) {
    if (name == "node") {
      if (!ReadText(value, pointer, out.node)) graph_complete_ = false;
    } else if (name == "on") {
      ReadOn(value, pointer, out.on);
    } else if (name == "if") {
      const bool read = ReadText(value, pointer, out.condition);
      if (read && out.condition.empty()) Wrong(pointer, "must not be empty; leave it out instead");
    } else if (name == "recovers") {
      ReadFlag(value, pointer, out.recovers);
    } else {
      Unknown(name, pointer, "an entry of after", {"node", "on", "if", "recovers"});
    }
  }

  void ReadOn(const json& value, const std::string& pointer, EdgeOn& out) {
    std::string text;
    if (!ReadText(value, pointer, text)) return;
    const auto on = ParseName<EdgeOn>(text);
    if (!on.ok()) return Wrong(pointer, on.error().message);
    out = *on;
  }

  void ReadRule(const json& value, const std::string& pointer, TriggerRule& out) {
    if (value.is_number()) {
      int64_t least = 0;
      if (!ReadWhole(value, pointer, least)) return;
      if (least < 1) return Wrong(pointer, "must be all, any or a number from 1 on");
      out.least = least;
    } else if (value == "all") {
      out.least = TriggerRule::kAll;
    } else if (value == "any") {
      out.least = TriggerRule::kAny;
    } else if (value.is_object()) {
      ReadSucceeded(value, pointer, out);
    } else {
      Wrong(pointer, "must be all, any or a number from 1 on");
    }
  }

  void ReadSucceeded(const json& value, const std::string& pointer, TriggerRule& out) {
    for (const auto& [name, entry] : value.items()) {
      if (name != "succeeded") {
        Unknown(name, JsonPointer(pointer, name), "a trigger rule", {"succeeded"});
      }
    }
    if (!value.contains("succeeded")) return Wrong(pointer + "/succeeded", "is missing");
    const json& least = value["succeeded"];
    out.succeeded = true;
    if (least == "all") return;
    const std::string place = pointer + "/succeeded";
    if (!least.is_number()) return Wrong(place, "must be all or a number from 1 on");
    if (!ReadWhole(least, place, out.least)) return;
    if (out.least < 1) Wrong(place, "must be all or a number from 1 on");
  }

  const UnknownFields unknown_fields_;
  bool graph_complete_ = true;
  WorkflowProblems problems_;
};

json RuleToJson(const TriggerRule& rule) {
  if (rule.succeeded) {
    const bool all = rule.least == TriggerRule::kAll;
    return {{"succeeded", all ? json("all") : json(rule.least)}};
  }
  if (rule.least == TriggerRule::kAll) return "all";
  return rule.least == TriggerRule::kAny ? json("any") : json(rule.least);
}

json EdgeToJson(const WorkflowEdge& edge) {
  if (edge == WorkflowEdge{.node = edge.node}) return edge.node;
  json out{{"node", edge.node}};
  if (edge.on != EdgeOn::kSuccess) out["on"] = Name(edge.on);
  if (!edge.condition.empty()) out["if"] = edge.condition;
  if (edge.recovers) out["recovers"] = true;
  return out;
}

json NodeToJson(const WorkflowNode& node) {
  json out = RulesToJson(node.rules);
  out["id"] = node.id;
  if (!node.job.value().empty()) out["job"] = node.job.value();
  if (!node.task.empty()) out["task"] = TaskToJson(node.task);
  if (node.approval) out["approval"] = ApprovalToJson(*node.approval);
  if (node.wait) out["wait"] = WaitToJson(*node.wait);
  for (const auto& [name, value] : node.parameters) {
    out["parameters"][name] = WriteParameterValue(value);
  }
  for (const WorkflowEdge& edge : node.after) out["after"].push_back(EdgeToJson(edge));
  if (node.trigger_rule != TriggerRule{}) out["trigger_rule"] = RuleToJson(node.trigger_rule);
  if (node.allow_failure) out["allow_failure"] = true;
  if (node.is_finally) out["finally"] = true;
  if (!node.over.empty()) out["over"] = node.over;
  if (!node.as.empty()) out["as"] = node.as;
  if (!node.collect.empty()) out["collect"] = node.collect;
  return out;
}

}  // namespace

ParsedWorkflow ParseWorkflow(const json& body, const WorkflowCheckOptions& options) {
  WorkflowReader reader(UnknownFields::kReport);
  ParsedWorkflow parsed{.definition = reader.Read(body), .problems = reader.problems()};
  WorkflowCheckOptions check = options;
  check.graph_complete = options.graph_complete && reader.graph_complete();
  const auto is_consequence = [&](const WorkflowProblem& found) {
    return std::any_of(
        reader.problems().begin(), reader.problems().end(),
        [&](const WorkflowProblem& known) { return IsWithin(found.pointer, known.pointer); });
  };
  for (WorkflowProblem& found : CheckWorkflow(parsed.definition, check)) {
    if (parsed.problems.size() >= kWorkflowProblemsMax) break;
    if (!is_consequence(found)) parsed.problems.push_back(std::move(found));
  }
  if (!parsed.problems.empty()) return parsed;
  const size_t bytes = WorkflowToText(parsed.definition).size();
  if (bytes > kWorkflowBytesMax) {
    parsed.problems.push_back(
        {Mistake::kLimit, "",
         fmt::format("has {} bytes; at most {} are allowed", bytes, kWorkflowBytesMax)});
  }
  return parsed;
}

ParsedWorkflow ReadWorkflow(const json& body) {
  WorkflowReader reader(UnknownFields::kReport);
  WorkflowDefinition definition = reader.Read(body);
  return {.definition = std::move(definition), .problems = reader.problems()};
}

json WorkflowToJson(const WorkflowDefinition& workflow) {
  json nodes = json::array();
  for (const WorkflowNode& node : workflow.nodes) nodes.push_back(NodeToJson(node));
  json body = {{"max_parallel", workflow.max_parallel}, {"nodes", std::move(nodes)}};
  if (workflow.finally_timeout_s != WorkflowDefinition{}.finally_timeout_s) {
    body["finally_timeout"] = workflow.finally_timeout_s;
  }
  if (!workflow.outputs.empty()) body["outputs"] = workflow.outputs;
  return body;
}

std::string_view KindOf(const WorkflowNode& node) {
  if (!node.task.empty()) return "task";
  if (node.approval) return "approval";
  return node.wait ? "wait" : "job";
}

json CompleteNodeToJson(const WorkflowNode& node) {
  json after = json::array();
  for (const WorkflowEdge& edge : node.after) {
    after.push_back({{"node", edge.node},
                     {"on", Name(edge.on)},
                     {"if", edge.condition.empty() ? json(nullptr) : json(edge.condition)},
                     {"recovers", edge.recovers}});
  }
  return {{"id", node.id},
          {"kind", KindOf(node)},
          {"job_id", RunsNoJob(node) ? json(nullptr) : json(node.job.value())},
          {"after", std::move(after)},
          {"trigger_rule", RuleToJson(node.trigger_rule)},
          {"allow_failure", node.allow_failure},
          {"finally", node.is_finally}};
}

json NodeWorkToJson(const WorkflowNode& node) {
  const auto text = [](const std::string& value) {
    return value.empty() ? json(nullptr) : json(value);
  };
  return {{"task", node.task.empty() ? json(nullptr) : TaskToJson(node.task)},
          {"approval", node.approval ? ApprovalToJson(*node.approval) : json(nullptr)},
          {"wait", node.wait ? WaitToJson(*node.wait) : json(nullptr)},
          {"rules", RulesToJson(node.rules)},
          {"over", text(node.over)},
          {"as", text(node.as)},
          {"collect", text(node.collect)}};
}

json NodeParametersToJson(const WorkflowNode& node) {
  json parameters = json::object();
  for (const auto& [name, value] : node.parameters) parameters[name] = WriteParameterValue(value);
  return parameters;
}

std::string WorkflowToText(const WorkflowDefinition& workflow) {
  return JsonToText(WorkflowToJson(workflow));
}

Result<WorkflowDefinition> WorkflowFromText(std::string_view text) {
  return WorkflowFromJson(json::parse(text.begin(), text.end(), nullptr, false));
}

Result<WorkflowDefinition> WorkflowFromJson(const json& body) {
  WorkflowReader reader(UnknownFields::kSkip);
  WorkflowDefinition workflow = reader.Read(body);
  if (reader.problems().empty()) return workflow;
  const WorkflowProblem& first = reader.problems().front();
  return Error{ErrorCode::kCorrupt, "stored workflow: " + first.message, first.pointer};
}

Status ReadWorkflowField(const json& value, const std::string& pointer,
                         std::optional<WorkflowDefinition>& out) {
  out.reset();
  if (value.is_null()) return {};
  auto workflow = WorkflowFromJson(value);
  if (!workflow.ok()) {
    return Error{ErrorCode::kInvalid, workflow.error().message, pointer + workflow.error().pointer};
  }
  out = std::move(*workflow);
  return {};
}

}  // namespace carillon
