#include "common/adapters/mysql/job_rows/task_job_rows.h"

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/job_owner.h"
#include "common/domain/nodes/task_jobs.h"

namespace carillon::mysql {

Status InsertTaskJobs(Session& session, const std::vector<JobNo>& workflows) {
  // No id of a job begins with a full stop. What runs need of the row is that they are neither
  // paused nor limited; their rules are their own (ForRun).
  static const std::string statement = fmt::format(
      "INSERT IGNORE INTO jobs (job_no, job_id, segment, version, manual_schedule_id, enabled, "
      "deleted, pause_reason, user_id, name, type, command, priority, timeout, retry_count, "
      "retry_interval, retry_backoff, retry_intervals, on_lost, overlap_policy, create_time, "
      "update_time, namespace, retention_days) SELECT w.job_no + {}, CONCAT('.', w.job_no), "
      "w.segment, 1, 0, 1, {}, '', w.user_id, w.name, '{}', '', 0, w.timeout, 0, 0, '{}', '', "
      "'{}', '{}', w.update_time, w.update_time, w.namespace, w.retention_days FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN jobs w FORCE INDEX "
      "(PRIMARY) ON w.job_no = k.n ORDER BY w.job_no",
      kFirstTaskJob, kTaskJobRow, Name(JobType::kNoop), Name(RetryBackoff::kFixed),
      Name(OnLost::kHold), Name(OverlapPolicy::kAllow));
  if (workflows.empty()) return {};
  JsonRows numbers;
  for (const JobNo workflow : workflows) numbers.Begin().Add(workflow.value());
  CARILLON_TRY(session.Execute(statement, {numbers.Take()}));
  return {};
}

Status WriteTaskJob(Session& session, JobNo workflow, const JobDefinition& definition) {
  static const std::string join = fmt::format(
      "jobs w FORCE INDEX (PRIMARY) STRAIGHT_JOIN jobs t FORCE INDEX (PRIMARY) ON t.job_no = "
      "w.job_no + {}",
      kFirstTaskJob);
  // LENGTH is compared too, because text comparison ignores trailing spaces.
  static const std::string compare =
      "SELECT t.segment = w.segment AND t.user_id = w.user_id AND t.namespace = w.namespace AND "
      "t.name = w.name AND LENGTH(t.name) = LENGTH(w.name) AND t.retention_days = w.retention_days "
      "FROM " +
      join + " WHERE w.job_no = ?";
  static const std::string update =
      "UPDATE " + join +
      " SET t.segment = w.segment, t.user_id = w.user_id, t.namespace = w.namespace, t.name = "
      "w.name, t.retention_days = w.retention_days, t.update_time = w.update_time WHERE w.job_no = "
      "?";
  if (!definition.workflow) return {};
  bool agrees = false;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(compare, {workflow.value()}));
    if (!rows.Next()) {
      return NeedsTaskJob(definition) ? InsertTaskJobs(session, {workflow}) : Status();
    }
    agrees = rows.Int(1) != 0;
  }
  if (agrees) return {};
  CARILLON_TRY(session.Execute(update, {workflow.value()}));
  return {};
}

}  // namespace carillon::mysql
