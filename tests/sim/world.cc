#include "tests/sim/world.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "scheduler/settings/new_fields.h"
#include "tests/sim/final_checks.h"
#include "tests/sim/processes.h"

namespace carillon::sim {
namespace {

constexpr uint64_t kBoundsEvery = 500;  // steps
constexpr Duration kSettle = 8s;        // from the end of the faults to the end of the schedules
constexpr Duration kRestLook = 5s;
constexpr Duration kQueueMoves = 5min;  // longer than a process takes that has a slot
// In worlds whose jobs are paused after failures, while their schedules still fire.
constexpr Duration kFailsOn = 60s;
// The same until somebody decides about all approvals that are still open.
constexpr Duration kDecideAfter = 90s;
// From the end of the schedules until somebody releases the runs that still wait for others.
constexpr Duration kReleaseAfter = 120s;

// Jobs that wait for others should do so where fires come from other jobs, too, and where the
// next fire is not known for a while.
WorldOptions WithKinds(WorldOptions options) {
  if (options.events) {
    options.dependents = options.seed % 5 == 1;
    options.workflows = options.seed % 5 == 2;
    options.waits = options.seed % 5 == 3;
    options.parts = options.seed % 5 == 4;
    return options;
  }
  if (!options.waits) return options;
  options.dependents = options.seed % 4 == 1;
  options.delays = options.seed % 4 == 2;
  options.workflows = options.seed % 4 == 3;
  options.nested = options.seed % 8 == 3;
  return options;
}

uint32_t DrawSegments(Rng& rng) {
  static constexpr uint32_t kCounts[] = {1, 2, 4, 8};
  return kCounts[rng.Below(4)];
}

}  // namespace

World::World(const WorldOptions& options)
    : rng(options.seed * 0x9e3779b97f4a7c15ull + 1),
      network(clock, timers, rng.Fork()),
      stores(clock,
             {.segment_count = DrawSegments(rng), .numbers_in_blocks = options.guest != nullptr}),
      store_ports(options.guest == nullptr ? stores.Ports() : options.guest->Around(stores)),
      bus({.partitions = 4, .records_max = 4096, .shares_groups = true}, &clock),
      checker({.now = [this] { return clock.Wall(); },
               .is_alive =
                   [this](const RunKey& key, int except) {
                     return std::any_of(
                         executors_.begin(), executors_.end(),
                         [&](const auto& executor) { return executor->IsAlive(key, except); });
                   },
               .epoch =
                   [this](SegmentId segment) {
                     return stores.segments.ReadEpochs({segment})->front().epoch;
                   },
               .next_fire =
                   [this](ScheduleId id) REQUIRES(stores.tables.mu) {
                     const auto* schedule = stores.tables.FindSchedule(id);
                     return schedule == nullptr ? kNever : schedule->next_fire;
                   },
               .trace = [this](const std::string& text) { Trace(text); },
               .group_awaited = [this](const RunKey& key) REQUIRES(
                                    stores.tables.mu) { return stores.GroupAwaitedLocked(key); },
               .tables = stores.tables}),
      options_(WithKinds(options)),
      plan_(options.hangs        ? HangFaults()
            : options.lost_nodes ? LeaseFaults()
            : options.letters    ? LetterFaults()
                                 : DrawFaults(rng)) {
  network.SetFaults(plan_.network);
  stores.ObserveRuns([this](const RunRow* before, const RunRow* after) {
    checker.RunWritten(before, after);
    events.RunWritten(before, after);
    const RunRow& row = after != nullptr ? *after : *before;
    fingerprint_ = (fingerprint_ ^ std::hash<RunKey>{}(row.key) ^ static_cast<uint64_t>(row.state) ^
                    static_cast<uint64_t>(row.attempt) << 8) *
                   1099511628211ull;
    if (options_.trace) {
      Trace(fmt::format("{} job {} {} {} attempt {} v{}", EncodeRunId(row.key), row.job_no.value(),
                        before == nullptr ? "-" : Name(before->state),
                        after == nullptr ? "-" : Name(after->state), row.attempt, row.def_version));
    }
  });
  stores.ObserveEnds([this](const RunCompletion& end) { checker.RunEnded(end); });
  scheduler_count_ = plan_.about_leases ? 2 : 1 + rng.Below(3);
  for (size_t i = 0; i < scheduler_count_; ++i) {
    schedulers_.push_back(std::make_unique<SchedulerProcess>(*this, i));
    processes_.push_back(schedulers_.back().get());
  }
  const size_t executors = plan_.about_leases ? 3 : 1 + rng.Below(3);
  for (size_t i = 0; i < executors; ++i) {
    executors_.push_back(std::make_unique<ExecutorProcess>(*this, i));
    processes_.push_back(executors_.back().get());
  }
  if (options.letters || options.streaks || options.waits || options.events) {
    MutexLock lock(stores.tables.mu);
    stores.tables.schema = {.known = scheduler::kFanOutMigration,
                            .applied = scheduler::kFanOutMigration,
                            .finished = scheduler::kFanOutMigration};
  }
  if (options.events && options.seed % 2 == 0) {
    event_topics_ =
        std::make_unique<EventTopicsCheck>(EventTopicsCheck::Ports{.clock = clock,
                                                                   .store = store_ports.events,
                                                                   .tables = stores.tables,
                                                                   .bus = bus,
                                                                   .events = events},
                                           options.seed);
  }
  if (options.letters) letters_ = std::make_unique<LettersCheck>(stores, bus);
  if (options.twin) {
    executors_.push_back(
        std::make_unique<ExecutorProcess>(*this, executors, executors_.front()->id()));
    processes_.push_back(executors_.back().get());
  }
}

// Processes are destroyed first, because they refer to everything else.
World::~World() {
  actor_.reset();
  schedulers_.clear();
  executors_.clear();
}

Signer World::SignerOf(size_t scheduler) const {
  std::array<unsigned char, 32> seed{};
  seed[0] = static_cast<unsigned char>(scheduler + 1);
  return Signer::FromSeed(seed);
}

std::vector<std::string> World::PublicKeys() const {
  std::vector<std::string> keys;
  for (size_t i = 0; i < scheduler_count_; ++i) keys.push_back(SignerOf(i).public_key());
  return keys;
}

void World::Trace(const std::string& text) {
  if (!options_.trace) return;
  fmt::print(stderr, "{:>9} {} {}\n", steps_, FormatRfc3339(clock.Wall()).substr(11, 15), text);
}

void World::After(Duration wait, std::function<void()> action) {
  timers.At(clock.Steady() + wait, std::move(action));
}

Duration World::Between(Duration least, Duration most) {
  return least + Duration(rng.Below(static_cast<uint64_t>((most - least).count()) + 1));
}

// ---- the loop ----------------------------------------------------------------------------------

// A guest does what the checks do not know of, and has its own.
bool World::Sound() const {
  return options_.guest == nullptr ? checker.ok() : !options_.guest->HasSeenEnough();
}

bool World::Going(SteadyTime end) const {
  return Sound() && steps_ < options_.steps_max && clock.Steady() < end;
}

void World::RunUntil(SteadyTime end) {
  while (Going(end)) StepOnce(end);
}

void World::StepOnce(SteadyTime end) {
  const SteadyTime now = clock.Steady();
  struct Choice {
    SimProcess* process = nullptr;
    Turn* turn = nullptr;
    SimWardenHost* warden = nullptr;
  };
  std::vector<Choice> choices;
  for (SimProcess* process : processes_) {
    if (!process->CanStep(now)) continue;
    for (const auto& turn : process->turns()) {
      if (!turn->busy && (turn->woken || turn->next <= now))
        choices.push_back({process, turn.get()});
    }
  }
  for (const auto& executor : executors_) {
    SimWardenHost& warden = executor->warden();
    if (executor->clock().ToWorld(warden.NextStep()) <= now) choices.push_back({.warden = &warden});
  }
  const bool timer = timers.next() && *timers.next() <= now;
  if (timer) choices.push_back({});
  if (choices.empty()) {
    clock.Advance(std::max(NextMoment(end) - now, Duration(1)));
    return;
  }
  ++steps_;
  const Choice choice = choices[rng.Below(choices.size())];
  if (choice.turn != nullptr) {
    TakeTurn(*choice.process, *choice.turn);
  } else if (choice.warden != nullptr) {
    choice.warden->Step();
  } else {
    timers.TakeDue(now)();
  }
  BuryTheDead();
  if (steps_ % kBoundsEvery == 0) CheckBounds();
}

SteadyTime World::NextMoment(SteadyTime end) const {
  SteadyTime next = end;
  if (timers.next()) next = std::min(next, *timers.next());
  for (SimProcess* process : processes_) {
    if (!process->alive()) continue;
    for (const auto& turn : process->turns()) {
      if (turn->busy) continue;
      const SteadyTime wanted = turn->woken ? SteadyTime{} : turn->next;
      next = std::min(next, std::max(wanted, process->stopped_until()));
    }
  }
  for (const auto& executor : executors_) {
    next = std::min(next, executor->clock().ToWorld(executor->warden().NextStep()));
  }
  return next;
}

void World::TakeTurn(SimProcess& process, Turn& turn) {
  Turn* const outer_turn = std::exchange(turn_, &turn);
  SimProcess* const outer_process = std::exchange(process_, &process);
  turn.woken = false;
  turn.busy = true;
  turn.pause = process.pause();
  const SteadyTime next = turn.stepper->Step(process.clock().Steady());
  turn.busy = false;
  turn.next = process.clock().ToWorld(next);
  turn_ = outer_turn;
  process_ = outer_process;
  clock.Advance(Duration(5 + rng.Below(20)));
}

void World::Sleep(Duration wait, Waits who) {
  if (depth_ >= kDepthMax || turn_ == nullptr) return;
  Turn* const turn = turn_;
  SimProcess* const process = process_;
  if (who == Waits::kProcess) Stop(*process, wait);
  ++depth_;
  RunUntil(clock.Steady() + wait);
  --depth_;
  turn_ = turn;
  process_ = process;
}

void World::BuryTheDead() {
  for (SimProcess* process : processes_) {
    if (!process->alive() && process->up() && !process->busy()) process->Bury();
  }
}

// ---- the phases of a world ---------------------------------------------------------------------

Outcome World::Run() {
  ActorProfile profile{.jobs_max = 3 + static_cast<int>(rng.Below(6))};
  profile.strict_misfire = rng.Chance(0.4);
  profile.edits = !rng.Chance(0.15);
  profile.about_leases = plan_.about_leases;
  profile.delays = options_.delays;
  profile.dependents = options_.dependents;
  profile.scripts = options_.scripts;
  profile.workflows = options_.workflows;
  profile.nested = options_.nested;
  profile.lost_nodes = options_.lost_nodes;
  profile.approvals = options_.approvals;
  profile.finally = options_.finally;
  profile.tasks = options_.tasks;
  profile.mapped = options_.mapped;
  profile.parts = options_.parts;
  profile.streaks = options_.streaks;
  profile.waits = options_.waits;
  profile.events = options_.events;
  profile.calendars = options_.calendars;
  profile.seed = options_.seed;
  if (plan_.about_leases) profile.jobs_max = 3;
  if (options_.nested)
    profile.jobs_max = std::max(profile.jobs_max, 6);  // of which two are workflows
  if (options_.waits) profile.jobs_max = std::max(profile.jobs_max, 4);
  if (options_.parts) {
    profile.jobs_max = std::min(profile.jobs_max, 6);
    profile.strict_misfire = false;  // it would have every job run without slots
  }
  // Not drawn, so that the other worlds stay as they are.
  profile.groups = options_.seed % 5 == 3 && !options_.hangs && !plan_.about_leases;
  profile.group_times = profile.groups && options_.seed % 10 == 3;
  std::vector<ExecutorId> ids;
  for (const auto& executor : executors_) {
    if (std::find(ids.begin(), ids.end(), executor->id()) == ids.end()) {
      ids.push_back(executor->id());
    }
  }
  actor_ = std::make_unique<Actor>(
      Actor::Ports{.stores = store_ports,
                   .checker = checker,
                   .events = events,
                   .now = [this] { return clock.Wall(); },
                   .nudge =
                       [this](const ChangedWork& work) {
                         schedulers_[rng.Below(schedulers_.size())]->Nudge(work);
                       },
                   .executors = ids,
                   .rng = rng.Fork()},
      profile);
  pauser_ = std::make_unique<ClusterPauser>(
      ClusterPauser::Ports{
          .store = store_ports.settings,
          .now = [this] { return clock.Wall(); },
          .settings = [this](size_t member) { return SettingsOf(member); },
          .members = schedulers_.size(),
          .after = [this](Duration wait, auto act) { After(wait, std::move(act)); },
          .note = [this](const std::string& text) { Note(text); },
          .changed = [this](bool paused) { checker.nodes().ClusterPaused(paused); }},
      options_.seed);
  backfiller_ = std::make_unique<Backfiller>(
      Backfiller::Ports{.stores = store_ports,
                        .checker = checker,
                        .now = [this] { return clock.Wall(); },
                        .nudge =
                            [this](const ChangedWork& work) {
                              for (const auto& scheduler : schedulers_) scheduler->Nudge(work);
                            }},
      Backfiller::Options{.seed = options_.seed, .of_lost_nodes = options_.lost_nodes});
  for (SimProcess* process : processes_) {
    // By then every member knows the first process of this name. Else two members could have
    // different ones, whose results the other member never takes.
    const bool twin = options_.twin && process == processes_.back();
    After(Between(0s, 2s) + (twin ? 20s : 0s), [process] { process->Start(); });
  }
  After(500ms, [this] {
    actor_->Begin();
    ActorTick();
  });
  After(3s, [this] { FaultTick(); });
  if (pauser_->acts()) After(3s, [this] { PauseTick(); });
  if (backfiller_->acts() && !options_.streaks) After(4s, [this] { BackfillTick(); });
  if (options_.guest != nullptr) After(2s, [this] { GuestTick(); });
  if (event_topics_) TopicTick();
  RunUntil(clock.Steady() + options_.chaos);
  Rest(profile.strict_misfire);
  return Report();
}

void World::Rest(bool strict_misfire) {
  if (!Sound()) return;
  EndFaults();
  actor_->Calm();
  backfiller_->Calm();
  LastPause();
  if (options_.streaks) {
    calm_ = clock.Wall() + (AllContinue() - clock.Steady()) + kMembersBackAfter;
    RunUntil(AllContinue() + kMembersBackAfter + kFailsOn);
  }
  RunUntil(AllContinue() + kSettle);
  CheckTopics();
  settled_ = clock.Wall();
  actor_->EndSchedules();
  const WallTime ended = clock.Wall();
  SteadyTime limit = clock.Steady() + options_.rest_max;
  while (Going(limit) && !AtRest()) {
    actor_->MakeRoomInGroups();
    if (options_.workflows || options_.parts) actor_->GiveUpHeld();
    // In the other worlds the limit of each wait passes.
    if (options_.waits && options_.seed % 3 != 0 && clock.Wall() > ended + kReleaseAfter) {
      actor_->ReleaseAll();
    }
    if (options_.approvals && clock.Wall() > ended + kDecideAfter) actor_->DecideAll();
    const size_t starts = checker.starts();
    RunUntil(clock.Steady() + kRestLook);
    // A hundred fires of four parts, each tried four times, may keep all slots for longer.
    const bool moves = checker.starts() > starts && options_.guest == nullptr;
    if (moves && options_.parts) limit = std::max(limit, clock.Steady() + kQueueMoves);
  }
  if (options_.guest != nullptr) return options_.guest->AtEnd(clock.Wall());
  CheckLetters();
  if (!checker.ok()) return;
  if (steps_ >= options_.steps_max) checker.Fail("P7 bounded", "the world does not come to rest");
  const FinalPorts ports{stores, checker, actor_->history(), actor_->calendars(), ended};
  CheckCalendarsAreObeyed(ports);
  CheckEveryFireHasOneFate(ports);
  CheckNoResultIsLost(ports);
  CheckFailuresAreToBeTold(ports);
  CheckNothingIsLeftOver(ports);
  CheckDependentsRan(ports);
  CheckWorkflowsEnded(ports);
  CheckPartsEnded(ports);
  CheckBackfills(ports);
  events.AtRest();
  CheckQueuedRunsAreNoMisfires(ports);
  if (strict_misfire) CheckNoMisfireGap(ports);
  for (const auto& executor : executors_) {
    if (executor->warden().unreported() == 0) continue;
    checker.Fail("P6 no lost result",
                 fmt::format("{} results on {} were never acknowledged",
                             executor->warden().unreported(), executor->name()));
  }
  if (plan_.kills_nothing && checker.killed_by_lease() > 0) {
    checker.Fail("one dependency hangs", fmt::format("{} processes killed as their lease ended",
                                                     checker.killed_by_lease()));
  }
  if (plan_.kind == std::string("calm") && checker.losses() > 0) {
    checker.Fail("calm", fmt::format("{} attempts lost without a fault", checker.losses()));
  }
}

Outcome World::Report() const {
  return {.seed = options_.seed,
          .kind = plan_.kind,
          .violation = checker.violation(),
          .step = steps_,
          .fingerprint = fingerprint_,
          .runs = checker.rows().size(),
          .starts = checker.starts(),
          .losses = checker.losses(),
          .admissions = checker.admissions(),
          .delays = checker.delays(),
          .scripts = checker.scripts(),
          .dependents = checker.dependents().started(),
          .nodes = checker.workflows().released(),
          .in_parts = checker.parts().begun(),
          .broadcasts = checker.parts().broadcasts(),
          .letters = letters_ ? letters_->published() : 0,
          .pauses = streaks.pauses(),
          .waits = checker.waits().met(),
          .events = events.started(),
          .expired = checker.waits().expired(),
          .opened = checker.nodes().opened(),
          .decided = checker.nodes().decided(),
          .finally = checker.nodes().finally(),
          .faults = faults_seen_};
}

Outcome Simulate(const WorldOptions& options) { return World(options).Run(); }

}  // namespace carillon::sim
