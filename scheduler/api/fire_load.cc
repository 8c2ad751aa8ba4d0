#include "scheduler/api/fire_load.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/domain/schedule.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kPageJobs = 500;

struct ScheduleLoad {
  WallTime first;
  std::map<size_t, int64_t> buckets;
};

class LoadCounter {
 public:
  LoadCounter(const LoadSpan& span, int64_t steps) : span_(span), steps_left_(steps) {}

  // nullptr: the steps are used up.
  const ScheduleLoad* Of(const ScheduleSpec& spec, const StoredJob& stored) {
    const JobDefinition& job = stored.definition;
    const WallTime from = std::max(span_.from, stored.created);
    const std::string key = fmt::format(
        "{} {} {} {} {} {} {} {} {}", from.time_since_epoch().count(), static_cast<int>(spec.kind),
        spec.cron_expression, spec.time_zone, spec.every.count(),
        spec.start.time_since_epoch().count(), spec.at.time_since_epoch().count(),
        static_cast<int>(job.dst_gap), static_cast<int>(job.dst_repeat));
    const auto known = known_.find(key);
    if (known != known_.end()) return &known->second;
    if (steps_left_ <= 0) return nullptr;
    return &(known_[key] = Count(spec, job, from));
  }

 private:
  // One step a bucket that is not empty, however many fires are in it.
  ScheduleLoad Count(const ScheduleSpec& spec, const JobDefinition& job, WallTime from) {
    ScheduleLoad load;
    const auto schedule = Schedule::Compile(spec, job.dst_gap, job.dst_repeat);
    if (!schedule.ok()) return load;  // a zone that this host does not know
    WallTime after = from - Duration(1);
    for (;;) {
      --steps_left_;
      const auto fire = schedule->Next(after);
      if (!fire || fire->time >= span_.until) return load;
      const auto bucket = static_cast<size_t>((fire->time - span_.from) / span_.bucket);
      const WallTime end =
          std::min(span_.until, span_.from + static_cast<int64_t>(bucket + 1) * span_.bucket);
      if (load.buckets.empty()) load.first = fire->time;
      load.buckets[bucket] = schedule->Count(fire->time, end);
      after = end - Duration(1);
    }
  }

  const LoadSpan span_;
  int64_t steps_left_;
  std::map<std::string, ScheduleLoad> known_;
};

// False when the counter gave up.
bool AddJob(const StoredJob& job, LoadCounter* counter, FireLoad* load) {
  JobLoad mine{.job_id = job.job_id, .name = job.definition.name};
  for (const ScheduleSpec& spec : job.definition.schedules) {
    const ScheduleLoad* one = counter->Of(spec, job);
    if (one == nullptr) return false;
    for (const auto& [bucket, fires] : one->buckets) {
      mine.buckets[bucket] += fires;
      mine.fires += fires;
    }
    if (!one->buckets.empty() && (mine.first == WallTime{} || one->first < mine.first)) {
      mine.first = one->first;
    }
  }
  for (const auto& [bucket, fires] : mine.buckets) load->buckets[bucket] += fires;
  if (mine.fires > 0) load->jobs.push_back(std::move(mine));
  return true;
}

}  // namespace

Result<FireLoad> CountFires(JobStore& jobs, const LoadSpan& span, const LoadLimits& limits) {
  FireLoad load;
  load.buckets.resize(span.buckets());
  LoadCounter counter(span, limits.steps);
  JobFilter filter{.enabled = true};
  while (!load.truncated) {
    // One more than is counted says whether there are more.
    filter.limit = std::min(kPageJobs, limits.jobs - load.jobs_read + 1);
    CARILLON_ASSIGN_OR_RETURN(const auto page, jobs.ListJobs(filter));
    for (const StoredJob& job : page) {
      if (load.jobs_read == limits.jobs || !AddJob(job, &counter, &load)) {
        load.truncated = true;
        break;
      }
      ++load.jobs_read;
    }
    if (page.size() < filter.limit) break;
    filter.after_job_id = page.back().job_id.value();
  }
  std::sort(load.jobs.begin(), load.jobs.end(), [](const JobLoad& a, const JobLoad& b) {
    return std::pair(a.first, a.job_id.value()) < std::pair(b.first, b.job_id.value());
  });
  return load;
}

}  // namespace carillon::scheduler
