// The part of the actor that changes concurrency groups.
#include <algorithm>
#include <array>

#include "tests/sim/actor.h"

namespace carillon::sim {

void Actor::SetLimit(const std::string& group, int64_t limit, Duration per) {
  const WallTime now = p_.now();
  if (p_.stores.groups.PutGroup(group, {.limit = limit, .per = per}, now).ok()) {
    p_.checker.GroupAcknowledged(group, limit, per);
  }
}

// Not drawn, as the choice of groups.
Duration Actor::TimeOfGroup() const {
  static constexpr std::array<Duration, 3> kTimes = {3s, 0s, 20s};
  return profile_.group_times ? kTimes.at(deeds_ / 6 % kTimes.size()) : Duration{};
}

void Actor::MakeRoomInGroups() {
  for (const auto& [name, old] : p_.checker.group_limits()) {
    const auto queue = p_.checker.group_queues().find(name);
    const size_t queued = queue == p_.checker.group_queues().end() ? 0 : queue->second.size();
    const int64_t wanted = 2 + static_cast<int64_t>(queued / 20) + p_.checker.GroupHeld(name);
    if (wanted > old || profile_.group_times) SetLimit(name, std::max(wanted, old), Duration{});
  }
}

}  // namespace carillon::sim
