#include "common/adapters/mysql/dependencies/dependents_flag.h"

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/run_kind.h"

namespace carillon::mysql {
namespace {

Status RaiseDependentsFlag(Session& session, const JobId& id, Incarnations& incarnations) {
  static const std::string runs =
      "UPDATE " + kKeysJoinRuns +
      " SET r.flags = r.flags | 2 WHERE r.open_segment IS NOT NULL AND " +
      KindsWith(&RunKindRules::starts_dependents) + " AND " + NotBackground();
  auto job = LockLiveJob(session, id, JobLock::kUpdate);
  if (!job.ok() && job.code() == ErrorCode::kNotFound) return {};
  if (!job.ok()) return job.error();
  if (job->has_dependents) return {};
  CARILLON_TRY(
      session.Execute("UPDATE jobs SET flags = flags | 1 WHERE job_no = ?", {job->job_no.value()}));
  CARILLON_TRY(
      session.Execute("UPDATE job_schedules SET run_flags = run_flags | 2, version = "
                      "version + 1 WHERE job_no = ?",
                      {job->job_no.value()}));
  CARILLON_ASSIGN_OR_RETURN(std::vector<RunKey> open,
                            ReadOpenKeys(session, job->job_no, job->segment));
  std::erase_if(open, IsPart);  // nothing follows them
  CARILLON_ASSIGN_OR_RETURN(const LockedRuns locked, LockRuns(session, open, incarnations));
  std::vector<RunKey> keys;
  for (const auto& [key, run] : locked) keys.push_back(key);
  return ExecuteForKeys(session, runs, keys);
}

}  // namespace

Status RaiseDependentsFlags(Session& session, const std::vector<JobId>& ids,
                            Incarnations& incarnations) {
  // In the order in which LockUpstream locks them.
  static const std::string statement =
      "SELECT j.job_id FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (i VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]')) k "
      "STRAIGHT_JOIN jobs j FORCE INDEX (by_job_id) ON j.job_id = k.i WHERE j.deleted = 0 AND "
      "(j.flags & 1) = 0 ORDER BY j.job_no";
  JsonRows wanted;
  for (const JobId& id : ids) wanted.Begin().Add(id.value());
  std::vector<JobId> missing;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
    while (rows.Next()) missing.emplace_back(rows.Text(1));
  }
  for (const JobId& id : missing) CARILLON_TRY(RaiseDependentsFlag(session, id, incarnations));
  return {};
}

}  // namespace carillon::mysql
