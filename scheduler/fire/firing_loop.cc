#include "scheduler/fire/firing_loop.h"

#include <algorithm>

#include "common/base/failpoint.h"
#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kFeedBatchesPerStep = 32;
constexpr size_t kEventBatchesPerStep = 1024;
constexpr size_t kDuePerStep = 8192;
constexpr Duration kClaimedChecked = 5s;  // after this, a claimed run without a lease has ended
constexpr Duration kIdle = 1s;

bool SameTask(const PendingRun& a, const PendingRun& b) {
  return a.def_version == b.def_version && a.due == b.due && a.priority == b.priority;
}

// True if `run` has the request that `known` waits for: a request is read for one attempt, made due
// at one time. A run that is run again may have been given other parameters since.
bool AnswersFor(const PendingRun& run, const PendingRun& known) {
  // An edit may have written the parameters of a removed schedule into the run.
  const bool same =
      run.attempt == known.attempt && run.due == known.due && run.def_version == known.def_version;
  return !NeedsExtras(run) && (same || failpoint::Broken("request.any_attempt"));
}

// True if `run`, which was offered now, replaces `known`, the tracked run with the same key.
bool Supersedes(const PendingRun& run, const TrackedRun& known, SteadyTime now) {
  if (run.epoch != known.run.epoch) return true;
  if (run.attempt != known.run.attempt) return run.attempt > known.run.attempt;
  switch (known.place) {
    case Place::kInFlight:
    case Place::kClaimed: return false;  // the claim decides, or is newer than the scan
    case Place::kSettled:
      return !SameTask(run, known.run) || now - known.since >= RunPlaces::kSettledKept;
    default: break;
  }
  if (NeedsExtras(known.run) && !NeedsExtras(run)) return AnswersFor(run, known.run);
  return !SameTask(run, known.run) && run.def_version >= known.run.def_version;
}

}  // namespace

