#include "common/adapters/mysql/workflow/workflow_step_batch.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/adapters/mysql/access/run_backers.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/completion_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/workflow/workflow_rows.h"
#include "common/base/cluster_settings.h"
#include "common/base/failpoint.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/workflow_end.h"
#include "common/domain/workflow/workflow_release.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

// All that a step reads, before it locks runs.
struct StepReads {
  WorkflowRow row;
  LoadedWorkflow loaded;
  NodeStates nodes;
  WorkflowCause cause = WorkflowCause::kNone;
};

struct ReleaseRow {
  const StoredRun& run;
  const JobRow& job;
  const NodeRelease& release;
  int priority;
  WallTime due;
};

// Makes blocked runs claimable.
class Releases {
 public:
  void Add(const ReleaseRow& one) {
    const std::string parameters = GivenToText(one.release.parameters);
    bytes_ += parameters.size();
    rows_.Begin()
        .Add(one.run.row.key)
        .Add(one.due)
        .Add(one.job.version)
        .Add(one.priority)
        .AddBytes(parameters)
        .Add(one.release.flags);
  }
  bool IsFull() const { return bytes_ >= kReleasedBytesPerStep; }
  Status Write(Session& session) {
    static const std::string statement = UpdateRuns(
        "u BIGINT PATH '$[3]', v BIGINT PATH '$[4]', p INT PATH '$[5]', m LONGTEXT PATH '$[6]', "
        "l INT UNSIGNED PATH '$[7]'",
        fmt::format("r.due_us = k.u, r.def_version = k.v, r.priority = k.p, r.parameters = "
                    "NULLIF(CONVERT(FROM_BASE64(k.m) USING utf8mb4), ''), "
                    "r.flags = r.flags & ~{} | k.l",
                    run_flag::kOnBehalf),
        "r.state = 'PENDING'");
    if (rows_.empty()) return {};
    const auto expected = static_cast<int64_t>(rows_.size());
    CARILLON_ASSIGN_OR_RETURN(const int64_t matched, session.Execute(statement, {rows_.Take()}));
    if (matched == expected) return {};
    return {ErrorCode::kConflict, "a node is not blocked any more"};
  }

 private:
  JsonRows rows_;
  size_t bytes_ = 0;  // of parameters
};

using JobsByNumber = std::map<JobNo, JobVersionRecord>;

// The present definitions of the jobs of the nodes that may be released. The jobs are locked, so
// these are still present at the commit.
Result<JobsByNumber> DefinitionsOf(Session& session, const LockedJobs& jobs) {
  std::vector<JobVersionKey> keys;
  for (const auto& [job_no, job] : jobs) {
    if (!job.deleted) keys.push_back({job_no, job.version});
  }
  JobsByNumber definitions;
  if (keys.empty()) return definitions;
  CARILLON_ASSIGN_OR_RETURN(auto found, ReadDefinitions(session, keys));
  for (JobVersionRecord& record : found) definitions[record.job_no] = std::move(record);
  return definitions;
}

// Writes the decisions of one step, and keeps the rows of the nodes up to date.
class StepWriter {
 public:
  StepWriter(Session& session, StepReads& facts, LockedRuns& runs, const StepWrite& rules)
      : session_(session), facts_(facts), runs_(runs), rules_(rules), writer_(session) {}

  Status LoadJobs(const LockedJobs& jobs) {
    jobs_ = &jobs;
    CARILLON_ASSIGN_OR_RETURN(definitions_, DefinitionsOf(session_, jobs));
    CARILLON_ASSIGN_OR_RETURN(RenderedParameters given, GivenFromText(facts_.row.parameters));
    workflow_ = {.run = facts_.row.own,
                 .parameters = std::move(given.values),
                 .untrusted = std::move(given.untrusted),
                 .time_zone = std::move(given.time_zone)};
    if (jobs.empty()) return {};  // nothing is released
    CARILLON_ASSIGN_OR_RETURN(workflow_.backers,
                              ReadBackers(session_, facts_.row.job_no, given.given_by));
    return {};
  }

