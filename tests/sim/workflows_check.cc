#include "tests/sim/workflows_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/domain/workflow/node_key.h"

namespace carillon::sim {
namespace {

std::string DescribeNode(const RunRow& row) {
  return fmt::format("run {} {} attempt {}", EncodeRunId(row.key), Name(row.state), row.attempt);
}

// One that waits for runs of other jobs is blocked after that.
bool IsBlocked(const RunRow& row) {
  return row.state == RunState::kPending && (row.due == kBlocked || row.due == kAwaiting);
}

// An approval or a wait that has begun. It has no process.
bool IsOpened(const RunRow& row) {
  return row.state == RunState::kPending && IsOpenedNode(row.due);
}

// A member may be busy, and looks at all open workflow runs every other second.
constexpr Duration kStartsWithin = 20s;

// The number in "exit_code == 3".
int WantedCode(const std::string& condition) {
  return std::stoi(condition.substr(condition.rfind(' ') + 1));
}

}  // namespace

std::optional<WorkflowsCheck::View> WorkflowsCheck::ViewOf(uint64_t no) const {
  const auto entry = tables_.workflow_runs.find(no);
  if (entry == tables_.workflow_runs.end()) return std::nullopt;
  const memory::JobEntry* job = tables_.FindJob(entry->second.job_no);
  const auto definition = job->versions.find(entry->second.def_version);
  if (definition == job->versions.end() || !definition->second.workflow) return std::nullopt;
  View view{.entry = entry->second, .definition = *definition->second.workflow, .nodes = {}};
  for (size_t i = 0; i < view.definition.nodes.size(); ++i) {
    const auto key = NodeKey(entry->second.run.fire, {no, i});
    const memory::RunEntry* run = tables_.FindRun(*key);
    if (run == nullptr) return std::nullopt;  // the begin is still writing them
    view.nodes.push_back(run);
  }
  return view;
}

std::optional<RunKey> WorkflowsCheck::OwnOf(const RunKey& key) const {
  const auto place = NodePlaceOf(key);
  if (!place) return std::nullopt;
  const auto entry = tables_.workflow_runs.find(place->workflow_run_no);
  if (entry == tables_.workflow_runs.end()) return std::nullopt;
  return entry->second.own;
}

RunKey WorkflowsCheck::OutermostOf(const RunKey& key) const {
  const auto own = OwnOf(key);
  return own ? OutermostOf(*own) : key;
}

bool WorkflowsCheck::AreOfOne(const RunKey& a, const RunKey& b) const {
  return OutermostOf(a) == OutermostOf(b);
}

size_t WorkflowsCheck::PositionOf(const View& view, const WorkflowEdge& edge) {
  const auto& nodes = view.definition.nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const WorkflowNode& node) { return node.id == edge.node; });
  return static_cast<size_t>(found - nodes.begin());
}

WorkflowsCheck::End WorkflowsCheck::EndOf(const memory::RunEntry& run) {
  if (!IsFinal(run.row.state)) return End::kOpen;
  if (run.row.state == RunState::kCompleted) return End::kSuccess;
  if (run.row.state != RunState::kSkipped) return End::kFailure;
  const std::string& why = run.result.reason;
  if (why == "skipped_by_hand") return End::kSuccess;
  if (why == "not_selected") return End::kNotSelected;
  if (why == "too_few") return End::kTooFew;
  return why == "upstream_failed" ? End::kUpstreamFailed : End::kFailure;
}

