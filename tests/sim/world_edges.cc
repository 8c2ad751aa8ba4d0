// Faults that bring a lease or a proof of ownership to its very edge. Chance alone does so too
// rarely to notice that a rule about them is missing.
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

// The daemon reads the answer to its claim when half of the lease is gone, and is heard of no more:
// a lease that counts from there outlasts the owner's patience.
void World::StaleAnswer(ExecutorProcess& executor) {
  const Duration wait = Between(10s, 16s);
  executor.StopAtAcceptance(wait, [this, &executor, wait] {
    Note(fmt::format("{} stops for {} ms as its claim is accepted", executor.name(), wait / 1ms));
    After(1s, [this, &executor, wait] {
      CutFor(executor.name(), SchedulerNames(), wait + 35s, Direction::kOut);
    });
  });
}

// It is away for as long as its owner waits, and lists its runs while they are declared lost.
void World::Comeback(ExecutorProcess& executor) {
  const Duration wait = Between(25s, 32s);
  Note(fmt::format("{} is away for {} ms", executor.name(), wait / 1ms));
  CutFor(executor.name(), {"*"}, wait, Direction::kBoth);
}

// Its segments are given away while the answer to its read of their epochs is under way.
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
