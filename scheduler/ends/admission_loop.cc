#include "scheduler/ends/admission_loop.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kLookEvery = 1s;
constexpr Duration kLookGap = 20ms;    // between two looks, however often a slot becomes free
constexpr Duration kCountEvery = 10s;  // the metric of queued runs
constexpr Duration kReclaimEvery = 10s;
constexpr size_t kJobsPerStep = 100;
constexpr size_t kGroupsPerStep = 100;

}  // namespace

AdmissionLoop::AdmissionLoop(const Ports& ports)
    : ports_(ports),
      queued_(ports.metrics.gauge("carillon_queued_runs")),
      waited_(ports.metrics.histogram("carillon_slot_wait_seconds")) {}

SteadyTime AdmissionLoop::Step(SteadyTime now) {
  const bool asked = nudged_.load();
  if (now < next_ && !asked && after_ == JobNo{}) return next_;
  if (now < last_ + kLookGap) return last_ + kLookGap;
  if (after_ == JobNo{}) nudged_ = false;  // else jobs before `after_` are still to be looked at
  last_ = now;
  const auto view = ports_.segments.View();
  const std::vector<SegmentId> segments = view->ActiveSegments();
  const auto cluster_now = ports_.cluster.Now();
  const bool regular = now >= next_;
  if (regular) next_ = now + kLookEvery;
  if (segments.empty() || !cluster_now || ports_.paused()) {
    after_ = JobNo{};
    return next_;
  }
  const bool expired = regular && SkipExpired(*view, segments, *cluster_now);
  const bool more_jobs = AdmitSome(*view, segments, *cluster_now);
  const bool more_groups = AdmitToGroups(*view, segments, *cluster_now);
  if (more_groups) nudged_ = true;
  const bool more = more_jobs || more_groups;
  if (now >= next_reclaim_) {
    next_reclaim_ = now + kReclaimEvery;
    ReclaimSlots(*view, segments, *cluster_now);
  }
  if (now >= next_count_) {
    next_count_ = now + kCountEvery;
    const auto count = ports_.queues.CountQueued();
    if (count.ok()) queued_.Set(static_cast<double>(*count));
  }
  if (expired) next_ = now;
  return expired || more ? last_ + kLookGap : next_;
}

bool AdmissionLoop::SkipExpired(const OwnedView& view, const std::vector<SegmentId>& segments,
                                WallTime now) {
  const auto items = ports_.queues.ScanExpired(segments, now, kBatchRowsMax);
  if (!items.ok() || items->empty()) return false;
  std::vector<SegmentId> touched;
  for (const SkipItem& item : *items) touched.push_back(item.segment);
  const Fence fence = view.FenceFor(std::move(touched));
  const auto written =
      ports_.fences.Run("skip", fence, [&] { return ports_.firing.Skip(*items, fence, now); });
  if (!written.ok()) {
    log::Warn("admission", "queue_timeout: {}", written.error().message);
    return false;
  }
  ports_.metrics.counter("carillon_runs_total", Name(RunState::kSkipped)).Add(*written);
  return items->size() == kBatchRowsMax;
}

bool AdmissionLoop::AdmitSome(const OwnedView& view, const std::vector<SegmentId>& segments,
                              WallTime now) {
  const auto jobs = ports_.queues.ScanQueues(segments, after_, kJobsPerStep);
  if (!jobs.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(jobs.code())).Add();
    after_ = JobNo{};
    return false;
  }
  const bool more = jobs->size() == kJobsPerStep;
  after_ = more ? jobs->back().job_no : JobNo{};
  bool again = false;
  std::vector<PendingRun> due;
  for (const QueuedJob& job : *jobs) again = Admit(view, job, now, &due) || again;
  Feed(std::move(due));
  if (again) nudged_ = true;
  return more || again;
}

void AdmissionLoop::Feed(std::vector<PendingRun> due) {
  // The sweep finds those that are dropped here.
  if (due.empty() || ports_.feed.Push(std::move(due)).ok()) return;
  ports_.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
}

void AdmissionLoop::TakeAdmitted(const OwnedView& view, const AdmissionEffect& effect,
                                 std::vector<PendingRun>* due) {
  for (const RunRow& row : effect.admitted) {
    const OwnedSegment* owned = view.Find(row.segment);
    if (owned != nullptr) due->push_back(ToPendingRun(row, owned->epoch));
  }
}

bool AdmissionLoop::AdmitToGroups(const OwnedView& view, const std::vector<SegmentId>& segments,
                                  WallTime now) {
  const auto groups = ports_.queues.ScanGroups(segments, after_group_, kGroupsPerStep);
  if (!groups.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(groups.code())).Add();
    after_group_ = GroupNo{};
    return false;
  }
  const bool more = groups->size() == kGroupsPerStep;
  after_group_ = more ? groups->back().group_no : GroupNo{};
  std::vector<PendingRun> due;
  for (const QueuedGroup& group : *groups) {
    const Fence fence = view.FenceFor(group.segments);
    if (fence.empty()) continue;
    const auto effect = ports_.fences.Run(
        "admit", fence, [&] { return ports_.queues.AdmitGroup(group, fence, now); });
    if (!effect.ok()) {
      log::Warn("admission", "group {}: {}", group.group_no.value(), effect.error().message);
      continue;
    }
    Count(*effect);
    if (effect->admitted.size() == kBatchRowsMax) nudged_ = true;  // there may be more
    TakeAdmitted(view, *effect, &due);
  }
  Feed(std::move(due));
  return more;
}

void AdmissionLoop::ReclaimSlots(const OwnedView& view, const std::vector<SegmentId>& segments,
                                 WallTime now) {
  const auto unused = ports_.queues.ScanUnusedSlots(segments, now, kBatchRowsMax);
  if (!unused.ok() || unused->empty()) return;
  std::vector<SegmentId> touched;
  for (const UnusedSlot& slot : *unused) touched.push_back(slot.segment.value_or(segments.front()));
  const Fence fence = view.FenceFor(std::move(touched));
  if (fence.empty()) return;
  const auto freed = ports_.fences.Run(
      "reclaim", fence, [&] { return ports_.queues.ReclaimSlots(*unused, fence, now); });
  if (!freed.ok()) {
    log::Warn("admission", "unused slots of groups: {}", freed.error().message);
  } else if (*freed > 0) {
    nudged_ = true;
  }
}

bool AdmissionLoop::Admit(const OwnedView& view, const QueuedJob& job, WallTime now,
                          std::vector<PendingRun>* due) {
  const Fence fence = view.FenceFor({job.segment});
  if (fence.empty()) return false;
  const auto effect =
      ports_.fences.Run("admit", fence, [&] { return ports_.queues.Admit(job, fence, now); });
  if (!effect.ok()) {
    log::Warn("admission", "job {}: {}", job.job_no.value(), effect.error().message);
    return false;
  }
  Count(*effect);
  TakeAdmitted(view, *effect, due);
  // Room was made at once: the run that waits for it can be admitted now.
  return effect->admitted.empty() && (effect->replaced > 0 || effect->cancelled > 0);
}

void AdmissionLoop::Count(const AdmissionEffect& effect) {
  for (const Duration waited : effect.waited) {
    waited_.Observe(std::chrono::duration<double>(waited).count());
  }
  ports_.metrics.counter("carillon_runs_total", Name(RunState::kSkipped)).Add(effect.replaced);
  ports_.metrics.counter("carillon_runs_total", Name(RunState::kCancelled)).Add(effect.cancelled);
  if (effect.cancels_requested > 0) ports_.cancels_requested();
}

}  // namespace carillon::scheduler
