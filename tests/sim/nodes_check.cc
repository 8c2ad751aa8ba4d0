#include "tests/sim/nodes_check.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "common/domain/workflow/node_key.h"

namespace carillon::sim {
namespace {

// A member's clock may be ahead of the database's.
constexpr Duration kAhead = 500ms;
// The look at open workflow runs comes every other second.
constexpr Duration kOpenedLateMax = 10s;

std::string DescribeOpened(const RunRow& row, std::string_view node) {
  return fmt::format("run {} (node {}) {} attempt {}", EncodeRunId(row.key), node, Name(row.state),
                     row.attempt);
}

bool IsOpenNodeRun(const RunRow& row) {
  return row.state == RunState::kPending && IsOpenedNode(row.due);
}

bool IsUnreleasedRun(const RunRow& row) {
  return row.state == RunState::kPending && IsUnreleased(row.due);
}

// The first such time of the day at or after the fire; these worlds are in UTC and have no `day`.
WallTime TimeOfDayAfter(const std::string& text, WallTime fire) {
  const int64_t of_day = std::stoll(text.substr(0, 2)) * 3'600 +
                         std::stoll(text.substr(3, 2)) * 60 + std::stoll(text.substr(6, 2));
  const int64_t day = 86'400'000'000;
  const int64_t from = ToUnixMicros(fire);
  int64_t time = from / day * day + of_day * 1'000'000;
  if (time < from) time += day;
  return fire + Duration(time - from);
}

}  // namespace

std::optional<NodesCheck::Place> NodesCheck::PlaceOf(const RunKey& key) const {
  const auto place = NodePlaceOf(key);
  if (!place) return std::nullopt;
  const auto entry = tables_.workflow_runs.find(place->workflow_run_no);
  if (entry == tables_.workflow_runs.end()) return std::nullopt;
  const auto& versions = tables_.FindJob(entry->second.job_no)->versions;
  const auto definition = versions.find(entry->second.def_version);
  if (definition == versions.end() || !definition->second.workflow) return std::nullopt;
  const WorkflowDefinition& workflow = *definition->second.workflow;
  return Place{entry->second, workflow, workflow.nodes.at(place->position)};
}

const memory::RunEntry* NodesCheck::NodeRun(const Place& place, size_t position) const {
  return tables_.FindRun(*NodeKey(place.entry.run.fire, {place.entry.run.no, position}));
}

// A pause stops the time of approvals that are open; those that open meanwhile may be given all of
// it as well.
void NodesCheck::ClusterPaused(bool paused) {
  const WallTime now = now_();
  if (paused == paused_at_.has_value()) return;
  if (paused) {
    paused_at_ = now;
    return;
  }
  MutexLock lock(tables_.mu);
  for (auto& [key, open] : opened_) {
    const memory::RunEntry* run = tables_.FindRun(key);
    if (run == nullptr || run->row.due != kUndecided || open.earliest == kNever) continue;
    open.earliest += now - std::max(*paused_at_, open.at);
    open.latest += now - *paused_at_ + 1s;  // it was measured before it was written
  }
  paused_at_.reset();
}

// ---- approvals and waits -----------------------------------------------------------------------

void NodesCheck::NodeOpened(const Place& place, const RunRow& row) {
  ++opened_count_;
  Opened& open = opened_[row.key] = {.at = tables_.FindRun(row.key)->result.started};
  if (place.node.wait && !place.node.wait->until.empty()) {
    open.earliest = TimeOfDayAfter(place.node.wait->until, row.key.fire);
  } else if (place.node.wait) {
    open.earliest = open.at + 1s * place.node.wait->for_s;
  } else if (place.node.approval && place.node.approval->timeout_s > 0) {
    open.earliest = open.at + 1s * place.node.approval->timeout_s;
  }
  open.latest = open.earliest;
}

bool NodesCheck::MayDecide(const WorkflowNode& node) const {
  if (!node.approval || node.approval->by.empty()) return true;
  const auto& by = node.approval->by;
  return deed_ && std::find(by.begin(), by.end(), deed_->user_id) != by.end();
}

// True inside a person's call about this node.
bool NodesCheck::IsNamed(const Place& place) const {
  return deed_ && deed_->key == place.entry.own && deed_->node == place.node.id;
}

std::optional<std::string> NodesCheck::EndedByItself(const Place& place, const RunRow& after) {
  const Opened& open = opened_.at(after.key);
  const std::string what = DescribeOpened(after, place.node.id);
  ++expired_;
  if (now_() + kAhead < open.earliest) {
    return fmt::format("{} ended {} ms before its end", what, (open.earliest - now_()) / 1ms);
  }
  if (place.node.wait) {
    if (after.state == RunState::kCompleted) return std::nullopt;
    return what + " is a wait that is over";
  }
  if (paused_at_) return what + " expired in a pause of the cluster";
  const bool approves = place.node.approval->approves_on_timeout;
  if (approves == (after.state == RunState::kCompleted)) return std::nullopt;
  return what + " expired against its on_timeout";
}

std::optional<std::string> NodesCheck::Decided(const Place& place, const RunRow& after) {
  ++decided_;
  const std::string what = DescribeOpened(after, place.node.id);
  if (!MayDecide(place.node)) return what + " was decided by user '" + deed_->user_id + "'";
  const bool approved = deed_->decision == Decision::kApprove;
  const std::string& why = tables_.FindRun(after.key)->result.reason;
  const bool right = approved ? after.state == RunState::kCompleted
                              : after.state == RunState::kFailed && why == "refused";
  if (right) return std::nullopt;
  return fmt::format("{} {} after {}", what, why, Name(*deed_->decision));
}

// To skip a node behind an approval is to go past it.
std::optional<std::string> NodesCheck::Skipped(const Place& place, const RunRow& after) const {
  const auto& nodes = place.definition.nodes;
  if (!IsNamed(place)) return "skipped by nobody: " + DescribeOpened(after, place.node.id);
  std::set<std::string> before = {place.node.id};
  for (size_t i = nodes.size(); i-- > 0;) {  // edges come from nodes with lower positions
    if (!before.contains(nodes[i].id)) continue;
    for (const WorkflowEdge& edge : nodes[i].after) before.insert(edge.node);
    const memory::RunEntry& run = *NodeRun(place, i);
    const bool itself = run.row.key == after.key;
    const bool passed = !itself && (run.row.state == RunState::kCompleted ||
                                    run.result.reason == "skipped_by_hand");
    if (passed || MayDecide(nodes[i])) continue;
    return fmt::format("{} was skipped by user '{}' past {}", DescribeOpened(after, place.node.id),
                       deed_->user_id, nodes[i].id);
  }
  return std::nullopt;
}

std::optional<std::string> NodesCheck::OpenedWritten(const Place& place, const RunRow& after) {
  const std::string what = DescribeOpened(after, place.node.id);
  if (IsOpenNodeRun(after)) return std::nullopt;
  std::optional<std::string> wrong;
  const RunRow& own = tables_.FindRun(place.entry.own)->row;
  switch (after.state) {
    case RunState::kPending:  // what is before it has to run again
      if (!IsUnreleasedRun(after) || !deed_) wrong = "released although it runs nothing: " + what;
      break;
    case RunState::kCompleted:
    case RunState::kFailed:
      wrong =
          IsNamed(place) && deed_->decision ? Decided(place, after) : EndedByItself(place, after);
      break;
    case RunState::kSkipped:
      if (tables_.FindRun(after.key)->result.reason != "skipped_by_hand") {
        wrong = "skipped although it was open: " + what;
      }
      break;
    case RunState::kCancelled: {
      const bool stops = own.state != RunState::kRunning || own.cancel_requested || deed_ ||
                         now_() + kAhead >= place.entry.deadline || place.node.is_finally;
      if (!stops) wrong = "cancelled by nobody: " + what;
      break;
    }
    default: wrong = "claimed: " + what; break;
  }
  opened_.erase(after.key);
  return wrong;
}

// ---- finally nodes -----------------------------------------------------------------------------

bool NodesCheck::RunsAfterCancel(const RunKey& node) const {
  const auto place = PlaceOf(node);
  if (!place || !place->node.is_finally) return false;
  const RunRow& own = tables_.FindRun(place->entry.own)->row;
  return own.state == RunState::kRunning && own.cancel_requested != CancelMode::kKill;
}

std::optional<std::string> NodesCheck::FinallyWritten(const Place& place, const RunRow& before,
                                                      const RunRow& after) const {
  const bool stopped =
      (before.state == RunState::kPending && after.state == RunState::kCancelled) ||
      (after.cancel_requested && !before.cancel_requested);
  if (!stopped) return std::nullopt;
  const RunRow& own = tables_.FindRun(place.entry.own)->row;
  const bool by_person = deed_ && (deed_->key == after.key || deed_->kills);
  const bool killed = own.state != RunState::kRunning || own.cancel_requested == CancelMode::kKill;
  // The next run of its job, which is not the workflow's, ends it.
  const bool replaced = EndsPrevious(tables_.FindJob(after.job_no)->definition.overlap_policy);
  if (by_person || killed || replaced) return std::nullopt;
  WallTime since{};
  for (size_t i = 0; i < place.definition.nodes.size(); ++i) {
    if (place.definition.nodes[i].is_finally) continue;
    const auto end = ended_.find(NodeRun(place, i)->row.key);
    if (end != ended_.end()) since = std::max(since, end->second.second);
  }
  if (now_() + kAhead >= since + 1s * place.definition.finally_timeout_s) return std::nullopt;
  return "a finally node was stopped: " + DescribeOpened(after, place.node.id);
}

std::optional<std::string> NodesCheck::OwnEnded(const RunRow& after) const {
  const auto number = tables_.workflow_numbers.find(after.key);
  if (number == tables_.workflow_numbers.end()) return std::nullopt;
  const auto first = NodeKey(after.key.fire, {number->second, 0});
  const auto place = PlaceOf(*first);
  if (!place || NodeRun(*place, 0) == nullptr) return std::nullopt;
  const auto& nodes = place->definition.nodes;
  uint64_t last = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto end = ended_.find(NodeRun(*place, i)->row.key);
    if (!nodes[i].is_finally && end != ended_.end()) last = std::max(last, end->second.first);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].is_finally) continue;
    const RunRow& row = NodeRun(*place, i)->row;
    if (!IsFinal(row.state)) {
      return fmt::format("run {} {} ended before its finally node {}", EncodeRunId(after.key),
                         Name(after.state), nodes[i].id);
    }
    const bool ran = row.state != RunState::kSkipped && row.state != RunState::kCancelled;
    const auto released = released_.find(row.key);
    if (!ran || (released != released_.end() && released->second > last)) continue;
    return fmt::format("run {} {}: its finally node {} did not run again after the others",
                       EncodeRunId(after.key), Name(after.state), nodes[i].id);
  }
  return std::nullopt;
}