WorkflowsCheck::Answer WorkflowsCheck::AnswerOf(const View& view, const WorkflowEdge& edge) {
  const auto& nodes = view.definition.nodes;
  const size_t at = PositionOf(view, edge);
  const memory::RunEntry& run = *view.nodes[at];
  const bool failure_counts = nodes[at].allow_failure;
  Answer answer = Answer::kIgnored;
  switch (EndOf(run)) {
    case End::kOpen: return Answer::kOpen;
    case End::kNotSelected: return Answer::kIgnored;
    case End::kUpstreamFailed:
      answer = edge.on == EdgeOn::kSuccess ? Answer::kFailed
               : edge.on == EdgeOn::kDone  ? Answer::kMet
                                           : Answer::kIgnored;
      break;
    case End::kTooFew:
      answer = edge.on == EdgeOn::kFailure                      ? Answer::kIgnored
               : edge.on == EdgeOn::kSuccess && !failure_counts ? Answer::kFailed
                                                                : Answer::kMet;
      break;
    case End::kSuccess:
      answer = edge.on == EdgeOn::kFailure ? Answer::kIgnored : Answer::kMet;
      break;
    case End::kFailure:
      answer = edge.on == EdgeOn::kSuccess && !failure_counts ? Answer::kFailed : Answer::kMet;
      break;
  }
  const bool asked =
      answer == Answer::kMet && !edge.condition.empty() && run.result.reason != "skipped_by_hand";
  if (asked && run.result.exit_code != WantedCode(edge.condition)) return Answer::kIgnored;
  return answer;
}

bool WorkflowsCheck::HasMainEnded(const View& view) {
  for (size_t i = 0; i < view.nodes.size(); ++i) {
    if (!view.definition.nodes[i].is_finally && !IsFinal(view.nodes[i]->row.state)) return false;
  }
  return true;
}

WorkflowsCheck::Fate WorkflowsCheck::FateOf(const View& view, const WorkflowNode& node) {
  if (node.is_finally && !HasMainEnded(view)) return Fate::kWait;
  const bool successes = node.trigger_rule.succeeded;
  int64_t met = 0, failed = 0, open = 0;
  for (const WorkflowEdge& edge : node.after) {
    const Answer answer = AnswerOf(view, edge);
    const bool counts = !successes || EndOf(*view.nodes[PositionOf(view, edge)]) == End::kSuccess;
    met += answer == Answer::kMet && counts ? 1 : 0;
    failed += answer == Answer::kFailed ? 1 : 0;
    open += answer == Answer::kOpen ? 1 : 0;
  }
  const bool all = node.trigger_rule.least == TriggerRule::kAll;
  if (all && node.after.empty()) return Fate::kStart;
  if (successes) {
    const auto wanted = all ? static_cast<int64_t>(node.after.size()) : node.trigger_rule.least;
    return met >= wanted ? Fate::kStart : open > 0 ? Fate::kWait : Fate::kTooFew;
  }
  if (!all && met >= node.trigger_rule.least) return Fate::kStart;
  if (open > 0) return Fate::kWait;
  if (all && met > 0 && failed == 0) return Fate::kStart;
  return failed > 0 ? Fate::kUpstreamFailed : Fate::kNotSelected;
}

bool WorkflowsCheck::Fails(const View& view) {
  const auto& nodes = view.definition.nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].allow_failure) continue;
    const End end = EndOf(*view.nodes[i]);
    // The late success of a lost run has come after this node had been skipped.
    if (end == End::kUpstreamFailed && FateOf(view, nodes[i]) != Fate::kUpstreamFailed) return true;
    if (end != End::kFailure && end != End::kTooFew) continue;
    bool recovered = false;
    for (size_t j = 0; j < nodes.size(); ++j) {
      const End other = EndOf(*view.nodes[j]);
      // A run that was skipped or cancelled before its start, or waited in vain, recovers nothing.
      const RunRow& row = view.nodes[j]->row;
      const bool may_not_have =
          row.state == RunState::kCancelled || view.nodes[j]->result.reason == "upstream_timeout";
      const bool began =
          row.state != RunState::kSkipped && (!may_not_have || row.claimed != WallTime{});
      const bool counts = other == End::kSuccess || (other == End::kFailure && began);
      for (const WorkflowEdge& edge : nodes[j].after) {
        recovered = recovered || (edge.recovers && edge.node == nodes[i].id && counts &&
                                  AnswerOf(view, edge) == Answer::kMet);
      }
    }
    if (!recovered) return true;
  }
  return false;
}

// The number of nodes that count towards max_parallel.
int64_t WorkflowsCheck::ActiveOf(const View& view) {
  return std::count_if(view.nodes.begin(), view.nodes.end(), [](const memory::RunEntry* one) {
    return !IsFinal(one->row.state) && !IsBlocked(one->row) && !IsOpened(one->row);
  });
}

