// The executors that have a link to this member, each with its process, health and free slots.
//
// Place    Steps 5 and 7 of docs/life-of-a-run.md.
// Threads  Thread-safe. TakeChanges has one consumer, the firing loop; TakeSwitched the link loop.
// Time     `now` is this member's steady clock.
// Always   One incarnation per id. A second incarnation is accepted only after the first has
//          fallen silent, has left, or has lost its stream. The second is refused if the first
//          sends a message while the second waits. Silence is judged by what was announced.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/base/mutex.h"
#include "common/ports/executor_link.h"
#include "scheduler/liveness/executor_health.h"
#include "scheduler/liveness/host_breaker.h"

namespace carillon::scheduler {

// The facts about an executor that routing needs.
struct ExecutorView {
  ExecutorId id;
  Incarnation incarnation = {};
  bool usable = false;         // online, not leaving, enabled, not draining
  bool forgotten = false;      // no longer known; only `id` is valid
  bool one_at_a_time = false;  // until it is known that its host works
  std::map<std::string, std::string> labels = {};
  int slots = 0;             // process slots
  int free_slots = 0;        // process slots, as of the last heartbeat
  int free_light_slots = 0;  // slots for in-process job types, as of the last heartbeat
  std::map<std::string, int> free_handler_slots = {};  // by the name of the handler, likewise
  uint64_t heartbeats = 0;  // reports so far that routing had to see; higher: a new report
  Features features = {};
  ExecutorLoad load = {};
  // The attempts listed in the last heartbeat, by stage. Empty if an earlier view has returned the
  // lists of this heartbeat.
  std::vector<HeldAttempt> claiming = {};
  std::vector<HeldAttempt> running = {};
  std::vector<HeldAttempt> reporting = {};
};

class ExecutorTable {
 public:
  struct Options {
    HealthRules health = {};
    Duration incarnation_wait = 6s;  // silence of one process before another may replace it
    size_t executors_max = 20'000;
    Duration lost_kept = 1h;  // after this much silence an executor is forgotten
    Duration quiet_each = kQuietEach;
  };
  explicit ExecutorTable(Options options)
      : options_(options), quiet_heartbeat_(options.health.heartbeat) {}

  enum class Admission {
    kAdmit,   // register it in the store, then Accept
    kWait,    // another incarnation was heard recently and has not left: do not answer yet
    kRefuse,  // another incarnation is alive
    kFull,    // executors_max executors are known
  };
  // Judges a registration. Does not accept it, but remembers that this incarnation waits.
  Admission Admit(const ExecutorRecord& record, SteadyTime now);
  // Accepts a process of a known executor without reading the store. Uses the switches in memory.
  // nullopt: the executor is not known, so its switches must be read from the store.
  std::optional<ExecutorRecord> AcceptKnown(ExecutorRecord record, SteadyTime now);
  // `record` comes from the store.
  void Accept(const ExecutorRecord& record, SteadyTime now);

  // Returns false if this incarnation is not the accepted one. It must then register again. A
  // heartbeat that says the same as the last one is no change for routing. One that a later one has
  // overtaken shows only that the executor is alive.
  bool HeartbeatFrom(const ExecutorId& id, const Incarnation& incarnation,
                     const Heartbeat& heartbeat, WallTime wall, SteadyTime now);
  // Like HeartbeatFrom, for any other message. Each message shows that the executor is alive.
  bool MessageFrom(const ExecutorId& id, const Incarnation& incarnation, SteadyTime now);

  // The stream of this process has ended, and no message of another one has come yet.
  void StreamEnded(const ExecutorId& id, const Incarnation& incarnation, SteadyTime now);
  // A task that was published to this process at `since` was not claimed. If the process was not
  // heard since then, TakeSwitched tells it to speak. If it does not for two usual intervals, it
  // gets no work until it does. True: so it is now; otherwise JudgeHealth finds it.
  bool Suspect(const ExecutorId& id, const Incarnation& incarnation, SteadyTime since,
               SteadyTime now);

  // An attempt of `job` has ended at the executor. Follows the rules of host_breaker.h.
  void AttemptEnded(const ExecutorId& id, JobNo job, HostWord word, SteadyTime now);

