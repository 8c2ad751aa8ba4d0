// Pauses of the whole cluster: at random while there are faults, and once more after the faults.
// The last pause is so long that every run planned before it becomes due.
#include <algorithm>

#include "tests/sim/pause_checks.h"
#include "tests/sim/processes.h"
#include "tests/sim/world.h"

namespace carillon::sim {
namespace {

constexpr Duration kObeyedMax = 180s;  // enough even if a member is stopped and restarted
constexpr Duration kCallsEnd = 20s;    // for slow calls that began before the pause
constexpr Duration kPlannedAgain = 8s;
constexpr Duration kLook = 1s;

}  // namespace

LiveSettings* World::SettingsOf(size_t member) {
  SchedulerProcess& process = *schedulers_[member];
  if (!process.CanStep(clock.Steady()) || store_away()) return nullptr;
  return network.IsCut(process.name(), "store") ? nullptr : process.settings();
}

void World::PauseTick() {
  if (!chaos_) return;
  pauser_->Act();
  After(1s, [this] { PauseTick(); });
}

// True if every member is alive, knows this state, and reports it to the others.
bool World::AllTell(bool paused) const {
  return std::all_of(schedulers_.begin(), schedulers_.end(), [&](const auto& scheduler) {
    if (!scheduler->CanStep(clock.Steady()) || scheduler->member() == nullptr) return false;
    const scheduler::MemberStatus status = scheduler->member()->GetStatus();
    return status.paused == paused &&
           std::any_of(status.members.begin(), status.members.end(), [&](const MemberInfo& info) {
             return info.incarnation == scheduler->incarnation() && info.paused == paused;
           });
  });
}

void World::AwaitAllTell(bool paused) {
  const SteadyTime limit = clock.Steady() + kObeyedMax;
  while (Going(limit) && !AllTell(paused)) RunUntil(clock.Steady() + kLook);
  if (checker.ok() && !AllTell(paused)) {
    checker.Fail("pause: told", paused ? "not every member tells that it is paused"
                                       : "not every member tells that it goes on");
  }
}

void World::SetPauseTo(bool paused) {
  const SteadyTime limit = clock.Steady() + kObeyedMax;
  while (Going(limit) && !pauser_->SetTo(paused)) RunUntil(clock.Steady() + kLook);
}

void World::LastPause() {
  if (!pauser_->acts()) return;
  SetPauseTo(true);
  AwaitAllTell(true);
  RunUntil(clock.Steady() + kCallsEnd);
  const WallTime began = clock.Wall();
  const size_t claims = checker.claims();
  RunUntil(clock.Steady() + pauser_->DrawLastPause());
  if (checker.claims() > claims) {
    checker.Fail("pause: everywhere", "attempts began while every member was paused");
  }
  const WallTime resumed = clock.Wall();
  SetPauseTo(false);
  RunUntil(clock.Steady() + kPlannedAgain);
  if (!checker.ok()) return;
  CheckMisfiresOfPause({stores, checker, actor_->history(), began, resumed, kPlannedAgain});
  AwaitAllTell(false);
}

}  // namespace carillon::sim
