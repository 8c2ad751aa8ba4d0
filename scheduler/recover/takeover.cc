#include "scheduler/recover/takeover.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kIdle = 1s;

}  // namespace

Takeover::Takeover(const Ports& ports, const Options& options)
    : ports_(ports),
      options_(options),
      rng_(options_.seed),
      backoff_({.first = 20ms, .longest = 1s}) {}

SteadyTime Takeover::Step(SteadyTime now) {
  if (now < retry_at_) return retry_at_;
  const auto view = ports_.segments.View();
  std::vector<SegmentId> taken;
  for (const OwnedSegment& owned : view->all()) {
    if (!owned.active) taken.push_back(owned.segment);
  }
  if (taken.empty()) return now + kIdle;
  const Status recovered = Recover(*view, taken);
  if (!recovered.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(recovered.code())).Add();
    log::Warn("recover", "takeover: {}", recovered.error().message);
    retry_at_ = now + backoff_.Next(rng_);
    return retry_at_;
  }
  backoff_.Reset();
  ports_.segments.Activate(view->FenceFor(taken));
  return now + kIdle;
}

Status Takeover::Recover(const OwnedView& view, const std::vector<SegmentId>& segments) {
  std::optional<RunCursor> after;
  size_t found = 0;
  do {
    CARILLON_ASSIGN_OR_RETURN(const RunningPage page,
                              ports_.store.ScanRunning(segments, after, kBatchRowsMax));
    std::map<SegmentId, std::vector<RunRow>> by_segment;
    std::vector<HeldAttempt> held;
    for (const RunRow& row : page.runs) {
      by_segment[row.segment].push_back(row);
      held.push_back({row.key, row.segment, row.job_no, row.attempt, row.claim_token});
    }
    for (const auto& [segment, rows] : by_segment) {
      const OwnedSegment* owned = view.Find(segment);
      if (owned == nullptr) continue;
      const Duration lease = std::max(options_.lease, owned->lease_before);
      ports_.leases.AddFound(rows, owned->epoch, owned->taken + lease + options_.margin);
    }
    // The scan takes no locks, so a result may have been applied after the scan read its run.
    ports_.leases.Erase(ports_.applied.Among(held));
    found += page.runs.size();
    after = page.next;
  } while (after);
  log::Info("recover", "segments recovered count={} running={}", segments.size(), found);
  return {};
}

}  // namespace carillon::scheduler
