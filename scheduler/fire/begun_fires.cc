#include "scheduler/fire/begun_fires.h"

#include <utility>

namespace carillon::scheduler {

void BegunFires::Begin(const PendingRun& own, ExecutorCredits::Index executor, SlotClass slots,
                       SteadyTime now) {
  NotBegun(own.key);
  begun_[own.key] = {.at = now, .due = own.due, .executor = executor, .slots = slots};
  ++unanswered_;
  credits_.Published(executor, slots);
}

void BegunFires::HasBegun(const RunKey& own, SteadyTime now) {
  const auto found = begun_.find(own);
  if (found == begun_.end()) return;
  Answer(found->second);
  found->second.at = now;
}

void BegunFires::Answer(Begun& begun) {
  if (!std::exchange(begun.answered, true)) --unanswered_;
}

void BegunFires::GiveBack(Begun& begun) {
  const auto executor = std::exchange(begun.executor, ExecutorCredits::kNone);
  if (executor != ExecutorCredits::kNone) credits_.Returned(executor, begun.slots);
}

void BegunFires::NotBegun(const RunKey& own) {
  const auto found = begun_.find(own);
  if (found == begun_.end()) return;
  GiveBack(found->second);
  Answer(found->second);
  begun_.erase(found);
}

std::optional<WallTime> BegunFires::Follow(const RunKey& part) {
  const auto found = begun_.find({.fire = part.fire, .schedule_id = part.schedule_id});
  if (found == begun_.end()) return std::nullopt;
  GiveBack(found->second);
  return found->second.due;
}

void BegunFires::Expire(SteadyTime now, Duration kept) {
  for (auto at = begun_.begin(); at != begun_.end();) {
    Begun& begun = at->second;
    const Duration passed = now - begun.at;
    const bool waits = !begun.answered && passed < kAnswered;
    if (!waits && passed >= kept) GiveBack(begun);
    if (waits || passed < kKnown || begun.executor != ExecutorCredits::kNone) {
      ++at;
      continue;
    }
    Answer(begun);
    at = begun_.erase(at);
  }
}

}  // namespace carillon::scheduler
