#include "common/adapters/mysql/workflow/step_writer.h"

#include <optional>
#include <utility>

#include "common/adapters/mysql/access/run_backers.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/workflow/loaded_versions.h"
#include "common/adapters/mysql/workflow/opened_nodes.h"
#include "common/base/check.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/workflow_end.h"
#include "common/domain/workflow/workflow_release.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {

Status StepShare::Lock(std::vector<JobNo> job_nos, std::vector<RunKey> keys,
                       const std::set<JobNo>& workflows) {
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  CARILLON_ASSIGN_OR_RETURN(runs, LockRuns(session, std::move(keys), rules.incarnations));
  if (jobs.empty()) return {};  // nothing is released
  // The jobs are locked, so these definitions are still present at the commit.
  std::vector<JobVersionKey> present;
  for (const auto& [job_no, job] : jobs) {
    if (!job.deleted && !IsTaskJob(job_no)) present.push_back({job_no, job.version});
  }
  CARILLON_ASSIGN_OR_RETURN(definitions_, LoadVersions(session, present, rules.versions));
  CARILLON_ASSIGN_OR_RETURN(owners_, ReadOwners(session, workflows));
  return {};
}

Result<std::vector<Backer>> StepShare::BackersOf(JobNo workflow, const std::string& parameters) {
  CARILLON_ASSIGN_OR_RETURN(const RenderedParameters given, GivenFromText(parameters));
  const auto owner = owners_.find(workflow);
  return ReadBackers(session, owner == owners_.end() ? std::nullopt : std::optional(owner->second),
                     given.given_by);
}

const JobDefinition* StepShare::DefinitionOf(JobNo job_no) const {
  const JobRow* const job = RowOf(jobs, job_no);
  if (job == nullptr) return nullptr;
  const auto found = definitions_.find({job_no, job->version});
  const bool readable = found != definitions_.end() && found->second->record.readable;
  return readable ? &found->second->record.definition : nullptr;
}

Status StepShare::Flush() {
  CARILLON_TRY(released.Write(session));
  CARILLON_TRY(writer.Flush());
  for (const WorkflowRow& nested : std::exchange(stopped, {})) {
    CARILLON_TRY(WriteWakeUp(session, nested, rules.now));
  }
  return {};
}

Status StepWriter::Apply(const NodeDecision& decision, StepEffect* effect) {
  const auto found = share_.runs.find(reads_.nodes.runs[decision.position].row.key);
  if (found == share_.runs.end()) return {};
  StoredRun& run = found->second;
  // A node that an edit, a delete or a person has ended meanwhile: the next step sees it.
  const bool pending = run.row.state == RunState::kPending;
  if (decision.action != NodeAction::kStop && !pending) return {};
  const bool blocked = pending && run.row.due == kBlocked;
  switch (decision.action) {
    case NodeAction::kRelease:
      if (!blocked || IsFull()) return {};
      return Release(decision.position, run, effect);
    case NodeAction::kOpen:
      if (!blocked || IsFull()) return {};
      return Open(decision, run, effect);
    case NodeAction::kFinish:
      return blocked || IsOpenedNode(run.row.due) ? Finish(decision, run) : Status();
    case NodeAction::kSkip:
      if (!IsUnreleased(run.row.due)) return {};
      ++effect->skipped;
      return End(decision.position, run, RunState::kSkipped, decision.reason, decision.error);
    case NodeAction::kCancel:
      ++effect->cancelled;
      return End(decision.position, run, RunState::kCancelled, CancelReason(run.row), {});
    case NodeAction::kStop: break;
  }
  return Stop(decision.position, run, effect);
}

Status StepWriter::EndOwn(StoredRun& own, const WorkflowEnd& end, StepEffect* effect) {
  const WorkflowEnding ending =
      EndingOf(own.row, end, reads_.graph(), reads_.nodes.rows, reads_.workflow, share_.rules.now);
  effect->freed_slot = own.slot_taken;
  effect->completed = IsAwaited(own.row);
  effect->ended = ending.change.state;
  return share_.writer.Change(own, ending.change, ending.result, share_.rules.now);
}

Status StepWriter::AddReleased(const StoredRun& run, const NodeRelease& release, WallTime until) {
  released_bytes_ += share_.released.Add(run, release, until);
  return share_.released.IsFull() ? share_.released.Write(share_.session) : Status();
}

void StepWriter::TakeRelease(const NodeRelease& release, RunRow& run) {
  run.flags = (run.flags & ~kFlagsOfRelease) | release.flags;
  run.rules = release.rules;
  if (!run.rules.empty()) run.flags |= run_flag::kRules;
}