  // Whether the executor, though heard of, claims none of the tasks that it is sent.
  void SetClaimsNothing(const ExecutorId& id, bool nothing);

  // Adopts enabled, draining and labels from the store's records.
  void Refresh(const std::vector<ExecutorRecord>& stored);
  // Judges each executor by its silence. Forgets the executors that were silent for longer than
  // `lost_kept`. Returns true if a state changed since the last call.
  bool JudgeHealth(SteadyTime now);

  // Executors that routing must examine again: they changed or were forgotten since the last call.
  std::vector<ExecutorView> TakeChanges();
  bool has_changes() const;
  // Executors that became unhealthy or lost since the last call.
  std::vector<ExecutorRecord> TakeFallen();
  std::map<ExecutorState, int> Counts() const;  // of each state
  // The interval for executors that hold nothing, as of the last JudgeHealth.
  Duration quiet_heartbeat() const { return quiet_heartbeat_.load(); }
  // Executors whose state changed since the last call, without forgotten executors.
  std::vector<ExecutorRecord> TakeStateChanges();
  // Executors whose enabled or draining switch changed since the last call, and those that did not
  // claim a task and were not heard:
  // what they are to be told makes them speak at once.
  std::vector<ExecutorRecord> TakeSwitched();
  std::vector<ExecutorRecord> Records() const;
  std::optional<ExecutorRecord> Find(const ExecutorId& id) const;
  std::optional<Incarnation> IncarnationOf(const ExecutorId& id) const;

 private:
  struct Known {
    ExecutorRecord record;
    SteadyTime heard;
    int free_slots = 0;
    int free_light_slots = 0;
    uint64_t heartbeats = 0;
    std::vector<HeldAttempt> claiming;  // these three are emptied when a view takes them
    std::vector<HeldAttempt> running;
    std::vector<HeldAttempt> reporting;
    HostBreaker breaker;
    bool left = false;                     // its last heartbeat announced that the executor leaves
    Duration next_in{};                    // as its last heartbeat announced
    int64_t sent_us = 0;                   // of that one, by the clock of its host
    std::optional<SteadyTime> ended = {};  // its stream, and it was not heard since
    // When the first task was published that it did not claim in time. It was not heard since.
    std::optional<SteadyTime> asked = {};
    // What routing has seen of the last heartbeats.
    bool listed = false;  // attempts
    bool stirred = true;  // something else happened since: the next one counts, whatever it says
    ExecutorLoad routed_load;
  };
  struct Newcomer {
    Incarnation incarnation;
    SteadyTime since;
  };
  void AcceptLocked(const ExecutorRecord& record, SteadyTime now) REQUIRES(mu_);
  static ExecutorView TakeView(Known& known);
  void FollowBreaker(Known& known, SteadyTime now) REQUIRES(mu_);
  static bool SaysNew(const Known& known, const Heartbeat& heartbeat);
  ExecutorState StateOf(const Known& known, SteadyTime now) const;
  void SetState(Known& known, ExecutorState state) REQUIRES(mu_);
  void ForgetLocked(SteadyTime now) REQUIRES(mu_);
  std::vector<ExecutorRecord> TakeLocked(std::set<ExecutorId>& ids) REQUIRES(mu_);

  const Options options_;
  mutable Mutex mu_;
  std::map<ExecutorId, Known> known_ GUARDED_BY(mu_);
  std::map<ExecutorId, Newcomer> newcomers_ GUARDED_BY(mu_);
  // For TakeChanges. An executor in this set that is not in `known_` was forgotten.
  std::set<ExecutorId> changed_ GUARDED_BY(mu_);
  std::set<ExecutorId> switched_ GUARDED_BY(mu_);    // for TakeSwitched
  std::set<ExecutorId> unreported_ GUARDED_BY(mu_);  // for TakeStateChanges
  std::set<ExecutorId> fallen_ GUARDED_BY(mu_);      // for TakeFallen
  bool state_changed_ GUARDED_BY(mu_) = false;
  std::atomic<Duration> quiet_heartbeat_;
};

}  // namespace carillon::scheduler
