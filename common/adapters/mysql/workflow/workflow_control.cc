#include "common/adapters/mysql/workflow/workflow_control.h"

#include <fmt/core.h>

#include <utility>

#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/workflow/opened_nodes.h"
#include "common/adapters/mysql/workflow/retry_writer.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/skip_rights.h"

namespace carillon::mysql {
namespace {

Error NoWorkflowRun(const RunKey& key) {
  return {ErrorCode::kNotFound,
          fmt::format("run {} is not of a workflow, or has not begun", EncodeRunId(key))};
}

Result<RunDetail> ReadOwnDetail(Session& session, const RunKey& own, Incarnations& incarnations) {
  return ReadDetail(session, own, incarnations);
}

// Marks nested workflow runs of which a process may still run, so that a plan refuses them.
Status NoteProcessesLeft(Session& session, NodeStates* nodes) {
  std::vector<RunKey> keys;
  for (const StoredRun& run : nodes->runs) keys.push_back(run.row.key);
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> left, WithProcessesLeft(session, keys));
  for (size_t i = 0; i < keys.size(); ++i) {
    if (left.contains(keys[i])) nodes->rows[i].may_still_run = true;
  }
  return {};
}

Result<PlannedRetry> PlanOf(Session& session, WorkflowRow row, const WorkflowRetry& retry,
                            Incarnations& incarnations, WorkflowLock lock,
                            bool begins_again = false);

// Adds the plans of the nested workflow runs that continue. One of them in which nothing has failed
// begins anew instead.
Status PlanNested(Session& session, PlannedRetry* planned, Overlap overlap,
                  Incarnations& incarnations, WorkflowLock lock) {
  for (NodeChange& change : planned->plan.changes) {
    const RunRow& node = planned->nodes.runs[change.position].row;
    const bool anew = change.anew || (node.flags & run_flag::kAnew) != 0;
    if (change.to != NodeChange::To::kAgain || anew) continue;
    CARILLON_ASSIGN_OR_RETURN(auto row, ReadWorkflowOf(session, node.key, lock));
    if (!row) continue;
    auto nested = PlanOf(session, std::move(*row), {.from = RetryFrom::kFailed, .overlap = overlap},
                         incarnations, lock);
    if (nested.ok()) {
      planned->nested.push_back(std::move(nested).value());
    } else if (nested.code() == ErrorCode::kConflict && !NamesOpenNodes(nested.error())) {
      change.anew = true;
    } else {
      return nested.error();
    }
  }
  return {};
}

Result<PlannedRetry> PlanOf(Session& session, WorkflowRow row, const WorkflowRetry& retry,
                            Incarnations& incarnations, WorkflowLock lock, bool begins_again) {
  CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                            LoadWorkflow(session, {row.job_no, row.def_version}));
  PlannedRetry planned{.row = std::move(row), .nodes = {}, .plan = {}, .nested = {}};
  CARILLON_ASSIGN_OR_RETURN(planned.nodes,
                            ReadNodes(session, planned.row, loaded.graph.size(), incarnations));
  CARILLON_TRY(NoteProcessesLeft(session, &planned.nodes));
  CARILLON_ASSIGN_OR_RETURN(planned.plan,
                            PlanRetry(loaded.graph, planned.nodes.rows, retry, begins_again));
  if (planned.plan.refused()) return RefusalOf("retry", loaded.graph, planned.plan);
  CARILLON_TRY(PlanNested(session, &planned, retry.overlap, incarnations, lock));
  return planned;
}

void AddJobsOf(const PlannedRetry& planned, std::vector<JobNo>* jobs) {
  jobs->push_back(planned.row.job_no);
  for (const NodeChange& change : planned.plan.changes) {
    jobs->push_back(planned.nodes.runs[change.position].row.job_no);
  }
  for (const PlannedRetry& nested : planned.nested) AddJobsOf(nested, jobs);
}

