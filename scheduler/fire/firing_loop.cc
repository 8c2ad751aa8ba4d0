#include "scheduler/fire/firing_loop.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kFeedBatchesPerStep = 32;
constexpr size_t kEventBatchesPerStep = 1024;
constexpr size_t kDuePerStep = 8192;
constexpr Duration kSettledKept = 2s;     // the answers of scans are younger than this
constexpr Duration kClaimedChecked = 5s;  // before a claimed run without a lease is dropped

bool SameTask(const PendingRun& a, const PendingRun& b) {
  return a.def_version == b.def_version && a.due == b.due && a.priority == b.priority;
}

}  // namespace

FiringLoop::FiringLoop(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      dispatch_timeout_(options_.dispatch_timeout),
      bus_format_(options_.bus_format),
      dispatch_delay_(ports_.metrics.histogram("carillon_dispatch_delay_seconds")),
      wheel_depth_(ports_.metrics.gauge("carillon_queue_depth", "wheel")),
      ready_depth_(ports_.metrics.gauge("carillon_queue_depth", "ready")),
      in_flight_depth_(ports_.metrics.gauge("carillon_queue_depth", "in_flight")),
      wheel_(ports_.cluster, ports_.clock.Steady(), options_.capacity),
      runs_(options_.capacity),
      credits_(options_.prefetch_max),
      router_(options_.seed),
      dispatcher_(ports_.producer, ports_.signer, ports_.metrics) {}

SteadyTime FiringLoop::Step(SteadyTime now) {
  // Taken before the executors' reports but handled after them, so that a report that is older than
  // a claim or an end in these events is applied before it.
  const std::vector<RunEvents> events = ports_.events.PopUpTo(kEventBatchesPerStep);
  FollowOwnership();
  FollowExecutors(now);
  TakeEvents(events, now);
  TakeFeed(now);
  more_input_ = more_input_ || events.size() == kEventBatchesPerStep;
  DrainWheel(now);
  LoadDefinitions(now);
  ReturnTimedOut(now);
  AskAgain(now);
  LookAtWaiting(now);
  Dispatch(now);
  FlushSkips(now);
  ForgetSettled(now);
  PublishCounts();
  return NextWake(now);
}

void FiringLoop::FollowOwnership() {
  const uint64_t version = ports_.segments.version();
  if (version == view_version_) return;
  view_version_ = version;
  view_ = ports_.segments.View();
  for (const RunKey& key : runs_.Keys()) {
    const TrackedRun* tracked = runs_.Find(key);
    if (!view_->Holds(tracked->run.segment, tracked->run.epoch)) Forget(key);
  }
}

void FiringLoop::FollowExecutors(SteadyTime now) {
  credits_.RemoveForgotten();
  for (const ExecutorView& view : ports_.executors.TakeChanges()) {
    if (view.forgotten) {
      credits_.Forget(view.id);
      continue;
    }
    const ExecutorCredits::Index known = credits_.Find(view.id);
    const bool heard =
        known == ExecutorCredits::kNone || credits_.heartbeats(known) != view.heartbeats;
    const bool gone = credits_.Update({.id = view.id,
                                       .incarnation = view.incarnation,
                                       .usable = view.usable,
                                       .labels = view.labels,
                                       .slots = view.slots,
                                       .free_slots = view.free_slots,
                                       .free_light_slots = view.free_light_slots,
                                       .heartbeats = view.heartbeats,
                                       .takes_secrets = view.takes_secrets});
    const ExecutorCredits::Index executor = credits_.Find(view.id);
    if (heard) FollowReport(executor, view);
    if (!gone) continue;
    // Runs that it has not claimed go to other executors at once. If it claims one after all, the
    // claim decides.
    for (const Noted& noted : in_flight_) {
      TrackedRun* tracked = runs_.Find(noted.key, noted.stamp);
      if (tracked == nullptr || tracked->executor != executor) continue;
      Release(*tracked);
      tracked->avoid = executor;
      EnterLane(*tracked, now);
    }
  }
}

void FiringLoop::FollowReport(ExecutorCredits::Index executor, const ExecutorView& view) {
  for (const HeldAttempt& held : view.claiming) Follow(executor, held, Mention::kClaiming);
  for (const HeldAttempt& held : view.running) Follow(executor, held, Mention::kHolding);
  for (const HeldAttempt& held : view.reporting) Follow(executor, held, Mention::kEnded);
}

void FiringLoop::Follow(ExecutorCredits::Index executor, const HeldAttempt& held, Mention mention) {
  TrackedRun* tracked = runs_.Find(held.key);
  if (tracked == nullptr || tracked->run.attempt < held.attempt) return;
  const SlotClass slots = tracked->slots;
  // An in-process attempt keeps its slot until the executor has the result's acknowledgement.
  if (mention == Mention::kEnded && slots == SlotClass::kLight) mention = Mention::kHolding;
  if (tracked->run.attempt > held.attempt || tracked->place == Place::kSettled) {
    return credits_.MentionOver(executor, slots, mention);
  }
  if (tracked->executor != executor) return;
  if (tracked->place == Place::kInFlight) {
    credits_.MentionPublished(executor, mention, tracked->charge);
  } else if (tracked->place == Place::kClaimed) {
    credits_.MentionClaimed(executor, slots, mention, tracked->charge);
  }
}

void FiringLoop::TakeEvents(const std::vector<RunEvents>& batches, SteadyTime now) {
  for (const RunEvents& batch : batches) {
    const auto executor =
        batch.executor.empty() ? ExecutorCredits::kNone : credits_.Find(batch.executor);
    if (executor != ExecutorCredits::kNone) credits_.Answers(executor);
    for (const RunEvent& event : batch.events) Handle(event, executor, now);
  }
  if (ports_.events.TakeLost()) {
    log::Warn("fire", "run events were lost; checking which runs are claimed");
    CheckClaimed(now);
  } else if (check_again_ && now >= *check_again_) {
    CheckClaimed(now);
  }
}

void FiringLoop::Handle(const RunEvent& event, ExecutorCredits::Index executor, SteadyTime now) {
  TrackedRun* tracked = runs_.Find(event.key);
  if (tracked == nullptr || tracked->run.attempt != event.attempt) return;
  switch (event.what) {
    case RunEvent::What::kClaimed: return HandleClaimed(*tracked, executor, now);
    case RunEvent::What::kRefused:
    case RunEvent::What::kStale:
    case RunEvent::What::kReturned: return HandleRefused(*tracked, event, executor, now);
    case RunEvent::What::kEnded:
      if (event.ran && tracked->place == Place::kClaimed &&
          tracked->executor != ExecutorCredits::kNone) {
        credits_.HeardOfEnd(tracked->executor, tracked->slots, now - tracked->since - *event.ran);
      }
      Release(*tracked);
      return Settle(*tracked, now);
  }
}

void FiringLoop::HandleClaimed(TrackedRun& tracked, ExecutorCredits::Index executor,
                               SteadyTime now) {
  if (tracked.place == Place::kClaimed || tracked.place == Place::kSettled) return;
  if (tracked.place == Place::kInFlight && tracked.executor == executor) {
    credits_.Claimed(executor, tracked.slots, tracked.charge, now - tracked.since, now);
  } else {
    // It had timed out here and is ready, or published to another executor, again.
    Release(tracked);
    if (executor != ExecutorCredits::kNone && tracked.definition) {
      credits_.ClaimedLate(executor, tracked.slots, tracked.charge);
    }
  }
  tracked.executor = tracked.definition ? executor : ExecutorCredits::kNone;
  runs_.Move(tracked, Place::kClaimed, now);
}

void FiringLoop::HandleRefused(TrackedRun& tracked, const RunEvent& event,
                               ExecutorCredits::Index executor, SteadyTime now) {
  const bool here = tracked.place == Place::kInFlight && tracked.executor == executor;
  // A refusal to one executor while another one has the run says nothing about the run.
  if (!here && tracked.place != Place::kReady) return;
  if (event.what == RunEvent::What::kReturned) {
    if (!here) return;
    Release(tracked);
    tracked.avoid = executor;
    return EnterLane(tracked, now);
  }
  Release(tracked);
  if (event.what == RunEvent::What::kRefused) return Settle(tracked, now);
  runs_.Erase(tracked.run.key);
  if (ports_.look_again) ports_.look_again();
}

void FiringLoop::TakeFeed(SteadyTime now) {
  auto batches = ports_.feed.PopUpTo(kFeedBatchesPerStep);
  more_input_ = batches.size() == kFeedBatchesPerStep;
  for (auto& batch : batches) {
    for (PendingRun& run : batch) Offer(std::move(run), now);
  }
}

void FiringLoop::Offer(PendingRun run, SteadyTime now) {
  if (!view_->Holds(run.segment, run.epoch)) return;
  TrackedRun* known = runs_.Find(run.key);
  if (known == nullptr) return Admit(std::move(run), now);
  if (Supersedes(run, *known, now)) {
    if (NeedsExtras(run) && !NeedsExtras(known->run)) run.extras = known->run.extras;
    Forget(run.key);
    return Admit(std::move(run), now);
  }
  // The run is due by now although it is in the wheel: cluster time was corrected.
  if (known->place == Place::kWheel && wheel_.IsDue(known->run.due)) {
    wheel_.Erase(run.key);
    MakeReady(*known, now);
  }
}

bool FiringLoop::Supersedes(const PendingRun& run, const TrackedRun& known, SteadyTime now) const {
  if (run.epoch != known.run.epoch) return true;
  if (run.attempt != known.run.attempt) return run.attempt > known.run.attempt;
  switch (known.place) {
    case Place::kInFlight:
    case Place::kClaimed: return false;  // the claim decides, or is newer than the scan
    case Place::kSettled: return !SameTask(run, known.run) || now - known.since >= kSettledKept;
    default: break;
  }
  if (NeedsExtras(known.run) && !NeedsExtras(run)) return true;
  return !SameTask(run, known.run) && run.def_version >= known.run.def_version;
}

void FiringLoop::Admit(PendingRun run, SteadyTime now) {
  TrackedRun* tracked = runs_.Add(std::move(run));
  if (tracked == nullptr) {
    ports_.metrics.counter("carillon_queue_rejections_total", "wheel").Add();
    return ports_.feed.NoteDropped();
  }
  if (wheel_.IsDue(tracked->run.due)) return MakeReady(*tracked, now);
  if (!wheel_.Insert(tracked->run.key, tracked->run.due).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", "wheel").Add();
    ports_.feed.NoteDropped();
    return runs_.Erase(tracked->run.key);
  }
  runs_.Move(*tracked, Place::kWheel, now);
}

void FiringLoop::DrainWheel(SteadyTime now) {
  const auto due_of = [this](const RunKey& key) {
    const TrackedRun* tracked = runs_.Find(key);
    const bool waits = tracked != nullptr && tracked->place == Place::kWheel;
    return waits ? tracked->run.due : kNever;
  };
  for (const RunKey& key : wheel_.Drain(now, kDuePerStep, due_of)) {
    MakeReady(*runs_.Find(key), now);
  }
}

void FiringLoop::MakeReady(TrackedRun& tracked, SteadyTime now) {
  if (NeedsExtras(tracked.run)) return AskParameters(tracked, now);
  tracked.definition = ports_.definitions.Get({tracked.run.job_no, tracked.run.def_version});
  if (tracked.definition != nullptr) return EnterLane(tracked, now);
  runs_.Move(tracked, Place::kUndefined, now);
  undefined_.push_back(tracked.run.key);
}

void FiringLoop::AskParameters(TrackedRun& tracked, SteadyTime now) {
  const uint32_t stamp = runs_.Move(tracked, Place::kLoading, now);
  loading_.push_back({now, tracked.run.key, stamp});
  if (!ports_.loads.Push(tracked.run).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.loads.name()).Add();
  }
}

