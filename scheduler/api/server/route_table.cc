#include "scheduler/api/server/route_table.h"

#include "scheduler/api/accounts/auth_routes.h"
#include "scheduler/api/accounts/role_routes.h"
#include "scheduler/api/accounts/token_routes.h"
#include "scheduler/api/accounts/user_routes.h"
#include "scheduler/api/bulk/bulk_routes.h"
#include "scheduler/api/events/event_routes.h"
#include "scheduler/api/executors/executor_routes.h"
#include "scheduler/api/executors/join_routes.h"
#include "scheduler/api/groups/group_routes.h"
#include "scheduler/api/imports/import_routes.h"
#include "scheduler/api/jobs/apply_routes.h"
#include "scheduler/api/jobs/backfill_routes.h"
#include "scheduler/api/jobs/dependency_routes.h"
#include "scheduler/api/jobs/job_routes.h"
#include "scheduler/api/jobs/namespace_routes.h"
#include "scheduler/api/jobs/queue_routes.h"
#include "scheduler/api/jobs/version_routes.h"
#include "scheduler/api/jobs/waits_preview.h"
#include "scheduler/api/logs/log_routes.h"
#include "scheduler/api/notices/delivery_routes.h"
#include "scheduler/api/runs/checkpoint_routes.h"
#include "scheduler/api/runs/dead_letter_routes.h"
#include "scheduler/api/runs/failing_job_routes.h"
#include "scheduler/api/runs/recent_run_routes.h"
#include "scheduler/api/runs/release_routes.h"
#include "scheduler/api/runs/retry_routes.h"
#include "scheduler/api/runs/run_routes.h"
#include "scheduler/api/runs/shard_routes.h"
#include "scheduler/api/schedules/calendar_routes.h"
#include "scheduler/api/schedules/schedule_routes.h"
#include "scheduler/api/schedules/why_routes.h"
#include "scheduler/api/secrets/secret_routes.h"
#include "scheduler/api/system/audit_routes.h"
#include "scheduler/api/system/change_routes.h"
#include "scheduler/api/system/config_routes.h"
#include "scheduler/api/system/status_routes.h"
#include "scheduler/api/system/topology_routes.h"
#include "scheduler/api/system/upgrade_routes.h"
#include "scheduler/api/workflows/run_node_routes.h"
#include "scheduler/api/workflows/workflow_routes.h"

