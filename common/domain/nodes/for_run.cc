#include "common/domain/nodes/for_run.h"

#include <utility>
#include <vector>

#include "common/domain/job/job_types.h"
#include "common/domain/nodes/run_rules.h"
#include "common/domain/nodes/task_jobs.h"

namespace carillon {
namespace {

void TakeRetryRules(const RunRules& rules, RetryRules& retry) {
  if (rules.retry_count) retry.retry_count = *rules.retry_count;
  if (rules.retry_interval_s || rules.retry_backoff) retry.intervals.clear();
  if (rules.retry_interval_s) retry.interval = std::chrono::seconds(*rules.retry_interval_s);
  if (rules.retry_backoff) retry.backoff = *rules.retry_backoff;
  if (rules.retry_intervals_s) {
    retry.intervals.clear();
    for (const int64_t wait : *rules.retry_intervals_s) {
      retry.intervals.push_back(std::chrono::seconds(wait));
    }
  }
  if (rules.retry_on) retry.conditions.retry_on = ReadRetryConditions(*rules.retry_on);
  if (rules.no_retry_on) retry.conditions.no_retry_on = ReadRetryConditions(*rules.no_retry_on);
  if (rules.on_lost) retry.on_lost = *rules.on_lost;
  if (rules.presume_dead_s) retry.presume_dead = std::chrono::seconds(*rules.presume_dead_s);
}

// The rules that risk least.
void TakeNone(JobRow& job) {
  job.retry = {.retry_count = 0, .on_lost = OnLost::kHold};
  if (job.attempt_rules) job.attempt_rules->on_lost = OnLost::kHold;
}

}  // namespace

JobRow ForRun(JobRow job, const RunRow& run) {
  const bool task = IsTaskJob(job.job_no);
  if (task) {
    // Every attempt of the run is by this version, whatever the row of all tasks says.
    job.version = run.def_version;
    job.attempt_rules.reset();
  }
  if ((run.flags & run_flag::kRules) == 0) return job;
  const Result<RunRules> rules = RunRulesFromText(run.rules);
  if (!rules.ok()) {
    TakeNone(job);
    return job;
  }
  TakeRetryRules(*rules, job.retry);
  if (rules->on_lost && job.attempt_rules) job.attempt_rules->on_lost = *rules->on_lost;
  if (rules->priority) job.priority = *rules->priority;
  if (task) {
    const Result<JobType> type = ParseName<JobType>(rules->type);
    job.cooperative = type.ok() && IsCooperative(*type);
  }
  return job;
}

}  // namespace carillon