  Status Apply(const NodeDecision& decision, StepEffect* effect) {
    const auto found = runs_.find(facts_.nodes.runs[decision.position].row.key);
    if (found == runs_.end()) return {};
    StoredRun& run = found->second;
    const bool unreleased = run.row.state == RunState::kPending && IsUnreleased(run.row.due);
    // A node that an edit, a delete or a person has ended meanwhile: the next step sees it.
    if (decision.action != NodeAction::kStop && run.row.state != RunState::kPending) return {};
    switch (decision.action) {
      case NodeAction::kRelease:
        if (!unreleased || run.row.due != kBlocked || releases_.IsFull()) return {};
        return Release(decision.position, run, effect);
      case NodeAction::kSkip:
        if (!unreleased) return {};
        ++effect->skipped;
        return End(decision.position, run, RunState::kSkipped, decision.reason, decision.error);
      case NodeAction::kCancel:
        ++effect->cancelled;
        return End(decision.position, run, RunState::kCancelled, CancelReason(run.row), {});
      case NodeAction::kStop: return Stop(decision.position, run, effect);
      case NodeAction::kOpen:
      case NodeAction::kFinish: break;
    }
    return {};
  }

  Status Flush() {
    CARILLON_TRY(releases_.Write(session_));
    CARILLON_TRY(writer_.Flush());
    for (const WorkflowRow& nested : stopped_) {
      CARILLON_TRY(WriteWakeUp(session_, nested, rules_.now));
    }
    return {};
  }

  Status EndOwn(StoredRun& own, const WorkflowEnd& end, StepEffect* effect) {
    WorkflowEnding ending =
        EndingOf(own.row, end, facts_.loaded.graph, facts_.nodes.rows, workflow_, rules_.now);
    effect->freed_slot = own.slot_taken;
    effect->completed = IsAwaited(own.row);
    effect->ended = end.state;
    return writer_.Change(own, ending.change, ending.result, rules_.now);
  }

 private:
  Status Release(size_t position, StoredRun& run, StepEffect* effect) {
    const auto job = jobs_->find(run.row.job_no);
    if (job == jobs_->end()) return {ErrorCode::kCorrupt, "workflow: a node without a job"};
    const auto record = definitions_.find(run.row.job_no);
    const bool readable = record != definitions_.end() && record->second.readable;
    // A version that cannot read the job leaves the node to one that can.
    if (!job->second.deleted && !readable) {
      unreadable_.insert(position);
      return {};
    }
    static const JobDefinition kNone;
    const NodeRelease release =
        DecideRelease(facts_.loaded.graph, position, facts_.nodes.rows, workflow_, job->second,
                      readable ? record->second.definition : kNone);
    if (!release.skip.empty()) {
      ++effect->skipped;
      return End(position, run, RunState::kSkipped, release.skip, release.error);
    }
    const WallTime due = job->second.paused ? kNever : rules_.now;
    const int priority = PriorityOfNode(job->second.priority, runs_.at(facts_.row.own).row);
    releases_.Add({run, job->second, release, priority, due});
    run.row.due = due;
    run.row.def_version = job->second.version;
    run.row.priority = priority;
    run.row.flags = (run.row.flags & ~run_flag::kOnBehalf) | release.flags;
    facts_.nodes.rows[position].blocked = false;
    if (IsTime(due)) effect->released.push_back(run.row);
    return {};
  }

  Status End(size_t position, StoredRun& run, RunState state, std::string_view reason,
             std::string_view error) {
    run.row.flags &= ~run_flag::kNode;  // this step follows from it
    CARILLON_TRY(writer_.End(run, state, reason, rules_.now));
    writer_.Explain(run.row.key, error);
    NodeRow& row = facts_.nodes.rows[position];
    row.state = state;
    row.blocked = false;
    row.reason = std::string(reason);
    return {};
  }

  // Asks a run that has started to stop. A nested workflow run stops its own nodes in its
  // next step.
  Status Stop(size_t position, StoredRun& run, StepEffect* effect) {
    if (IsFinal(run.row.state)) return {};
    const CancelEffect asked = DecideCancel(run.row, mode_, Overlap::kUnconfirmed);
    if (asked == CancelEffect::kCancelledNow) {
      ++effect->cancelled;
      return End(position, run, RunState::kCancelled, CancelReason(run.row), {});
    }
    if (asked != CancelEffect::kRequested) return {};
    ++effect->stopping;
    CARILLON_ASSIGN_OR_RETURN(const CancelEffect done,
                              CancelLocked(run, {session_, rules_.incarnations, writer_},
                                           {.now = rules_.now, .mode = mode_}));
    CARILLON_CHECK(done == asked, "a cancel is decided alike twice");
    facts_.nodes.rows[position].cancel_requested = true;
    if (!IsRunningWorkflow(run.row)) return {};
    CARILLON_ASSIGN_OR_RETURN(auto nested,
                              ReadWorkflowOf(session_, run.row.key, WorkflowLock::kNone));
    if (nested) stopped_.push_back(std::move(*nested));
    return {};
  }

