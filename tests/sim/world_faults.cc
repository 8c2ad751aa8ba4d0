// The faults of the world: how they begin and end.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tests/sim/processes.h"
#include "tests/sim/world.h"

namespace carillon::sim {
namespace {

constexpr Duration kSession = 6s;
// The time from the end of one hang to the next, because two hangs at the same time may
// end a process.
constexpr Duration kHangsApart = 15s;

}  // namespace

void World::ActorTick() {
  if (!chaos_) return;
  actor_->Act();
  After(Between(100ms, 1500ms), [this] { ActorTick(); });
}

void World::BackfillTick() {
  if (!chaos_) return;
  backfiller_->Act();
  After(1s, [this] { BackfillTick(); });
}

void World::TopicTick() {
  if (!chaos_) return;
  event_topics_->Write();
  After(Between(50ms, 1500ms), [this] { TopicTick(); });
}

void World::GuestTick() {
  if (!chaos_) return;
  options_.guest->Act(clock.Wall(), [this](const ChangedWork& work) {
    schedulers_[rng.Below(schedulers_.size())]->Nudge(work);
  });
  After(Between(50ms, 600ms), [this] { GuestTick(); });
}

// Called once every simulated second.
void World::FaultTick() {
  if (!chaos_) return;
  const EventRates& rates = plan_.events;
  const size_t executor = rng.Below(executors_.size());
  if (Happens(rates.kill_scheduler)) KillScheduler();
  if (Happens(rates.kill_daemon)) KillDaemon(executor);
  if (Happens(rates.kill_warden)) KillWarden(executor);
  if (Happens(rates.kill_host)) {
    KillDaemon(executor);
    KillWarden(executor);
  }
  if (Happens(rates.stop_scheduler)) {
    SchedulerProcess& process = *schedulers_[rng.Below(schedulers_.size())];
    const Duration wait = Between(100ms, rates.stop_max);
    Note(fmt::format("{} stops for {} ms", process.name(), wait / 1ms));
    if (rng.Chance(0.5)) {
      process.StopInNextCall(wait);
    } else {
      Stop(process, wait);
    }
  }
  if (Happens(rates.stop_daemon)) {
    const Duration wait = Between(100ms, rates.stop_max);
    Note(fmt::format("{} stops for {} ms", executors_[executor]->name(), wait / 1ms));
    Stop(*executors_[executor], wait);
  }
  if (Happens(rates.stop_warden)) {
    ExecutorProcess& process = *executors_[executor];
    const Duration wait = Between(10ms, 2s);
    Note(fmt::format("the warden of {} stops for {} ms", process.name(), wait / 1ms));
    process.warden().Pause(wait);
  }
  EdgeTick(executor);
  if (Happens(rates.suspend_session)) SuspendSession();
  if (Happens(rates.cut_network)) CutNetwork();
  if (letters_ && Happens(rates.bus_away)) {
    const Duration wait = Between(1s, 20s);
    Note(fmt::format("the bus is away for {} ms", wait / 1ms));
    CutFor(test::kBusNode, {"*"}, wait, Direction::kBoth);
  }
  if (Happens(rates.store_outage)) {
    store_away_until_ = clock.Steady() + Between(100ms, 15s);
    Note("the store is away");
  }
  if (Happens(rates.break_store)) {
    store_broken_until_ = clock.Steady() + Between(100ms, 5s);
    Note("the store lacks a table");
  }
  if (Happens(rates.hang)) HangSomething();
  if (Happens(rates.step_clock)) {
    SimProcess& process = *processes_[rng.Below(processes_.size())];
    const Duration by = Duration(rng.Below(4'000'000)) - 2s;
    Note(fmt::format("the clock of {} steps by {} ms", process.name(), by / 1ms));
    process.clock().StepWall(by);
  }
  if (Happens(rates.fill_disk)) {
    Note(fmt::format("the disk of {} is full", executors_[executor]->name()));
    executors_[executor]->warden().SetDiskFull(true);
    After(Between(1s, 20s),
          [this, executor] { executors_[executor]->warden().SetDiskFull(false); });
  }
  After(1s, [this] { FaultTick(); });
}

void World::Note(const std::string& text) {
  ++faults_seen_;
  Trace("! " + text);
}

void World::StartAgain(SimProcess& process, Duration wait) {
  After(wait, [this, &process] {
    if (process.alive()) return;
    // The call in which the process died has not yet returned.
    if (process.up()) return StartAgain(process, 100ms);
    Trace("  " + process.name() + " starts");
    process.Start();
  });
}

void World::KillScheduler() {
  SchedulerProcess& process = *schedulers_[rng.Below(schedulers_.size())];
  if (!process.alive()) return;
  Note("kill " + process.name());
  After(kSession, [this, incarnation = process.incarnation()] { ensemble.Expire(incarnation); });
  process.Kill();
  BuryTheDead();
  StartAgain(process, Between(100ms, 20s));
}

void World::KillDaemon(size_t executor) {
  ExecutorProcess& process = *executors_[executor];
  if (!process.alive()) return;
  Note("kill the daemon of " + process.name());
  process.Kill();
  BuryTheDead();
  StartAgain(process, Between(100ms, 30s));
}

void World::KillWarden(size_t executor) {
  SimWardenHost& warden = executors_[executor]->warden();
  if (!warden.up()) return;
  Note("kill the warden of " + executors_[executor]->name());
  warden.Kill();
  After(Between(100ms, 3s), [this, executor] { RestartWarden(executor); });
}

// Restarts the warden, as the real daemon does.
void World::RestartWarden(size_t executor) {
  ExecutorProcess& process = *executors_[executor];
  if (process.warden().up()) return;
  if (process.up() && process.CanStep(clock.Steady())) return process.warden().Restart();
  After(200ms, [this, executor] { RestartWarden(executor); });
}

void World::Stop(SimProcess& process, Duration wait) {
  if (!process.alive()) return;
  process.Stop(clock.Steady() + wait);
  auto* scheduler = dynamic_cast<SchedulerProcess*>(&process);
  if (scheduler == nullptr) return;
  LoseSession(scheduler->incarnation(), wait);
}

// Interrupts the session for `wait`. The session expires if `wait` is longer than its timeout.
void World::LoseSession(const Incarnation& incarnation, Duration wait) {
  ensemble.Suspend(incarnation);
  if (wait > kSession) After(kSession, [this, incarnation] { ensemble.Expire(incarnation); });
  After(wait + Between(0s, 500ms), [this, incarnation] { ensemble.Restore(incarnation); });
}

void World::SuspendSession() {
  SchedulerProcess& process = *schedulers_[rng.Below(schedulers_.size())];
  if (!process.up()) return;
  const Duration wait = Between(500ms, 20s);
  Note(fmt::format("{} has no coordinator for {} ms", process.name(), wait / 1ms));
  LoseSession(process.incarnation(), wait);
}

void World::CutNetwork() {
  std::vector<std::string> nodes = {test::kBusNode, "store"};
  for (const SimProcess* process : processes_) nodes.push_back(process->name());
  const std::string from = nodes[rng.Below(nodes.size())];
  const std::string to = rng.Chance(0.2) ? "*" : nodes[rng.Below(nodes.size())];
  if (from == to) return;
  const Duration wait = Between(500ms, plan_.events.cut_max);
  const bool both = rng.Chance(0.5);
  Note(fmt::format("cut {} {} {} for {} ms", from, both ? "<->" : "->", to, wait / 1ms));
  network.Cut(from, to);
  if (both) network.Cut(to, from);
  After(wait, [this, from, to, both] {
    network.Heal(from, to);
    if (both) network.Heal(to, from);
  });
}

void World::HangSomething() {
  const SteadyTime now = clock.Steady();
  if (now < next_hang_) return;
  const Duration wait = Between(5s, plan_.events.hang_max);
  next_hang_ = now + wait + kHangsApart;
  const uint64_t which = options_.moves ? 0 : rng.Below(3);
  static constexpr const char* kNames[] = {"store", "coordinator", "bus"};
  Note(fmt::format("the {} hangs for {} ms", kNames[which], wait / 1ms));
  if (which == 0) store_hangs_until_ = now + wait;
  if (options_.moves) After(Between(0s, 2s), [this] { MoveIdleSegments(); });
  if (which == 1) HangCoordinator(wait);
  if (which == 2) CutFor(test::kBusNode, {"*"}, wait, Direction::kBoth);
}

// A coordinator that hangs ends no session. When it continues, all sessions may have expired.
void World::HangCoordinator(Duration wait) {
  const bool ends_sessions = wait > kSession && rng.Chance(0.5);
  for (const auto& scheduler : schedulers_) {
    const Incarnation incarnation = scheduler->incarnation();
    ensemble.Suspend(incarnation);
    After(wait, [this, incarnation, ends_sessions] {
      if (ends_sessions) ensemble.Expire(incarnation);
      ensemble.Restore(incarnation);
    });
  }
}

// Plays a leader that read the store before the store began to hang, and now writes its decision:
// segments without running attempts go to the next member, which cannot take them yet. The leader
// soon decides again, because members start and end.
void World::MoveIdleSegments() {
  if (!store_hangs()) return;
  std::set<SegmentId> used;
  for (const auto& [key, row] : checker.rows()) {
    if (!IsFinal(row.state)) used.insert(row.segment);
  }
  for (const auto& scheduler : schedulers_) {
    Coordinator* const coordinator = scheduler->coordinator();
    if (coordinator == nullptr || !coordinator->IsLeader()) continue;
    Assignment next = ensemble.assignment();
    next.generation = Generation(next.generation.value() + 1);
    size_t moved = 0;
    for (auto& [segment, owner] : next.owners) {
      if (used.contains(segment)) continue;
      const size_t at = static_cast<size_t>(
          std::find_if(schedulers_.begin(), schedulers_.end(),
                       [&owner](const auto& one) { return one->name() == owner.value(); }) -
          schedulers_.begin());
      owner = MemberId(schedulers_[(at + 1) % schedulers_.size()]->name());
      ++moved;
    }
    const Status written = coordinator->WriteAssignment(next);
    Note(fmt::format("generation {} moves {} segments{}", next.generation.value(), moved,
                     written.ok() ? "" : ": " + written.error().message));
  }
  After(Between(1s, 20s), [this] { MoveIdleSegments(); });
}

void World::AwaitStore(Duration limit) {
  Sleep(std::min(limit, store_hangs_until_ - clock.Steady()), Waits::kTurn);
}

void World::EndFaults() {
  Trace("! faults end");
  chaos_ = false;
  plan_.network = {};
  plan_.consumer = {};
  plan_.store = {};
  network.SetFaults({});
  network.HealAll();
  store_away_until_ = {};
  store_broken_until_ = {};
  store_hangs_until_ = {};
  for (const auto& scheduler : schedulers_) scheduler->Calm();
  for (const auto& executor : executors_) executor->Calm();
  for (SimProcess* process : processes_) process->clock().SetWallError(Duration::zero());
  // Killed processes are already being restarted, and stopped processes continue by themselves.
}

SteadyTime World::AllContinue() const {
  SteadyTime last = clock.Steady();
  for (const SimProcess* process : processes_) last = std::max(last, process->stopped_until());
  return last;
}

bool World::AtRest() {
  const bool runs_rest =
      std::all_of(checker.rows().begin(), checker.rows().end(),
                  [this](const auto& entry) { return checker.Rests(entry.second); });
  const auto open = stores.backfills.ListBackfills({.state = BackfillState::kRunning, .limit = 1});
  return runs_rest && open->empty() && !BackfillToEnd(stores.backfills, checker) &&
         stores.ActedOnEnds() &&
         std::all_of(executors_.begin(), executors_.end(), [](const auto& executor) {
           return executor->warden().alive() == 0 && executor->warden().unreported() == 0;
         });
}

}  // namespace carillon::sim