namespace carillon::scheduler {

const Routes& RouteTable() {
  using enum Permission;
  using enum Keyed;
  using enum Owned;
  static const Routes table({
      {"GET", "/api/jobs", kRead, kNo, &ListJobs},
      {"POST", "/api/jobs", kWriteJobs, kYes, &CreateJob, "job.create"},
      {"GET", "/api/jobs/{}", kRead, kNo, &GetJob},
      {"PUT", "/api/jobs/{}", kWriteJobs, kNo, &ReplaceJob, "job.replace", kJob},
      {"PATCH", "/api/jobs/{}", kWriteJobs, kNo, &PatchJobFields, "job.patch", kJob},
      {.method = "DELETE",
       .path = "/api/jobs/{}",
       .permission = kWriteJobs,
       .keyed = kNo,
       .handler = &DeleteJob,
       .action = "job.delete",
       .owned = kJob,
       .with_query = true},
      {"POST", "/api/jobs/{}/pause", kWriteJobs, kNo, &PauseJob, "job.pause", kJob},
      {"POST", "/api/jobs/{}/resume", kWriteJobs, kNo, &ResumeJob, "job.resume", kJob},
      {"POST", "/api/jobs/{}/execute", kRunJobs, kInWrite, &ExecuteJob, "job.execute", kJob},
      {"POST", "/api/jobs/{}/cancel", kRunJobs, kNo, &CancelJobRuns, "job.cancel", kJob},
      {"GET", "/api/jobs/{}/history", kRead, kNo, &JobHistory},
      {"GET", "/api/jobs/{}/queue", kRead, kNo, &GetJobQueue},
      {"GET", "/api/jobs/{}/dependencies", kRead, kNo, &GetJobDependencies},
      {"GET", "/api/jobs/{}/graph", kRead, kNo, &GetJobGraph},
      {"GET", "/api/jobs/{}/next", kRead, kNo, &NextFires},
      {"GET", "/api/jobs/{}/why", kRead, kNo, &WhyJob},
      {"GET", "/api/jobs/{}/versions", kRead, kNo, &ListJobVersions},
      {"GET", "/api/jobs/{}/versions/{}", kRead, kNo, &GetJobVersion},
      {"POST", "/api/jobs/{}/revert", kWriteJobs, kNo, &RevertJob, "job.revert", kJob},
      {.method = "POST",
       .path = "/api/apply",
       .permission = kWriteJobs,
       .keyed = kYes,
       .handler = &ApplyJobs,
       .action = "job.apply",
       .with_query = true},
      {"POST", "/api/imports/{}", kRead, kNo, &ImportText},
      {"POST", "/api/bulk", kRunJobs, kYes, &StartBulk, "bulk"},
      {"GET", "/api/bulk", kRead, kNo, &ListBulk},
      {"GET", "/api/bulk/{}", kRead, kNo, &GetBulk},
      {"GET", "/api/bulk/{}/items", kRead, kNo, &ListBulkItems},
      {"POST", "/api/bulk/{}/cancel", kRunJobs, kNo, &CancelBulk, "bulk.cancel", kBulk},
      {"POST", "/api/jobs/{}/backfills", kRunJobs, kYes, &StartBackfill, "job.backfill", kJob},
      {"GET", "/api/backfills", kRead, kNo, &ListBackfills},
      {"GET", "/api/backfills/{}", kRead, kNo, &GetBackfill},
      {"POST", "/api/backfills/{}/pause", kRunJobs, kNo, &PauseBackfill, "backfill.pause",
       kBackfill},
      {"POST", "/api/backfills/{}/resume", kRunJobs, kNo, &ResumeBackfill, "backfill.resume",
       kBackfill},
      {"POST", "/api/backfills/{}/cancel", kRunJobs, kNo, &CancelBackfill, "backfill.cancel",
       kBackfill},
      {"POST", "/api/workflows/validate", kRead, kNo, &ValidateWorkflow},
      {"GET", "/api/namespaces", kRead, kNo, &ListNamespaces},
      {"GET", "/api/runs", kRead, kNo, &ListRuns},
      {"GET", "/api/recent-runs", kRead, kNo, &ListRecentRuns},
      {"GET", "/api/runs/{}", kRead, kNo, &GetRun},
      {"POST", "/api/runs/{}/cancel", kRunJobs, kNo, &CancelRun, "run.cancel", kRun},
      {"GET", "/api/runs/{}/nodes", kRead, kNo, &GetRunNodes},
      {"GET", "/api/runs/{}/shards", kRead, kNo, &GetRunShards},
      {"POST", "/api/runs/{}/nodes/{}/skip", kRunJobs, kNo, &SkipRunNode, "run.skip", kRun},
      {"POST", "/api/runs/{}/nodes/{}/decide", kRunJobs, kInWrite, &DecideRunNode, "node.decide",
       kRun},
      {"POST", "/api/runs/{}/retry", kRunJobs, kInWrite, &RetryRun, "run.retry", kRun},
      {"POST", "/api/runs/{}/release", kRunJobs, kNo, &ReleaseRun, "run.release", kRun},
      {"GET", "/api/runs/{}/checkpoint", kRead, kNo, &GetRunCheckpoint},
      {"GET", "/api/runs/{}/logs", kRead, kNo, &RunLogs},
      {"GET", "/api/runs/{}/logs/stream", kRead, kNo, &StreamRunLogs},
      {"GET", "/api/gaps", kRead, kNo, &ListGaps},
      {.method = "POST",
       .path = "/api/events",
       .permission = kWriteEvents,
       .keyed = kNo,
       .handler = &SendEvents,
       .action = "event.send",
       .with_query = true},
      {"POST", "/api/events/test", kRead, kNo, &TestEvent},
      {"GET", "/api/events", kRead, kNo, &ListEvents},
      {"GET", "/api/dead-letters", kRead, kNo, &ListDeadLetters},
      {"GET", "/api/dead-letters/{}", kRead, kNo, &GetDeadLetter},
      {"DELETE", "/api/dead-letters/{}", kRunJobs, kNo, &DiscardDeadLetter, "dead_letter.discard",
       kDeadLetter},
      {"POST", "/api/dead-letters/{}/retry", kRunJobs, kInWrite, &RetryDeadLetter,
       "dead_letter.retry", kDeadLetter},
      {"GET", "/api/failing-jobs", kRead, kNo, &ListFailingJobs},
      {"GET", "/api/deliveries", kRead, kNo, &ListDeliveries},
      {"POST", "/api/deliveries/{}/resend", kWriteConfig, kNo, &ResendDelivery, "delivery.resend"},
      {"POST", "/api/notify/test", kWriteConfig, kNo, &TestNotices, "notify.test"},
      {"GET", "/api/executors", kRead, kNo, &ListExecutors},
      {"POST", "/api/executors/join-tokens", kWriteExecutors, kNo, &CreateJoinToken,
       "executor.join_token"},
      {"GET", "/api/executors/{}", kRead, kNo, &GetExecutor},
      {"GET", "/api/handlers", kRead, kNo, &ListHandlers},
      {"PATCH", "/api/executors/{}", kWriteExecutors, kNo, &PatchExecutor, "executor.patch"},
      {"POST", "/api/executors/{}/enable", kWriteExecutors, kNo, &EnableExecutor,
       "executor.enable"},
      {"POST", "/api/executors/{}/disable", kWriteExecutors, kNo, &DisableExecutor,
       "executor.disable"},
      {"POST", "/api/executors/{}/drain", kWriteExecutors, kNo, &DrainExecutor, "executor.drain"},
      {"GET", "/api/groups", kRead, kNo, &ListGroups},
      {"GET", "/api/groups/{}", kRead, kNo, &GetGroup},
      {"PUT", "/api/groups/{}", kWriteConfig, kNo, &PutGroup, "group.update"},
      {"DELETE", "/api/groups/{}", kWriteConfig, kNo, &DeleteGroup, "group.delete"},
      {"GET", "/api/calendars", kRead, kNo, &ListCalendars},
      {"POST", "/api/calendars/preview", kRead, kNo, &PreviewCalendar},
      {"GET", "/api/calendars/{}", kRead, kNo, &GetCalendar},
      {"PUT", "/api/calendars/{}", kWriteConfig, kNo, &PutCalendar, "calendar.put"},
      {"DELETE", "/api/calendars/{}", kWriteConfig, kNo, &DeleteCalendar, "calendar.delete"},
      {"GET", "/api/secrets", kRead, kNo, &ListSecrets},
      {"POST", "/api/secrets", kWriteSecrets, kNo, &CreateSecret, "secret.create"},
      {"POST", "/api/secrets/rewrap", kWriteConfig, kNo, &RewrapSecrets, "secret.rewrap"},
      {"GET", "/api/secrets/{}", kRead, kNo, &GetSecret},
      {"PUT", "/api/secrets/{}", kWriteSecrets, kNo, &UpdateSecret, "secret.update", kSecret},
      {"DELETE", "/api/secrets/{}", kWriteSecrets, kNo, &DeleteSecret, "secret.delete", kSecret},
      {"GET", "/api/changes", kRead, kNo, &StreamChanges},
      {"GET", "/api/audit", kReadAudit, kNo, &ListAudit},
      {"GET", "/api/system/status", kRead, kNo, &SystemStatus},
      {"GET", "/api/system/topology", kRead, kNo, &SystemTopology},
      {"POST", "/api/system/store/accept", kAcceptStore, kNo, &AcceptStore, "store.accept",
       kNothing, true},
      {"GET", "/api/system/config", kRead, kNo, &GetConfig},
      {"PUT", "/api/system/config", kWriteConfig, kNo, &ChangeConfig, "config.change"},
      {"POST", "/api/system/pause", kWriteConfig, kNo, &PauseCluster, "system.pause"},
      {"POST", "/api/system/resume", kWriteConfig, kNo, &ResumeCluster, "system.resume"},
      {"GET", "/api/system/upgrade", kRead, kNo, &GetUpgrade},
      {"POST", "/api/system/upgrade/finish", kWriteConfig, kNo, &FinishUpgrade, "upgrade.finish"},
      {"POST", "/api/schedules/preview", kRead, kNo, &PreviewSchedule},
      {"POST", "/api/waits/preview", kRead, kNo, &PreviewWaits},
      {"GET", "/api/schedules/load", kRead, kNo, &ScheduleLoad},
      {"GET", "/api/auth/state", kAnyone, kNo, &AuthState},
      {"POST", "/api/auth/setup", kAnyone, kNo, &SetUp},
      {"POST", "/api/auth/login", kAnyone, kNo, &Login},
      {"POST", "/api/auth/refresh", kAnyone, kNo, &RefreshSession},
      {"POST", "/api/auth/logout", kAnyone, kNo, &Logout},
      {"GET", "/api/auth/me", kRead, kNo, &WhoAmI},
      {"PATCH", "/api/auth/me", kManageSelf, kNo, &ChangeMe},
      {"POST", "/api/auth/password", kManageSelf, kNo, &ChangePassword},
      {"POST", "/api/auth/setup-link", kManageUsers, kNo, &CreateSetupLink, "auth.setup_link"},
      {"GET", "/api/roles", kRead, kNo, &ListRoles},
      {"GET", "/api/users", kManageUsers, kNo, &ListUsers},
      {"POST", "/api/users", kManageUsers, kNo, &CreateUser, "user.create"},
      {"GET", "/api/users/{}", kManageUsers, kNo, &GetUser},
      {"PATCH", "/api/users/{}", kManageUsers, kNo, &PatchUser, "user.patch"},
      {"DELETE", "/api/users/{}", kManageUsers, kNo, &DeleteUser, "user.delete"},
      {"GET", "/api/tokens", kManageSelf, kNo, &ListTokens},
      {"POST", "/api/tokens", kManageSelf, kNo, &CreateToken, "token.create"},
      {"DELETE", "/api/tokens/{}", kManageSelf, kNo, &DeleteToken, "token.delete", kToken},
  });
  return table;
}

}  // namespace carillon::scheduler
