#include "scheduler/fire/run_places.h"

namespace carillon::scheduler {

void RunPlaces::EnterLane(TrackedRun& tracked, SteadyTime now) {
  const uint32_t stamp = runs_.Move(tracked, Place::kReady, now);
  if (tracked.run.key.shard > 0 && !tracked.as_due) tracked.as_due = begun_.Follow(tracked.run.key);
  const std::string& handler = tracked.definition->job().handler;
  tracked.slots = handler.empty() ? tracked.definition->slots() : credits_.HandlerSlots(handler);
  lanes_.Enter(tracked, stamp);
}

void RunPlaces::PutBack(TrackedRun& tracked, SteadyTime now) {
  tracked.gone ? Settle(tracked, now) : EnterLane(tracked, now);
}

void RunPlaces::Release(TrackedRun& tracked) {
  if (tracked.place == Place::kWheel) wheel_.Erase(tracked.run.key);
  if (tracked.executor != ExecutorCredits::kNone) {
    if (tracked.place == Place::kInFlight) credits_.Returned(tracked.executor, tracked.slots);
    if (tracked.place == Place::kClaimed) {
      credits_.Ended(tracked.executor, tracked.slots, tracked.charge);
    }
  }
  tracked.executor = ExecutorCredits::kNone;
}

void RunPlaces::Settle(TrackedRun& tracked, SteadyTime now) {
  tracked.definition.reset();
  const uint32_t stamp = runs_.Move(tracked, Place::kSettled, now);
  settled_.push_back({now, tracked.run.key, stamp});
}

void RunPlaces::Forget(const RunKey& key) {
  TrackedRun* tracked = runs_.Find(key);
  if (tracked == nullptr) return;
  Release(*tracked);
  runs_.Erase(key);
}

void RunPlaces::ForgetSettled(SteadyTime now) {
  while (!settled_.empty() && now - settled_.front().at >= kSettledKept) {
    if (runs_.Find(settled_.front().key, settled_.front().stamp) != nullptr) {
      runs_.Erase(settled_.front().key);
    }
    settled_.pop_front();
  }
}

}  // namespace carillon::scheduler
