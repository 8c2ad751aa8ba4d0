#include "common/adapters/mysql/workflow/step_writer.h"

#include <utility>

#include "common/adapters/mysql/access/run_backers.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/workflow/opened_nodes.h"
#include "common/base/check.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"
#include "common/domain/workflow/workflow_end.h"
#include "common/domain/workflow/workflow_release.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

using JobsByNumber = std::map<JobNo, JobVersionRecord>;

// The present definitions of the jobs of the nodes that may be released. The jobs are locked, so
// these are still present at the commit. Those of tasks are in the graph.
Result<JobsByNumber> DefinitionsOf(Session& session, const LockedJobs& jobs) {
  std::vector<JobVersionKey> keys;
  for (const auto& [job_no, job] : jobs) {
    if (!job.deleted && !IsTaskJob(job_no)) keys.push_back({job_no, job.version});
  }
  JobsByNumber definitions;
  if (keys.empty()) return definitions;
  CARILLON_ASSIGN_OR_RETURN(auto found, ReadDefinitions(session, keys));
  for (JobVersionRecord& record : found) definitions[record.job_no] = std::move(record);
  return definitions;
}

}  // namespace

Status StepWriter::Load(const LockedJobs& jobs) {
  jobs_ = &jobs;
  CARILLON_ASSIGN_OR_RETURN(definitions_, DefinitionsOf(session_, jobs));
  if (jobs.empty()) return {};  // nothing is released
  CARILLON_ASSIGN_OR_RETURN(const RenderedParameters given, GivenFromText(reads_.row.parameters));
  CARILLON_ASSIGN_OR_RETURN(reads_.workflow.backers,
                            ReadBackers(session_, reads_.row.job_no, given.given_by));
  return {};
}

Status StepWriter::Apply(const NodeDecision& decision, StepEffect* effect) {
  const auto found = runs_.find(reads_.nodes.runs[decision.position].row.key);
  if (found == runs_.end()) return {};
  StoredRun& run = found->second;
  // A node that an edit, a delete or a person has ended meanwhile: the next step sees it.
  const bool pending = run.row.state == RunState::kPending;
  if (decision.action != NodeAction::kStop && !pending) return {};
  const bool blocked = pending && run.row.due == kBlocked;
  switch (decision.action) {
    case NodeAction::kRelease:
      if (!blocked || released_.IsFull()) return {};
      return Release(decision.position, run, effect);
    case NodeAction::kOpen:
      if (!blocked || released_.IsFull()) return {};
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

Status StepWriter::Flush() {
  CARILLON_TRY(released_.Write(session_));
  CARILLON_TRY(writer_.Flush());
  for (const WorkflowRow& nested : stopped_) {
    CARILLON_TRY(WriteWakeUp(session_, nested, rules_.now));
  }
  return {};
}

Status StepWriter::EndOwn(StoredRun& own, const WorkflowEnd& end, StepEffect* effect) {
  const WorkflowEnding ending =
      EndingOf(own.row, end, reads_.loaded.graph, reads_.nodes.rows, reads_.workflow, rules_.now);
  effect->freed_slot = own.slot_taken;
  effect->completed = IsAwaited(own.row);
  effect->ended = ending.change.state;
  return writer_.Change(own, ending.change, ending.result, rules_.now);
}

void StepWriter::TakeRelease(const NodeRelease& release, RunRow& run) {
  run.flags = (run.flags & ~kFlagsOfRelease) | release.flags;
  run.rules = release.rules;
  if (!run.rules.empty()) run.flags |= run_flag::kRules;
}

Status StepWriter::Release(size_t position, StoredRun& run, StepEffect* effect) {
  const JobRow* const job = RowOf(*jobs_, run.row.job_no);
  if (job == nullptr) return {ErrorCode::kCorrupt, "workflow: a node without a job"};
  JobDefinition task;
  const JobDefinition* definition = nullptr;
  const auto record = definitions_.find(run.row.job_no);
  if (IsTaskJob(run.row.job_no)) {
    CARILLON_ASSIGN_OR_RETURN(task, TaskAt(reads_.loaded.record.definition, position));
    definition = &task;
  } else if (record != definitions_.end() && record->second.readable) {
    definition = &record->second.definition;
  }
  // A version that cannot read the job leaves the node to one that can.
  if (!job->deleted && definition == nullptr) {
    unreadable_.insert(position);
    return {};
  }
  const NodeRelease release =
      DecideRelease(reads_.loaded.graph, position, reads_.nodes.rows, reads_.workflow, *job,
                    definition == nullptr ? task : *definition);
  if (!release.skip.empty()) {
    ++effect->skipped;
    return End(position, run, RunState::kSkipped, release.skip, release.error);
  }
  TakeRelease(release, run.row);
  const std::optional<JobRow> by_rules = JobOf(*jobs_, run.row);
  run.row.due = by_rules->paused ? kNever : rules_.now;
  run.row.def_version = by_rules->version;
  run.row.priority = PriorityOfNode(by_rules->priority, runs_.at(reads_.row.own).row);
  released_.Add(run, release);
  reads_.nodes.rows[position].blocked = false;
  if (IsTime(run.row.due)) effect->released.push_back(run.row);
  return {};
}

Status StepWriter::Open(const NodeDecision& decision, StoredRun& run, StepEffect* effect) {
  const NodeRelease opening =
      DecideOpening(reads_.loaded.graph, decision.position, reads_.nodes.rows, reads_.workflow);
  if (!opening.skip.empty()) {
    ++effect->skipped;
    return End(decision.position, run, RunState::kSkipped, opening.skip, opening.error);
  }
  TakeRelease(opening, run.row);
  run.row.due = decision.due;
  run.started = rules_.now;
  released_.Add(run, opening, decision.until);
  NodeRow& row = reads_.nodes.rows[decision.position];
  row.blocked = false;
  row.opened = true;
  row.until = decision.until;
  row.started = rules_.now;
  if (decision.due == kUndecided) writer_.NoteApproval(run.row, reads_.row.job_no, rules_.now);
  return {};
}

Status StepWriter::Finish(const NodeDecision& decision, StoredRun& run) {
  if (run.row.due == kBlocked) {
    // A wait that is over when it opens.
    const NodeRelease opening =
        DecideOpening(reads_.loaded.graph, decision.position, reads_.nodes.rows, reads_.workflow);
    TakeRelease(opening, run.row);
    run.started = rules_.now;
    released_.Add(run, opening);
  }
  CARILLON_TRY(EndOpened(run, decision.result, writer_, rules_.now));
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
  CARILLON_TRY(writer_.End(run, state, reason, rules_.now));
  writer_.Explain(run.row.key, error);
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
  CARILLON_ASSIGN_OR_RETURN(const CancelEffect done,
                            CancelLocked(run, {session_, rules_.incarnations, writer_},
                                         {.now = rules_.now, .mode = mode_}));
  CARILLON_CHECK(done == asked, "a cancel is decided alike twice");
  reads_.nodes.rows[position].cancel_requested = true;
  if (!IsRunningWorkflow(run.row)) return {};
  CARILLON_ASSIGN_OR_RETURN(auto nested,
                            ReadWorkflowOf(session_, run.row.key, WorkflowLock::kNone));
  if (nested) stopped_.push_back(std::move(*nested));
  return {};
}

}  // namespace carillon::mysql