Status WritePlanned(Session& session, const PlannedRetry& planned, const NodeWriteRules& rules) {
  for (const PlannedRetry& nested : planned.nested) {
    CARILLON_TRY(WritePlanned(session, nested, rules));
    // Open from now on, so that a step ends it if its own run is cancelled before it begins.
    WorkflowRow row = nested.row;
    row.open = true;
    row.timed_out = false;
    row.finally_since = {};
    CARILLON_TRY(UpdateWorkflow(session, row));
  }
  return WriteRetryPlan(session, planned.nodes, planned.plan, rules);
}

Error JobIsDeleted(const RunKey& own) {
  return {ErrorCode::kNotFound,
          fmt::format("retry: the job of run {} is deleted", EncodeRunId(own))};
}

Error NotUndecided(const std::string& node) {
  return {ErrorCode::kConflict,
          fmt::format("decide: node '{}' does not wait for a decision", node.substr(0, 64))};
}

Error NoNode(const std::string& node) {
  return {ErrorCode::kInvalid, fmt::format("no node '{}'", node.substr(0, 64)), "/node"};
}

Status CheckSkips(const WorkflowGraph& graph, const RetryPlan& plan, const NodeRows* rows,
                  const Decider& who) {
  for (const NodeChange& change : plan.changes) {
    if (change.to != NodeChange::To::kSkippedByHand) continue;
    CARILLON_TRY(CheckMaySkipNode(graph, change.position, rows, who));
  }
  return {};
}

// Once nodes wait again, the time of the finally nodes begins anew when these have ended.
Status ForgetFinally(Session& session, WorkflowRow row, const RetryPlan& plan) {
  if (row.finally_since == WallTime{} || plan.run_again.empty()) return {};
  row.finally_since = {};
  return UpdateWorkflow(session, row);
}

Status CheckJobExists(Session& session, const WorkflowRow& row) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT 1 FROM jobs WHERE job_no = ? AND deleted = 0", {row.job_no.value()}));
  return rows.Next() ? Status() : Status(JobIsDeleted(row.own));
}

// The version by whose rules an own run begins again. A job that is no workflow any more has none
// for it.
Result<int64_t> VersionToBegin(Session& session, const RunRow& own, const JobRow& job) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<JobVersionRecord> found,
                            ReadDefinitions(session, {{job.job_no, job.version}}));
  const bool is_workflow =
      !found.empty() && found.front().readable && found.front().definition.workflow;
  return is_workflow ? job.version : own.def_version;
}

// Makes an ended workflow run wait for its begin.
Status ReopenOwn(Session& session, WorkflowRow row, const WriteContext& context,
                 Incarnations& incarnations) {
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, {row.job_no}, &jobs));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {row.own}, incarnations));
  const auto found = runs.find(row.own);
  if (found == runs.end() || !IsFinal(found->second.row.state)) {
    return {ErrorCode::kConflict, "the run has changed meanwhile; try again"};
  }
  StoredRun& own = found->second;
  const std::optional<JobRow> job = JobOf(jobs, own.row);
  if (!job || job->deleted) return JobIsDeleted(row.own);
  CARILLON_ASSIGN_OR_RETURN(const AttemptResult ended, EndedAttempt(session, own, incarnations));
  own.row.flags |= EndFlags(own.row.kind, own.row.flags, job->has_dependents);
  // A run that was SKIPPED has made no attempt.
  const bool ran = own.row.state != RunState::kSkipped;
  CARILLON_ASSIGN_OR_RETURN(const int64_t version, VersionToBegin(session, own.row, *job));
  RunWriter writer(session, Reopener::kWorkflows);
  // It obeys the present rules of its job, as after an edit while it waits. The graph stays that of
  // the version with which the run began (WorkflowRow::def_version).
  CARILLON_TRY(writer.Change(own,
                             {.state = RunState::kPending,
                              .attempt = own.row.attempt + (ran ? 1 : 0),
                              .due = context.now,
                              .def_version = version,
                              .priority = NextPriority(own.row, job->priority),
                              .record_attempt = ran,
                              .clear_token = true},
                             ended, context.now));
  CARILLON_TRY(writer.Flush());
  // What a person asked for holds, also if a backfill wanted to begin the run anew and never did.
  CARILLON_TRY(ClearAnew(session, row.own));
  row.open = true;
  row.timed_out = false;
  row.finally_since = {};
  return UpdateWorkflow(session, row);
}

