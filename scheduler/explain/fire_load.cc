#include "scheduler/explain/fire_load.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "common/domain/schedule/schedule.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kPageJobs = 500;

struct ScheduleLoad {
  WallTime first;
  std::map<size_t, int64_t> buckets;
};

class LoadCounter {
 public:
  LoadCounter(const LoadSpan& span, const CalendarSet& calendars, int64_t steps)
      : span_(span), calendars_(calendars), steps_left_(steps) {}

  // nullopt: no steps are left.
  std::optional<ScheduleLoad> Of(const ScheduleSpec& spec, const StoredJob& stored) {
    const JobDefinition& job = stored.definition;
    const std::string key =
        fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(spec.kind),
                    spec.cron_expression, spec.time_zone, spec.spread, spec.every.count(),
                    spec.start.time_since_epoch().count(), spec.end.time_since_epoch().count(),
                    spec.at.time_since_epoch().count(), static_cast<int>(job.dst_gap),
                    static_cast<int>(job.dst_repeat), spec.calendar, spec.blackout);
    auto known = known_.find(key);
    if (known == known_.end()) {
      if (steps_left_ <= 0) return std::nullopt;
      known = known_.emplace(key, Count(spec, job)).first;
    }
    if (stored.created <= span_.from) return known->second;
    if (steps_left_ <= 0) return std::nullopt;
    return Since(stored.created, known->second, spec, job);
  }

 private:
  Result<Schedule> Compiled(const ScheduleSpec& spec, const JobDefinition& job) const {
    CARILLON_ASSIGN_OR_RETURN(ScheduleCalendars limits,
                              calendars_.Of(spec.calendar, spec.blackout));
    return Schedule::Compile(spec, job.dst_gap, job.dst_repeat, std::move(limits));
  }

  // Takes one step per bucket that is not empty, however many fires the bucket has.
  ScheduleLoad Count(const ScheduleSpec& spec, const JobDefinition& job) {
    ScheduleLoad load;
    const auto schedule = Compiled(spec, job);
    if (!schedule.ok()) return load;  // a time zone that this host does not know
    WallTime after = span_.from - Duration(1);
    for (;;) {
      --steps_left_;
      const auto fire = schedule->Next(after);
      if (!fire || fire->time >= span_.until) return load;
      const auto bucket = static_cast<size_t>((fire->time - span_.from) / span_.bucket);
      const WallTime end = EndOf(bucket);
      if (load.buckets.empty()) load.first = fire->time;
      load.buckets[bucket] = schedule->Count(fire->time, end);
      after = end - Duration(1);
    }
  }

  // Returns the part of `all` from `created` on. Later buckets are copied. The bucket that contains
  // `created` is counted again.
  ScheduleLoad Since(WallTime created, const ScheduleLoad& all, const ScheduleSpec& spec,
                     const JobDefinition& job) {
    ScheduleLoad load;
    if (created >= span_.until || all.buckets.empty()) return load;
    const auto schedule = Compiled(spec, job);
    if (!schedule.ok()) return load;
    --steps_left_;
    const auto first = schedule->Next(created - Duration(1));
    if (!first || first->time >= span_.until) return load;
    load.first = first->time;
    const auto bucket = static_cast<size_t>((created - span_.from) / span_.bucket);
    load.buckets.insert(all.buckets.upper_bound(bucket), all.buckets.end());
    if (first->time < EndOf(bucket)) {
      load.buckets[bucket] = schedule->Count(first->time, EndOf(bucket));
    }
    return load;
  }
  WallTime EndOf(size_t bucket) const {
    return std::min(span_.until, span_.from + static_cast<int64_t>(bucket + 1) * span_.bucket);
  }

  const LoadSpan span_;
  const CalendarSet& calendars_;
  int64_t steps_left_;
  std::map<std::string, ScheduleLoad> known_;
};

// False if the counter has no steps left.
bool AddJob(const StoredJob& job, LoadCounter* counter, FireLoad* load) {
  JobLoad mine{.job_id = job.job_id, .name = job.definition.name};
  for (const ScheduleSpec& spec : job.definition.schedules) {
    const auto one = counter->Of(spec, job);
    if (!one) return false;
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

Result<FireLoad> CountFires(JobStore& jobs, const CalendarSet& calendars, const LoadSpan& span,
                            const LoadLimits& limits) {
  FireLoad load;
  load.buckets.resize(span.buckets());
  LoadCounter counter(span, calendars, limits.steps);
  JobFilter filter{.enabled = true};
  while (!load.truncated) {
    // Reads one job more than is counted, to find out whether there are further jobs.
    filter.limit = std::min(kPageJobs, limits.jobs - load.jobs_read + 1);
    CARILLON_ASSIGN_OR_RETURN(const JobPage page, jobs.ListJobs(filter));
    for (const StoredJob& job : page.jobs) {
      if (load.jobs_read == limits.jobs || !AddJob(job, &counter, &load)) {
        load.truncated = true;
        break;
      }
      ++load.jobs_read;
    }
    filter.after = PlaceAfter(page, filter);
    if (!filter.after) break;
  }
  std::sort(load.jobs.begin(), load.jobs.end(), [](const JobLoad& a, const JobLoad& b) {
    return std::pair(a.first, a.job_id.value()) < std::pair(b.first, b.job_id.value());
  });
  return load;
}

}  // namespace carillon::scheduler
