// A simulated cluster with faults: several schedulers and executors, one database, one bus, one
// coordinator and users of the API, in one thread, on one clock and from one seed.
//
// While a process waits in a store call, the other processes run from inside that call. So its
// earlier reads become as stale as on real threads. Stopping and killing work the same way.
//
// Time     Only the world moves the clock. A step is one turn of one loop, one delivery of a
//          message, or one action of a user.
// Always   The same seed and options replay the same steps.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/adapters/memory/memory_link.h"
#include "common/wire/messages/signature.h"
#include "tests/sim/actor.h"
#include "tests/sim/backfiller.h"
#include "tests/sim/checker.h"
#include "tests/sim/cluster_pause.h"
#include "tests/sim/event_topics.h"
#include "tests/sim/events_check.h"
#include "tests/sim/fault_plan.h"
#include "tests/sim/letters_check.h"
#include "tests/sim/sim_process.h"
#include "tests/sim/sim_warden.h"
#include "tests/sim/streaks_check.h"
#include "tests/sim/world_guest.h"
#include "tests/support/fault_network.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::sim {

struct WorldOptions {
  uint64_t seed = 1;
  Duration chaos = 90s;  // time with faults
  // Time without faults until all runs must have ended: 40 min for a long queue. With `parts`, it
  // goes on as long as the queue moves.
  Duration rest_max = 3600s;
  uint64_t steps_max = 3'000'000;
  bool hangs = false;       // uses HangFaults() instead of the faults drawn from the seed
  bool moves = false;       // only with `hangs`: while the store hangs, the assignment changes
  bool calendars = false;   // schedules with a calendar that is edited
  bool delays = false;      // jobs with delay schedules
  bool dependents = false;  // half of the jobs start after others
  bool scripts = false;     // half of the jobs are scripts; some executors lack an interpreter
  bool workflows = false;   // a third of the jobs are workflows of the others
  bool nested = false;      // only with `workflows`: some of their nodes are workflows
  // Only with `workflows`: leases end while nodes act, nobody kills their processes, and backfills
  // run the workflows again.
  bool lost_nodes = false;
  // Only with `workflows`, each: nodes wait for a person or a time; finally nodes, and rules that
  // count successes; tasks, and nodes with rules of their own; nodes that run for each of a list
  bool approvals = false;
  bool finally = false;
  bool tasks = false;
  bool mapped = false;
  bool parts = false;    // not with `workflows`: the fires of most jobs are done in parts
  bool letters = false;  // dead letters are published; members are killed, the bus is away
  bool streaks = false;  // jobs are paused after failures; no backfills
  bool waits = false;    // most jobs wait for others; by seed with dependents, delays, workflows
  // Events start most jobs; by seed with dependents, workflows, waits, and also from topics.
  bool events = false;
  bool quiet = false;  // executors that hold nothing beat seldom, as in a large fleet
  bool twin = false;   // only with `hangs`: a second host has the name of the first executor
  bool trace = false;  // prints every event to stderr
  WorldGuest* guest = nullptr;  // null: none. With one, nothing is checked at the end
};

struct Outcome {
  uint64_t seed = 0;
  std::string kind;
  std::optional<Violation> violation;
  uint64_t step = 0;         // the step of the violation; without a violation, the last step
  uint64_t fingerprint = 0;  // hash of everything that happened; equal for equal seeds
  size_t runs = 0;
  size_t starts = 0;
  size_t losses = 0;
  size_t admissions = 0;
  size_t delays = 0;
  size_t scripts = 0;     // started processes of scripts
  size_t dependents = 0;  // runs that the end of another one has started
  size_t nodes = 0;       // that were released
  size_t in_parts = 0;    // fires that have begun in parts
  size_t broadcasts = 0;  // of them, on more than one host
  size_t letters = 0;     // that were published
  size_t pauses = 0;      // of jobs after failures
  size_t waits = 0;       // of runs for other jobs, that were met
  size_t events = 0;      // runs that events have started
  size_t expired = 0;     // such waits that came to nothing
  size_t opened = 0;      // approvals and waits
  size_t decided = 0;     // of them, by a person
  size_t finally = 0;     // finally nodes that were released
  size_t faults = 0;
};

class SchedulerProcess;
class ExecutorProcess;

// The world. Its public members are used by the simulated processes.
class World {
 public:
  explicit World(const WorldOptions& options);
  ~World();

  Outcome Run();

  // ---- for processes, from inside a step
  // Lets the current turn wait for `wait`; with kProcess, its whole process is stopped meanwhile.
  enum class Waits { kTurn, kProcess };
  void Sleep(Duration wait, Waits who);
  void Accepted(const ExecutorId& id);
  void LoseTime(Duration most) { clock.Advance(Duration(rng.Below(most.count() + 1))); }
  void Trace(const std::string& text);
  // The turn that is running; null if none is.
  const Turn* turn() const { return turn_; }
  Rng ForkRng() { return rng.Fork(); }
  const FaultPlan& faults() const { return plan_; }
  bool quiet() const { return options_.quiet; }
  bool letters() const { return options_.letters; }
  // Null: there are no topics of events.
  EventTopicsCheck* event_topics() const { return event_topics_.get(); }
  bool pauses_after_failures() const { return options_.streaks; }
  bool store_away() const { return clock.Steady() < store_away_until_; }
  bool store_broken() const { return clock.Steady() < store_broken_until_; }
  bool store_hangs() const { return clock.Steady() < store_hangs_until_; }
  // Lets the current call wait until the store no longer hangs, at most for `limit`.
  void AwaitStore(Duration limit);
  Signer SignerOf(size_t scheduler) const;
  std::vector<std::string> PublicKeys() const;
  size_t scheduler_count() const { return scheduler_count_; }

