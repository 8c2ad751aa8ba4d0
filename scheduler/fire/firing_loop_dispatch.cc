// The second half of FiringLoop: definitions, waiting runs, dispatch.
#include <algorithm>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "scheduler/fire/firing_loop.h"
#include "scheduler/fire/task_builder.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kDefinitionsPerRead = 200;
constexpr size_t kDefinitionReadsPerStep = 8;
constexpr Duration kStoreRetry = 200ms;
constexpr Duration kParametersRetry = 2s;
constexpr Duration kBusRetry = 10ms;
constexpr Duration kLookEvery = 100ms;
constexpr size_t kLooksPerLane = 1000;
constexpr size_t kStaleEntriesMax = 4096;  // per lane, in addition to the number of ready runs
constexpr size_t kSkipsHeldMax = 10'000;
constexpr Duration kSkipsRetry = 50ms;
constexpr Duration kIdle = 1s;

}  // namespace

void FiringLoop::LoadDefinitions(SteadyTime now) {
  for (size_t read = 0; read < kDefinitionReadsPerStep; ++read) {
    if (undefined_.empty() || now < definitions_retry_) return;
    LoadSomeDefinitions(now);
  }
}

void FiringLoop::LoadSomeDefinitions(SteadyTime now) {
  const size_t count = std::min(undefined_.size(), kDefinitionsPerRead);
  std::vector<TrackedRun*> waiting;
  std::vector<JobVersionKey> keys;
  for (size_t i = 0; i < count; ++i) {
    TrackedRun* tracked = runs_.Find(undefined_[i]);
    if (tracked == nullptr || tracked->place != Place::kUndefined) continue;
    waiting.push_back(tracked);
    keys.push_back({tracked->run.job_no, tracked->run.def_version});
  }
  const auto found = ports_.definitions.Load(keys);
  if (!found.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(found.code())).Add();
    definitions_retry_ = now + kStoreRetry;
    return;
  }
  undefined_.erase(undefined_.begin(), undefined_.begin() + static_cast<long>(count));
  for (TrackedRun* tracked : waiting) {
    if (tracked->place != Place::kUndefined) continue;  // listed twice
    const JobVersionKey key{tracked->run.job_no, tracked->run.def_version};
    if (found->unreadable.contains(key)) {
      // It stays due in the store; the sweep offers it again until the row is repaired.
      ports_.metrics.counter("carillon_runs_waiting_total", "unreadable_definition").Add();
      Settle(*tracked, now);
      continue;
    }
    const auto at = found->definitions.find(key);
    if (at == found->definitions.end()) {
      log::Error("fire", "no definition job_no={} version={}", tracked->run.job_no.value(),
                 tracked->run.def_version);
      Skip(*tracked, reason::kBadDefinition, now);
      continue;
    }
    tracked->definition = at->second;
    EnterLane(*tracked, now);
  }
}

void FiringLoop::ReturnTimedOut(SteadyTime now) {
  const Duration timeout = dispatch_timeout_.load();
  while (!in_flight_.empty() && now - in_flight_.front().at >= timeout) {
    const Noted noted = in_flight_.front();
    in_flight_.pop_front();
    TrackedRun* tracked = runs_.Find(noted.key, noted.stamp);
    if (tracked == nullptr) continue;
    ports_.metrics.counter("carillon_dispatch_timeouts_total").Add();
    const ExecutorCredits::Index silent = std::exchange(tracked->executor, ExecutorCredits::kNone);
    if (credits_.TimedOut(silent, tracked->slots)) {
      log::Warn(
          "fire",
          "executor claims none of its tasks; it gets one at a time until it does executor_id={}",
          credits_.id(silent).value());
    }
    tracked->avoid = silent;
    EnterLane(*tracked, now);
  }
}

void FiringLoop::AskAgain(SteadyTime now) {
  while (!loading_.empty() && now - loading_.front().at >= kParametersRetry) {
    const Noted noted = loading_.front();
    loading_.pop_front();
    TrackedRun* tracked = runs_.Find(noted.key, noted.stamp);
    if (tracked != nullptr) AskParameters(*tracked, now);
  }
}

// While a run waits at the top for hours (no executor has room, and it does not age out), stale
// entries below it are never popped. They are removed here when there are many.
void FiringLoop::PruneLane(Lane& lane) {
  if (lane.heap.size() <= 2 * runs_.count(Place::kReady) + kStaleEntriesMax) return;
  lane.heap.Prune([this](const ReadyHeap::Entry& entry) {
    return runs_.Find(entry.key, entry.stamp) != nullptr;
  });
}

