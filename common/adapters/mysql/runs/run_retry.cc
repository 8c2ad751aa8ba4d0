#include "common/adapters/mysql/runs/run_retry.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/adapters/mysql/access/run_backers.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/request_keys.h"
#include "common/adapters/mysql/run_rows/checkpoint_rows.h"
#include "common/adapters/mysql/run_rows/part_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/slots/job_slots.h"
#include "common/adapters/mysql/workflow/workflow_control.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/parts/fire_end.h"
#include "common/domain/parts/lost_facts.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

// True if the executor reported the current attempt after the attempt was given up. Such a report
// is stored with the earlier attempts.
bool HasReportOf(const RunDetail& run, int attempt) {
  return std::any_of(run.attempts.begin(), run.attempts.end(),
                     [&](const RunAttempt& known) { return known.attempt == attempt; });
}

Result<RunDetail> AnswerRetry(Session& session, const RetryRequest& request,
                              Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(RunDetail retried, ReadDetail(session, request.key, incarnations));
  CARILLON_ASSIGN_OR_RETURN(retried.saved, ReadSaved(session, request.key));
  if (request.keyed) {
    const auto& keyed = *request.keyed;
    CARILLON_TRY(SettleRequest(session, keyed.scope, keyed.key, keyed.answer(retried)));
  }
  return retried;
}

// The slot that the fire takes to run again; nullopt: its job has none. Locks the slots.
Result<std::optional<int64_t>> SlotForFire(Session& session, const StoredRun& own,
                                           const OverlapRules& rules) {
  if (!TakesSlots(rules.policy)) return std::optional<int64_t>();
  const JobNo job_no = own.row.job_no;
  SlotsOfJobs slots{{job_no, {}}};
  QueuesOfJobs queues{{job_no, {.segment = own.row.segment}}};
  CARILLON_TRY(LockSlots(session, &slots));
  CARILLON_TRY(ReadQueues(session, {}, &queues));
  const JobSlots& taken = slots.at(job_no);
  const JobQueueFacts& queue = queues.at(job_no);
  const SlotFacts facts = SlotFactsOf(taken, queue, own.row.key);
  if (DecideSlot(rules, facts) != SlotVerdict::kStart) {
    const bool held = static_cast<int64_t>(taken.taken.size()) >= rules.max_running;
    return NoSlotForFire(own.row, held ? taken.taken.begin()->second : *queue.first);
  }
  return taken.Lowest(rules.max_running);
}

// Edits keep facts with the runs that have a letter.
Result<bool> HasDeadLetter(Session& session, const RunRow& run) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT 1 FROM dead_letters d FORCE INDEX (by_job) WHERE d.job_no = ? AND "
                    "d.fire_us = ? AND d.schedule_id = ? AND d.shard = ? LIMIT 1",
                    {run.job_no.value(), ToUnixMicros(run.key.fire), run.key.schedule_id.value(),
                     uint64_t{run.key.shard}}));
  return rows.Next();
}

// The parameters that are stored with the run. Those that cannot be read fail its attempt.
Result<RenderedParameters> ReadGiven(Session& session, const RunKey& key) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(fmt::format("SELECT r.parameters FROM job_runs r FORCE INDEX (PRIMARY) WHERE "
                                "{}",
                                kIsRun),
                    ParamsOf(key)));
  if (!rows.Next()) return RenderedParameters();
  auto given = GivenFromText(rows.Text(1));
  return given.ok() ? std::move(*given) : RenderedParameters();
}

