#include "common/adapters/mysql/upstream/wait_batch.h"

#include <string>
#include <utility>

#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"

namespace carillon::mysql {
namespace {

Status ReleaseOne(StoredRun& run, const JobRow& job, RunWriter& writer, WallTime now,
                  WaitEffect* effect) {
  CARILLON_TRY(writer.Release(run, DueAfterWait(run.row, job.paused, now), now));
  effect->blocked = run.row.due == kBlocked;
  if (IsTime(run.row.due)) effect->due = run.row;
  return {};
}

Status ExpireOne(StoredRun& run, const WaitItem& item, RunWriter& writer, WallTime now,
                 WaitEffect* effect) {
  effect->failed = true;
  effect->completed = IsAwaited(run.row);
  const RunChange change = UnmetChange(run.row);
  return writer.Change(
      run, change,
      {.state = change.state, .reason = change.reason, .error = item.error, .ended = now}, now);
}

}  // namespace

Result<std::vector<WaitEffect>> EndWaitsOf(Session& session, const std::vector<WaitItem>& items,
                                           const WaitRules& rules) {
  CARILLON_TRY(LockFence(session, rules.fence));
  std::vector<JobNo> job_nos;
  std::vector<RunKey> keys;
  for (const WaitItem& item : items) {
    job_nos.push_back(item.job_no);
    keys.push_back(item.key);
  }
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, std::move(job_nos), &jobs));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs,
                            LockRuns(session, std::move(keys), rules.incarnations));
  RunWriter writer(session);
  std::vector<WaitEffect> effects;
  for (const WaitItem& item : items) {
    WaitEffect& effect = effects.emplace_back(WaitEffect{.key = item.key});
    const auto run = runs.find(item.key);
    if (run == runs.end()) continue;
    const std::optional<JobRow> job = JobOf(jobs, run->second.row);
    if (!job) continue;
    if (!run->second.readable || !StillWaits(run->second.row, item)) continue;
    CARILLON_TRY(item.expired ? ExpireOne(run->second, item, writer, rules.now, &effect)
                              : ReleaseOne(run->second, *job, writer, rules.now, &effect));
  }
  CARILLON_TRY(writer.Flush());
  return effects;
}

Result<RunDetail> ReleaseWaiting(Session& session, const RunKey& key, Incarnations& incarnations,
                                 WallTime now) {
  JobNo job_no;
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT r.job_no FROM job_runs r WHERE " + std::string(kIsRun),
                                 ParamsOf(key)));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
    job_no = JobNo(rows.Unsigned(1));
  }
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, {job_no}, &jobs));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {key}, incarnations));
  const auto run = runs.find(key);
  if (run == runs.end()) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
  const std::optional<JobRow> job = JobOf(jobs, run->second.row);
  if (!job) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
  CARILLON_TRY(CheckReleasable(run->second.row));
  RunWriter writer(session);
  WaitEffect effect;
  CARILLON_TRY(ReleaseOne(run->second, *job, writer, now, &effect));
  CARILLON_TRY(writer.Flush());
  return ReadDetail(session, key, incarnations);
}

}  // namespace carillon::mysql
