#include "common/adapters/mysql/runs/give_up.h"

#include <fmt/core.h>

#include "common/adapters/mysql/job_rows/job_of.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/runs/run_retry.h"

namespace carillon::mysql {
namespace {

// Without locks: the job of a run never changes, and its row is locked before the run's.
Result<JobNo> ReadJobOf(Session& session, const RunKey& key) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          fmt::format("SELECT r.job_no FROM job_runs r FORCE INDEX (PRIMARY) WHERE {}", kIsRun),
          ParamsOf(key)));
  if (!rows.Next()) return NotOpenable(session, key);
  return JobNo(rows.Unsigned(1));
}

}  // namespace

Result<bool> GiveUpRun(Session& session, const RunKey& key, const WriteContext& context,
                       Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(const JobNo job_no, ReadJobOf(session, key));
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, {job_no}, &jobs));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {key}, incarnations));
  if (runs.empty()) return NotOpenable(session, key);
  const StoredRun& run = runs.begin()->second;
  if (!run.readable) return UnreadableRun(key);
  const std::optional<JobRow> job = JobOf(jobs, run.row);
  if (!job) return {ErrorCode::kCorrupt, "give up: a run without the row of its job"};
  RunWriter writer(session);
  CARILLON_TRY(GiveUpLocked(run.row, *job, {session, incarnations, writer}, TermsOf(context)));
  CARILLON_TRY(writer.Flush());
  return true;
}

}  // namespace carillon::mysql
