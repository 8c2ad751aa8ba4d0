#include "scheduler/plan/sweep.h"

#include <algorithm>

#include "common/base/failpoint.h"
#include "common/base/log.h"

namespace carillon::scheduler {

Sweep::Sweep(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      horizon_(options_.horizon),
      rng_(options_.seed),
      backoff_({.first = 50ms, .longest = 2s}) {}

void Sweep::Nudge(SegmentId segment) {
  MutexLock lock(mu_);
  nudged_.insert(segment);
}

SteadyTime Sweep::Step(SteadyTime now) {
  if (now < retry_at_) return retry_at_;
  const auto view = ports_.segments.View();
  if (!ports_.cluster.Now()) return now + options_.page_gap;
  std::vector<SegmentId> ahead = TakeNudged();
  std::map<SegmentId, Epoch> current;
  for (const OwnedSegment& owned : view->all()) {
    if (!owned.active) continue;
    const auto seen = seen_.find(owned.segment);
    if (seen == seen_.end() || seen->second != owned.epoch) ahead.push_back(owned.segment);
    current[owned.segment] = owned.epoch;
  }
  if (!LookAhead(*view, ahead)) {
    for (SegmentId segment : ahead) Nudge(segment);
    Failed({ErrorCode::kUnavailable, "the look ahead is not finished"}, now);
    return retry_at_;
  }
  seen_ = std::move(current);
  if (due_nudged_.exchange(false)) next_due_look_ = now;
  if (now >= next_due_look_ && !LookAtDue(*view, now)) return retry_at_;
  return next_due_look_;
}

bool Sweep::LookAhead(const OwnedView& view, const std::vector<SegmentId>& segments) {
  std::vector<SegmentId> owned;
  for (SegmentId segment : segments) {
    if (view.Find(segment) != nullptr) owned.push_back(segment);
  }
  std::sort(owned.begin(), owned.end());
  owned.erase(std::unique(owned.begin(), owned.end()), owned.end());
  if (owned.empty()) return true;
  const WallTime until = *ports_.cluster.Now() + horizon_.load();
  Cursor after;
  for (;;) {
    const auto page = ports_.store.ScanPending(owned, until, after, options_.page_rows);
    if (!page.ok()) return false;
    // A full feed or wheel: the rest is found when it is due.
    if (!Offer(view, page->runs) || !page->next) return true;
    after = page->next;
  }
}

bool Sweep::LookAtDue(const OwnedView& view, SteadyTime now) {
  next_due_look_ = now + options_.every;
  const std::vector<SegmentId> segments = view.ActiveSegments();
  if (segments.empty()) return true;
  const auto page =
      ports_.store.ScanPending(segments, *ports_.cluster.Now(), cursor_, options_.page_rows);
  if (!page.ok()) {
    Failed(page.error(), now);
    return false;
  }
  backoff_.Reset();
  std::vector<RunRow> rows = page->runs;
  if (failpoint::Broken("sweep.lower_bound")) {
    const WallTime bound = *ports_.cluster.Now() - options_.every;
    std::erase_if(rows, [&](const RunRow& row) { return row.due < bound; });
  }
  const bool room = Offer(view, rows);
  cursor_ = page->next;
  if (page->next && room && options_.backlog() < options_.backlog_busy) {
    next_due_look_ = now + options_.page_gap;
  }
  return true;
}

bool Sweep::Offer(const OwnedView& view, const std::vector<RunRow>& rows) {
  std::vector<PendingRun> runs;
  runs.reserve(rows.size());
  for (const RunRow& row : rows) {
    const OwnedSegment* owned = view.Find(row.segment);
    if (owned != nullptr) runs.push_back(ToPendingRun(row, owned->epoch));
  }
  if (runs.empty()) return true;
  if (options_.warm) options_.warm(runs);
  if (ports_.feed.Push(std::move(runs)).ok()) return true;
  ports_.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  return false;
}

std::vector<SegmentId> Sweep::TakeNudged() {
  MutexLock lock(mu_);
  std::vector<SegmentId> segments(nudged_.begin(), nudged_.end());
  nudged_.clear();
  return segments;
}

void Sweep::Failed(const Error& error, SteadyTime now) {
  ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(error.code)).Add();
  retry_at_ = now + backoff_.Next(rng_);
}

}  // namespace carillon::scheduler
