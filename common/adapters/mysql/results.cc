// Steps 9 and 10: what became of attempts.
#include <algorithm>
#include <map>
#include <type_traits>

#include "common/adapters/mysql/job_rows.h"
#include "common/adapters/mysql/json_rows.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/run_rows.h"
#include "common/adapters/mysql/run_writer.h"
#include "common/adapters/mysql/transaction.h"

namespace carillon::mysql {
namespace {

// Whether a report that changes nothing is news about its attempt.
bool IsNews(const StoredRun& run, const ResultReport& report) {
  if (report.attempt < run.row.attempt) return true;
  // The row ended by a loss; this is what really became of it.
  return report.attempt == run.row.attempt && IsFinal(run.row.state) && run.ended_by_loss &&
         run.row.claim_token == report.token;
}

// The attempt that a loss ends: nothing is known but when it began.
AttemptResult LossOf(const StoredRun& run, WallTime now) {
  return {.state = RunState::kLost,
          .reason = std::string(reason::kExecutorLost),
          .started = run.started,
          .ended = now};
}

Status RecordReport(const StoredRun& run, const ResultReport& report, RunWriter& writer) {
  return writer.RecordAttempt(run.row.key, {.attempt = report.attempt,
                                            .state = report.result.state,
                                            .executor = report.executor,
                                            .claimed = run.row.claimed,
                                            .result = report.result});
}

struct ResultBatchState {
  LockedJobs jobs;
  LockedRuns runs;
};

Result<RunEffect> ApplyOne(const ResultReport& report, ResultBatchState& state, RunWriter& writer,
                           WallTime now) {
  RunEffect effect{.key = report.key, .verdict = ResultVerdict::kUnknownRun, .after = {}};
  const auto found = state.runs.find(report.key);
  // A report under another segment would pass a fence that is not the run's; one of another job
  // would be decided by that job's rules.
  if (found == state.runs.end() || found->second.row.segment != report.segment ||
      found->second.row.job_no != report.job_no) {
    return effect;
  }
  StoredRun& run = found->second;
  if (!run.readable) {
    // What the run is about is for a version that knows its state; the result is not lost.
    effect.verdict = ResultVerdict::kRecordedOnly;
    CARILLON_TRY(RecordReport(run, report, writer));
    return effect;
  }
  const auto job = state.jobs.find(run.row.job_no);
  const ResultDecision decision =
      DecideResult(&run.row, job == state.jobs.end() ? nullptr : &job->second, report, now);
  effect.verdict = decision.verdict;
  if (decision.verdict == ResultVerdict::kApplied) {
    CARILLON_TRY(writer.Change(run, decision.change, report.result, now));
    effect.after = run.row;
    effect.dead_letter = decision.change.dead_letter;
  } else if (decision.verdict == ResultVerdict::kRecordedOnly && IsNews(run, report)) {
    CARILLON_TRY(RecordReport(run, report, writer));
  }
  return effect;
}

template <typename Report>
std::vector<RunKey> KeysOf(const std::vector<Report>& reports) {
  std::vector<RunKey> keys;
  keys.reserve(reports.size());
  for (const Report& report : reports) keys.push_back(report.key);
  return keys;
}

// A success needs nothing of its job; whatever may lead to another attempt does, and jobs are
// locked before runs.
template <typename Report>
std::vector<JobNo> JobsOf(const std::vector<Report>& reports) {
  std::vector<JobNo> jobs;
  for (const Report& report : reports) {
    if constexpr (std::is_same_v<Report, ResultReport>) {
      if (report.result.state == RunState::kCompleted) continue;
    }
    jobs.push_back(report.job_no);
  }
  return jobs;
}

template <typename Report>
Result<ResultBatchState> LockBatch(Session& session, Incarnations& incarnations,
                                   const std::vector<Report>& reports, const Fence& fence) {
  CARILLON_TRY(LockFence(session, fence));
  ResultBatchState state;
  CARILLON_TRY(LockJobs(session, JobsOf(reports), &state.jobs));
  CARILLON_ASSIGN_OR_RETURN(state.runs, LockRuns(session, KeysOf(reports), incarnations));
  return state;
}

// What the attempts' own versions say about a loss, where the job was edited since. One that cannot
// be read any more may have said that the attempt is not to be killed.
Result<std::map<JobVersionKey, OnLost>> ReadOldPolicies(Session& session,
                                                        const ResultBatchState& state) {
  std::map<JobVersionKey, OnLost> policies;
  std::vector<JobVersionKey> keys;
  for (const auto& [key, run] : state.runs) {
    const auto job = state.jobs.find(run.row.job_no);
    if (job == state.jobs.end() || job->second.version == run.row.def_version) continue;
    keys.push_back({run.row.job_no, run.row.def_version});
  }
  if (keys.empty()) return policies;
  for (const JobVersionKey& key : keys) policies[key] = OnLost::kHold;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  CARILLON_ASSIGN_OR_RETURN(const std::vector<JobVersionRecord> records,
                            ReadDefinitions(session, keys));
  for (const JobVersionRecord& record : records) {
    if (record.readable) policies[{record.job_no, record.version}] = record.definition.on_lost;
  }
  return policies;
}

}  // namespace

Result<std::vector<RunEffect>> MysqlStore::ApplyResults(const std::vector<ResultReport>& reports,
                                                        const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(reports, fence, "results"));
  if (reports.empty()) return std::vector<RunEffect>{};
  return InTransaction(
      *pool_, {.operation = "results"}, [&](Session& session) -> Result<std::vector<RunEffect>> {
        CARILLON_ASSIGN_OR_RETURN(ResultBatchState state,
                                  LockBatch(session, kept_->incarnations, reports, fence));
        RunWriter writer(session);
        std::vector<RunEffect> effects;
        effects.reserve(reports.size());
        for (const ResultReport& report : reports) {
          CARILLON_ASSIGN_OR_RETURN(RunEffect effect, ApplyOne(report, state, writer, now));
          effects.push_back(std::move(effect));
        }
        CARILLON_TRY(writer.Flush());
        return effects;
      });
}

