#include "scheduler/ends/backfill_loop.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace carillon::scheduler {

BackfillLoop::BackfillLoop(const Ports& ports, Duration retention)
    : ports_(ports),
      fires_(ports.metrics.counter("carillon_fires_total", Name(RunKind::kBackfill))),
      retention_(retention) {}

SteadyTime BackfillLoop::Step(SteadyTime now) {
  if (now < last_ + kLookGap) return last_ + kLookGap;
  const bool goes_on = after_ != 0;
  const bool nudged = !goes_on && TakeNudge();
  if (now < next_ && !nudged && !goes_on) return next_;
  last_ = now;
  if (!goes_on) next_ = now + kLookEvery;
  const auto view = ports_.segments.View();
  const std::vector<SegmentId> segments = view->ActiveSegments();
  const auto cluster_now = ports_.cluster.Now();
  if (segments.empty() || !cluster_now || ports_.paused()) {
    after_ = 0;
    return next_;
  }
  const bool more = LookAtSome(*view, segments, *cluster_now);
  return more ? last_ + kLookGap : next_;
}

void BackfillLoop::Nudge() {
  {
    MutexLock lock(mu_);
    nudged_ = true;
  }
  ports_.wake();
}

void BackfillLoop::Ended(const std::vector<JobNo>& jobs) {
  {
    MutexLock lock(mu_);
    const bool ours = !nudged_ && std::any_of(jobs.begin(), jobs.end(),
                                              [this](JobNo job) { return jobs_.contains(job); });
    if (!ours) return;
    nudged_ = true;
  }
  ports_.wake();
}

bool BackfillLoop::IsBackfilled(const RunKey& key) const {
  MutexLock lock(mu_);
  return std::any_of(runs_.begin(), runs_.end(), [&key](const auto& backfill) {
    const std::vector<RunKey>& open = backfill.second;
    return std::find(open.begin(), open.end(), key) != open.end();
  });
}

bool BackfillLoop::TakeNudge() {
  MutexLock lock(mu_);
  return std::exchange(nudged_, false);
}

void BackfillLoop::Watch(const std::vector<OpenBackfill>& open, bool first_page) {
  MutexLock lock(mu_);
  if (first_page) jobs_.clear();
  for (const OpenBackfill& backfill : open) jobs_.insert(backfill.job_no);
  if (!first_page) return;
  std::set<uint64_t> found;
  for (const OpenBackfill& backfill : open) found.insert(backfill.number);
  const bool all = open.size() < kPerLook;
  std::erase_if(runs_, [&](const auto& known) { return all && !found.contains(known.first); });
}

bool BackfillLoop::LookAtSome(const OwnedView& view, const std::vector<SegmentId>& segments,
                              WallTime now) {
  const auto open = ports_.store.ScanBackfills(segments, after_, kPerLook);
  if (!open.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(open.code())).Add();
    after_ = 0;
    return false;
  }
  Watch(*open, after_ == 0);
  const bool goes_on = open->size() == kPerLook;
  after_ = goes_on ? open->back().number : 0;
  bool again = false;
  std::vector<PendingRun> due;
  for (const OpenBackfill& backfill : *open) again = Continue(view, backfill, now, &due) || again;
  // The sweep finds those that are dropped here.
  if (!due.empty() && !ports_.feed.Push(std::move(due)).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  }
  if (again) {
    MutexLock lock(mu_);
    nudged_ = true;
  }
  return goes_on || again;
}

bool BackfillLoop::Continue(const OwnedView& view, const OpenBackfill& backfill, WallTime now,
                            std::vector<PendingRun>* due) {
  const Fence fence = view.FenceFor({backfill.segment});
  if (fence.empty()) return false;
  const auto effect = ports_.fences.Run("backfill", fence, [&] {
    return ports_.store.StepBackfill(backfill, fence, now, retention_.load());
  });
  if (!effect.ok()) {
    log::Warn("backfill", "backfill {}: {}", backfill.number, effect.error().message);
    return false;
  }
  fires_.Add(effect->created);
  {
    MutexLock lock(mu_);
    runs_[backfill.number] = effect->open;
  }
  for (const RunRow& row : effect->due) {
    const OwnedSegment* owned = view.Find(row.segment);
    if (owned != nullptr) due->push_back(ToPendingRun(row, owned->epoch));
  }
  return effect->more;
}

}  // namespace carillon::scheduler