// An executor that was named for this run takes precedence over its job's constraints.
FiringLoop::LaneKey FiringLoop::LaneOf(const TrackedRun& tracked) {
  const JobDefinition& job = tracked.definition->job();
  LaneKey key{.slots = tracked.definition->slots(),
              .pinned = {},
              .selector = {},
              .secrets = !tracked.definition->secrets().empty()};
  if (tracked.run.extras) key.pinned = tracked.run.extras->pinned_executor;
  if (!key.pinned.empty()) return key;
  key.pinned = ExecutorId(job.executor_id);
  key.selector = job.executor_selector;
  return key;
}

void FiringLoop::EnterLane(TrackedRun& tracked, SteadyTime now) {
  const uint32_t stamp = runs_.Move(tracked, Place::kReady, now);
  tracked.slots = tracked.definition->slots();
  const auto lane = lanes_.try_emplace(LaneOf(tracked), options_.ageing_per_priority).first;
  lane->second.heap.Push(tracked.run, stamp);
}

// Removes the run from the wheel and returns its credit; the caller then moves or erases it.
void FiringLoop::Release(TrackedRun& tracked) {
  if (tracked.place == Place::kWheel) wheel_.Erase(tracked.run.key);
  if (tracked.executor != ExecutorCredits::kNone) {
    if (tracked.place == Place::kInFlight) credits_.Returned(tracked.executor, tracked.slots);
    if (tracked.place == Place::kClaimed) {
      credits_.Ended(tracked.executor, tracked.slots, tracked.charge);
    }
  }
  tracked.executor = ExecutorCredits::kNone;
}

