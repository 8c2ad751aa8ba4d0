// The part of the actor that has to do with workflows and their nodes.
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tests/sim/actor.h"

namespace carillon::sim {
namespace {

// The first one is nobody's token, and the last one is named by no approval.
const std::array<std::string, 4> kUsers = {"", "u1", "u2", "u3"};

}  // namespace

// Drawn from a generator of its own, as WithWindowAndJitter. Every third job is a workflow.
void Actor::BecomeWorkflow(JobDefinition& job, const std::vector<StoredJob>& others) const {
  std::vector<JobId> jobs;
  std::optional<JobId> nested;
  for (const StoredJob& other : others) {
    if (!other.definition.workflow) jobs.push_back(other.job_id);
    if (other.definition.workflow && profile_.nested) nested = other.job_id;
  }
  if (!profile_.workflows || made_ % 3 != 0 || jobs.empty()) return;
  Rng rng(profile_.seed * 1000 + static_cast<uint64_t>(made_));
  job.type = JobType::kWorkflow;
  job.command.clear();
  job.retry_count = 0;
  job.concurrency_group.clear();
  job.on_lost = OnLost::kRetry;
  job.timeout_s = 40 + static_cast<int64_t>(rng.Below(200));
  job.workflow.emplace();
  job.workflow->max_parallel = 1 + static_cast<int64_t>(rng.Below(4));
  const size_t nodes = profile_.lost_nodes ? 1 + rng.Below(2) : 3 + rng.Below(7);
  for (size_t i = 0; i < nodes; ++i) {
    WorkflowNode node{.id = fmt::format("n{}", i), .job = jobs[rng.Below(jobs.size())]};
    node.allow_failure = rng.Chance(0.2);
    if (i == 1 && nested) {
      node.job = *nested;
      node.after.push_back({.node = "n0", .on = EdgeOn::kDone});
    }
    for (size_t before = 0; before < i; ++before) {
      if (!node.after.empty() && i == 1) continue;  // it has its edge
      if (node.after.size() == 3 || profile_.lost_nodes || !rng.Chance(0.35)) continue;
      WorkflowEdge edge{.node = fmt::format("n{}", before)};
      if (rng.Chance(0.4)) edge.on = rng.Chance(0.5) ? EdgeOn::kFailure : EdgeOn::kDone;
      if (edge.on == EdgeOn::kFailure && rng.Chance(0.4)) edge.condition = "exit_code == 3";
      edge.recovers = edge.on != EdgeOn::kSuccess && rng.Chance(0.4);
      node.after.push_back(edge);
    }
    if (node.after.size() > 1 && rng.Chance(0.3)) {
      node.trigger_rule.least = 1 + static_cast<int64_t>(rng.Below(2));
    }
    job.workflow->nodes.push_back(std::move(node));
  }
  if (profile_.approvals) WaitInNodes(*job.workflow, rng);
  if (profile_.finally) AddFinallyNodes(*job.workflow, jobs, rng);
}

void Actor::SkipSomeNode() {
  for (const auto& [key, row] : p_.checker.rows()) {
    if (row.state != RunState::kRunning) continue;
    const auto view = p_.stores.workflows.GetWorkflowRun(key);
    if (!view.ok()) continue;
    return Skip(row, view->definition.nodes[deeds_ % view->definition.nodes.size()].id,
                kUsers.at(deeds_ / 9 % kUsers.size()));
  }
}

void Actor::Skip(const RunRow& own, const std::string& node, const std::string& user) {
  p_.checker.BeginByHand(own.key, Checker::ByHand::kUnconfirmed);
  p_.checker.nodes().Begin({.key = own.key, .node = node, .user_id = user});
  const auto skipped = p_.stores.workflows.SkipNode(
      {.key = own.key, .node = node}, {.now = p_.now(), .decider = {.user_id = user}});
  p_.checker.nodes().End();
  p_.checker.EndByHand();
  if (skipped.ok()) p_.nudge({own.job_no, own.segment, own.key});
}

// ---- approvals and waits -----------------------------------------------------------------------

// A world lasts minutes, so approvals end sooner than a person may have them.
void Actor::WaitInNodes(WorkflowDefinition& workflow, Rng& rng) {
  for (WorkflowNode& node : workflow.nodes) {
    const uint64_t kind = rng.Below(10);
    if (kind >= 4) continue;
    node.job = {};
    for (WorkflowEdge& edge : node.after) edge.recovers = false;
    if (kind == 0) {
      node.wait = NodeWait{.for_s = 1 + static_cast<int64_t>(rng.Below(15))};
      if (rng.Chance(0.3)) *node.wait = {.until = fmt::format("00:0{}:30", rng.Below(4))};
      continue;
    }
    node.approval.emplace();
    if (rng.Chance(0.7)) node.approval->timeout_s = 3 + static_cast<int64_t>(rng.Below(30));
    node.approval->approves_on_timeout = rng.Chance(0.5);
    if (rng.Chance(0.6)) node.approval->by.emplace_back(kUsers.at(1 + rng.Below(2)));
  }
}

std::vector<Actor::OpenNode> Actor::OpenNodes() {
  std::vector<OpenNode> open;
  for (const auto& [key, row] : p_.checker.rows()) {
    if (row.state != RunState::kRunning) continue;
    const auto view = p_.stores.workflows.GetWorkflowRun(key);
    if (!view.ok()) continue;
    for (size_t i = 0; i < view->nodes.size(); ++i) {
      const RunRow& node = view->nodes[i].detail.row;
      if (node.state != RunState::kPending || !IsOpenedNode(node.due)) continue;
      open.push_back({row, view->definition.nodes[i]});
    }
  }
  return open;
}

void Actor::Decide(const OpenNode& open, Decision decision, const std::string& user) {
  p_.checker.BeginByHand(open.own.key, Checker::ByHand::kUnconfirmed);
  p_.checker.nodes().Begin(
      {.key = open.own.key, .node = open.node.id, .user_id = user, .decision = decision});
  const auto decided = p_.stores.workflows.DecideNode(
      {.key = open.own.key, .node = open.node.id, .decision = decision},
      {.now = p_.now(), .decider = {.user_id = user}});
  p_.checker.nodes().End();
  p_.checker.EndByHand();
  if (decided.ok()) p_.nudge({open.own.job_no, open.own.segment, open.own.key});
}

void Actor::DecideSomething() {
  const std::vector<OpenNode> open = OpenNodes();
  if (open.empty()) return;
  const OpenNode& one = open[deeds_ / 3 % open.size()];
  const std::string& user = kUsers.at(deeds_ % kUsers.size());
  if (deeds_ % 5 == 0) return Skip(one.own, one.node.id, user);
  Decide(one, deeds_ % 4 == 0 ? Decision::kRefuse : Decision::kApprove, user);
}

void Actor::DecideAll() {
  for (const OpenNode& open : OpenNodes()) {
    const bool named = open.node.approval && !open.node.approval->by.empty();
    const std::string user = named ? open.node.approval->by.front() : std::string();
    if (open.node.approval) Decide(open, Decision::kApprove, user);
    if (open.node.wait && !open.node.wait->until.empty()) {
      Skip(open.own, open.node.id, kUsers[1]);
      Skip(open.own, open.node.id, kUsers[2]);
    }
  }
}

// ---- finally -----------------------------------------------------------------------------------

// Some nodes before them start only after successes.
void Actor::AddFinallyNodes(WorkflowDefinition& workflow, const std::vector<JobId>& jobs,
                            Rng& rng) {
  for (WorkflowNode& node : workflow.nodes) {
    if (node.after.empty() || !rng.Chance(0.4)) continue;
    node.trigger_rule = {.least = static_cast<int64_t>(rng.Below(node.after.size() + 1)),
                         .succeeded = true};
  }
  workflow.finally_timeout_s = 20 + static_cast<int64_t>(rng.Below(60));
  const size_t count = 1 + rng.Below(3);
  for (size_t i = 0; i < count; ++i) {
    WorkflowNode node{.id = fmt::format("f{}", i), .job = jobs[rng.Below(jobs.size())]};
    node.is_finally = true;
    node.allow_failure = rng.Chance(0.3);
    if (i > 0 && rng.Chance(0.5)) {
      node.after.push_back({.node = fmt::format("f{}", i - 1), .on = EdgeOn::kDone});
    }
    workflow.nodes.push_back(std::move(node));
  }
}

}  // namespace carillon::sim