// Skips waiting runs that have become too old. Looks at a bounded number per lane and continues
// there the next time.
void FiringLoop::LookAtWaiting(SteadyTime now) {
  const auto cluster_now = ports_.cluster.Now();
  if (now < next_look_ || !cluster_now) return;
  next_look_ = now + kLookEvery;
  const bool paused = ports_.paused();
  for (auto& [key, lane] : lanes_) {
    PruneLane(lane);
    if (paused) continue;
    const std::vector<ReadyHeap::Entry>& entries = lane.heap.entries();
    const size_t looks = std::min(entries.size(), kLooksPerLane);
    for (size_t i = 0; i < looks && skips_.size() < kSkipsHeldMax; ++i) {
      lane.look_at = lane.look_at + 1 < entries.size() ? lane.look_at + 1 : 0;
      const ReadyHeap::Entry& entry = entries[lane.look_at];
      TrackedRun* tracked = runs_.Find(entry.key, entry.stamp);
      if (tracked == nullptr || !AgesOut(tracked->run, *tracked->definition)) continue;
      const std::string_view why = Judge(*tracked, *cluster_now);
      if (!why.empty()) Skip(*tracked, why, now);
    }
  }
}

std::string_view FiringLoop::Judge(const TrackedRun& tracked, WallTime cluster_now) const {
  const bool overlap = tracked.definition->job().overlap_policy == OverlapPolicy::kSkip;
  return DecideFiring(tracked.run, *tracked.definition,
                      {.now = cluster_now,
                       .another_run_active = overlap && ports_.leases.AnotherRunActive(
                                                            tracked.run.job_no, tracked.run.key)});
}

void FiringLoop::Skip(TrackedRun& tracked, std::string_view reason, SteadyTime now) {
  skips_.push_back({.key = tracked.run.key,
                    .segment = tracked.run.segment,
                    .job_no = tracked.run.job_no,
                    .epoch = tracked.run.epoch,
                    .attempt = tracked.run.attempt,
                    .def_version = tracked.run.def_version,
                    .reason = reason});
  Release(tracked);
  Settle(tracked, now);
}

void FiringLoop::FlushSkips(SteadyTime now) {
  if (skips_.empty() || now < skips_retry_) return;
  if (ports_.skips.Push(skips_).ok()) {
    skips_.clear();
  } else {
    // The skip writer waits for the store. Until it continues, no more skips are decided than fit
    // into `skips_`.
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.skips.name()).Add();
    skips_retry_ = now + kSkipsRetry;
  }
}

void FiringLoop::Dispatch(SteadyTime now) {
  more_ready_ = false;
  skips_full_ = false;
  const auto cluster_now = ports_.cluster.Now();
  const bool paused = ports_.paused() && !failpoint::Broken("pause.publish");
  if (!cluster_now || now < dispatch_pause_ || paused) return;
  // Under load, tasks are gathered for a moment, so that many share one signature and one record.
  if (now < last_dispatch_ + options_.dispatch_gap) {
    more_ready_ = runs_.count(Place::kReady) > 0;
    return;
  }
  for (auto& [key, lane] : lanes_) lane.blocked = false;
  dispatcher_.SetFormat(bus_format_.load());
  size_t published = 0;
  LaneKey key;
  while (Lane* lane = BestLane(&key)) {
    if (skips_.size() >= kSkipsHeldMax) {
      skips_full_ = true;
      break;
    }
    if (published >= options_.dispatch_per_step) {
      more_ready_ = true;
      break;
    }
    if (DispatchTop(key, *lane, *cluster_now, now)) ++published;
  }
  if (published > 0) last_dispatch_ = now;
  TakeBack(dispatcher_.Flush(credits_, *cluster_now), now);
}

// Of the lanes that an executor has room for, the one whose first run ranks first.
FiringLoop::Lane* FiringLoop::BestLane(LaneKey* key) {
  Lane* best = nullptr;
  for (auto at = lanes_.begin(); at != lanes_.end();) {
    Lane& lane = at->second;
    while (!lane.heap.empty() &&
           runs_.Find(lane.heap.Top().key, lane.heap.Top().stamp) == nullptr) {
      lane.heap.Pop();
    }
    if (lane.heap.empty() && !at->first.AnyExecutor()) {
      at = lanes_.erase(at);  // or lanes of every executor and selector ever named would pile up
      continue;
    }
    if (!lane.heap.empty() && !lane.blocked &&
        (best == nullptr || lane.heap.Top() < best->heap.Top())) {
      best = &lane;
      *key = at->first;
    }
    ++at;
  }
  return best;
}

