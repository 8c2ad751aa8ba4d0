#include "scheduler/ends/admission_loop.h"

#include <fmt/core.h>

namespace carillon::scheduler {
namespace {

constexpr Duration kCountEvery = 10s;  // the metric of queued runs
constexpr Duration kReclaimEvery = 10s;
constexpr size_t kJobsPerStep = 100;
constexpr size_t kGroupsPerStep = 100;

}  // namespace

AdmissionLoop::AdmissionLoop(const Ports& ports)
    : ports_(ports),
      queued_(ports.owner.metrics.gauge("carillon_queued_runs")),
      waited_(ports.owner.metrics.histogram("carillon_slot_wait_seconds")),
      scan_("admission", ports.owner) {}

SteadyTime AdmissionLoop::Step(SteadyTime now) {
  if (now >= cool_at_) {
    cool_at_ = SteadyTime::max();
    scan_.Nudge();
  }
  if (!scan_.IsDue(now)) return Next();
  const auto look = scan_.Begin(now);
  if (!look || ports_.owner.paused()) {
    after_ = JobNo{};
    return Next();
  }
  if (look->regular || more_expired_) more_expired_ = SkipExpired(*look);
  if (more_expired_) scan_.Nudge();
  AdmitToJobs(*look);
  AdmitToGroups(*look);
  if (now >= next_reclaim_) {
    next_reclaim_ = now + kReclaimEvery;
    ReclaimSlots(*look);
  }
  if (now >= next_count_) {
    next_count_ = now + kCountEvery;
    const auto count = ports_.queues.CountQueued();
    if (scan_.Succeeded(count)) queued_.Set(static_cast<double>(*count));
  }
  return Next();
}

bool AdmissionLoop::SkipExpired(const Look& look) {
  const auto items = ports_.queues.ScanExpired(look.segments, look.cluster_now, kBatchRowsMax);
  if (!scan_.Succeeded(items) || items->empty()) return false;
  std::vector<SegmentId> touched;
  for (const SkipItem& item : *items) touched.push_back(item.segment);
  const auto written =
      scan_.Write("skip", "runs whose queue_timeout is over", look, std::move(touched),
                  [&](const Fence& fence, WallTime cluster_now) {
                    return ports_.firing.Skip(*items, fence, cluster_now);
                  });
  if (!written.ok()) return false;
  ports_.owner.metrics.counter("carillon_runs_total", Name(RunState::kSkipped))
      .Add(written->size());
  return items->size() == kBatchRowsMax;
}

void AdmissionLoop::AdmitToJobs(const Look& look) {
  const auto jobs = ports_.queues.ScanQueues(look.segments, after_, kJobsPerStep);
  after_ = JobNo{};
  if (!scan_.Succeeded(jobs)) return;
  if (jobs->size() == kJobsPerStep) {
    after_ = jobs->back().job_no;
    scan_.Continue();
  }
  bool again = false;
  std::vector<PendingRun> due;
  for (const QueuedJob& job : *jobs) again = Admit(look, job, &due) || again;
  Feed(std::move(due));
  if (again) scan_.Nudge();
}

void AdmissionLoop::AdmitToGroups(const Look& look) {
  const auto scan =
      ports_.queues.ScanGroups(look.segments, after_group_, kGroupsPerStep, look.cluster_now);
  after_group_ = GroupNo{};
  if (!scan_.Succeeded(scan)) return;
  const std::vector<QueuedGroup>& groups = scan->groups;
  if (scan->next_cool) WakeWhenCool(look, *scan->next_cool);
  bool again = groups.size() == kGroupsPerStep;
  if (again) after_group_ = groups.back().group_no;
  std::vector<PendingRun> due;
  for (const QueuedGroup& group : groups) again = AdmitGroup(look, group, &due) || again;
  Feed(std::move(due));
  if (again) scan_.Nudge();
}

void AdmissionLoop::WakeWhenCool(const Look& look, WallTime next_cool) {
  // Early enough for the dispatch, which begins kGroupLead before, even if that look is the first
  // that finds the slot free.
  constexpr Duration kBefore = 300ms;
  const Duration wait =
      std::max<Duration>(next_cool - look.cluster_now - kBefore, OwnerScan::kEveryIfBusy);
  // A regular look comes before a later time, and finds it again.
  if (wait > OwnerScan::kEvery) return;
  cool_at_ = std::min(cool_at_, look.now + wait);
}

void AdmissionLoop::ReclaimSlots(const Look& look) {
  const auto unused = ports_.queues.ScanUnusedSlots(look.segments, look.cluster_now, kBatchRowsMax);
  if (!scan_.Succeeded(unused) || unused->empty()) return;
  std::vector<SegmentId> touched;
  for (const UnusedSlot& slot : *unused) {
    touched.push_back(slot.segment.value_or(look.segments.front()));
  }
  const auto freed = scan_.Write("reclaim", "unused slots of groups", look, std::move(touched),
                                 [&](const Fence& fence, WallTime cluster_now) {
                                   return ports_.queues.ReclaimSlots(*unused, fence, cluster_now);
                                 });
  if (freed.ok() && *freed > 0) scan_.Nudge();
}

bool AdmissionLoop::Admit(const Look& look, const QueuedJob& job, std::vector<PendingRun>* due) {
  const auto effect = scan_.Write("admit", fmt::format("job {}", job.job_no.value()), look,
                                  {job.segment}, [&](const Fence& fence, WallTime cluster_now) {
                                    return ports_.queues.Admit(job, fence, cluster_now);
                                  });
  if (!effect.ok()) return false;
  TakeEffect(look, *effect, due);
  // Room was made at once: the run that waits for it can be admitted now.
  return effect->admitted.empty() && (effect->replaced > 0 || effect->cancelled > 0);
}

bool AdmissionLoop::AdmitGroup(const Look& look, const QueuedGroup& group,
                               std::vector<PendingRun>* due) {
  const auto effect = scan_.Write("admit", fmt::format("group {}", group.group_no.value()), look,
                                  group.segments, [&](const Fence& fence, WallTime cluster_now) {
                                    return ports_.queues.AdmitGroup(group, fence, cluster_now);
                                  });
  if (!effect.ok()) return false;
  TakeEffect(look, *effect, due);
  return effect->admitted.size() == kBatchRowsMax;
}

void AdmissionLoop::TakeEffect(const Look& look, const AdmissionEffect& effect,
                               std::vector<PendingRun>* due) {
  for (const RunRow& row : effect.admitted) {
    const OwnedSegment* owned = look.view->Find(row.segment);
    if (owned != nullptr) due->push_back(ToPendingRun(row, owned->epoch));
  }
  for (const Duration waited : effect.waited) {
    waited_.Observe(std::chrono::duration<double>(waited).count());
  }
  Metrics& metrics = ports_.owner.metrics;
  metrics.counter("carillon_runs_total", Name(RunState::kSkipped)).Add(effect.replaced);
  metrics.counter("carillon_runs_total", Name(RunState::kCancelled)).Add(effect.cancelled);
  if (effect.cancels_requested > 0) ports_.owner.signals.cancels_requested.Raise();
}

void AdmissionLoop::Feed(std::vector<PendingRun> due) {
  // The sweep finds those that are dropped here.
  if (due.empty() || ports_.feed.Push(std::move(due)).ok()) return;
  ports_.owner.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
}

}  // namespace carillon::scheduler
