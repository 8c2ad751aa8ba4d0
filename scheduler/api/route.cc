#include "scheduler/api/route.h"

#include "scheduler/api/config_routes.h"
#include "scheduler/api/job_routes.h"
#include "scheduler/api/run_routes.h"
#include "scheduler/api/system_routes.h"
#include "scheduler/api/version_routes.h"
#include "scheduler/api/why_routes.h"

namespace carillon::scheduler {
namespace {

// True when `segments` fit `path`; the segments at its {} go to `arguments`.
bool Fits(std::string_view path, const std::vector<std::string>& segments,
          std::vector<std::string>& arguments) {
  arguments.clear();
  path.remove_prefix(1);
  for (size_t i = 0; i < segments.size(); ++i) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == "{}") {
      arguments.push_back(segments[i]);
    } else if (part != segments[i]) {
      return false;
    }
    const bool last = i + 1 == segments.size();
    if (slash == std::string_view::npos) return last;
    path.remove_prefix(slash + 1);
  }
  return false;
}

}  // namespace

std::string_view Name(Permission permission) {
  return permission == Permission::kRead ? "read" : "write";
}

bool Allows(const Caller& caller, Permission permission) {
  if (caller.role == "admin") return true;
  return caller.role == "read_only" && permission == Permission::kRead;
}

const std::vector<Route>& RouteTable() {
  using enum Permission;
  using enum Keyed;
  static const std::vector<Route> table = {
      {"GET", "/api/jobs", kRead, kNo, &ListJobs},
      {"POST", "/api/jobs", kWrite, kYes, &CreateJob, "job.create"},
      {"GET", "/api/jobs/{}", kRead, kNo, &GetJob},
      {"PUT", "/api/jobs/{}", kWrite, kNo, &ReplaceJob, "job.replace"},
      {"PATCH", "/api/jobs/{}", kWrite, kNo, &PatchJobFields, "job.patch"},
      {"DELETE", "/api/jobs/{}", kWrite, kNo, &DeleteJob, "job.delete"},
      {"POST", "/api/jobs/{}/pause", kWrite, kNo, &PauseJob, "job.pause"},
      {"POST", "/api/jobs/{}/resume", kWrite, kNo, &ResumeJob, "job.resume"},
      {"POST", "/api/jobs/{}/execute", kWrite, kYes, &ExecuteJob, "job.execute"},
      {"POST", "/api/jobs/{}/cancel", kWrite, kNo, &CancelJobRuns, "job.cancel"},
      {"GET", "/api/jobs/{}/history", kRead, kNo, &JobHistory},
      {"GET", "/api/jobs/{}/next", kRead, kNo, &NextFires},
      {"GET", "/api/jobs/{}/why", kRead, kNo, &WhyJob},
      {"GET", "/api/jobs/{}/versions", kRead, kNo, &ListJobVersions},
      {"GET", "/api/jobs/{}/versions/{}", kRead, kNo, &GetJobVersion},
      {"POST", "/api/jobs/{}/revert", kWrite, kNo, &RevertJob, "job.revert"},
      {"GET", "/api/runs", kRead, kNo, &ListRuns},
      {"GET", "/api/runs/{}", kRead, kNo, &GetRun},
      {"POST", "/api/runs/{}/cancel", kWrite, kNo, &CancelRun, "run.cancel"},
      {"POST", "/api/runs/{}/retry", kWrite, kYes, &RetryRun, "run.retry"},
      {"GET", "/api/runs/{}/logs", kRead, kNo, &RunLogs},
      {"GET", "/api/gaps", kRead, kNo, &ListGaps},
      {"GET", "/api/dead-letters", kRead, kNo, &ListDeadLetters},
      {"GET", "/api/executors", kRead, kNo, &ListExecutors},
      {"GET", "/api/executors/{}", kRead, kNo, &GetExecutor},
      {"PATCH", "/api/executors/{}", kWrite, kNo, &PatchExecutor, "executor.patch"},
      {"POST", "/api/executors/{}/enable", kWrite, kNo, &EnableExecutor, "executor.enable"},
      {"POST", "/api/executors/{}/disable", kWrite, kNo, &DisableExecutor, "executor.disable"},
      {"POST", "/api/executors/{}/drain", kWrite, kNo, &DrainExecutor, "executor.drain"},
      {"GET", "/api/audit", kRead, kNo, &ListAudit},
      {"GET", "/api/system/status", kRead, kNo, &SystemStatus},
      {"POST", "/api/system/store/accept", kWrite, kNo, &AcceptStore, "store.accept", true},
      {"GET", "/api/system/config", kRead, kNo, &GetConfig},
      {"PUT", "/api/system/config", kWrite, kNo, &ChangeConfig, "config.change"},
      {"POST", "/api/schedules/preview", kRead, kNo, &PreviewSchedule},
  };
  return table;
}

RouteMatch MatchRoute(std::string_view method, const std::vector<std::string>& segments) {
  const std::string_view served = method == "HEAD" ? "GET" : method;
  RouteMatch match;
  std::vector<std::string> arguments;
  for (const Route& route : RouteTable()) {
    if (!Fits(route.path, segments, arguments)) continue;
    if (route.method == served) {
      match.route = &route;
      match.arguments = arguments;
    }
    if (!match.allow.empty()) match.allow += ", ";
    match.allow += route.method;
    if (route.method == "GET") match.allow += ", HEAD";
  }
  return match;
}

}  // namespace carillon::scheduler
