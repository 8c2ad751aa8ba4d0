#include "scheduler/maintain/maintenance.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kRetry = 30s;
constexpr Duration kClockRetry = 100ms;

Duration AgeOf(WallTime oldest, WallTime now) {
  return oldest >= now ? Duration::zero() : now - oldest;
}

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

Maintenance::Maintenance(AdminStore& admin, FiringStore& firing, const ClusterClock& cluster,
                         Metrics& metrics, Options options)
    : admin_(admin), firing_(firing), cluster_(cluster), metrics_(metrics), options_(options) {}

SteadyTime Maintenance::Step(SteadyTime now) {
  const auto cluster_now = cluster_.Now();
  if (!cluster_now) return now + kClockRetry;
  if (now >= next_look_) {
    next_look_ = now + options_.look_every;
    Look(*cluster_now);
  }
  if (now >= next_) {
    const Status done = admin_.Maintain(*cluster_now, options_.retention);
    next_ = now + (done.ok() ? options_.every : kRetry);
    if (!done.ok()) {
      metrics_.counter("carillon_store_errors_total", ErrorCodeName(done.code())).Add();
      log::Warn("maintain", "{}", done.error().message);
    }
  }
  return std::min(next_, next_look_);
}

void Maintenance::Look(WallTime cluster_now) {
  const auto report = firing_.ReadOverdue(cluster_now);
  if (!report.ok()) {
    metrics_.counter("carillon_store_errors_total", ErrorCodeName(report.code())).Add();
    return;
  }
  const Duration overdue = AgeOf(report->oldest_pending_due, cluster_now);
  const Duration unplanned = AgeOf(report->oldest_unplanned_fire, cluster_now);
  overdue_us_ = overdue.count();
  unplanned_us_ = unplanned.count();
  metrics_.gauge("carillon_oldest_overdue_seconds").Set(Seconds(overdue));
  metrics_.gauge("carillon_unplanned_overdue_seconds").Set(Seconds(unplanned));
}

}  // namespace carillon::scheduler