  test::ManualClock clock;
  Rng rng;
  test::FaultTimers timers;
  test::FaultNetwork network;
  memory::MemoryStores stores;
  Stores store_ports;  // of `stores`, or of what a guest puts around them
  memory::MemoryBus bus;
  memory::MemorySwitchboard board;
  memory::MemoryEnsemble ensemble;
  Checker checker;
  StreaksCheck streaks{store_ports, stores.tables, checker, clock};
  UpstreamWitness upstream{store_ports.upstream, checker.waits()};
  EventsCheck events{
      store_ports.events, stores.tables,
      [this](const std::string& promise, const std::string& text) { checker.Fail(promise, text); }};

 private:
  static constexpr int kDepthMax = 3;
  // A member that was killed at the end of the faults has started again by then.
  static constexpr Duration kMembersBackAfter = 40s;

  // world.cc
  bool Going(SteadyTime end) const;
  bool Sound() const;
  void RunUntil(SteadyTime end);
  void StepOnce(SteadyTime end);
  SteadyTime NextMoment(SteadyTime end) const;
  void TakeTurn(SimProcess& process, Turn& turn);
  void BuryTheDead();
  void Rest(bool strict_misfire);
  Outcome Report() const;
  void After(Duration wait, std::function<void()> action);
  Duration Between(Duration least, Duration most);

  // world_checks.cc
  void CheckBounds();
  void CheckQueues();
  void CheckGroupQueues();
  void CheckFiresEnd();
  void CheckWaits();
  void CheckNodes();
  void CheckStreaks();
  void CheckExecutors();
  void CheckLetters();
  void CheckTopics();

  // world_faults.cc
  void ActorTick();
  void BackfillTick();
  void GuestTick();
  void TopicTick();
  void FaultTick();
  void Note(const std::string& text);
  void StartAgain(SimProcess& process, Duration wait);
  void KillScheduler();
  void KillDaemon(size_t executor);
  void KillWarden(size_t executor);
  void RestartWarden(size_t executor);
  void Stop(SimProcess& process, Duration wait);
  void LoseSession(const Incarnation& incarnation, Duration wait);
  void SuspendSession();
  void CutNetwork();
  void HangSomething();
  void HangCoordinator(Duration wait);
  void MoveIdleSegments();
  void EndFaults();
  // The moment from which no process is stopped, if none is stopped again.
  SteadyTime AllContinue() const;
  bool AtRest();
  bool Happens(double chance) { return rng.Chance(chance); }

  // world_pause.cc
  LiveSettings* SettingsOf(size_t member);
  void PauseTick();
  bool AllTell(bool paused) const;
  void AwaitAllTell(bool paused);
  void SetPauseTo(bool paused);
  void LastPause();

  // world_edges.cc
  enum class Direction { kOut, kBoth };
  void EdgeTick(size_t executor);
  void StaleAnswer(ExecutorProcess& executor);
  void Comeback(ExecutorProcess& executor);
  void LateProof(SchedulerProcess& scheduler);
  std::vector<std::string> SchedulerNames() const;
  // Cuts the connections for `wait`. When it ends, all cuts between the two nodes end, even cuts by
  // other faults.
  void CutFor(const std::string& from, const std::vector<std::string>& to, Duration wait,
              Direction direction);

  const WorldOptions options_;
  FaultPlan plan_;
  bool chaos_ = true;
  // Since then faults and pauses are over, and all members are back.
  std::optional<WallTime> calm_;
  // Since then faults and pauses are over, and all segments have owners again.
  std::optional<WallTime> settled_;
  size_t scheduler_count_ = 1;
  SteadyTime store_away_until_{};
  SteadyTime store_broken_until_{};
  SteadyTime store_hangs_until_{};
  SteadyTime next_hang_{};
  std::vector<std::unique_ptr<SchedulerProcess>> schedulers_;
  std::vector<std::unique_ptr<ExecutorProcess>> executors_;
  std::vector<SimProcess*> processes_;  // all schedulers and executors
  std::unique_ptr<Actor> actor_;
  std::unique_ptr<ClusterPauser> pauser_;
  std::unique_ptr<Backfiller> backfiller_;
  std::unique_ptr<LettersCheck> letters_;  // null: no dead letters are published
  std::unique_ptr<EventTopicsCheck> event_topics_;
  Turn* turn_ = nullptr;  // the turn that is running
  SimProcess* process_ = nullptr;
  int depth_ = 0;
  uint64_t steps_ = 0;
  uint64_t fingerprint_ = 1469598103934665603ull;
  size_t faults_seen_ = 0;
  // The first queued run of each job with a free slot, and since when it waits beside it.
  std::map<JobNo, std::pair<RunKey, SteadyTime>> beside_free_slot_;
  // The same by group.
  std::map<std::string, std::pair<RunKey, SteadyTime>> beside_free_group_slot_;
  // The process of each executor that each scheduler accepted first.
  std::map<std::pair<std::string, ExecutorId>, Incarnation> accepted_;
};

Outcome Simulate(const WorldOptions& options);

}  // namespace carillon::sim
