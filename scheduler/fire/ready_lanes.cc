#include "scheduler/fire/ready_lanes.h"

#include "common/domain/job/fan_out.h"
#include "scheduler/fire/firing_plan.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kStaleEntriesMax = 4096;  // per lane, beyond twice the number of ready runs

// If a person has named an executor for this run, the constraints of its job do not apply.
ReadyLanes::Key KeyOf(const TrackedRun& tracked) {
  const JobDefinition& job = tracked.definition->job();
  ReadyLanes::Key key{.slots = tracked.slots,
                      .pinned = {},
                      .selector = {},
                      .needs = tracked.definition->NeedsOf(tracked.run.key),
                      .begins = tracked.run.key.shard == 0 && FansOut(job)};
  if (tracked.run.extras) key.pinned = tracked.run.extras->pinned_executor;
  if (!key.pinned.empty() && !IsBoundPart(tracked.run)) return key;
  if (key.pinned.empty()) key.pinned = ExecutorId(job.executor_id);
  key.selector = job.executor_selector;
  return key;
}

}  // namespace

void ReadyLanes::Enter(const TrackedRun& tracked, uint32_t stamp) {
  const auto lane = lanes_.try_emplace(KeyOf(tracked), ageing_per_priority_).first;
  lane->second.heap.Push(tracked.run, stamp, tracked.behind, tracked.as_due);
  const bool blocked = blocked_.contains(&*lane);
  if (!blocked && lane->second.place != lane->second.heap.Top()) Place(*lane);
}

void ReadyLanes::Place(Placed& lane) {
  Unplace(lane);
  lane.second.place = lane.second.heap.Top();
  order_.insert({*lane.second.place, &lane});
}

void ReadyLanes::Unplace(Placed& lane) {
  if (lane.second.place) order_.erase({*lane.second.place, &lane});
  lane.second.place.reset();
}

std::pair<const ReadyLanes::Key, ReadyLanes::Lane>* ReadyLanes::Best() {
  while (!order_.empty()) {
    Placed& lane = *order_.begin()->second;
    ReadyHeap& heap = lane.second.heap;
    while (!heap.empty() && runs_.Find(heap.Top().key, heap.Top().stamp) == nullptr) heap.Pop();
    if (heap.empty()) {
      Unplace(lane);
      lane.second.unclaimed_since.reset();
      // Else a lane would remain for each executor or selector ever used.
      if (!lane.first.AnyExecutor()) lanes_.erase(lane.first);
      continue;
    }
    if (lane.second.place == heap.Top()) return &lane;
    Place(lane);
  }
  return nullptr;
}

void ReadyLanes::Block(Placed& lane) {
  Unplace(lane);
  blocked_.insert(&lane);
}

void ReadyLanes::Unblock() {
  for (Placed* lane : std::exchange(blocked_, {})) {
    if (!lane->second.heap.empty()) {
      Place(*lane);
    } else if (!lane->first.AnyExecutor()) {
      lanes_.erase(lane->first);
    }
  }
}

// A run may wait at the top for hours: no executor has room for it, and the run does not age out.
// The stale entries below it are not popped meanwhile. So they must be removed here.
void ReadyLanes::Prune(Lane& lane) {
  if (lane.heap.size() <= 2 * runs_.count(Place::kReady) + kStaleEntriesMax) return;
  lane.heap.Prune([this](const ReadyHeap::Entry& entry) {
    return runs_.Find(entry.key, entry.stamp) != nullptr;
  });
}

size_t ReadyLanes::entries() const {
  size_t entries = 0;
  for (const auto& [key, lane] : lanes_) entries += lane.heap.size();
  return entries;
}

}  // namespace carillon::scheduler
