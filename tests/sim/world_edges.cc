// Faults that bring a lease or a proof of ownership close to its limit. Random faults do this too
// rarely to reveal a missing rule about leases or proofs.
#include <fmt/format.h>

#include "tests/sim/processes.h"
#include "tests/sim/world.h"

namespace carillon::sim {

void World::EdgeTick(size_t executor) {
  const EventRates& rates = plan_.events;
  if (Happens(rates.stale_answer)) StaleAnswer(*executors_[executor]);
  if (Happens(rates.comeback)) Comeback(*executors_[executor]);
  if (Happens(rates.late_proof)) LateProof(*schedulers_[rng.Below(schedulers_.size())]);
}

void World::Accepted(const ExecutorId& id) {
  for (const auto& executor : executors_) {
    if (executor->id() == id) executor->Accepted();
  }
}

// The daemon reads the answer to its claim when half of the lease has passed, and then loses its
// connections. If the lease were counted from this moment, it would last longer than
// the owner waits.
void World::StaleAnswer(ExecutorProcess& executor) {
  const Duration wait = Between(10s, 16s);
  executor.StopAtAcceptance(wait, [this, &executor, wait] {
    Note(fmt::format("{} stops for {} ms as its claim is accepted", executor.name(), wait / 1ms));
    After(1s, [this, &executor, wait] {
      CutFor(executor.name(), SchedulerNames(), wait + 35s, Direction::kOut);
    });
  });
}

// The executor is cut off for as long as the owner waits, and reports its runs again while they are
// being declared lost.
void World::Comeback(ExecutorProcess& executor) {
  const Duration wait = Between(25s, 32s);
  Note(fmt::format("{} is away for {} ms", executor.name(), wait / 1ms));
  CutFor(executor.name(), {"*"}, wait, Direction::kBoth);
}

// The member's segments are assigned to others while the answer to its read of epochs is delayed.
void World::LateProof(SchedulerProcess& scheduler) {
  const Duration wait = Between(6s, 10s);
  scheduler.DelayNextProof(wait, [this, &scheduler, wait] {
    Note(
        fmt::format("{} is deposed while it reads epochs for {} ms", scheduler.name(), wait / 1ms));
    LoseSession(scheduler.incarnation(), wait + 5s);
    ensemble.Expire(scheduler.incarnation());
    CutFor(scheduler.name(), {"store"}, wait + 5s, Direction::kOut);
  });
}

std::vector<std::string> World::SchedulerNames() const {
  std::vector<std::string> names;
  for (const auto& scheduler : schedulers_) names.push_back(scheduler->name());
  return names;
}

void World::CutFor(const std::string& from, const std::vector<std::string>& to, Duration wait,
                   Direction direction) {
  for (const std::string& node : to) {
    network.Cut(from, node);
    if (direction == Direction::kBoth) network.Cut(node, from);
  }
  After(wait, [this, from, to] {
    for (const std::string& node : to) {
      network.Heal(from, node);
      network.Heal(node, from);
    }
  });
}

}  // namespace carillon::sim
