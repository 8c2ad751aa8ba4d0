#include "tests/twins/memory_workflow_runs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/check.h"
#include "common/domain/nodes/approval.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/dependents.h"
#include "common/domain/run/returns.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/upstream/wait_end.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/skip_rights.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_parts.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

// If the current attempt was reported after it was given up as lost, that report is among the
// earlier attempts. Executors report the parts of a fire, and never its own run.
bool MayItselfStillRun(const MemoryTables& tables, const RunEntry& entry) REQUIRES(tables.mu) {
  if (entry.row.may_still_run && IsInParts(entry.row)) {
    return std::ranges::any_of(PartsOf(tables, entry.row.key),
                               [&](const RunKey& key) REQUIRES(tables.mu) {
                                 return MayItselfStillRun(tables, *tables.FindRun(key));
                               });
  }
  const bool reported =
      std::any_of(entry.attempts.begin(), entry.attempts.end(),
                  [&](const RunAttempt& known) { return known.attempt == entry.row.attempt; });
  return entry.row.may_still_run && !reported;
}

Error NestedIn(MemoryTables& tables, const WorkflowEntry& nested) REQUIRES(tables.mu) {
  const WorkflowEntry* outermost = &nested;
  while (const WorkflowEntry* outer = tables.WorkflowOfNode(outermost->own)) outermost = outer;
  return {ErrorCode::kConflict, "retry: the workflow run " + EncodeRunId(nested.own) +
                                    " is a node of another one; retry the outermost run " +
                                    EncodeRunId(outermost->own)};
}

// An ended run begins again, if its job still exists.
Status CheckMayBeginAgain(MemoryTables& tables, const WorkflowEntry& workflow) REQUIRES(tables.mu) {
  if (!IsFinal(tables.FindRun(workflow.own)->row.state)) return {};
  const JobEntry& job = *tables.FindJob(workflow.job_no);
  if (job.deleted) {
    return {ErrorCode::kNotFound,
            "retry: the job of run " + EncodeRunId(workflow.own) + " is deleted"};
  }
  if (IsReadable(job)) return {};
  return {ErrorCode::kCorrupt, "job " + job.id.value() + ": its definition cannot be read"};
}

Result<WorkflowRetryPlan> PlanOf(MemoryTables& tables, WorkflowEntry& workflow,
                                 const WorkflowRetry& retry, bool begins_again = false)
    REQUIRES(tables.mu);

// Adds the plans of the nested workflow runs that continue. One of them in which nothing has failed
// begins anew instead.
Status PlanNested(MemoryTables& tables, WorkflowRetryPlan& planned, Overlap overlap)
    REQUIRES(tables.mu) {
  for (NodeChange& change : planned.plan.changes) {
    const RunKey key = NodeKeyOf(*planned.workflow, change.position);
    const bool anew = change.anew || (tables.FindRun(key)->row.flags & run_flag::kAnew) != 0;
    WorkflowEntry* nested = tables.FindWorkflow(key);
    if (change.to != NodeChange::To::kAgain || anew || nested == nullptr) continue;
    auto plan = PlanOf(tables, *nested, {.from = RetryFrom::kFailed, .overlap = overlap});
    if (plan.ok()) {
      planned.nested.push_back(std::move(plan).value());
    } else if (plan.code() == ErrorCode::kConflict && !NamesOpenNodes(plan.error())) {
      change.anew = true;
    } else {
      return plan.error();
    }
  }
  return {};
}

Result<WorkflowRetryPlan> PlanOf(MemoryTables& tables, WorkflowEntry& workflow,
                                 const WorkflowRetry& retry, bool begins_again) {
  CARILLON_ASSIGN_OR_RETURN(const WorkflowGraph graph, GraphOf(tables, workflow));
  WorkflowRetryPlan planned{.workflow = &workflow, .plan = {}, .nested = {}};
  CARILLON_ASSIGN_OR_RETURN(planned.plan,
                            PlanRetry(graph, NodeRowsOf(tables, workflow), retry, begins_again));
  if (planned.plan.refused()) return RefusalOf("retry", graph, planned.plan);
  CARILLON_TRY(PlanNested(tables, planned, retry.overlap));
  return planned;
}

