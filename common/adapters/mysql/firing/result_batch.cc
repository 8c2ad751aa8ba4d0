#include "common/adapters/mysql/firing/result_batch.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/dependencies/dependency_rows.h"
#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/checkpoint_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/domain/job/job_types.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"

namespace carillon::mysql {
namespace {

// True if a report that does not change the run still says something new about its attempt.
bool IsNews(const StoredRun& run, const ResultReport& report) {
  if (report.attempt < run.row.attempt) return true;
  // The run ended as lost; this report says how the attempt really ended.
  return report.attempt == run.row.attempt && IsFinal(run.row.state) && run.ended_by_loss &&
         run.row.claim_token == report.token;
}

// The result of an attempt that was lost: only its start time is known.
AttemptResult LossOf(const StoredRun& run, const LossInput& input) {
  const bool given_up = input.loss == Loss::kGivenUp;
  return {.state = RunState::kLost,
          .reason = std::string(given_up ? reason::kOutcomeUnknown : reason::kExecutorLost),
          .started = run.started,
          .ended = input.now};
}

Status RecordReport(const StoredRun& run, const ResultReport& report, RunWriter& writer) {
  return writer.RecordAttempt(run.row.key, {.attempt = report.attempt,
                                            .state = report.result.state,
                                            .executor = report.executor,
                                            .claimed = run.row.claimed,
                                            .result = report.result});
}

// The slots that a run holds before a change.
struct HeldSlots {
  explicit HeldSlots(const StoredRun& run)
      : of_job(run.slot_taken), of_group(run.group_slot != 0) {}
  // True if `run`, after the change, has given one of them back.
  bool Freed(const StoredRun& run) const {
    return (of_job && !run.slot_taken) || (of_group && run.group_slot == 0);
  }
  bool of_job;
  bool of_group;
};

struct ResultBatchState {
  LockedJobs jobs;
  LockedRuns runs;
  std::set<JobNo> awaited;  // of lost runs whose job is not locked: those that others wait for
};

// A run that was lost before others began to wait for its job has no flag yet. The flag of a job is
// never taken back, so that it needs no lock.
Status ReadAwaited(Session& session, ResultBatchState* state) {
  std::set<JobNo> unknown;
  for (const auto& [key, run] : state->runs) {
    const bool flagged = (run.row.flags & run_flag::kDependents) != 0;
    const bool replaceable = run.row.state == RunState::kLost;
    if (replaceable && !flagged && !state->jobs.contains(run.row.job_no)) {
      unknown.insert(run.row.job_no);
    }
  }
  if (unknown.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(state->awaited, WithDependents(session, unknown));
  return {};
}

Result<RunEffect> ApplyOne(const ResultReport& report, ResultBatchState& state, SeenJobs& slot_jobs,
                           RunWriter& writer, WallTime now) {
  RunEffect effect{.key = report.key, .verdict = ResultVerdict::kUnknownRun};
  const auto found = state.runs.find(report.key);
  // A report with a segment other than its run's was checked against the wrong fence. A report with
  // another job would be decided by the rules of that job. Such reports are not applied.
  if (found == state.runs.end() || found->second.row.segment != report.segment ||
      found->second.row.job_no != report.job_no) {
    return effect;
  }
  StoredRun& run = found->second;
  if (!run.readable) {
    // This version does not know the run's state, so it only records the result. A version that
    // knows the state can decide about the run.
    effect.verdict = ResultVerdict::kRecordedOnly;
    CARILLON_TRY(RecordReport(run, report, writer));
    return effect;
  }
  if (run.row.state == RunState::kRunning) {
    slot_jobs.Note(run.row.job_no, run.slot_taken || run.group_slot != 0 || IsAwaited(run.row));
  }
  const std::optional<JobRow> job = JobOf(state.jobs, run.row);
  const ResultDecision decision = DecideResult(&run.row, job ? &*job : nullptr, report, now);
  effect.verdict = decision.verdict;
  if (decision.verdict == ResultVerdict::kApplied) {
    const HeldSlots held(run);
    const bool has_dependents = job ? job->has_dependents : state.awaited.contains(run.row.job_no);
    run.row.flags |= EndFlags(run.row.kind, run.row.flags, has_dependents);
    CARILLON_TRY(writer.Change(run, decision.change, report.result, now));
    NoteWritten(run.row, &effect);
    effect.freed_slot = held.Freed(run);
    effect.dead_letter = decision.change.dead_letter && LeavesDeadLetter(run.row);
    effect.given_back = decision.change.given_back;
  } else if (decision.verdict == ResultVerdict::kRecordedOnly && IsNews(run, report)) {
    CARILLON_TRY(RecordReport(run, report, writer));
  }
  return effect;
}

// Jobs are locked before runs.
Result<ResultBatchState> LockLosses(Session& session, Incarnations& incarnations,
                                    const std::vector<LostReport>& reports, const Fence& fence) {
  CARILLON_TRY(LockFence(session, fence));
  std::vector<JobNo> jobs;
  jobs.reserve(reports.size());
  for (const LostReport& report : reports) jobs.push_back(report.job_no);
  ResultBatchState state;
  CARILLON_TRY(LockJobs(session, std::move(jobs), &state.jobs));
  std::vector<RunKey> keys;
  keys.reserve(reports.size());
  for (const LostReport& report : reports) keys.push_back(report.key);
  CARILLON_ASSIGN_OR_RETURN(state.runs, LockRuns(session, std::move(keys), incarnations));
  return state;
}

// Reads on_lost from the job versions of attempts whose job was edited since. An unreadable version
// counts as kHold, because it may have required that a person decides.
using OldPolicies = std::map<JobVersionKey, LossRules>;
Result<OldPolicies> ReadOldPolicies(Session& session, const ResultBatchState& state) {
  OldPolicies policies;
  std::vector<JobVersionKey> keys;
  for (const auto& [key, run] : state.runs) {
    const std::optional<JobRow> job = JobOf(state.jobs, run.row);
    if (!job || job->version == run.row.def_version) continue;
    keys.push_back({run.row.job_no, run.row.def_version});
  }
  if (keys.empty()) return policies;
  for (const JobVersionKey& key : keys) policies[key] = {};
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  CARILLON_ASSIGN_OR_RETURN(const std::vector<JobVersionRecord> records,
                            ReadDefinitions(session, keys));
  for (const JobVersionRecord& record : records) {
    if (!record.readable) continue;
    policies[{record.job_no, record.version}] = {record.definition.on_lost,
                                                 IsCooperative(record.definition.type)};
  }
  return policies;
}

std::optional<RunChange> DecideLoss(const RunRow& row, const LockedJobs& jobs,
                                    const OldPolicies& old_policies, const LostReport& report,
                                    const LossInput& input) {
  if (input.loss == Loss::kGivenUp) return DecideGivenUp(&row, report);
  const auto old = old_policies.find({row.job_no, row.def_version});
  const std::optional<JobRow> job =
      JobOf(jobs, row, old == old_policies.end() ? std::nullopt : std::optional(old->second));
  if (!job) return std::nullopt;
  if (input.loss == Loss::kPresumed) return DecidePresumed(&row, *job, report, input.now);
  return DecideLost(&row, *job, report, input.now);
}

PlainSplit SplitReports(const std::vector<ResultReport>& reports, const SeenJobs& slot_jobs,
                        Look look) {
  const std::set<JobNo> with_slots = slot_jobs.Among(reports);
  return SplitPlain(reports, [&](const ResultReport& report) {
    return look == Look::kPlain && MayBePlain(report) && !with_slots.contains(report.job_no);
  });
}

Status ApplyRead(Session& session, const std::vector<ResultReport>& reports,
                 const std::vector<size_t>& places, const ResultRules& rules,
                 ResultBatchState& state, Effects* effects) {
  std::vector<RunKey> keys;
  keys.reserve(places.size());
  for (const size_t place : places) keys.push_back(reports[place].key);
  CARILLON_ASSIGN_OR_RETURN(state.runs, LockRuns(session, std::move(keys), rules.incarnations));
  CARILLON_TRY(ReadAwaited(session, &state));
  RunWriter writer(session);
  for (const size_t place : places) {
    CARILLON_ASSIGN_OR_RETURN((*effects)[place],
                              ApplyOne(reports[place], state, rules.slot_jobs, writer, rules.now));
  }
  return writer.Flush();
}

}  // namespace

Result<std::optional<Effects>> ApplyBatch(Session& session,
                                          const std::vector<ResultReport>& reports,
                                          const ResultRules& rules, Look look) {
  CARILLON_TRY(LockFence(session, rules.fence));
  const PlainSplit split = SplitReports(reports, rules.slot_jobs, look);
  // A success needs no data of its job. Any other result may lead to another attempt and needs its
  // job, which must be locked before the runs.
  std::vector<JobNo> jobs;
  for (const size_t place : split.others) {
    if (reports[place].result.state != RunState::kCompleted) jobs.push_back(reports[place].job_no);
  }
  ResultBatchState state;
  CARILLON_TRY(LockJobs(session, std::move(jobs), &state.jobs));
  Effects effects(reports.size());
  if (!split.plain.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const Facts facts, WritePlainResults(session, reports, split.plain));
    if (facts == Facts::kMissed) return std::optional<Effects>{};
    for (const size_t place : split.plain) {
      effects[place].key = reports[place].key;
      effects[place].state = RunState::kCompleted;
    }
  }
  if (!split.others.empty()) {
    CARILLON_TRY(ApplyRead(session, reports, split.others, rules, state, &effects));
  }
  CARILLON_TRY(DeleteSavedOfCompleted(session, reports, effects));
  return std::optional<Effects>(std::move(effects));
}

Result<Effects> LoseBatch(Session& session, const std::vector<LostReport>& reports,
                          const LossInput& input) {
  CARILLON_ASSIGN_OR_RETURN(ResultBatchState state,
                            LockLosses(session, input.incarnations, reports, input.fence));
  OldPolicies old_policies;
  if (input.loss == Loss::kLeaseEnded) {
    CARILLON_ASSIGN_OR_RETURN(old_policies, ReadOldPolicies(session, state));
  }
  RunWriter writer(session);
  std::vector<RunEffect> effects;
  for (const LostReport& report : reports) {
    const auto found = state.runs.find(report.key);
    if (found == state.runs.end() || found->second.row.segment != report.segment) continue;
    StoredRun& run = found->second;
    const std::optional<RunChange> change =
        DecideLoss(run.row, state.jobs, old_policies, report, input);
    if (!change) continue;
    const AttemptResult loss = LossOf(run, input);
    const HeldSlots held(run);
    CARILLON_TRY(writer.Change(run, *change, loss, input.now));
    RunEffect& effect = effects.emplace_back();
    effect.key = report.key;
    NoteWritten(run.row, &effect);
    effect.freed_slot = held.Freed(run);
    effect.dead_letter = change->dead_letter && LeavesDeadLetter(run.row);
  }
  CARILLON_TRY(writer.Flush());
  return effects;
}

}  // namespace carillon::mysql