// Under the lock of the job, which an edit of it takes, too.
Status AskLostFacts(Session& session, const RunRow& own, const StoredJobRow& job) {
  if (!IsFinal(own.state) || own.def_version == job.version) return {};
  RunOfVersion run{.now = &job.definition,
                   .of_schedule = own.key.schedule_id != job.manual_schedule};
  CARILLON_ASSIGN_OR_RETURN(run.given, ReadGiven(session, own.key));
  CARILLON_ASSIGN_OR_RETURN(
      const std::vector<JobVersionRecord> records,
      ReadDefinitions(session, {{job.job_no, own.def_version}, {job.job_no, job.version}}));
  for (const JobVersionRecord& record : records) {
    if (record.version == own.def_version && record.readable) run.then = &record.definition;
    if (record.version != job.version) continue;
    const auto id = std::ranges::find(record.schedule_ids, own.key.schedule_id);
    const auto position = static_cast<size_t>(id - record.schedule_ids.begin());
    const std::vector<ScheduleSpec>& schedules = record.definition.schedules;
    if (position < std::min(record.schedule_ids.size(), schedules.size())) {
      run.schedule = &schedules[position];
    }
  }
  const Status lost = CheckLostFacts(own, run);
  if (lost.ok()) return {};
  // Last, because a job may have very many letters, and they are not found by run.
  CARILLON_ASSIGN_OR_RETURN(const bool kept, HasDeadLetter(session, own));
  return kept ? Status() : lost;
}

// The rights of those behind the fire, as its begin asks them.
Status AskRights(Session& session, const RunRow& own) {
  if ((own.flags & run_flag::kOnBehalf) == 0) return {};
  CARILLON_ASSIGN_OR_RETURN(const auto refusals, ReadRefusals(session, {own.key}));
  const auto refusal = refusals.find(own.key);
  return refusal == refusals.end() ? Status() : Status(ForbiddenForFire(own, refusal->second));
}

// Runs parts of a fire again, and with them its own run, which is locked.
Status RetryFire(Session& session, StoredRun& own, const StoredJobRow& stored,
                 const PartChoice& choice, const WriteContext& context,
                 Incarnations& incarnations) {
  const JobRow job = ForRun(ToJobRow(stored), own.row);
  CARILLON_ASSIGN_OR_RETURN(std::vector<LockedPart> parts,
                            LockParts(session, own.row.key, incarnations));
  std::vector<PartOfFire> rows;
  for (const LockedPart& part : parts) {
    if (!part.run.readable) return UnreadableRun(part.run.row.key);
    rows.push_back({.row = part.run.row, .reason = part.reason});
  }
  CARILLON_ASSIGN_OR_RETURN(
      std::vector<PartRetry> plan,
      PlanPartRetry(own.row, rows, choice, job, context.overlap(), context.now));
  CARILLON_TRY(AskLostFacts(session, own.row, stored));
  CARILLON_TRY(AskRights(session, own.row));
  std::vector<RunKey> ended;
  for (PartRetry& again : plan) {
    // Recorded below, all at once: a fire may have 1,000 parts.
    if (std::exchange(again.change.record_attempt, false)) {
      ended.push_back(rows[again.position].row.key);
    }
  }
  RunWriter writer(session);
  if (IsFinal(own.row.state)) {
    CARILLON_ASSIGN_OR_RETURN(const std::optional<int64_t> slot,
                              SlotForFire(session, own, job.overlap));
    ended.push_back(own.row.key);
    CARILLON_TRY(RecordEndedAttempts(session, ended));
    RunChange change = NextAttemptOfFire(own.row, job, context.now);
    change.record_attempt = false;
    own.row.flags |= EndFlags(own.row.kind, own.row.flags, stored.has_dependents);
    CARILLON_TRY(writer.Change(own, change, {}, context.now));
    CARILLON_TRY(writer.Claim(own, slot, context.now));
  } else {
    CARILLON_TRY(RecordEndedAttempts(session, ended));
  }
  for (const PartRetry& again : plan) {
    // An edit may have kept parameters with the own run since.
    parts[again.position].run.row.flags |= FlagsOfPart(own.row);
    CARILLON_TRY(writer.Change(parts[again.position].run, again.change, {}, context.now));
  }
  return writer.Flush();
}