void WritePlanned(MemoryTables& tables, const WorkflowRetryPlan& planned, WallTime now)
    REQUIRES(tables.mu) {
  for (const WorkflowRetryPlan& nested : planned.nested) {
    WritePlanned(tables, nested, now);
    nested.workflow->state = WorkflowEntry::State::kWaiting;
    nested.workflow->is_late = false;
    nested.workflow->finally_since.reset();
  }
  WriteNodeChanges(tables, *planned.workflow, planned.plan.changes, now);
}

}  // namespace

bool MayStillRunBelow(MemoryTables& tables, const RunEntry& entry) {
  if (MayItselfStillRun(tables, entry)) return true;
  const WorkflowEntry* nested = tables.FindWorkflow(entry.row.key);
  if (nested == nullptr) return false;
  const std::vector<RunKey> nodes = NodeKeysOf(tables, *nested);
  return std::any_of(nodes.begin(), nodes.end(), [&](const RunKey& key) REQUIRES(tables.mu) {
    return MayStillRunBelow(tables, *tables.FindRun(key));
  });
}

Result<const JobDefinition*> WorkflowVersion(MemoryTables& tables, JobNo job_no, int64_t version) {
  const JobEntry& job = *tables.FindJob(job_no);
  const JobDefinition* found = VersionOf(tables, job_no, version);
  if (found != nullptr && found->workflow) return found;
  return {ErrorCode::kCorrupt, "job " + job.id.value() + ": the workflow of version " +
                                   std::to_string(version) + " is unreadable or gone"};
}

Result<WorkflowGraph> GraphOf(MemoryTables& tables, const WorkflowEntry& workflow) {
  CARILLON_ASSIGN_OR_RETURN(const JobDefinition* definition,
                            WorkflowVersion(tables, workflow.job_no, workflow.def_version));
  return WorkflowGraph::Compile(*definition->workflow);
}

RunKey NodeKeyOf(const WorkflowEntry& workflow, size_t position) {
  return NodeKey(workflow.run.fire, {.workflow_run_no = workflow.run.no, .position = position})
      .value();
}

std::vector<RunKey> NodeKeysOf(MemoryTables& tables, const WorkflowEntry& workflow) {
  const NodeKeyRange range = carillon::NodeKeysOf(workflow.run.fire, workflow.run.no).value();
  std::vector<RunKey> keys;
  for (auto run = tables.runs().lower_bound(range.first);
       run != tables.runs().end() && !(range.last < run->first); ++run) {
    if (NodePlaceOf(run->first)) keys.push_back(run->first);  // not of their parts
  }
  return keys;
}

NodeRows NodeRowsOf(MemoryTables& tables, const WorkflowEntry& workflow) {
  NodeRows rows;
  for (const RunKey& key : NodeKeysOf(tables, workflow)) {
    const RunEntry& entry = *tables.FindRun(key);
    rows.push_back(NodeRowOf(entry.row, entry.result, UntilOf(entry)));
    rows.back().may_still_run = MayStillRunBelow(tables, entry);
  }
  return rows;
}

namespace {

// The runs of the nodes that a cancel of the own run ends; no finally nodes, unless it is a kill or
// they are HELD.
std::vector<RunKey> CancelledWith(MemoryTables& tables, const WorkflowEntry& workflow,
                                  Overlap overlap) REQUIRES(tables.mu) {
  const std::vector<RunKey> all = NodeKeysOf(tables, workflow);
  const RunRow& own = tables.FindRun(workflow.own)->row;
  const bool ends_all = IsFinal(own.state) || own.cancel_requested == CancelMode::kKill;
  const auto graph = GraphOf(tables, workflow);
  if (ends_all || !graph.ok()) return all;
  std::vector<RunKey> keys;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool held =
        overlap == Overlap::kConfirmed && tables.FindRun(all[i])->row.state == RunState::kHeld;
    if (held || !graph->is_finally(i)) keys.push_back(all[i]);
  }
  return keys;
}

}  // namespace

