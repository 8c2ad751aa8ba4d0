// The jobs and schedules that make the fires of a job for which others wait. Pure.
//
//   A has schedules of time (cron, rate, once, delay)     A itself
//   otherwise                                             A and the jobs before it: those whose end
//                                                         starts it, workflows that run it as a
//                                                         node, and so on up to schedules of time
//   A in the workflow W                                   the same of W
//
// A job that starts after failures only is not counted as one before.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

inline constexpr size_t kSourceJobsMax = 20;  // jobs before a job

// The thing a run waits for: runs of `job`, or only those that are nodes of the workflow `in`.
struct UpstreamTarget {
  JobId job;
  JobId in = {};

  auto operator<=>(const UpstreamTarget&) const = default;
};

// A schedule of time of one of those jobs.
struct SourceSchedule {
  JobNo job_no;
  ScheduleId id;
  // The first fire that is neither planned nor in a gap; kNever = none. Of a delay schedule that
  // has no next fire yet: just after its last run, whose end gives it one.
  WallTime next = kNever;
  bool paused = false;

  bool operator==(const SourceSchedule&) const = default;
};

// An open backfill of one of those jobs. It may still run fires of [from, until).
struct SourceBackfill {
  uint64_t number = 0;
  JobNo job_no;
  WallTime from, until;

  bool operator==(const SourceBackfill&) const = default;
};

// A target as it is now.
struct UpstreamSources {
  JobNo job_no = {};  // 0: there is no such job
  JobNo in_no = {};   // likewise, if the target names a workflow
  std::string job_name = {};
  bool deleted = false;            // the job or the workflow
  bool not_a_node = false;         // of that workflow
  bool too_many = false;           // more than kSourceJobsMax jobs are before it
  std::vector<JobNo> jobs = {};    // whose fires count, by number
  std::vector<JobNo> by_end = {};  // those of them after whose end another one starts
  // The job or workflow where the search began, and the workflows around it: those of them whose
  // backfilled runs lead to runs of the job, too.
  std::vector<JobNo> workflows = {};
  std::vector<SourceSchedule> schedules = {};  // those of `jobs`, by id
  std::vector<SourceBackfill> backfills = {};  // those of `jobs` with fires left, by number

  bool operator==(const UpstreamSources&) const = default;
};

// The causes that the runs of a job may have.
struct JobCauses {
  JobNo job_no;
  bool has_times = false;          // it has schedules of time
  std::vector<JobNo> before = {};  // after whose end it starts, except failures; its workflows
  std::vector<JobNo> by_end = {};  // those of `before` that are no workflows of it
};
// Answers for those of the jobs that have any.
using ReadCauses = std::function<Result<std::vector<JobCauses>>(const std::vector<JobNo>& jobs)>;

// Sets `jobs`, `by_end`, `workflows` and `too_many`. `start` is the job, or the workflow of which
// it is a node. Reads the jobs of one level at a time.
Status FindSources(JobNo start, const ReadCauses& read, UpstreamSources* found);

}  // namespace carillon