std::optional<std::string> WorkflowsCheck::Released(const View& view, const WorkflowNode& node,
                                                    const RunRow& after) {
  ++released_;
  if (auto wrong = CheckBegin(view.entry.own, view.entry.run.no)) return wrong;
  const RunRow& own = tables_.FindRun(view.entry.own)->row;
  const bool stops = node.is_finally ? own.cancel_requested == CancelMode::kKill
                                     : own.cancel_requested.has_value();
  if (own.state != RunState::kRunning || stops) {
    return "released although its workflow run does not run: " + DescribeNode(after);
  }
  if (FateOf(view, node) != Fate::kStart) {
    return "released against the rules: " + DescribeNode(after);
  }
  if (node.approval || node.wait || ActiveOf(view) <= view.definition.max_parallel) {
    return std::nullopt;
  }
  return fmt::format("released as one of {}, max_parallel {}: {}", ActiveOf(view),
                     view.definition.max_parallel, DescribeNode(after));
}

std::optional<std::string> WorkflowsCheck::NodeWritten(const RunRow& before, const RunRow& after) {
  if (after.kind != RunKind::kWorkflow)
    return "taken from its workflow run: " + DescribeNode(after);
  const auto place = NodePlaceOf(after.key);
  const auto view = ViewOf(place->workflow_run_no);
  if (!view) return std::nullopt;
  const WorkflowNode& node = view->definition.nodes[place->position];
  const Fate fate = FateOf(*view, node);
  // A wait that is over when it begins ends at once.
  const bool starts =
      (after.state == RunState::kPending && !IsBlocked(after)) ||
      (after.state == RunState::kCompleted && node.wait && after.attempt == before.attempt);
  if (IsBlocked(before) && starts) {
    if (auto wrong = Released(*view, node, after)) return wrong;
  }
  if (!IsBlocked(before) || after.state != RunState::kSkipped) return std::nullopt;
  const memory::RunEntry& run = *view->nodes[place->position];
  const End end = EndOf(run);
  const bool wrong = (end == End::kNotSelected && fate != Fate::kNotSelected) ||
                     (end == End::kUpstreamFailed && fate != Fate::kUpstreamFailed) ||
                     (end == End::kTooFew && fate != Fate::kTooFew);
  if (wrong) return "skipped against the rules: " + DescribeNode(after);
  return std::nullopt;
}

void WorkflowsCheck::Reopened(const RunKey& own, BeginKind next) {
  if (NodePlaceOf(own)) return;  // CheckInput judges what a nested run's begin had to do
  const auto number = tables_.workflow_numbers.find(own);
  if (number != tables_.workflow_numbers.end()) reopened_[own] = {next, number->second};
}

std::vector<RunKey> WorkflowsCheck::RunsFromBefore(const RunKey& node) const {
  std::vector<RunKey> runs;
  const auto own = OwnOf(node);
  for (const auto& [no, entry] : tables_.workflow_runs) {
    if (entry.own != own || no >= NodePlaceOf(node)->workflow_run_no) continue;
    for (size_t i = 0; i < kNodePositionsMax; ++i) {
      const RunKey key = *NodeKey(entry.run.fire, {no, i});
      if (tables_.FindRun(key) == nullptr) break;
      runs.push_back(key);
    }
  }
  return runs;
}

std::optional<std::string> WorkflowsCheck::CheckInput(const RunKey& own, uint64_t no) const {
  const auto place = NodePlaceOf(own);
  const auto begun = begun_.find(no);
  if (!place || begun == begun_.end()) return std::nullopt;
  const auto around = ViewOf(place->workflow_run_no);
  if (!around) return std::nullopt;
  for (const WorkflowEdge& edge : around->definition.nodes[place->position].after) {
    const RunKey& before = around->nodes[PositionOf(*around, edge)]->row.key;
    const auto again = run_again_.find(before);
    if (again == run_again_.end() || again->second < begun->second) continue;
    return fmt::format(
        "run {} goes on with workflow run {}, which began before run {} had to run again",
        EncodeRunId(own), no, EncodeRunId(before));
  }
  return std::nullopt;
}