void CancelNodesOf(MemoryTables& tables, std::vector<RunKey> cancelled,
                   const WriteContext& context) {
  const EndedRuns asked_for = tables.ended;  // not the ends of the nodes
  for (size_t i = 0; i < cancelled.size(); ++i) {
    const WorkflowEntry* workflow = tables.FindWorkflow(cancelled[i]);
    if (workflow == nullptr || workflow->state == WorkflowEntry::State::kEnded) continue;
    const RunRow& own = tables.FindRun(cancelled[i])->row;
    if (!own.cancel_requested && !IsFinal(own.state)) continue;
    const uint64_t last = tables.last_completion_id;
    for (const RunKey& node : CancelledWith(tables, *workflow, context.overlap())) {
      const bool done = CancelOne(tables, RunEntry(*tables.FindRun(node)), context);
      if (done && IsRunningWorkflow(tables.FindRun(node)->row)) cancelled.push_back(node);
    }
    DropWakeUpsSince(tables, workflow->run, last);
    tables.WakeUpWorkflow(*workflow, context.now);
  }
  tables.ended = asked_for;
}

void DropWakeUpsSince(MemoryTables& tables, const WorkflowRunId& run, uint64_t last) {
  std::erase_if(tables.completions, [&](const auto& entry) {
    const RunCompletion& end = entry.second;
    return entry.first > last && end.target == CompletionTarget::kWorkflow &&
           end.key.fire == run.fire && NodePlaceOf(end.key)->workflow_run_no == run.no;
  });
}

void FinishNode(MemoryTables& tables, RunEntry node, const AttemptResult& result, WallTime now) {
  const RunChange change{.state = result.state,
                         .attempt = node.row.attempt,
                         .def_version = node.row.def_version,
                         .reason = result.reason,
                         .store_result = true};
  CARILLON_CHECK(WriteChange(tables, std::move(node), change, result, now).ok(),
                 "the end of an open node reopens no final run");
}

Status CheckMaySkipNodes(const WorkflowGraph& graph, const std::vector<std::string>& nodes,
                         const NodeRows* rows, const Decider& who) {
  for (const std::string& node : nodes) {
    const auto position = graph.Find(node);
    if (position) CARILLON_TRY(CheckMaySkipNode(graph, *position, rows, who));
  }
  return {};
}

void WriteNodeChanges(MemoryTables& tables, WorkflowEntry& workflow,
                      const std::vector<NodeChange>& changes, WallTime now) {
  const uint64_t last = tables.last_completion_id;
  for (const NodeChange& change : changes) {
    RunEntry entry = *tables.FindRun(NodeKeyOf(workflow, change.position));
    RunRow& row = entry.row;
    JobEntry& job = *tables.FindJob(row.job_no);
    std::erase_if(tables.dead_letters,
                  [&](const auto& letter) { return letter.second.key == row.key; });
    if (change.record_attempt) RecordAttempt(entry, LastAttempt(entry));
    const bool was_open = !IsFinal(row.state);
    row.attempt = change.attempt;
    if (change.given_back) CountReturn(row);
    row.cancel_requested.reset();
    row.group = {};
    entry.result = {};
    if (change.to == NodeChange::To::kSkippedByHand) {
      row.state = RunState::kSkipped;
      entry.result.reason = reason::kSkippedByHand;
      entry.result.ended = now;
      if (was_open) ++tables.ended[row.state];
      tables.PutRun(std::move(entry));
      continue;
    }
    workflow.finally_since.reset();
    const WallTime due = DueOfNodeAgain(row);
    if (due == kAwaiting) entry.planned = now;  // its limit begins again
    row.state = RunState::kPending;
    row.due = due;
    row.claim_token = {};
    row.flags |= EndFlags(row.kind, row.flags, job.has_dependents);
    if (change.anew) row.flags |= run_flag::kAnew;
    const JobRow rules = JobOf(tables, row);
    row.def_version = rules.version;
    row.priority = rules.priority;
    const RunKey key = row.key;
    tables.PutRun(std::move(entry));
    job.FreeSlot(key);  // a HELD run had a slot of its job
  }
  DropWakeUpsSince(tables, workflow.run, last);
}

