#include "common/adapters/mysql/workflow/workflow_step_batch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/completion_rows.h"
#include "common/adapters/mysql/workflow/step_writer.h"
#include "common/base/cluster_settings.h"
#include "common/base/failpoint.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

WorkflowCause CauseOf(const StoredRun& own, const WorkflowRow& row) {
  if (own.row.cancel_requested || IsFinal(own.row.state)) return WorkflowCause::kCancel;
  return row.timed_out ? WorkflowCause::kDeadline : WorkflowCause::kNone;
}

Result<bool> IsClusterPaused(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT 1 FROM system_config WHERE name = ?",
                                                     {std::string(kPauseSince)}));
  return rows.Next();
}

// True if an approval would expire now.
bool AnyExpires(const NodeRows& rows, WallTime now) {
  return std::ranges::any_of(rows, [&](const NodeRow& row) {
    return row.opened && row.until != WallTime{} && row.until <= now;
  });
}

// True if the time of the finally nodes is over.
bool IsFinallyOver(const StepReads& reads, WallTime now) {
  return reads.row.finally_since != WallTime{} &&
         now - reads.row.finally_since >= reads.loaded.graph.finally_timeout();
}

// Reads what the step decides by, besides the rows. Writes that the run is over its deadline.
Status ReadStepFacts(Session& session, const StoredRun& own, const StepWrite& rules,
                     StepReads& reads) {
  const bool late =
      rules.now >= reads.row.deadline && !HasMainEnded(reads.loaded.graph, reads.nodes.rows);
  bool times_out = late && !reads.row.timed_out;
  StepFacts& facts = reads.facts;
  if (times_out || IsFinallyOver(reads, rules.now) || AnyExpires(reads.nodes.rows, rules.now)) {
    // Its nodes cannot start. The resume moves these times.
    CARILLON_ASSIGN_OR_RETURN(facts.paused, IsClusterPaused(session));
    times_out = times_out && !facts.paused;
  }
  if (times_out) {
    reads.row.timed_out = true;
    CARILLON_TRY(UpdateWorkflow(session, reads.row));
  }
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters given, GivenFromText(reads.row.parameters));
  reads.workflow = {.run = reads.row.own,
                    .parameters = std::move(given.values),
                    .untrusted = std::move(given.untrusted),
                    .time_zone = std::move(given.time_zone)};
  facts.cause = CauseOf(own, reads.row);
  facts.now = rules.now;
  facts.killed = IsFinal(own.row.state) || own.row.cancel_requested == CancelMode::kKill;
  facts.fire = reads.row.own.fire;
  facts.time_zone = reads.workflow.time_zone;
  if (facts.time_zone.empty()) {
    const JobVersionRecord& record = reads.loaded.record;
    facts.time_zone = FireZone(record.definition, ScheduleOf(record, reads.row.own.schedule_id));
  }
  facts.parameters = &reads.workflow.parameters;
  if (reads.row.finally_since != WallTime{}) facts.finally_since = reads.row.finally_since;
  return {};
}

// Notes that only finally nodes are left.
void BeginFinally(WallTime now, StepReads& reads) {
  reads.row.finally_since = now;
  reads.facts.finally_since = now;
}

Status WriteStep(Session& session, StepReads& reads, const StepWrite& rules, StepEffect* effect) {
  WorkflowStep step = StepWorkflow(reads.loaded.graph, reads.nodes.rows, reads.facts);
  if (step.decisions.empty() && !step.end && !step.finally_begins) return {};
  const bool finally_before = reads.row.finally_since != WallTime{};
  std::vector<JobNo> job_nos;
  std::vector<RunKey> keys = {reads.row.own};
  for (const NodeDecision& decision : step.decisions) {
    const RunRow& row = reads.nodes.runs[decision.position].row;
    keys.push_back(row.key);
    if (decision.action == NodeAction::kRelease) job_nos.push_back(row.job_no);
  }
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs,
                            LockRuns(session, std::move(keys), rules.incarnations));
  const auto own = runs.find(reads.row.own);
  if (own == runs.end()) return {ErrorCode::kCorrupt, "workflow: the own run is gone"};
  if (step.finally_begins) BeginFinally(rules.now, reads);
  StepWriter writer(session, reads, runs, rules,
                    own->second.row.cancel_requested.value_or(CancelMode::kGraceful));
  CARILLON_TRY(writer.Load(jobs));
  reads.workflow.state = step.state;
  for (const NodeDecision& decision : step.decisions) {
    CARILLON_TRY(writer.Apply(decision, effect));
    // A person has ended the node otherwise meanwhile. What follows was decided by this end.
    const bool ended = IsFinal(reads.nodes.rows[decision.position].state);
    if (decision.action == NodeAction::kFinish && !ended) break;
  }
  // The decisions may have come out otherwise, and have consequences of their own.
  const WorkflowStep next = StepWorkflow(reads.loaded.graph, reads.nodes.rows, reads.facts);
  if (next.finally_begins) BeginFinally(rules.now, reads);
  effect->again = std::ranges::any_of(next.decisions, [&](const NodeDecision& one) {
    return !writer.WaitsForItsJob(one.position);
  });
  if (next.end && next.decisions.empty()) {
    reads.row.open = false;
    reads.workflow.state = next.state;
    if (own->second.row.state == RunState::kRunning) {
      CARILLON_TRY(writer.EndOwn(own->second, *next.end, effect));
    }
  }
  CARILLON_TRY(writer.Flush());
  const bool finally_after = reads.row.finally_since != WallTime{};
  if (reads.row.open && finally_after == finally_before) return {};
  return UpdateWorkflow(session, reads.row);
}