Status StepWriter::Release(size_t position, StoredRun& run, StepEffect* effect) {
  const JobRow* const job = RowOf(share_.jobs, run.row.job_no);
  if (job == nullptr) return {ErrorCode::kCorrupt, "workflow: a node without a job"};
  JobDefinition task;
  const JobDefinition* definition = share_.DefinitionOf(run.row.job_no);
  if (IsTaskJob(run.row.job_no)) {
    CARILLON_ASSIGN_OR_RETURN(task, TaskAt(reads_.version->record.definition, position));
    definition = &task;
  }
  // A version that cannot read the job leaves the node to one that can.
  if (!job->deleted && definition == nullptr) {
    unreadable_.insert(position);
    return {};
  }
  if (!std::exchange(knows_backers_, true)) {
    CARILLON_ASSIGN_OR_RETURN(reads_.workflow.backers,
                              share_.BackersOf(reads_.row.job_no, reads_.row.parameters));
  }
  const NodeRelease release =
      DecideRelease(reads_.graph(), position, reads_.nodes.rows, reads_.workflow, *job,
                    definition == nullptr ? task : *definition);
  if (!release.skip.empty()) {
    ++effect->skipped;
    return End(position, run, RunState::kSkipped, release.skip, release.error);
  }
  TakeRelease(release, run.row);
  const std::optional<JobRow> by_rules = JobOf(share_.jobs, run.row);
  run.row.due = by_rules->paused ? kNever : share_.rules.now;
  run.row.def_version = by_rules->version;
  run.row.priority = PriorityOfNode(by_rules->priority, share_.runs.at(reads_.row.own).row);
  CARILLON_TRY(AddReleased(run, release));
  reads_.nodes.rows[position].blocked = false;
  if (IsTime(run.row.due)) effect->released.push_back(run.row);
  return {};
}

Status StepWriter::Open(const NodeDecision& decision, StoredRun& run, StepEffect* effect) {
  const NodeRelease opening =
      DecideOpening(reads_.graph(), decision.position, reads_.nodes.rows, reads_.workflow);
  if (!opening.skip.empty()) {
    ++effect->skipped;
    return End(decision.position, run, RunState::kSkipped, opening.skip, opening.error);
  }
  TakeRelease(opening, run.row);
  run.row.due = decision.due;
  run.started = share_.rules.now;
  CARILLON_TRY(AddReleased(run, opening, decision.until));
  NodeRow& row = reads_.nodes.rows[decision.position];
  row.blocked = false;
  row.opened = true;
  row.until = decision.until;
  row.started = share_.rules.now;
  if (decision.due == kUndecided)
    share_.writer.NoteApproval(run.row, reads_.row.job_no, share_.rules.now);
  return {};
}

Status StepWriter::Finish(const NodeDecision& decision, StoredRun& run) {
  if (run.row.due == kBlocked) {
    // A wait that is over when it opens.
    const NodeRelease opening =
        DecideOpening(reads_.graph(), decision.position, reads_.nodes.rows, reads_.workflow);
    TakeRelease(opening, run.row);
    run.started = share_.rules.now;
    // Before its end, which is written with others.
    CARILLON_TRY(AddReleased(run, opening));
    CARILLON_TRY(share_.released.Write(share_.session));
  }
  CARILLON_TRY(EndOpened(run, decision.result, share_.writer, share_.rules.now));
  NodeRow& row = reads_.nodes.rows[decision.position];
  row.state = decision.result.state;
  row.blocked = false;
  row.opened = false;
  row.reason = decision.result.reason;
  row.outputs = decision.result.outputs;
  return {};
}

Status StepWriter::End(size_t position, StoredRun& run, RunState state, std::string_view reason,
                       std::string_view error) {
  run.row.flags &= ~run_flag::kNode;  // this step follows from it
  CARILLON_TRY(share_.writer.End(run, state, reason, share_.rules.now));
  share_.writer.Explain(run.row.key, error);
  NodeRow& row = reads_.nodes.rows[position];
  row.state = state;
  row.blocked = false;
  row.opened = false;
  row.reason = std::string(reason);
  return {};
}

Status StepWriter::Stop(size_t position, StoredRun& run, StepEffect* effect) {
  if (IsFinal(run.row.state)) return {};
  const CancelEffect asked = DecideCancel(run.row, mode_, Overlap::kUnconfirmed);
  if (asked == CancelEffect::kCancelledNow) {
    ++effect->cancelled;
    return End(position, run, RunState::kCancelled, CancelReason(run.row), {});
  }
  if (asked != CancelEffect::kRequested) return {};
  ++effect->stopping;
  CARILLON_ASSIGN_OR_RETURN(
      const CancelEffect done,
      CancelLocked(run, {share_.session, share_.rules.incarnations, share_.writer},
                   {.now = share_.rules.now, .mode = mode_}));
  CARILLON_CHECK(done == asked, "a cancel is decided alike twice");
  reads_.nodes.rows[position].cancel_requested = true;
  if (!IsRunningWorkflow(run.row)) return {};
  CARILLON_ASSIGN_OR_RETURN(auto nested,
                            ReadWorkflowOf(share_.session, run.row.key, WorkflowLock::kNone));
  if (nested) share_.stopped.push_back(std::move(*nested));
  return {};
}

}  // namespace carillon::mysql
