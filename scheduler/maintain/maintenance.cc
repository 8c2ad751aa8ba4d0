#include "scheduler/maintain/maintenance.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kRetry = 30s;
constexpr Duration kBehindRetry = 200ms;  // if one call did not delete all old rows
constexpr Duration kClockRetry = 100ms;
constexpr Duration kTrustRetry = 200ms;

Duration AgeOf(WallTime oldest, WallTime now) {
  return oldest >= now ? Duration::zero() : now - oldest;
}

}  // namespace

SteadyTime Maintenance::Step(SteadyTime now) {
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return now + kClockRetry;
  if (!ports_.store_trusted()) return now + kTrustRetry;
  if (now >= next_look_) {
    next_look_ = now + kLookEvery;
    Look(*cluster_now);
  }
  if (now >= next_) {
    const auto done = ports_.housekeeping.Maintain(
        *cluster_now, {.runs = retention_.load(), .keep_last = keep_last_.load()});
    const bool behind = done.ok() && *done == Upkeep::kBehind;
    next_ = now + (behind ? kBehindRetry : done.ok() ? options_.every : kRetry);
    if (done.ok()) {
      ports_.metrics.gauge("carillon_retention_behind").Set(behind ? 1 : 0);
    } else {
      // After an error it is unknown whether old rows are left. So the gauge keeps its last value.
      ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(done.code())).Add();
      log::Warn("maintain", "{}", done.error().message);
    }
  }
  return std::min(next_, next_look_);
}

void Maintenance::Look(WallTime cluster_now) {
  const SteadyTime asked = ports_.clock.Steady();
  auto report = ports_.firing.ReadOverdue(cluster_now);
  if (!report.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(report.code())).Add();
    return;
  }
  ports_.overdue.Looked({.overdue = AgeOf(report->oldest_pending_due, cluster_now),
                         .unplanned = AgeOf(report->oldest_unplanned_fire, cluster_now)},
                        std::move(report->unplanned_jobs), asked);
}

}  // namespace carillon::scheduler