// Makes a task due now that waits for its next attempt. Its job has no text.
Status RetryTask(Session& session, const RunRow& before, const WriteContext& context,
                 Incarnations& incarnations) {
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, {before.job_no}, &jobs));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {before.key}, incarnations));
  if (runs.empty()) return NotOpenable(session, before.key);
  StoredRun& run = runs.begin()->second;
  if (!run.readable) return UnreadableRun(before.key);
  const std::optional<JobRow> job = JobOf(jobs, run.row);
  if (!job) return {ErrorCode::kCorrupt, "retry: a task without the row of its workflow's tasks"};
  CARILLON_ASSIGN_OR_RETURN(const RunChange change,
                            DecideRetryByHand(run.row, *job, context.overlap(), context.now));
  RunWriter writer(session);
  CARILLON_TRY(writer.Change(run, change, {}, context.now));
  return writer.Flush();
}

// The effect of a retry of a run that is neither of a workflow nor of a node that has ended.
Status RetryAlone(Session& session, const RetryRequest& request, const WriteContext& context,
                  Incarnations& incarnations) {
  const RunKey own = OwnRunOf(request.key);
  // A run's job never changes, so it may be read before the job is locked.
  CARILLON_ASSIGN_OR_RETURN(const RunDetail before, ReadDetail(session, own, incarnations));
  if (IsTaskJob(before.row.job_no)) return RetryTask(session, before.row, context, incarnations);
  CARILLON_ASSIGN_OR_RETURN(const StoredJobRow job, LockJob(session, before.row.job_no));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {own}, incarnations));
  if (runs.empty()) return NotOpenable(session, own);
  StoredRun& run = runs.begin()->second;
  if (!run.readable) return UnreadableRun(own);
  if (IsRetriedByParts(run.row)) {
    if (job.definition.workflow) return IsWorkflowNow(run.row);
    return RetryFire(session, run, job, ChoiceOf(request.key, request.parts), context,
                     incarnations);
  }
  if (request.parts || IsPart(request.key)) return NoPartsToRetry(run.row);
  // Reads the run again, because a report of the attempt may have arrived between the first
  // read and the lock.
  CARILLON_ASSIGN_OR_RETURN(const RunDetail now_is, ReadDetail(session, own, incarnations));
  if (HasReportOf(now_is, run.row.attempt)) run.row.may_still_run = false;
  CARILLON_ASSIGN_OR_RETURN(
      const RunChange change,
      DecideRetryByHand(run.row, ForRun(ToJobRow(job), run.row), context.overlap(), context.now));
  CARILLON_TRY(AskLostFacts(session, run.row, job));
  AttemptResult ended = now_is.result;
  // An attempt that was given up as lost is recorded as LOST, because its real end may still
  // be reported.
  ended.state = run.ended_by_loss ? RunState::kLost : run.row.state;
  // The run may have ended before others began to wait for its job.
  run.row.flags |= EndFlags(run.row.kind, run.row.flags, job.has_dependents);
  RunWriter writer(session);
  CARILLON_TRY(writer.Change(run, change, ended, context.now));
  return writer.Flush();
}

}  // namespace

Error NotOpenable(Session& session, const RunKey& key) {
  const Result<bool> kept = IsOnlyKept(session, key);
  if (!kept.ok()) return kept.error();
  return *kept ? OnlyKept(key) : Error{ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
}

Error UnreadableRun(const RunKey& key) {
  return {ErrorCode::kCorrupt, "run " + EncodeRunId(key) + ": unknown state or kind"};
}

Result<RunDetail> RetryIn(Session& session, const RetryRequest& request,
                          const WriteContext& context, Incarnations& incarnations) {
  const RunKey own = OwnRunOf(request.key);
  CARILLON_ASSIGN_OR_RETURN(const auto waiting, WaitingNode(session, own, incarnations));
  std::optional<WorkflowTarget> target;
  if (!waiting) {
    CARILLON_ASSIGN_OR_RETURN(target, TargetOfRetry(session, own, request.workflow));
  }
  if (!target) {
    CARILLON_TRY(RetryAlone(session, request, context, incarnations));
    return AnswerRetry(session, request, incarnations);
  }
  if (request.parts || IsPart(request.key)) return RetriedByWorkflow(own);
  target->retry.overlap = context.overlap();
  CARILLON_TRY(RetryWorkflow(session, *target, context, incarnations));
  return AnswerRetry(session, request, incarnations);
}

}  // namespace carillon::mysql