std::optional<std::string> WaitingNode(MemoryTables& tables, const RunKey& key) {
  const RunEntry* run = tables.FindRun(key);
  const bool waits = run != nullptr && run->node && run->row.state == RunState::kPending &&
                     !IsUnreleased(run->row.due) && !IsOpenedNode(run->row.due);
  return waits ? std::optional(run->node->node) : std::nullopt;
}

Result<std::optional<WorkflowRetryPlan>> PlanWorkflowRetry(MemoryTables& tables, const RunKey& key,
                                                           WorkflowRetry retry,
                                                           const Decider* who) {
  if (WaitingNode(tables, key)) return std::optional<WorkflowRetryPlan>();
  WorkflowEntry* workflow = tables.FindWorkflow(key);
  if (workflow == nullptr) {
    workflow = tables.WorkflowOfNode(key);
    if (workflow == nullptr) return std::optional<WorkflowRetryPlan>();
    retry = {.from = RetryFrom::kNodes,
             .nodes = {tables.FindRun(key)->node->node},
             .overlap = retry.overlap};
    if (tables.FindWorkflow(workflow->own) != workflow) {
      return Error{ErrorCode::kConflict,
                   "retry: the workflow run of " + EncodeRunId(key) + " has begun anew since"};
    }
  }
  if (tables.WorkflowOfNode(workflow->own) != nullptr) return NestedIn(tables, *workflow);
  const RunRow& own = tables.FindRun(workflow->own)->row;
  CARILLON_TRY(CheckMayRetry(own, workflow->is_late));
  CARILLON_TRY(CheckMayBeginAgain(tables, *workflow));
  CARILLON_ASSIGN_OR_RETURN(WorkflowRetryPlan planned,
                            PlanOf(tables, *workflow, retry, BeginsAgain(own)));
  if (who != nullptr && !retry.skip.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const WorkflowGraph graph, GraphOf(tables, *workflow));
    CARILLON_TRY(CheckMaySkipNodes(graph, retry.skip, nullptr, *who));
  }
  return std::optional(std::move(planned));
}

void WriteWorkflowRetry(MemoryTables& tables, const WorkflowRetryPlan& retry, WallTime now) {
  WorkflowEntry& workflow = *retry.workflow;
  WritePlanned(tables, retry, now);
  RunEntry own = *tables.FindRun(workflow.own);
  if (!IsFinal(own.row.state)) return tables.WakeUpWorkflow(workflow, now);
  const JobEntry& job = *tables.FindJob(workflow.job_no);
  const bool is_workflow = IsReadable(job) && job.definition.workflow;
  const bool was_tried = own.row.state != RunState::kSkipped;
  own.row.flags |= EndFlags(own.row.kind, own.row.flags, job.has_dependents);
  own.row.flags &= ~run_flag::kAnew;
  const RunChange change{.state = RunState::kPending,
                         .attempt = own.row.attempt + (was_tried ? 1 : 0),
                         .due = now,
                         .def_version = is_workflow ? job.version : own.row.def_version,
                         .priority = NextPriority(own.row, job.definition.priority),
                         .record_attempt = was_tried,
                         .clear_token = true};
  const AttemptResult ended = LastAttempt(own).result;
  CARILLON_CHECK(WriteChange(tables, std::move(own), change, ended, now, Reopener::kWorkflows).ok(),
                 "a workflow reopens its own run");
  workflow.state = WorkflowEntry::State::kWaiting;
  workflow.is_late = false;
  workflow.finally_since.reset();
}

}  // namespace carillon::memory
