#include "common/domain/workflow/workflow_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/base/nearest.h"
#include "common/domain/condition/condition.h"
#include "common/domain/enum_names.h"
#include "common/domain/job/job.h"
#include "common/domain/job_text.h"
#include "common/domain/nodes/node_check.h"
#include "common/domain/template/node_template.h"

namespace carillon {
namespace {

using Mistake = WorkflowMistake;

constexpr size_t kNameShownMax = 64;
constexpr size_t kSuggestionsMax = 10;  // "did you mean" compares with all ids
constexpr size_t kNoNode = static_cast<size_t>(-1);

constexpr std::array<NameOf<Mistake>, 15> kMistakes{
    {{Mistake::kBadField, "bad_field"},
     {Mistake::kLimit, "limit"},
     {Mistake::kDuplicateNode, "duplicate_node"},
     {Mistake::kDuplicateEdge, "duplicate_edge"},
     {Mistake::kUnknownNode, "unknown_node"},
     {Mistake::kCycle, "cycle"},
     {Mistake::kNotUpstream, "not_upstream"},
     {Mistake::kBadTriggerRule, "bad_trigger_rule"},
     {Mistake::kBadCondition, "bad_condition"},
     {Mistake::kBadTemplate, "bad_template"},
     {Mistake::kNeverStarts, "never_starts"},
     {Mistake::kUnknownJob, "unknown_job"},
     {Mistake::kForbidden, "forbidden"},
     {Mistake::kUnsafeParameter, "unsafe_parameter"},
     {Mistake::kTooDeep, "too_deep"}}};

std::string NodePointer(size_t node, std::string_view rest = "") {
  return fmt::format("/nodes/{}{}", node, rest);
}

std::string EdgePointer(size_t node, size_t edge, std::string_view rest = "") {
  return fmt::format("/nodes/{}/after/{}{}", node, edge, rest);
}

std::string_view Shown(std::string_view text) { return text.substr(0, kNameShownMax); }

// One pass over a definition. The methods run in the order in which they are declared.
class Checker {
 public:
  Checker(const WorkflowDefinition& workflow, const WorkflowCheckOptions& options)
      : nodes_(workflow.nodes), workflow_(workflow), options_(options) {}

  WorkflowProblems Check() && {
    CheckLimits();
    CheckFinally();
    IndexNodes();
    for (size_t i = 0; i < nodes_.size(); ++i) CheckNode(i);
    if (options_.graph_complete) {
      FindCycles();
      for (size_t i = 0; i < nodes_.size(); ++i) CheckTemplates(i);
      CheckOutputs();
    }
    return std::move(problems_);
  }

 private:
  void Note(Mistake code, std::string pointer, std::string message) {
    if (problems_.size() >= kWorkflowProblemsMax) return;
    problems_.push_back({code, std::move(pointer), std::move(message)});
  }

  void CheckLimits() {
    if (workflow_.max_parallel < 1 || workflow_.max_parallel > kMaxParallelMax) {
      Note(Mistake::kBadField, "/max_parallel",
           fmt::format("max_parallel is {}; it must be from 1 to {}", workflow_.max_parallel,
                       kMaxParallelMax));
    }
    if (nodes_.empty() && options_.graph_complete) {
      Note(Mistake::kLimit, "/nodes", "a workflow needs at least one node");
    }
    if (nodes_.size() > kWorkflowNodesMax) {
      Note(Mistake::kLimit, "/nodes",
           fmt::format("has {} nodes; at most {} are allowed", nodes_.size(), kWorkflowNodesMax));
    }
    size_t edges = 0;
    for (const WorkflowNode& node : nodes_) edges += node.after.size();
    if (edges > kWorkflowEdgesMax) {
      Note(Mistake::kLimit, "/nodes",
           fmt::format("has {} entries of `after`; at most {} are allowed", edges,
                       kWorkflowEdgesMax));
    }
  }

  void CheckFinally() {
    const auto is_finally = [](const WorkflowNode& node) { return node.is_finally; };
    if (workflow_.finally_timeout_s < 1 || workflow_.finally_timeout_s > kFinallyTimeoutMaxS) {
      Note(Mistake::kBadField, "/finally_timeout",
           fmt::format("is {}; it must be from 1 to {}", workflow_.finally_timeout_s,
                       kFinallyTimeoutMaxS));
    }
    if (!nodes_.empty() && options_.graph_complete && std::ranges::all_of(nodes_, is_finally)) {
      Note(Mistake::kBadField, NodePointer(0, "/finally"),
           "a workflow needs a node that is not finally");
    }
  }