// nullopt: this version of the definition cannot be read. A cancel ends all of its nodes then.
Result<std::optional<LoadedWorkflow>> LoadIfReadable(Session& session, const WorkflowRow& row) {
  Result<LoadedWorkflow> loaded = LoadWorkflow(session, {row.job_no, row.def_version});
  if (loaded.ok()) return std::optional(std::move(loaded).value());
  if (loaded.code() == ErrorCode::kCorrupt) return std::optional<LoadedWorkflow>();
  return loaded.error();
}

// After a graceful cancel, finally nodes still run: a step decides about them. One that is HELD
// does not end by itself.
bool GoesOnToTheEnd(const WorkflowGraph& graph, const RunRow& run, Overlap overlap) {
  if (run.state == RunState::kHeld && overlap == Overlap::kConfirmed) return false;
  const auto place = NodePlaceOf(run.key);
  return place && place->position < graph.size() && graph.is_finally(place->position);
}

}  // namespace

Result<std::vector<RunKey>> CancelNodes(Session& session, const RunKey& own,
                                        const WriteContext& context, Incarnations& incarnations) {
  std::vector<RunKey> nested;
  CARILLON_ASSIGN_OR_RETURN(const auto row, ReadWorkflowOf(session, own, WorkflowLock::kUpdate));
  if (!row || !row->open) return nested;
  CARILLON_ASSIGN_OR_RETURN(const RunDetail detail, ReadOwnDetail(session, own, incarnations));
  if (!detail.row.cancel_requested && !IsFinal(detail.row.state)) return nested;
  std::optional<LoadedWorkflow> loaded;
  const bool all = IsFinal(detail.row.state) || detail.row.cancel_requested == CancelMode::kKill;
  if (!all) {
    CARILLON_ASSIGN_OR_RETURN(loaded, LoadIfReadable(session, *row));
  }
  CARILLON_ASSIGN_OR_RETURN(const std::vector<RunKey> open, ReadOpenNodes(session, *row));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, open, incarnations));
  RunWriter writer(session);
  // In their order, in which others are told of the ends.
  for (const RunKey& key : open) {
    const auto found = runs.find(key);
    if (found == runs.end() || !found->second.readable) continue;
    StoredRun& run = found->second;
    if (loaded && GoesOnToTheEnd(loaded->graph, run.row, context.overlap())) continue;
    run.row.flags &= ~run_flag::kNode;  // the wake-up below tells of all of them
    CARILLON_ASSIGN_OR_RETURN(const CancelEffect effect,
                              CancelLocked(run, {session, incarnations, writer}, TermsOf(context)));
    if (IsCancel(effect) && IsRunningWorkflow(run.row)) nested.push_back(key);
  }
  CARILLON_TRY(writer.Flush());
  CARILLON_TRY(WriteWakeUp(session, *row, context.now));
  return nested;
}

Result<std::optional<std::string>> WaitingNode(Session& session, const RunKey& key,
                                               Incarnations& incarnations) {
  if (!NodePlaceOf(key)) return std::optional<std::string>();
  CARILLON_ASSIGN_OR_RETURN(const RunDetail run, ReadDetail(session, key, incarnations));
  const bool waits = run.row.state == RunState::kPending && !IsUnreleased(run.row.due) &&
                     !IsOpenedNode(run.row.due);
  if (!waits || !run.node) return std::optional<std::string>();
  return std::optional(run.node->node);
}