// ---- all ---------------------------------------------------------------------------------------

std::optional<std::string> NodesCheck::RunWritten(const RunRow* before, const RunRow& after) {
  ++writes_;
  if (before == nullptr) return std::nullopt;
  if (!IsFinal(before->state) && IsFinal(after.state)) {
    ended_[after.key] = {writes_, now_()};
    if (before->state == RunState::kRunning) {
      if (auto wrong = OwnEnded(after)) return wrong;
    }
  }
  const auto place = PlaceOf(after.key);
  if (!place) return std::nullopt;
  const bool kept_back = after.state == RunState::kSkipped || after.state == RunState::kCancelled;
  if (IsUnreleasedRun(*before) && !IsUnreleasedRun(after) && !kept_back) {
    released_[after.key] = writes_;
    if (place->node.is_finally) ++finally_;
  }
  if (!IsOpenNodeRun(*before) && IsOpenNodeRun(after)) NodeOpened(*place, after);
  const bool skipped = after.state == RunState::kSkipped && before->state != after.state &&
                       tables_.FindRun(after.key)->result.reason == "skipped_by_hand";
  if (skipped) {
    if (auto wrong = Skipped(*place, after)) return wrong;
  }
  if (place->node.is_finally) {
    if (auto wrong = FinallyWritten(*place, *before, after)) return wrong;
  }
  if (IsOpenNodeRun(*before)) return OpenedWritten(*place, after);
  return std::nullopt;
}

std::optional<std::string> NodesCheck::Look(WallTime calm) const {
  if (paused_at_) return std::nullopt;
  for (const auto& [key, open] : opened_) {
    if (open.latest == kNever) continue;
    const Duration late = now_() - std::max(open.latest, calm);
    if (late <= kOpenedLateMax) continue;
    return fmt::format("run {} is open {} ms after its end", EncodeRunId(key), late / 1ms);
  }
  return std::nullopt;
}

}  // namespace carillon::sim