  void IndexNodes() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const std::string& id = nodes_[i].id;
      // Without its id, a node was not read; that has been reported.
      if (id.empty() && !options_.graph_complete) continue;
      if (!IsNodeId(id)) {
        Note(Mistake::kBadField, NodePointer(i, "/id"),
             "must be 1 to 63 characters of a-z, 0-9, _ and -, beginning with a letter or a digit");
      }
      const auto [known, is_new] = positions_.emplace(id, i);
      if (!is_new) {
        Note(Mistake::kDuplicateNode, NodePointer(i, "/id"),
             fmt::format("node {} is named '{}' too", known->second + 1, Shown(id)));
      }
    }
    for (const WorkflowNode& node : nodes_) {
      std::vector<size_t>& froms = froms_.emplace_back();
      for (const WorkflowEdge& edge : node.after) {
        const auto from = positions_.find(edge.node);
        froms.push_back(from == positions_.end() ? kNoNode : from->second);
      }
    }
  }

  std::string NoNode(std::string_view id) const {
    std::vector<std::string_view> ids;
    if (problems_.size() < kSuggestionsMax) {
      for (const auto& [known, position] : positions_) ids.push_back(known);
    }
    return fmt::format("no node '{}'{}", Shown(id), DidYouMean(Shown(id), ids));
  }

  void CheckNode(size_t i) {
    const WorkflowNode& node = nodes_[i];
    // Without its kind, a node was not read; that has been reported.
    if (HasKind(node) || options_.graph_complete) {
      for (Error& mistake : FindNodeMistakes(node)) {
        Note(Mistake::kBadField, NodePointer(i, mistake.pointer), std::move(mistake.message));
      }
    }
    const Status parameters = ValidateParameters(node.parameters);
    if (!parameters.ok()) {
      Note(Mistake::kBadField, NodePointer(i, parameters.error().pointer),
           parameters.error().message);
    }
    int64_t can_be_met = 0;
    for (size_t edge = 0; edge < node.after.size(); ++edge) {
      if (CheckEdge(i, edge)) ++can_be_met;
    }
    if (options_.graph_complete) CheckRule(i, can_be_met);
  }

  // Returns false if the edge can never be met.
  bool CheckEdge(size_t i, size_t index) {
    const WorkflowNode& node = nodes_[i];
    const WorkflowEdge& edge = node.after[index];
    const auto end = node.after.begin() + static_cast<long>(index);
    const bool repeated = std::any_of(node.after.begin(), end, [&](const WorkflowEdge& other) {
      return other.node == edge.node;
    });
    if (repeated) {
      Note(Mistake::kDuplicateEdge, EdgePointer(i, index),
           fmt::format("'{}' is listed twice; use `on: done` and one condition", Shown(edge.node)));
    }
    if (edge.recovers && edge.on == EdgeOn::kSuccess) {
      Note(Mistake::kBadField, EdgePointer(i, index, "/recovers"),
           "recovers needs `on: failure` or `on: done`, because it is about failures");
    }
    const size_t from = froms_[i][index];
    if (from == kNoNode && options_.graph_complete) {
      Note(Mistake::kUnknownNode, EdgePointer(i, index, "/node"), NoNode(edge.node));
    }
    if (from != kNoNode) CheckPhases(i, index, nodes_[from]);
    return CanCount(i, index);
  }

  // Finally nodes start when all others have ended, so no edge is between the two.
  void CheckPhases(size_t i, size_t index, const WorkflowNode& from) {
    const WorkflowNode& node = nodes_[i];
    if (node.is_finally && node.after[index].recovers) {
      Note(Mistake::kBadField, EdgePointer(i, index, "/recovers"),
           "a finally node cannot repair a failure");
    }
    if (node.is_finally == from.is_finally) return;
    Note(Mistake::kBadField, EdgePointer(i, index, "/node"),
         node.is_finally ? fmt::format("'{}' is no finally node; a finally node starts when all "
                                       "others have ended",
                                       Shown(from.id))
                         : fmt::format("'{}' is a finally node, and only such a node can be after "
                                       "it",
                                       Shown(from.id)));
  }

