#include "common/adapters/mysql/job_rows/job_inserts.h"

#include <string_view>
#include <variant>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/job_rows/retry_columns.h"
#include "common/adapters/mysql/job_rows/task_job_rows.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::mysql {
namespace {

// Puts the long texts last: JSON_TABLE searches each path from the beginning of the row.
std::string JobsToJson(const std::vector<StoredJobRow>& jobs) {
  JsonRows json;
  for (const StoredJobRow& job : jobs) {
    const JobDefinition& d = job.definition;
    json.Begin()
        .Add(job.job_no.value())
        .Add(job.job_id.value())
        .Add(job.segment.value())
        .Add(job.version)
        .Add(job.manual_schedule.value())
        .Add(d.enabled)
        .Add(job.deleted)
        .Add(job.created)
        .Add(job.updated)
        .Add(d.user_id)
        .Add(d.name_space)
        .Add(d.name)
        .Add(Name(d.type))
        .Add(d.priority)
        .Add(d.timeout_s)
        .Add(d.retry_count)
        .Add(d.retry_interval_s)
        .Add(Name(d.retry_backoff))
        .Add(Name(d.on_lost))
        .Add(Name(d.overlap_policy))
        .Add(d.max_running)
        .Add(d.queue_max)
        .Add(job.group.value())
        .Add(d.pause_after_failures)
        .Add(ChangingFlagsOf(job))
        .Add(d.retention_days)
        .Add(d.presume_dead_s)
        .Add(JoinIntervals(d.retry_intervals_s))
        .Add(JoinConditions(d))
        .Add(job.pause_reason);
    const Param cron = CronOf(d);
    const auto* text = std::get_if<std::string_view>(&cron);
    text != nullptr ? json.Add(*text) : json.AddNull();
    json.Add(d.command);
  }
  return json.Take();
}

std::string VersionsToJson(const std::vector<StoredJobRow>& jobs) {
  JsonRows json;
  for (const StoredJobRow& job : jobs) {
    json.Begin()
        .Add(job.job_no.value())
        .Add(job.version)
        .Add(job.updated)
        .Add(job.definition.name)
        .Add(DefinitionToText(job.definition));
  }
  return json.Take();
}

}  // namespace

Status InsertJobs(Session& session, const std::vector<StoredJobRow>& jobs,
                  const std::string& actor) {
  static const std::string insert_jobs =
      "INSERT INTO jobs (job_no, job_id, segment, version, manual_schedule_id, enabled, deleted, "
      "create_time, update_time, user_id, namespace, name, type, priority, timeout, retry_count, "
      "retry_interval, retry_backoff, on_lost, overlap_policy, max_running, queue_max, group_no, "
      "pause_after_failures, flags, retention_days, presume_dead, retry_intervals, "
      "retry_conditions, pause_reason, cron_expression, command) SELECT k.n, k.i, k.g, k.v, k.m, "
      "k.e, k.d, " +
      ToTime("k.c") + ", " + ToTime("k.u") +
      ", k.c9, k.c10, k.c11, k.c12, k.c13, k.c14, k.c15, k.c16, k.c17, k.c18, k.c19, k.c20, k.c21, "
      "k.c22, k.c23, k.c24, k.c25, k.c26, k.c27, k.c28, k.c29, k.c30, k.c31 FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]', i VARCHAR(127) PATH '$[1]', g INT UNSIGNED "
      "PATH '$[2]', v BIGINT PATH '$[3]', m BIGINT UNSIGNED PATH '$[4]', e INT PATH '$[5]', "
      "d INT PATH '$[6]', c BIGINT PATH '$[7]', u BIGINT PATH '$[8]', c9 VARCHAR(127) PATH '$[9]', "
      "c10 VARCHAR(127) PATH '$[10]', c11 VARCHAR(400) PATH '$[11]', "
      "c12 VARCHAR(32) PATH '$[12]', c13 INT PATH '$[13]', c14 BIGINT PATH '$[14]', "
      "c15 BIGINT PATH '$[15]', c16 BIGINT PATH '$[16]', c17 VARCHAR(32) PATH '$[17]', "
      "c18 VARCHAR(32) PATH '$[18]', c19 VARCHAR(64) PATH '$[19]', "
      "c20 INT PATH '$[20]', c21 INT PATH '$[21]', c22 INT UNSIGNED PATH '$[22]', "
      "c23 INT PATH '$[23]', c24 INT UNSIGNED PATH '$[24]', c25 INT PATH '$[25]', "
      "c26 INT PATH '$[26]', c27 MEDIUMTEXT PATH '$[27]', c28 VARCHAR(2000) PATH '$[28]', "
      "c29 MEDIUMTEXT PATH '$[29]', c30 MEDIUMTEXT PATH '$[30]', c31 LONGTEXT PATH '$[31]')) k";
  static const std::string insert_versions =
      "INSERT INTO job_versions (job_no, version, name, definition, actor, created_us) "
      "SELECT k.n, k.v, k.t, k.d, ?, k.u FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS ("
      "n BIGINT UNSIGNED PATH '$[0]', v BIGINT PATH '$[1]', u BIGINT PATH '$[2]', "
      "t VARCHAR(400) PATH '$[3]', d LONGTEXT PATH '$[4]')) k";
  if (jobs.empty()) return {};
  CARILLON_TRY(session.Execute(insert_jobs, {JobsToJson(jobs)}));
  CARILLON_TRY(session.Execute(insert_versions, {actor, VersionsToJson(jobs)}));
  std::vector<JobNo> workflows;
  for (const StoredJobRow& job : jobs) {
    if (NeedsTaskJob(job.definition)) workflows.push_back(job.job_no);
  }
  return InsertTaskJobs(session, workflows);
}

}  // namespace carillon::mysql
