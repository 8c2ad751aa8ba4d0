#include "scheduler/ends/backfill_loop.h"

#include <algorithm>

#include <fmt/core.h>

namespace carillon::scheduler {
namespace {

constexpr size_t kPerLook = 100;  // backfills

}  // namespace

BackfillLoop::BackfillLoop(const Ports& ports, Duration retention)
    : ports_(ports),
      fires_(ports.owner.metrics.counter("carillon_fires_total", Name(RunKind::kBackfill))),
      retention_(retention),
      scan_("backfill", ports.owner) {}

SteadyTime BackfillLoop::Step(SteadyTime now) {
  if (!scan_.IsDue(now)) return scan_.Next();
  const auto look = scan_.Begin(now);
  if (look && !ports_.owner.paused()) {
    StepSome(*look);
  } else {
    after_ = 0;
  }
  return scan_.Next();
}

bool BackfillLoop::Ended(const std::vector<JobNo>& jobs) {
  MutexLock lock(mu_);
  const bool ours =
      std::any_of(jobs.begin(), jobs.end(), [this](JobNo job) { return jobs_.contains(job); });
  return ours && Nudge();
}

bool BackfillLoop::IsBackfilled(const RunKey& key) const {
  MutexLock lock(mu_);
  return std::any_of(runs_.begin(), runs_.end(), [&key](const auto& backfill) {
    const std::vector<RunKey>& open = backfill.second;
    return std::find(open.begin(), open.end(), key) != open.end();
  });
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

void BackfillLoop::StepSome(const OwnerScan::Look& look) {
  const auto open = ports_.store.ScanBackfills(look.segments, after_, kPerLook);
  if (!scan_.Succeeded(open)) {
    after_ = 0;
    return;
  }
  Watch(*open, after_ == 0);
  const bool continues = open->size() == kPerLook;
  after_ = continues ? open->back().number : 0;
  if (continues) scan_.Continue();
  bool again = false;
  std::vector<PendingRun> due;
  for (const OpenBackfill& backfill : *open) again = StepOne(look, backfill, &due) || again;
  // The sweep finds those that are dropped here.
  if (!due.empty() && !ports_.feed.Push(std::move(due)).ok()) {
    ports_.owner.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  }
  if (again) scan_.Nudge();
}

bool BackfillLoop::StepOne(const OwnerScan::Look& look, const OpenBackfill& backfill,
                           std::vector<PendingRun>* due) {
  const auto effect = scan_.Write(
      "backfill", fmt::format("backfill {}", backfill.number), look, {backfill.segment},
      [&](const Fence& fence, WallTime cluster_now) {
        return ports_.store.StepBackfill(backfill, fence, cluster_now, retention_.load());
      });
  if (!effect.ok()) return false;
  fires_.Add(effect->created);
  {
    MutexLock lock(mu_);
    runs_[backfill.number] = effect->open;
  }
  for (const RunRow& row : effect->due) {
    const OwnedSegment* owned = look.view->Find(row.segment);
    if (owned != nullptr) due->push_back(ToPendingRun(row, owned->epoch));
  }
  return effect->more;
}

}  // namespace carillon::scheduler