Params ParamsOf(const std::vector<SegmentId>& segments, std::optional<uint64_t> after,
                size_t limit) {
  Params params;
  for (const SegmentId segment : segments) {
    params.emplace_back(static_cast<uint64_t>(segment.value()));
    if (after) params.emplace_back(*after);
    params.emplace_back(static_cast<uint64_t>(limit));
  }
  return params;
}

}  // namespace

Result<StepEffect> StepNodes(Session& session, const StepRequest& request, const StepWrite& rules) {
  CARILLON_TRY(LockFence(session, rules.fence));
  StepEffect effect;
  const WorkflowLock lock =
      failpoint::Broken("step.no_lock") ? WorkflowLock::kNone : WorkflowLock::kUpdate;
  CARILLON_ASSIGN_OR_RETURN(auto row, ReadWorkflow(session, request.run.no, lock));
  const bool mine = row && row->open && row->segment == request.segment;
  if (mine) {
    CARILLON_ASSIGN_OR_RETURN(const auto own, ReadOwn(session, row->own, rules.incarnations));
    // PENDING: it was retried and has not begun again.
    const bool waits = own && own->row.state == RunState::kPending;
    if (own && !waits) {
      CARILLON_ASSIGN_OR_RETURN(LoadedWorkflow loaded,
                                LoadWorkflow(session, {row->job_no, row->def_version}));
      CARILLON_ASSIGN_OR_RETURN(NodeStates nodes,
                                ReadNodes(session, *row, loaded.graph.size(), rules.incarnations));
      StepReads reads{
          .row = std::move(*row), .loaded = std::move(loaded), .nodes = std::move(nodes)};
      CARILLON_TRY(ReadStepFacts(session, *own, rules, reads));
      CARILLON_TRY(WriteStep(session, reads, rules, &effect));
    }
  }
  CARILLON_TRY(DeleteCompletions(session, request.wake_ups));
  return effect;
}

Result<std::vector<WakeUp>> ReadWakeUps(Session& session, const std::vector<SegmentId>& segments,
                                        size_t limit) {
  static const std::string branch =
      "SELECT c.id, c.segment, c.fire_us, c.schedule_id, c.shard, c.ended_us FROM run_completions "
      "c FORCE INDEX (by_segment) WHERE c.segment = ? AND c.target = 'workflow' ORDER BY c.id "
      "LIMIT ?";
  const auto fetch = [&](size_t share) -> Result<std::vector<WakeUp>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()),
                                                       ParamsOf(segments, std::nullopt, share)));
    std::vector<WakeUp> found;
    while (rows.Next()) {
      const auto place = NodePlaceOf(
          {rows.Time(3), ScheduleId(rows.Unsigned(4)), static_cast<uint32_t>(rows.Unsigned(5))});
      found.push_back({.id = rows.Unsigned(1),
                       .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(2))),
                       .run = {.fire = rows.Time(3), .no = place ? place->workflow_run_no : 0},
                       .ended = rows.Time(6)});
    }
    return found;
  };
  return MergeSegments<WakeUp>(
      segments.size(), limit, fetch, [](const WakeUp& one) { return one.segment; },
      [](const WakeUp& one) { return one.id; });
}

Result<std::vector<OpenWorkflowRun>> ReadOpenWorkflows(Session& session,
                                                       const std::vector<SegmentId>& segments,
                                                       uint64_t after, size_t limit) {
  static const std::string branch =
      "SELECT w.no, w.fire_us, w.segment FROM workflow_runs w FORCE INDEX (by_open) WHERE "
      "w.open_segment = ? AND w.no > ? ORDER BY w.no LIMIT ?";
  const auto fetch = [&](size_t share) -> Result<std::vector<OpenWorkflowRun>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()),
                                                       ParamsOf(segments, after, share)));
    std::vector<OpenWorkflowRun> found;
    while (rows.Next()) {
      found.push_back({.run = {.fire = rows.Time(2), .no = rows.Unsigned(1)},
                       .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(3)))});
    }
    return found;
  };
  return MergeSegments<OpenWorkflowRun>(
      segments.size(), limit, fetch, [](const OpenWorkflowRun& one) { return one.segment; },
      [](const OpenWorkflowRun& one) { return one.run.no; });
}

}  // namespace carillon::mysql
