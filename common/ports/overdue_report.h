// The input of the watchdog for unplanned fires and of the metric for overdue runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace carillon {

// A fire that is due for longer is late enough to be shown: planning never falls so far behind
// unless it is stopped, or a schedule cannot be planned.
inline constexpr Duration kUnplannedShownAfter = 60s;
inline constexpr size_t kUnplannedJobsMax = 100;

// A job with a fire that should have been planned by now.
struct UnplannedJob {
  JobId job_id;
  std::string name;
  WallTime fire;  // the earliest such fire

  bool operator==(const UnplannedJob&) const = default;
};

// The first kUnplannedJobsMax of them, by fire and job_id.
inline std::vector<UnplannedJob> FirstUnplanned(const std::map<JobId, UnplannedJob>& by_id) {
  std::vector<UnplannedJob> jobs;
  jobs.reserve(by_id.size());
  for (const auto& [id, job] : by_id) jobs.push_back(job);
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const UnplannedJob& a, const UnplannedJob& b) { return a.fire < b.fire; });
  if (jobs.size() > kUnplannedJobsMax) jobs.resize(kUnplannedJobsMax);
  return jobs;
}

struct OverdueReport {
  WallTime oldest_pending_due = kNever;     // PENDING; kNever = none
  WallTime oldest_unplanned_fire = kNever;  // next_fire of enabled schedules; kNever = none
  int64_t pending_due = 0;                  // PENDING with due <= now, counted up to 100,000
  // Jobs with a fire due before now - kUnplannedShownAfter, by that fire and job_id; at most
  // kUnplannedJobsMax.
  std::vector<UnplannedJob> unplanned_jobs = {};
};

}  // namespace carillon
