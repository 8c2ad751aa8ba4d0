#include "tests/support/workflow_reference.h"

#include <cstdlib>

namespace carillon::test {
namespace {

// Of a node: "", "success", "failure", "not selected", "upstream failed" or "too few". Empty: not
// known yet.
using Words = std::map<std::string, std::string>;

std::optional<double> NumberOutput(const NodeRow& row, const std::string& name) {
  const auto found = row.outputs.find(name);
  if (row.state == RunState::kSkipped || found == row.outputs.end()) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(found->second.c_str(), &end);
  if (found->second.empty() || *end != '\0') return std::nullopt;
  return number;
}

bool HasOutput(const NodeRow& row, const std::string& name) {
  return row.state != RunState::kSkipped && row.outputs.contains(name);
}

std::optional<bool> FlagOutput(const NodeRow& row, const std::string& name) {
  if (!HasOutput(row, name)) return std::nullopt;
  const std::string& text = row.outputs.at(name);
  if (text != "true" && text != "false") return std::nullopt;
  return text == "true";
}

std::string WordOf(const NodeRow& row) {
  if (row.state == RunState::kCompleted) return "success";
  const bool skipped = row.state == RunState::kSkipped;
  return skipped && row.reason == "skipped_by_hand" ? "success" : "failure";
}

const WorkflowNode& NodeOf(const WorkflowDefinition& workflow, const std::string& id) {
  for (const WorkflowNode& node : workflow.nodes) {
    if (node.id == id) return node;
  }
  std::abort();
}

// "waits", "met", "failed", "ignored" or "broken".
std::string Judged(const WorkflowDefinition& workflow, const WorkflowEdge& edge, const Words& words,
                   const ReferenceEnds& ends) {
  std::string word = words.at(edge.node);
  if (word.empty()) return "waits";
  if (NodeOf(workflow, edge.node).allow_failure) {
    if (word == "failure") word = "tolerated";
    if (word == "too few") word = "tolerated too few";
  }
  static const std::map<std::string, std::map<EdgeOn, std::string>> kTable{
      {"success",
       {{EdgeOn::kSuccess, "met"}, {EdgeOn::kFailure, "ignored"}, {EdgeOn::kDone, "met"}}},
      {"failure",
       {{EdgeOn::kSuccess, "failed"}, {EdgeOn::kFailure, "met"}, {EdgeOn::kDone, "met"}}},
      {"tolerated", {{EdgeOn::kSuccess, "met"}, {EdgeOn::kFailure, "met"}, {EdgeOn::kDone, "met"}}},
      {"not selected",
       {{EdgeOn::kSuccess, "ignored"}, {EdgeOn::kFailure, "ignored"}, {EdgeOn::kDone, "ignored"}}},
      {"upstream failed",
       {{EdgeOn::kSuccess, "failed"}, {EdgeOn::kFailure, "ignored"}, {EdgeOn::kDone, "met"}}},
      {"too few",
       {{EdgeOn::kSuccess, "failed"}, {EdgeOn::kFailure, "ignored"}, {EdgeOn::kDone, "met"}}},
      {"tolerated too few",
       {{EdgeOn::kSuccess, "met"}, {EdgeOn::kFailure, "ignored"}, {EdgeOn::kDone, "met"}}}};
  const std::string answer = kTable.at(word).at(edge.on);
  if (answer != "met" || edge.condition.empty()) return answer;
  // A node that the rules have skipped has no row among the ends.
  NodeRow row{.state = RunState::kSkipped};
  if (ends.contains(edge.node)) row = ends.at(edge.node);
  if (row.state == RunState::kSkipped && row.reason == "skipped_by_hand") return "met";
  for (const ReferenceCondition& condition : ReferenceConditions()) {
    if (condition.text != edge.condition) continue;
    const auto holds = condition.holds(row);
    if (!holds) return "broken";
    return *holds ? "met" : "ignored";
  }
  std::abort();
}

// A finally node waits until every other one has a word.
bool MainGoesOn(const WorkflowDefinition& workflow, const Words& words) {
  for (const WorkflowNode& node : workflow.nodes) {
    if (!node.is_finally && words.at(node.id).empty()) return true;
  }
  return false;
}

// Of a node with trigger rule `succeeded`.
ReferenceFate FateBySuccesses(const WorkflowDefinition& workflow, const WorkflowNode& node,
                              const Words& words, const ReferenceEnds& ends) {
  size_t good = 0;
  size_t open = 0;
  bool broken = false;
  for (const WorkflowEdge& edge : node.after) {
    const std::string answer = Judged(workflow, edge, words, ends);
    if (answer == "met" && words.at(edge.node) == "success") ++good;
    if (answer == "waits") ++open;
    if (answer == "broken") broken = true;
  }
  const size_t wanted = node.trigger_rule.least == 0 ? node.after.size()
                                                     : static_cast<size_t>(node.trigger_rule.least);
  if (good >= wanted) return {.starts = true};
  if (open > 0) return {};
  return {.skipped = broken ? "bad_condition" : "too_few"};
}

ReferenceFate FateOf(const WorkflowDefinition& workflow, const WorkflowNode& node,
                     const Words& words, const ReferenceEnds& ends) {
  if (node.is_finally && MainGoesOn(workflow, words)) return {};
  if (node.trigger_rule.succeeded) return FateBySuccesses(workflow, node, words, ends);
  std::map<std::string, int64_t> count;
  for (const WorkflowEdge& edge : node.after) ++count[Judged(workflow, edge, words, ends)];
  const int64_t least = node.trigger_rule.least;
  if (node.after.empty()) return {.starts = true};
  if (least > 0 && count["met"] >= least) return {.starts = true};
  if (count["waits"] > 0) return {};
  const bool starts =
      least == 0 && count["met"] > 0 && count["failed"] == 0 && count["broken"] == 0;
  if (starts) return {.starts = true};
  if (count["broken"] > 0) return {.skipped = "bad_condition"};
  return {.skipped = count["failed"] > 0 ? "upstream_failed" : "not_selected"};
}

// The words of all nodes, and the fates of those that are neither in `ends` nor `running`.
Words FixedPoint(const WorkflowDefinition& workflow, const ReferenceEnds& ends,
                 const std::set<std::string>& running,
                 std::map<std::string, ReferenceFate>& fates) {
  Words words;
  for (const WorkflowNode& node : workflow.nodes) {
    words[node.id] = ends.contains(node.id) ? WordOf(ends.at(node.id)) : "";
  }
  for (Words before; before != words;) {
    before = words;
    for (const WorkflowNode& node : workflow.nodes) {
      if (ends.contains(node.id) || running.contains(node.id)) continue;
      const ReferenceFate fate = FateOf(workflow, node, words, ends);
      fates[node.id] = fate;
      if (fate.skipped == "not_selected") words[node.id] = "not selected";
      if (fate.skipped == "upstream_failed") words[node.id] = "upstream failed";
      if (fate.skipped == "too_few") words[node.id] = "too few";
      if (fate.skipped == "bad_condition") words[node.id] = "failure";
    }
  }
  return words;
}

bool IsRepairedInReference(const WorkflowDefinition& workflow, const std::string& id,
                           const Words& words, const ReferenceEnds& ends) {
  for (const WorkflowNode& node : workflow.nodes) {
    for (const WorkflowEdge& edge : node.after) {
      // A success is a run, or the word of a person. What never started has repaired nothing.
      const bool started = ends.contains(node.id) && ends.at(node.id).claimed &&
                           ends.at(node.id).state != RunState::kSkipped;
      const bool was_run =
          words.at(node.id) == "success" || (words.at(node.id) == "failure" && started);
      const bool repairs = edge.node == id && edge.recovers && was_run;
      if (repairs && Judged(workflow, edge, words, ends) == "met") return true;
    }
  }
  return false;
}

}  // namespace

const std::vector<ReferenceCondition>& ReferenceConditions() {
  using Answer = std::optional<bool>;
  static const std::vector<ReferenceCondition> kConditions{
      {"true", [](const NodeRow&) -> Answer { return true; }},
      {"false", [](const NodeRow&) -> Answer { return false; }},
      {"exit_code == 3",
       [](const NodeRow& row) -> Answer {
         if (row.state == RunState::kSkipped || !row.exit_code) return std::nullopt;
         return *row.exit_code == 3;
       }},
      {"exit_code == null or exit_code <= 2",
       [](const NodeRow& row) -> Answer {
         if (row.state == RunState::kSkipped || !row.exit_code) return true;
         return *row.exit_code <= 2;
       }},
      {"state == \"FAILED\" or state == 'COMPLETED'",
       [](const NodeRow& row) -> Answer {
         return row.state == RunState::kFailed || row.state == RunState::kCompleted;
       }},
      {"outputs.n > 5",
       [](const NodeRow& row) -> Answer {
         const auto number = NumberOutput(row, "n");
         if (!number) return std::nullopt;
         return *number > 5;
       }},
      {"outputs.n != null and not (outputs.n >= 5)",
       [](const NodeRow& row) -> Answer {
         if (!HasOutput(row, "n")) return false;
         const auto number = NumberOutput(row, "n");
         if (!number) return std::nullopt;
         return *number < 5;
       }},
      {"outputs.ok", [](const NodeRow& row) -> Answer { return FlagOutput(row, "ok"); }},
      {"state != \"FAILED\" or not outputs.ok",
       [](const NodeRow& row) -> Answer {
         if (row.state != RunState::kFailed) return true;
         const auto flag = FlagOutput(row, "ok");
         if (!flag) return std::nullopt;
         return !*flag;
       }},
  };
  return kConditions;
}

std::map<std::string, ReferenceFate> ReferenceFates(const WorkflowDefinition& workflow,
                                                    const ReferenceEnds& ends,
                                                    const std::set<std::string>& running) {
  std::map<std::string, ReferenceFate> fates;
  FixedPoint(workflow, ends, running, fates);
  return fates;
}

std::optional<RunState> ReferenceResult(const WorkflowDefinition& workflow,
                                        const ReferenceEnds& ends) {
  std::map<std::string, ReferenceFate> fates;
  const Words words = FixedPoint(workflow, ends, {}, fates);
  RunState result = RunState::kCompleted;
  for (const WorkflowNode& node : workflow.nodes) {
    if (words.at(node.id).empty()) return std::nullopt;
    const bool bad = words.at(node.id) == "failure" || words.at(node.id) == "too few";
    const bool failed =
        bad && !node.allow_failure && !IsRepairedInReference(workflow, node.id, words, ends);
    if (failed) result = RunState::kFailed;
  }
  return result;
}

std::vector<std::string> ReferenceDownstream(const WorkflowDefinition& workflow,
                                             const std::string& id) {
  std::set<std::string> found;
  // All finally nodes are behind every other one.
  for (const WorkflowNode& node : workflow.nodes) {
    if (node.is_finally && !NodeOf(workflow, id).is_finally) found.insert(node.id);
  }
  for (size_t before = found.size() + 1; before != found.size();) {
    before = found.size();
    for (const WorkflowNode& node : workflow.nodes) {
      for (const WorkflowEdge& edge : node.after) {
        if (edge.node == id || found.contains(edge.node)) found.insert(node.id);
      }
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace carillon::test
