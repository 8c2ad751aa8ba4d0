#include "scheduler/fire/begun_fires.h"

#include <utility>

namespace carillon::scheduler {

void BegunFires::Begin(const PendingRun& own, ExecutorCredits::Index executor, SlotClass slots,
                       SteadyTime now) {
  Begun& begun = begun_[own.key];
  GiveBack(begun);
  begun = {.at = now, .due = own.due, .executor = executor, .slots = slots};
  credits_.Published(executor, slots);
}

void BegunFires::GiveBack(Begun& begun) {
  const auto executor = std::exchange(begun.executor, ExecutorCredits::kNone);
  if (executor != ExecutorCredits::kNone) credits_.Returned(executor, begun.slots);
}

void BegunFires::NotBegun(const RunKey& own) {
  const auto found = begun_.find(own);
  if (found == begun_.end()) return;
  GiveBack(found->second);
  begun_.erase(found);
}

std::optional<WallTime> BegunFires::Follow(const RunKey& part) {
  const auto found = begun_.find({.fire = part.fire, .schedule_id = part.schedule_id});
  if (found == begun_.end()) return std::nullopt;
  GiveBack(found->second);
  return found->second.due;
}

void BegunFires::Expire(SteadyTime now, Duration kept) {
  for (auto& [own, begun] : begun_) {
    if (now - begun.at >= kept) GiveBack(begun);
  }
  std::erase_if(begun_, [&](const auto& entry) {
    const Begun& begun = entry.second;
    return begun.executor == ExecutorCredits::kNone && now - begun.at >= kKnown;
  });
}

}  // namespace carillon::scheduler