// Dispatches or skips the lane's first run, or blocks the lane. True if the run was published.
bool FiringLoop::DispatchTop(const LaneKey& key, Lane& lane, WallTime cluster_now, SteadyTime now) {
  TrackedRun& tracked = *runs_.Find(lane.heap.Top().key);
  const std::string_view why = Judge(tracked, cluster_now);
  if (!why.empty()) {
    Skip(tracked, why, now);
    return false;
  }
  const bool selects = !key.selector.empty();
  const auto executor =
      router_.Pick(credits_, {.slots = key.slots,
                              .routing = tracked.definition->job().routing,
                              .pinned = key.pinned,
                              .selector = selects ? tracked.definition->selector() : nullptr,
                              .secrets = key.secrets,
                              .avoid = tracked.avoid});
  if (!executor) {
    lane.blocked = true;
    return false;
  }
  auto task = BuildTask(tracked.run, *tracked.definition, options_.self, cluster_now);
  if (!task.ok()) {
    log::Warn("fire", "run {} cannot be dispatched: {}", EncodeRunId(tracked.run.key),
              task.error().message);
    Skip(tracked, reason::kBadDefinition, now);
    return false;
  }
  lane.heap.Pop();
  dispatch_delay_.Observe(std::chrono::duration<double>(cluster_now - tracked.run.due).count());
  const uint32_t stamp = runs_.Move(tracked, Place::kInFlight, now);
  tracked.executor = *executor;
  tracked.charge = {};
  credits_.Published(*executor, key.slots);
  in_flight_.push_back({now, tracked.run.key, stamp});
  dispatcher_.Add(credits_, *executor, std::move(*task), cluster_now);
  return true;
}

void FiringLoop::TakeBack(const std::vector<RunKey>& refused, SteadyTime now) {
  if (refused.empty()) return;
  dispatch_pause_ = now + kBusRetry;
  for (const RunKey& key : refused) {
    TrackedRun* tracked = runs_.Find(key);
    if (tracked == nullptr || tracked->place != Place::kInFlight) continue;
    Release(*tracked);
    EnterLane(*tracked, now);
  }
}

size_t FiringLoop::lane_entries() const {
  size_t entries = 0;
  for (const auto& [key, lane] : lanes_) entries += lane.heap.size();
  return entries;
}

void FiringLoop::PublishCounts() {
  const size_t waiting = runs_.count(Place::kWheel);
  const size_t ready =
      runs_.count(Place::kReady) + runs_.count(Place::kUndefined) + runs_.count(Place::kLoading);
  const size_t in_flight = runs_.count(Place::kInFlight);
  ready_.store(ready, std::memory_order_relaxed);
  due_.store(ready + in_flight, std::memory_order_relaxed);
  backlog_.store(waiting + ready + in_flight, std::memory_order_relaxed);
  wheel_depth_.Set(static_cast<double>(waiting));
  ready_depth_.Set(static_cast<double>(ready));
  in_flight_depth_.Set(static_cast<double>(in_flight));
}

SteadyTime FiringLoop::NextWake(SteadyTime now) const {
  if (more_input_) return now;
  SteadyTime next = now + kIdle;
  // Nothing is dispatched within the gap, so the wheel can wait until its end.
  const SteadyTime gap_end = last_dispatch_ + options_.dispatch_gap;
  if (const auto due = wheel_.NextDue()) next = std::min(next, std::max(*due, gap_end));
  if (more_ready_) {
    next = std::min(next, std::max({now, last_dispatch_ + options_.dispatch_gap, dispatch_pause_}));
  }
  if (runs_.count(Place::kReady) > 0) {
    next = std::min(next, std::max(next_look_, now + Duration(1)));
    if (dispatch_pause_ > now) next = std::min(next, dispatch_pause_);
  }
  // If dispatching stopped because of held skips, it continues at once when they are flushed;
  // otherwise wake when the queue is to be tried again.
  if (!skips_.empty()) {
    next = std::min(next, std::max(skips_retry_, now + Duration(1)));
  } else if (skips_full_) {
    next = now;
  }
  if (!undefined_.empty()) next = std::min(next, definitions_retry_);
  if (!loading_.empty()) next = std::min(next, loading_.front().at + kParametersRetry);
  if (!in_flight_.empty()) next = std::min(next, in_flight_.front().at + dispatch_timeout_.load());
  return next;
}

}  // namespace carillon::scheduler