Result<std::optional<WorkflowTarget>> TargetOfRetry(Session& session, const RunKey& key,
                                                    const WorkflowRetry& retry) {
  CARILLON_ASSIGN_OR_RETURN(const auto own, ReadWorkflowOf(session, key, WorkflowLock::kNone));
  if (own && !NodePlaceOf(key)) return std::optional(WorkflowTarget{key, retry});
  const auto place = NodePlaceOf(key);
  if (!place) return std::optional<WorkflowTarget>();
  CARILLON_ASSIGN_OR_RETURN(const RunKey outermost, OutermostOf(session, key));
  CARILLON_ASSIGN_OR_RETURN(const auto row,
                            ReadWorkflow(session, place->workflow_run_no, WorkflowLock::kNone));
  if (!row) return std::optional<WorkflowTarget>();
  if (row->replaced_by != 0) {
    return {
        ErrorCode::kConflict,
        fmt::format("retry: run {} is of a workflow run that has begun anew since; retry run {}",
                    EncodeRunId(key), EncodeRunId(outermost))};
  }
  if (own || row->own != outermost) {
    return {ErrorCode::kConflict,
            fmt::format("retry: run {} is part of a workflow within another one; retry run {}",
                        EncodeRunId(key), EncodeRunId(outermost))};
  }
  CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                            LoadWorkflow(session, {row->job_no, row->def_version}));
  if (place->position >= loaded.graph.size()) return std::optional<WorkflowTarget>();
  WorkflowTarget target{row->own, retry};
  target.retry.from = RetryFrom::kNodes;
  target.retry.nodes = {loaded.graph.node(place->position).id};
  target.retry.skip.clear();
  return std::optional(std::move(target));
}

Result<PlannedRetry> PlanRetryOf(Session& session, const WorkflowTarget& target,
                                 Incarnations& incarnations, WorkflowLock lock) {
  CARILLON_ASSIGN_OR_RETURN(auto row, ReadWorkflowOf(session, target.own, lock));
  if (!row) return NoWorkflowRun(target.own);
  CARILLON_ASSIGN_OR_RETURN(const RunDetail own, ReadOwnDetail(session, target.own, incarnations));
  CARILLON_TRY(CheckMayRetry(own.row, row->timed_out));
  if (IsFinal(own.row.state)) CARILLON_TRY(CheckJobExists(session, *row));
  CARILLON_ASSIGN_OR_RETURN(PlannedRetry planned, PlanOf(session, std::move(*row), target.retry,
                                                         incarnations, lock, BeginsAgain(own.row)));
  if (target.decider && !target.retry.skip.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                              LoadWorkflow(session, {planned.row.job_no, planned.row.def_version}));
    CARILLON_TRY(CheckSkips(loaded.graph, planned.plan, nullptr, *target.decider));
  }
  // Its workflow run may still be open: a cancel before the begin waits for a step.
  planned.own_ended = IsFinal(own.row.state);
  return planned;
}

namespace {

WorkflowTarget WithDecider(WorkflowTarget target, const Decider& who) {
  target.decider = who;
  return target;
}

}  // namespace

Status RetryWorkflow(Session& session, const WorkflowTarget& target, const WriteContext& context,
                     Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(const PlannedRetry planned,
                            PlanRetryOf(session, WithDecider(target, context.decider), incarnations,
                                        WorkflowLock::kUpdate));
  // All of them before any run, in the order of the locks.
  std::vector<JobNo> job_nos;
  AddJobsOf(planned, &job_nos);
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  CARILLON_TRY(WritePlanned(session, planned, {incarnations, context.now}));
  if (planned.own_ended) return ReopenOwn(session, planned.row, context, incarnations);
  CARILLON_TRY(ForgetFinally(session, planned.row, planned.plan));
  return WriteWakeUp(session, planned.row, context.now);
}

