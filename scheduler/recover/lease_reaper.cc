#include "scheduler/recover/lease_reaper.h"

#include <map>

#include "common/base/log.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kLeasesLookEvery = 500ms;

}  // namespace

LeaseReaper::LeaseReaper(const Ports& ports, uint64_t seed, PresumedRuns* presumed)
    : ports_(ports), presumed_(presumed), rng_(seed), backoff_({.first = 100ms, .longest = 2s}) {}

SteadyTime LeaseReaper::Step(SteadyTime now) {
  if (now < next_) return next_;
  next_ = now + kLeasesLookEvery;
  const std::vector<ExpiredLease> expired = ports_.leases.TakeExpired(now, kBatchRowsMax);
  if (expired.empty()) return next_;
  const auto view = ports_.segments.View();
  if (Write(*view, expired)) {
    backoff_.Reset();
    if (expired.size() == kBatchRowsMax) next_ = now;
  } else {
    next_ = now + backoff_.Next(rng_);
  }
  return next_;
}

bool LeaseReaper::Write(const OwnedView& view, const std::vector<ExpiredLease>& expired) {
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return false;
  std::vector<ExpiredLease> owned;
  for (const ExpiredLease& lease : expired) {
    if (view.Holds(lease.report.segment, lease.epoch)) owned.push_back(lease);
  }
  if (owned.empty()) return true;
  bool all = true;
  const Status written = Bisect(
      std::span<const ExpiredLease>(owned),
      [&](std::span<const ExpiredLease> some) -> Status {
        const Status marked = MarkLost(view, some, *cluster_now);
        if (marked.ok() || !EndsOwnership(marked.code())) return marked;
        all = false;  // those of the other segments are not delayed
        return {};
      },
      [&](const ExpiredLease& lease, const Error& error) {
        log::Error("recover", "run {} attempt {}: the store rejects its loss: {}",
                   EncodeRunId(lease.report.key), lease.report.attempt, error.message);
        all = false;
      });
  return written.ok() && all;
}

Status LeaseReaper::MarkLost(const OwnedView& view, std::span<const ExpiredLease> expired,
                             WallTime now) {
  std::vector<LostReport> reports;
  std::vector<SegmentId> segments;
  RunEvents events;
  for (const ExpiredLease& lease : expired) {
    reports.push_back(lease.report);
    segments.push_back(lease.report.segment);
    events.events.push_back({RunEvent::What::kEnded, lease.report.key, lease.report.attempt});
  }
  const Fence fence = view.FenceFor(std::move(segments));
  const auto effects =
      ports_.fences.Run("lost", fence, [&] { return ports_.store.MarkLost(reports, fence, now); });
  if (!effects.ok()) return effects.error();
  const std::vector<ExpiredLease> lost(expired.begin(), expired.end());
  ports_.leases.Resolve(lost, ports_.clock.Steady());
  Effects(view, lost, *effects);
  ports_.events.Push(std::move(events));
  return {};
}

void LeaseReaper::Effects(const OwnedView& view, const std::vector<ExpiredLease>& written,
                          const std::vector<RunEffect>& effects) {
  std::map<RunKey, const ExpiredLease*> leases;
  for (const ExpiredLease& lease : written) leases.emplace(lease.report.key, &lease);
  for (const RunEffect& effect : effects) {
    const ExpiredLease& lease = *leases.at(effect.key);
    ports_.metrics.counter("carillon_leases_lost_total").Add();
    log::Warn("recover", "run {} lost: lease expired executor_id={} now={}",
              EncodeRunId(effect.key), lease.holder.executor.value(), Name(effect.state));
    if (effect.dead_at && presumed_ != nullptr) {
      presumed_->Note(lease.report, lease.epoch, *effect.dead_at);
    }
  }
  TellEffects(ports_, view, "lost", effects);
}

}  // namespace carillon::scheduler