Result<std::vector<RunEffect>> MysqlStore::MarkLost(const std::vector<LostReport>& reports,
                                                    const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(reports, fence, "lost"));
  if (reports.empty()) return std::vector<RunEffect>{};
  return InTransaction(
      *pool_, {.operation = "lost"}, [&](Session& session) -> Result<std::vector<RunEffect>> {
        CARILLON_ASSIGN_OR_RETURN(ResultBatchState state,
                                  LockBatch(session, kept_->incarnations, reports, fence));
        CARILLON_ASSIGN_OR_RETURN(const auto old_policies, ReadOldPolicies(session, state));
        RunWriter writer(session);
        std::vector<RunEffect> effects;
        for (const LostReport& report : reports) {
          const auto found = state.runs.find(report.key);
          if (found == state.runs.end() || found->second.row.segment != report.segment) continue;
          StoredRun& run = found->second;
          const auto job = state.jobs.find(run.row.job_no);
          if (job == state.jobs.end()) continue;
          JobRow job_row = job->second;
          const auto old_policy = old_policies.find({run.row.job_no, run.row.def_version});
          if (old_policy != old_policies.end()) job_row.attempt_on_lost = old_policy->second;
          const std::optional<RunChange> change = DecideLost(&run.row, job_row, report, now);
          if (!change) continue;
          const AttemptResult loss = LossOf(run, now);
          CARILLON_TRY(writer.Change(run, *change, loss, now));
          effects.push_back(
              {.key = report.key, .after = run.row, .dead_letter = change->dead_letter});
        }
        CARILLON_TRY(writer.Flush());
        return effects;
      });
}

}  // namespace carillon::mysql