Status SkipNodeOf(Session& session, const RunKey& own, const std::string& node,
                  const WriteContext& context, Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(const auto row, ReadWorkflowOf(session, own, WorkflowLock::kUpdate));
  if (!row) return NoWorkflowRun(own);
  CARILLON_ASSIGN_OR_RETURN(const RunDetail detail, ReadOwnDetail(session, own, incarnations));
  CARILLON_TRY(CheckMaySkip(detail.row, row->timed_out));
  CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                            LoadWorkflow(session, {row->job_no, row->def_version}));
  CARILLON_ASSIGN_OR_RETURN(const NodeStates nodes,
                            ReadNodes(session, *row, loaded.graph.size(), incarnations));
  CARILLON_ASSIGN_OR_RETURN(const RetryPlan plan,
                            PlanSkip(loaded.graph, nodes.rows, node, context.overlap()));
  if (plan.refused()) return RefusalOf("skip", loaded.graph, plan);
  CARILLON_TRY(CheckSkips(loaded.graph, plan, &nodes.rows, context.decider));
  CARILLON_TRY(WriteRetryPlan(session, nodes, plan, {incarnations, context.now}));
  CARILLON_TRY(ForgetFinally(session, *row, plan));
  return WriteWakeUp(session, *row, context.now);
}

Status DecideNodeOf(Session& session, const DecideNodeRequest& request, const WriteContext& context,
                    Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(const auto row,
                            ReadWorkflowOf(session, request.key, WorkflowLock::kUpdate));
  if (!row) return NoWorkflowRun(request.key);
  CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                            LoadWorkflow(session, {row->job_no, row->def_version}));
  const std::optional<size_t> position = loaded.graph.Find(request.node);
  if (!position) return NoNode(request.node);
  const std::optional<Approval>& approval = loaded.graph.node(*position).approval;
  if (!approval) return NotUndecided(request.node);
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, NodeKey(row->id.fire, {.workflow_run_no = row->id.no,
                                                                     .position = *position}));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {key}, incarnations));
  const auto found = runs.find(key);
  if (found == runs.end() || !found->second.readable) return NotUndecided(request.node);
  StoredRun& run = found->second;
  const bool undecided = run.row.state == RunState::kPending && run.row.due == kUndecided;
  if (!undecided) return NotUndecided(request.node);
  CARILLON_TRY(CheckMayDecide(*approval, context.decider));
  RunWriter writer(session);
  CARILLON_TRY(EndOpened(run,
                         EndOfApproval(*approval, request.decision, context.decider, context.reason,
                                       run.started, context.now),
                         writer, context.now));
  CARILLON_TRY(writer.Flush());
  if (context.ended != nullptr) *context.ended = {{run.row.state, 1}};
  return WriteWakeUp(session, *row, context.now);
}

Result<WorkflowRunView> ReadView(Session& session, const RunKey& own, Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(const auto row, ReadWorkflowOf(session, own, WorkflowLock::kNone));
  if (!row) return NoWorkflowRun(own);
  WorkflowRunView view{.run = row->id, .def_version = row->def_version};
  CARILLON_ASSIGN_OR_RETURN(view.own, ReadOwnDetail(session, own, incarnations));
  if (view.own.row.state != RunState::kPending) view.deadline = row->deadline;
  CARILLON_ASSIGN_OR_RETURN(const LoadedWorkflow loaded,
                            LoadWorkflow(session, {row->job_no, row->def_version}));
  view.definition = *loaded.record.definition.workflow;
  CARILLON_ASSIGN_OR_RETURN(const NodeKeyRange range, NodeKeysOf(row->id.fire, row->id.no));
  CARILLON_ASSIGN_OR_RETURN(
      std::vector<RunDetail> details,
      ReadDetails(session,
                  {.where = "r.fire_us = ? AND r.schedule_id BETWEEN ? AND ? AND r.shard = 0",
                   .params = {ToUnixMicros(row->id.fire), range.first.schedule_id.value(),
                              range.last.schedule_id.value()},
                   .limit = kWorkflowNodesMax,
                   .oldest_first = true},
                  incarnations));
  if (details.size() != loaded.graph.size()) {
    return {ErrorCode::kCorrupt,
            fmt::format("workflow run {}: {} of {} nodes can be read", EncodeRunId(own),
                        details.size(), loaded.graph.size())};
  }
  for (RunDetail& detail : details) {
    detail.result.output.clear();
    NodeRow node = NodeRowOf(detail.row, detail.result, detail.until);
    view.nodes.push_back({.detail = std::move(detail), .row = std::move(node)});
  }
  return view;
}

}  // namespace carillon::mysql
