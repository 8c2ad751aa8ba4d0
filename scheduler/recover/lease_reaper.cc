#include "scheduler/recover/lease_reaper.h"

#include <map>

#include "common/base/log.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kLeasesLookEvery = 500ms;

}  // namespace

LeaseReaper::LeaseReaper(const Ports& ports, uint64_t seed)
    : ports_(ports), rng_(seed), backoff_({.first = 100ms, .longest = 2s}) {}

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
  std::map<RunKey, ExecutorId> holders;
  for (const ExpiredLease& lease : written) {
    holders.emplace(lease.report.key, lease.holder.executor);
  }
  std::vector<PendingRun> again;
  bool freed = false;
  bool completed = false;
  for (const RunEffect& effect : effects) {
    ports_.metrics.counter("carillon_leases_lost_total").Add();
    freed = freed || effect.freed_slot;
    completed = completed || effect.completed;
    log::Warn("recover", "run {} lost: lease expired executor_id={} now={}",
              EncodeRunId(effect.key), holders[effect.key].value(), Name(effect.state));
    if (IsFinal(effect.state)) {
      ports_.metrics.counter("carillon_runs_total", Name(effect.state)).Add();
    }
    if (!effect.again) continue;
    const OwnedSegment* owned = view.Find(effect.again->segment);
    if (IsTime(effect.again->due) && owned != nullptr) {
      again.push_back(ToPendingRun(*effect.again, owned->epoch));
    }
  }
  if (freed) ports_.signals.slot_freed.Raise();
  if (completed) ports_.signals.completed.Raise();
  if (again.empty()) return;
  ports_.metrics.counter("carillon_retries_total", "lost").Add(again.size());
  if (!ports_.feed.Push(std::move(again)).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  }
}

}  // namespace carillon::scheduler