void FiringLoop::Settle(TrackedRun& tracked, SteadyTime now) {
  tracked.definition.reset();
  const uint32_t stamp = runs_.Move(tracked, Place::kSettled, now);
  settled_.push_back({now, tracked.run.key, stamp});
}

void FiringLoop::Forget(const RunKey& key) {
  TrackedRun* tracked = runs_.Find(key);
  if (tracked == nullptr) return;
  Release(*tracked);
  runs_.Erase(key);
}

void FiringLoop::ForgetSettled(SteadyTime now) {
  while (!settled_.empty() && now - settled_.front().at >= kSettledKept) {
    if (runs_.Find(settled_.front().key, settled_.front().stamp) != nullptr) {
      runs_.Erase(settled_.front().key);
    }
    settled_.pop_front();
  }
}

// Call it after events were lost. A claimed run without a lease has ended. One that was claimed
// only just now is checked again later, because most runs are short, and its end may be one of the
// lost events.
void FiringLoop::CheckClaimed(SteadyTime now) {
  check_again_.reset();
  for (const RunKey& key : runs_.Keys()) {
    TrackedRun* tracked = runs_.Find(key);
    if (tracked->place != Place::kClaimed || ports_.leases.Knows(key)) continue;
    if (now - tracked->since < kClaimedChecked) {
      check_again_ = now + kClaimedChecked;
      continue;
    }
    Release(*tracked);
    Settle(*tracked, now);
  }
}

}  // namespace carillon::scheduler
