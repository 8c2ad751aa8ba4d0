#include "scheduler/maintain/overdue_watch.h"

#include <utility>

namespace carillon::scheduler {
namespace {

constexpr Duration kShowEvery = 500ms;

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

void OverdueWatch::Looked(const OverdueAges& found, std::vector<UnplannedJob> jobs,
                          SteadyTime asked) {
  MutexLock lock(mu_);
  found_ = found;
  jobs_ = std::move(jobs);
  looked_ = asked;
}

OverdueAges OverdueWatch::Ages() const {
  MutexLock lock(mu_);
  const Duration since = clock_.Steady() - looked_;
  if (since <= stale_after_) return found_;
  return {.overdue = found_.overdue + since, .unplanned = found_.unplanned + since};
}

std::vector<UnplannedJob> OverdueWatch::UnplannedJobs() const {
  MutexLock lock(mu_);
  return jobs_;
}

SteadyTime OverdueWatch::Step(SteadyTime now) {
  const OverdueAges ages = Ages();
  metrics_.gauge("carillon_oldest_overdue_seconds").Set(Seconds(ages.overdue));
  metrics_.gauge("carillon_unplanned_overdue_seconds").Set(Seconds(ages.unplanned));
  return now + kShowEvery;
}

}  // namespace carillon::scheduler