  // Returns false if the edge can never count for the trigger rule of the node.
  bool CanCount(size_t i, size_t index) {
    const WorkflowNode& node = nodes_[i];
    const WorkflowEdge& edge = node.after[index];
    const size_t from = froms_[i][index];
    const bool succeeded = node.trigger_rule.succeeded;
    if (succeeded && edge.on == EdgeOn::kFailure) return false;
    if (edge.condition.empty()) return true;
    const auto condition = Condition::Parse(edge.condition);
    if (!condition.ok()) {
      Note(Mistake::kBadCondition, EdgePointer(i, index, "/if"), condition.error().message);
      return true;
    }
    if (succeeded) return condition->CanHold(RunState::kCompleted);
    const bool may_fail = from == kNoNode || nodes_[from].allow_failure;
    return CanBeMet(edge.on, may_fail, *condition);
  }

  static bool CanBeMet(EdgeOn on, bool allow_failure, const Condition& condition) {
    constexpr std::array kFailures{RunState::kFailed, RunState::kTimedOut, RunState::kCancelled,
                                   RunState::kLost, RunState::kSkipped};
    if (on != EdgeOn::kFailure && condition.CanHold(RunState::kCompleted)) return true;
    if (on == EdgeOn::kSuccess && !allow_failure) return false;
    return std::any_of(kFailures.begin(), kFailures.end(),
                       [&](RunState state) { return condition.CanHold(state); });
  }

  void CheckRule(size_t i, int64_t can_be_met) {
    const WorkflowNode& node = nodes_[i];
    const int64_t least = node.trigger_rule.least;
    const auto edges = static_cast<int64_t>(node.after.size());
    const bool succeeded = node.trigger_rule.succeeded;
    const bool out_of_bounds = least != TriggerRule::kAll && (least < 1 || least > edges);
    if (out_of_bounds || (succeeded && edges == 0)) {
      Note(Mistake::kBadTriggerRule, NodePointer(i, "/trigger_rule"),
           edges == 0 ? "a node without `after` starts at once and has no trigger rule"
                      : fmt::format("is {}, but the node has {} entries in `after`", least, edges));
      return;
    }
    const bool every = succeeded && least == TriggerRule::kAll;
    const int64_t needed = every ? edges : edges == 0 ? 0 : std::max<int64_t>(least, 1);
    if (can_be_met >= needed) return;
    Note(Mistake::kNeverStarts, NodePointer(i, "/after"),
         fmt::format("node '{}' can never start: {} of its conditions must hold, and {} can",
                     Shown(node.id), needed, can_be_met));
  }