FiringLoop::FiringLoop(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      wheel_depth_(ports_.metrics.gauge("carillon_queue_depth", "wheel")),
      ready_depth_(ports_.metrics.gauge("carillon_queue_depth", "ready")),
      in_flight_depth_(ports_.metrics.gauge("carillon_queue_depth", "in_flight")),
      places_(ports_, options_),
      shedding_(ports_.metrics, options_.overload),
      skips_(ports_, places_),
      preparation_(ports_, places_, skips_, shedding_),
      dispatch_(ports_, options_, places_, skips_, shedding_) {}

SteadyTime FiringLoop::Step(SteadyTime now) {
  // The events are popped before the executors' reports are read, and handled after the reports. So
  // a report that is older than a claim or an end among these events is applied before it.
  const std::vector<RunEvents> events = ports_.events.PopUpTo(kEventBatchesPerStep);
  FollowOwnership();
  FollowExecutors(now);
  TakeEvents(events, now);
  TakeFeed(now);
  more_input_ = more_input_ || events.size() == kEventBatchesPerStep;
  DrainWheel(now);
  preparation_.LoadDefinitions(now);
  if (dispatch_.ReturnTimedOut(now)) FollowExecutors(now);  // else a suspect would get them again
  preparation_.AskAgain(now);
  dispatch_.LookAtWaiting(now);
  dispatch_.Dispatch(now);
  skips_.Flush(now);
  places_.ForgetSettled(now);
  PublishCounts();
  return NextWake(now);
}

void FiringLoop::FollowOwnership() {
  const uint64_t version = ports_.segments.version();
  if (version == view_version_) return;
  view_version_ = version;
  view_ = ports_.segments.View();
  for (const RunKey& key : places_.runs().Keys()) {
    const TrackedRun* tracked = places_.runs().Find(key);
    if (!view_->Holds(tracked->run.segment, tracked->run.epoch)) places_.Forget(key);
  }
}

void FiringLoop::FollowExecutors(SteadyTime now) {
  ExecutorCredits& credits = places_.credits();
  credits.RemoveForgotten();
  for (const ExecutorView& view : ports_.executors.TakeChanges()) {
    if (view.forgotten) {
      credits.Forget(view.id);
      continue;
    }
    const ExecutorCredits::Index known = credits.Find(view.id);
    const bool heard =
        known == ExecutorCredits::kNone || credits.heartbeats(known) != view.heartbeats;
    const bool gone = credits.Update({.id = view.id,
                                      .incarnation = view.incarnation,
                                      .usable = view.usable,
                                      .one_at_a_time = view.one_at_a_time,
                                      .labels = view.labels,
                                      .slots = view.slots,
                                      .free_slots = view.free_slots,
                                      .free_light_slots = view.free_light_slots,
                                      .free_handler_slots = view.free_handler_slots,
                                      .heartbeats = view.heartbeats,
                                      .features = view.features,
                                      .load = view.load});
    const ExecutorCredits::Index executor = credits.Find(view.id);
    if (heard) FollowReport(executor, view);
    // Runs that this executor has not claimed go to other executors at once. If this executor still
    // claims one of them, the claim decides.
    if (gone) dispatch_.ReturnFrom(executor, now);
  }
}

void FiringLoop::FollowReport(ExecutorCredits::Index executor, const ExecutorView& view) {
  for (const HeldAttempt& held : view.claiming) Follow(executor, held, Mention::kClaiming);
  for (const HeldAttempt& held : view.running) Follow(executor, held, Mention::kHolding);
  for (const HeldAttempt& held : view.reporting) Follow(executor, held, Mention::kEnded);
}

void FiringLoop::Follow(ExecutorCredits::Index executor, const HeldAttempt& held, Mention mention) {
  TrackedRun* tracked = places_.runs().Find(held.key);
  if (tracked == nullptr || tracked->run.attempt < held.attempt) return;
  const SlotClass slots = tracked->slots;
  // An in-process attempt keeps its slot until the executor has the result's acknowledgement.
  if (mention == Mention::kEnded && slots == SlotClass::kLight) mention = Mention::kHolding;
  if (tracked->run.attempt > held.attempt || tracked->place == Place::kSettled) {
    return places_.credits().MentionOver(executor, slots, mention);
  }
  if (tracked->executor != executor) return;
  if (tracked->place == Place::kInFlight) {
    places_.credits().MentionPublished(executor, mention, tracked->charge);
  } else if (tracked->place == Place::kClaimed) {
    places_.credits().MentionClaimed(executor, slots, mention, tracked->charge);
  }
}

void FiringLoop::TakeEvents(const std::vector<RunEvents>& batches, SteadyTime now) {
  for (const RunEvents& batch : batches) {
    const auto executor =
        batch.executor.empty() ? ExecutorCredits::kNone : places_.credits().Find(batch.executor);
    if (executor != ExecutorCredits::kNone) {
      if (places_.credits().Silent(executor)) {
        ports_.executors.SetClaimsNothing(batch.executor, false);
      }
      places_.credits().Answers(executor);
    }
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
  if (event.what == RunEvent::What::kBegun) places_.begun().HasBegun(event.key, now);
  if (event.what == RunEvent::What::kNotBegun) return places_.begun().NotBegun(event.key);
  TrackedRun* tracked = places_.runs().Find(event.key);
  if (tracked == nullptr) return;
  const bool gone = event.what == RunEvent::What::kGone || event.what == RunEvent::What::kBegun;
  if (gone) return HandleGone(*tracked, now);
  if (tracked->run.attempt != event.attempt) return;
  switch (event.what) {
    case RunEvent::What::kGone:
    case RunEvent::What::kBegun:
    case RunEvent::What::kNotBegun: return;
    case RunEvent::What::kClaimed: return HandleClaimed(*tracked, executor, now);
    case RunEvent::What::kRefused:
    case RunEvent::What::kStale:
    case RunEvent::What::kReturned: return HandleRefused(*tracked, event, executor, now);
    case RunEvent::What::kEnded:
      if (event.ran && tracked->place == Place::kClaimed &&
          tracked->executor != ExecutorCredits::kNone) {
        places_.credits().OnEnd(tracked->executor, tracked->slots,
                                now - tracked->since - *event.ran);
      }
      places_.Release(*tracked);
      return places_.Settle(*tracked, now);
  }
}

void FiringLoop::HandleClaimed(TrackedRun& tracked, ExecutorCredits::Index executor,
                               SteadyTime now) {
  if (tracked.place == Place::kClaimed || tracked.place == Place::kSettled) return;
  if (tracked.place == Place::kInFlight && tracked.executor == executor) {
    places_.credits().Claimed(executor, tracked.slots, tracked.charge, now - tracked.since, now);
  } else {
    // The run had timed out at this executor. Now it is ready again, or published to
    // another executor.
    places_.Release(tracked);
    if (executor != ExecutorCredits::kNone && tracked.definition) {
      places_.credits().ClaimedLate(executor, tracked.slots, tracked.charge);
    }
  }
  tracked.executor = tracked.definition ? executor : ExecutorCredits::kNone;
  places_.runs().Move(tracked, Place::kClaimed, now);
}

void FiringLoop::HandleRefused(TrackedRun& tracked, const RunEvent& event,
                               ExecutorCredits::Index executor, SteadyTime now) {
  const bool here = tracked.place == Place::kInFlight && tracked.executor == executor;
  // Another executor may have the run meanwhile. A refusal to this one then says nothing
  // about the run.
  if (!here && tracked.place != Place::kReady) return;
  if (event.what == RunEvent::What::kReturned) {
    if (!here) return;
    places_.Release(tracked);
    tracked.avoid = executor;
    return places_.PutBack(tracked, now);
  }
  places_.Release(tracked);
  if (event.what == RunEvent::What::kRefused) return places_.Settle(tracked, now);
  places_.runs().Erase(tracked.run.key);
  ports_.signals.dropped.Raise();
}

// The news may be older than a claim, or than a later attempt; a claim that is on its way decides.
// A run that is not ready yet does no harm.
void FiringLoop::HandleGone(TrackedRun& tracked, SteadyTime now) {
  if (tracked.place == Place::kInFlight) tracked.gone = true;
  if (tracked.place != Place::kReady) return;
  places_.Release(tracked);
  places_.Settle(tracked, now);
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
  TrackedRun* known = places_.runs().Find(run.key);
  if (known == nullptr) return Admit(std::move(run), now);
  known->gone = false;
  if (Supersedes(run, *known, now)) {
    if (NeedsExtras(run) && AnswersFor(known->run, run)) run.extras = known->run.extras;
    places_.Forget(run.key);
    return Admit(std::move(run), now);
  }
  // The run is still in the wheel, but it is due, because cluster time was corrected.
  if (known->place == Place::kWheel && places_.wheel().IsDue(known->run.due)) {
    places_.wheel().Erase(run.key);
    preparation_.MakeReady(*known, now);
  }
}

void FiringLoop::Admit(PendingRun run, SteadyTime now) {
  const WallTime due = run.due;
  TrackedRun* tracked = places_.runs().Add(std::move(run));
  if (tracked == nullptr) {
    ports_.metrics.counter("carillon_queue_rejections_total", "wheel").Add();
    return ports_.feed.NoteDropped(due);
  }
  if (places_.wheel().IsDue(tracked->run.due)) return preparation_.MakeReady(*tracked, now);
  if (!places_.wheel().Insert(tracked->run.key, tracked->run.due).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", "wheel").Add();
    ports_.feed.NoteDropped(due);
    return places_.runs().Erase(tracked->run.key);
  }
  places_.runs().Move(*tracked, Place::kWheel, now);
}

void FiringLoop::DrainWheel(SteadyTime now) {
  const auto due_of = [this](const RunKey& key) {
    const TrackedRun* tracked = places_.runs().Find(key);
    const bool waits = tracked != nullptr && tracked->place == Place::kWheel;
    return waits ? tracked->run.due : kNever;
  };
  for (const RunKey& key : places_.wheel().Drain(now, kDuePerStep, due_of)) {
    preparation_.MakeReady(*places_.runs().Find(key), now);
  }
}

// Call it after events were lost. A claimed run without a lease has ended. A run that was claimed
// less than kClaimedChecked ago is not dropped yet but checked again later. Most runs are short, so
// the event of its end may be among the lost events.
void FiringLoop::CheckClaimed(SteadyTime now) {
  check_again_.reset();
  for (const RunKey& key : places_.runs().Keys()) {
    TrackedRun* tracked = places_.runs().Find(key);
    if (tracked->place != Place::kClaimed || ports_.leases.Knows(key)) continue;
    if (now - tracked->since < kClaimedChecked) {
      check_again_ = now + kClaimedChecked;
      continue;
    }
    places_.Release(*tracked);
    places_.Settle(*tracked, now);
  }
}

void FiringLoop::PublishCounts() {
  const RunTable& runs = places_.runs();
  const size_t waiting = runs.count(Place::kWheel);
  const size_t ready =
      runs.count(Place::kReady) + runs.count(Place::kUndefined) + runs.count(Place::kLoading);
  const size_t in_flight = runs.count(Place::kInFlight);
  ready_.store(ready, std::memory_order_relaxed);
  due_.store(ready + in_flight, std::memory_order_relaxed);
  backlog_.store(waiting + ready + in_flight, std::memory_order_relaxed);
  wheel_depth_.Set(static_cast<double>(waiting));
  ready_depth_.Set(static_cast<double>(ready));
  in_flight_depth_.Set(static_cast<double>(in_flight));
}

SteadyTime FiringLoop::NextWake(SteadyTime now) const {
  if (more_input_) return now;
  SteadyTime next = std::min({now + kIdle, dispatch_.NextStep(now), preparation_.NextStep()});
  // Nothing is dispatched before next_allowed(), so due runs can stay in the wheel until then.
  if (const auto due = places_.wheel().NextDue()) {
    next = std::min(next, std::max(*due, dispatch_.next_allowed()));
  }
  if (const auto flush = skips_.NextFlush(now)) next = std::min(next, *flush);
  return next;
}

}  // namespace carillon::scheduler