 public:
  void SetMode(CancelMode mode) { mode_ = mode; }
  // True if the node could not be released, because its job cannot be read.
  bool WaitsForItsJob(size_t position) const { return unreadable_.contains(position); }

 private:
  Session& session_;
  StepReads& facts_;
  LockedRuns& runs_;
  const StepWrite& rules_;
  RunWriter writer_;
  Releases releases_;
  const LockedJobs* jobs_ = nullptr;
  JobsByNumber definitions_;
  std::set<size_t> unreadable_;  // positions of nodes
  WorkflowFacts workflow_;
  CancelMode mode_ = CancelMode::kGraceful;
  std::vector<WorkflowRow> stopped_;
};

WorkflowCause CauseOf(const StoredRun& own, const WorkflowRow& row) {
  if (own.row.cancel_requested || IsFinal(own.row.state)) return WorkflowCause::kCancel;
  return row.timed_out ? WorkflowCause::kDeadline : WorkflowCause::kNone;
}

bool AllFinal(const NodeRows& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [](const NodeRow& row) { return IsFinal(row.state); });
}

Status WriteStep(Session& session, StepReads& facts, const StepWrite& rules, StepEffect* effect) {
  WorkflowStep step = StepWorkflow(facts.loaded.graph, facts.nodes.rows, {.cause = facts.cause});
  const bool timed_out_before = facts.row.timed_out;
  if (step.decisions.empty() && !step.end) return {};
  std::vector<JobNo> job_nos;
  std::vector<RunKey> keys = {facts.row.own};
  for (const NodeDecision& decision : step.decisions) {
    const RunRow& row = facts.nodes.runs[decision.position].row;
    keys.push_back(row.key);
    if (decision.action == NodeAction::kRelease) job_nos.push_back(row.job_no);
  }
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs,
                            LockRuns(session, std::move(keys), rules.incarnations));
  const auto own = runs.find(facts.row.own);
  if (own == runs.end()) return {ErrorCode::kCorrupt, "workflow: the own run is gone"};
  StepWriter writer(session, facts, runs, rules);
  writer.SetMode(own->second.row.cancel_requested.value_or(CancelMode::kGraceful));
  CARILLON_TRY(writer.LoadJobs(jobs));
  for (const NodeDecision& decision : step.decisions) CARILLON_TRY(writer.Apply(decision, effect));
  // The decisions may have come out otherwise, and have consequences of their own.
  const WorkflowStep next =
      StepWorkflow(facts.loaded.graph, facts.nodes.rows, {.cause = facts.cause});
  effect->again = std::ranges::any_of(next.decisions, [&](const NodeDecision& one) {
    return !writer.WaitsForItsJob(one.position);
  });
  if (next.end && next.decisions.empty()) {
    facts.row.open = false;
    if (own->second.row.state == RunState::kRunning) {
      CARILLON_TRY(writer.EndOwn(own->second, *next.end, effect));
    }
  }
  CARILLON_TRY(writer.Flush());
  if (facts.row.open && facts.row.timed_out == timed_out_before) return {};
  return UpdateWorkflow(session, facts.row);
}

Result<bool> IsClusterPaused(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT 1 FROM system_config WHERE name = ?",
                                                     {std::string(kPauseSince)}));
  return rows.Next();
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
      StepReads facts{
          .row = std::move(*row), .loaded = std::move(loaded), .nodes = std::move(nodes)};
      const bool late = rules.now >= facts.row.deadline && !AllFinal(facts.nodes.rows);
      bool times_out = late && !facts.row.timed_out;
      if (times_out) {
        // Its nodes cannot start. The resume moves the deadline.
        CARILLON_ASSIGN_OR_RETURN(const bool paused, IsClusterPaused(session));
        times_out = !paused;
      }
      if (times_out) facts.row.timed_out = true;
      facts.cause = CauseOf(*own, facts.row);
      if (times_out) CARILLON_TRY(UpdateWorkflow(session, facts.row));
      CARILLON_TRY(WriteStep(session, facts, rules, &effect));
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