  // Reports a cycle for each node that begins one, but none that shares nodes with an earlier one.
  void FindCycles() {
    marks_.assign(nodes_.size(), Mark::kNew);
    in_cycle_.assign(nodes_.size(), false);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (marks_[i] == Mark::kNew) Visit(i);
    }
  }

  // Depth first, upstream; at most kWorkflowNodesMax calls deep, because longer lists of nodes have
  // been refused.
  void Visit(size_t i) {
    if (nodes_.size() > kWorkflowNodesMax) return;
    marks_[i] = Mark::kOnPath;
    path_.push_back(i);
    for (const size_t from : froms_[i]) {
      if (from == kNoNode) continue;
      if (marks_[from] == Mark::kNew) Visit(from);
      if (marks_[from] == Mark::kOnPath) NoteCycle(from);
    }
    path_.pop_back();
    marks_[i] = Mark::kDone;
  }

  // The path ends with a node that is after `first`, and begins its cycle at `first`.
  void NoteCycle(size_t first) {
    const auto begin = std::find(path_.begin(), path_.end(), first);
    const bool known = std::any_of(begin, path_.end(), [&](size_t i) { return in_cycle_[i]; });
    if (known) return;
    // The path goes upstream; the text goes in the direction in which nodes would start.
    std::string text = nodes_[first].id;
    for (auto step = path_.end(); step != begin;) {
      --step;
      in_cycle_[*step] = true;
      text += " -> " + nodes_[*step].id;
    }
    const size_t last = path_.back();
    const auto edge = std::find(froms_[last].begin(), froms_[last].end(), first);
    Note(Mistake::kCycle,
         EdgePointer(last, static_cast<size_t>(edge - froms_[last].begin()), "/node"), text);
  }

  void CheckTemplates(size_t i) {
    std::optional<std::vector<bool>> upstream;
    for (const NodeText& text : TextsOf(nodes_[i])) {
      const std::string pointer = NodePointer(i, text.pointer);
      const auto expressions = ExpressionsOf(text.value);
      if (!expressions.ok()) {
        Note(Mistake::kBadTemplate, pointer, expressions.error().message);
        continue;
      }
      for (const NodeExpression& expression : *expressions) {
        if (!expression.node.empty() && !upstream) upstream = Upstream(i);
        if (!nodes_[i].is_finally) CheckState(expression, pointer);
        CheckExpression(expression, upstream, pointer);
      }
    }
  }

  void CheckState(const NodeExpression& expression, const std::string& pointer) {
    if (expression.kind != NodeExpression::Kind::kWorkflowState) return;
    Note(Mistake::kBadTemplate, pointer, "only a finally node can know workflow.state");
  }

  // Those of the workflow run itself, for which all nodes have ended.
  void CheckOutputs() {
    if (workflow_.outputs.size() > kWorkflowOutputsMax) {
      Note(Mistake::kLimit, "/outputs",
           fmt::format("has {} entries; at most {} are allowed", workflow_.outputs.size(),
                       kWorkflowOutputsMax));
    }
    const std::optional every = std::vector<bool>(nodes_.size(), true);
    for (const auto& [name, text] : workflow_.outputs) {
      const std::string pointer = "/outputs/" + EscapePointer(name);
      if (!IsOutputName(name)) {
        Note(Mistake::kBadField, pointer, "is not the name of an output");
      }
      if (std::string fault = TextFault(text, kOutputsBytesMax); !fault.empty()) {
        Note(Mistake::kBadField, pointer, std::move(fault));
        continue;
      }
      const auto expressions = ExpressionsOf(text);
      if (!expressions.ok()) {
        Note(Mistake::kBadTemplate, pointer, expressions.error().message);
        continue;
      }
      for (const NodeExpression& expression : *expressions) {
        CheckState(expression, pointer);
        CheckExpression(expression, every, pointer);
      }
    }
  }

  void CheckExpression(const NodeExpression& expression,
                       const std::optional<std::vector<bool>>& upstream,
                       const std::string& pointer) {
    if (expression.kind == NodeExpression::Kind::kWorkflowParameter) {
      if (options_.parameters == nullptr || options_.parameters->contains(expression.name)) return;
      Note(Mistake::kBadTemplate, pointer,
           fmt::format("the workflow has no parameter '{}' with a default", expression.name));
    }
    if (expression.node.empty()) return;
    const auto found = positions_.find(expression.node);
    if (found == positions_.end()) {
      Note(Mistake::kUnknownNode, pointer, NoNode(expression.node));
    } else if (!(*upstream)[found->second]) {
      Note(Mistake::kNotUpstream, pointer,
           fmt::format("node '{}' is not upstream, so it may not have ended", expression.node));
    }
  }

  // The nodes that are upstream of `i`, directly or not; of a finally node all that are none.
  std::vector<bool> Upstream(size_t i) const {
    std::vector<bool> found(nodes_.size());
    if (nodes_[i].is_finally) {
      std::transform(nodes_.begin(), nodes_.end(), found.begin(),
                     [](const WorkflowNode& node) { return !node.is_finally; });
    }
    std::vector<size_t> left{i};
    while (!left.empty()) {
      const size_t at = left.back();
      left.pop_back();
      for (const size_t from : froms_[at]) {
        if (from == kNoNode || from == i || found[from]) continue;
        found[from] = true;
        left.push_back(from);
      }
    }
    return found;
  }

  enum class Mark { kNew, kOnPath, kDone };

  const std::vector<WorkflowNode>& nodes_;
  const WorkflowDefinition& workflow_;
  const WorkflowCheckOptions& options_;
  std::map<std::string, size_t, std::less<>> positions_;  // of the first node with each id
  std::vector<std::vector<size_t>> froms_;  // the upstream node of each edge of each node
  std::vector<Mark> marks_;
  std::vector<size_t> path_;
  std::vector<bool> in_cycle_;
  WorkflowProblems problems_;
};

}  // namespace

std::string_view Name(WorkflowMistake mistake) { return NameIn(kMistakes, mistake); }

WorkflowProblems CheckWorkflow(const WorkflowDefinition& workflow,
                               const WorkflowCheckOptions& options) {
  return Checker(workflow, options).Check();
}

}  // namespace carillon