std::optional<std::string> WorkflowsCheck::CheckBegin(const RunKey& own, uint64_t no) const {
  if (auto wrong = CheckInput(own, no)) return wrong;
  const auto found = reopened_.find(own);
  if (found == reopened_.end()) return std::nullopt;
  const auto& [next, before] = found->second;
  if ((next == BeginKind::kAnew) == (no != before)) return std::nullopt;
  return fmt::format("run {} had to be {}, and has workflow run {} after {}", EncodeRunId(own),
                     Name(next), no, before);
}

std::optional<std::string> WorkflowsCheck::NodeMade(const RunRow& node) const {
  const auto own = OwnOf(node.key);
  if (!own) return std::nullopt;
  const auto wanted = tables_.FindRun(*own)->row.flags & run_flag::kBackground;
  if ((node.flags & run_flag::kBackground) == wanted) return std::nullopt;
  return "has another origin than its workflow run: " + DescribeNode(node);
}

std::optional<std::string> WorkflowsCheck::OwnWritten(const View& view, const RunRow& after) const {
  if (after.state != RunState::kCompleted && after.state != RunState::kFailed) return std::nullopt;
  const bool open = std::any_of(view.nodes.begin(), view.nodes.end(),
                                [](const auto* node) { return !IsFinal(node->row.state); });
  if (open) return "ended before its nodes: " + DescribeNode(after);
  if (auto wrong = CheckBegin(after.key, view.entry.run.no)) return wrong;
  if (Fails(view) != (after.state == RunState::kFailed)) {
    return "ended against the rules: " + DescribeNode(after);
  }
  return std::nullopt;
}

std::optional<std::string> WorkflowsCheck::RunWritten(const RunRow* before, const RunRow& after) {
  ++writes_;
  const auto place = NodePlaceOf(after.key);
  if (before == nullptr) {
    if (!place) return std::nullopt;
    begun_.try_emplace(place->workflow_run_no, writes_);
    return NodeMade(after);
  }
  const bool was_tried = IsFinal(before->state) && before->state != RunState::kSkipped;
  if (was_tried && after.state == RunState::kPending) run_again_[after.key] = writes_;
  if (place) {
    if (auto wrong = NodeWritten(*before, after)) return wrong;
  }
  if (before->state != RunState::kRunning || !IsFinal(after.state)) return std::nullopt;
  const auto number = tables_.workflow_numbers.find(after.key);
  if (number == tables_.workflow_numbers.end()) return std::nullopt;
  const auto view = ViewOf(number->second);
  return view ? OwnWritten(*view, after) : std::nullopt;
}

std::optional<std::string> WorkflowsCheck::Look(WallTime now) {
  MutexLock lock(tables_.mu);
  std::map<RunKey, WallTime> ready;
  for (const auto& [no, entry] : tables_.workflow_runs) {
    if (entry.state != memory::WorkflowEntry::State::kRunning) continue;
    const RunRow& own = tables_.FindRun(entry.own)->row;
    const auto view = ViewOf(no);
    if (!view || own.state != RunState::kRunning || own.cancel_requested) continue;
    const bool has_room = ActiveOf(*view) < view->definition.max_parallel;
    for (size_t i = 0; i < view->nodes.size(); ++i) {
      const WorkflowNode& node = view->definition.nodes[i];
      const RunRow& row = view->nodes[i]->row;
      if (row.state != RunState::kPending || row.due != kBlocked) continue;
      if (!has_room && !node.approval && !node.wait) continue;
      if (FateOf(*view, node) != Fate::kStart) continue;
      const auto before = ready_.find(row.key);
      const WallTime since = before == ready_.end() ? now : before->second;
      ready[row.key] = since;
      if (now - since <= kStartsWithin) continue;
      return fmt::format("may start since {} ms: {}", (now - since) / 1ms, DescribeNode(row));
    }
  }
  ready_ = std::move(ready);
  return std::nullopt;
}

std::optional<std::string> WorkflowsCheck::AtRest() const {
  MutexLock lock(tables_.mu);
  for (const auto& [no, entry] : tables_.workflow_runs) {
    if (entry.state == memory::WorkflowEntry::State::kEnded) continue;
    return fmt::format("workflow run {} of run {} is open", no, EncodeRunId(entry.own));
  }
  return std::nullopt;
}

}  // namespace carillon::sim
