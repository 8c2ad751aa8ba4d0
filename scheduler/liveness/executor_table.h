// The executors that have a link to this member: which process, how healthy, how much room.
//
// Place    Steps 5 and 7 of docs/life-of-a-run.md.
// Threads  Thread-safe. TakeChanges has one consumer, the firing loop; TakeSwitched the link loop.
// Time     `now` is this member's steady clock.
// Always   One incarnation for each id: a second one is accepted only when the first has fallen
//          silent, and refused when the first is heard again while the second waits.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/base/mutex.h"
#include "common/ports/executor_link.h"
#include "scheduler/liveness/executor_health.h"

namespace carillon::scheduler {

// What routing needs to know.
struct ExecutorView {
  ExecutorId id;
  Incarnation incarnation = {};
  bool usable = false;     // online, not leaving, enabled, not draining
  bool forgotten = false;  // not known any more; the rest says nothing
  std::map<std::string, std::string> labels = {};
  int slots = 0;
  int free_slots = 0;  // as of the last heartbeat
  int free_light_slots = 0;
  uint64_t heartbeats = 0;  // how many were heard: tells a new report from an old one
  bool takes_secrets = false;
  // The words of that heartbeat on single attempts; empty when it was passed on before.
  std::vector<HeldAttempt> claiming = {};
  std::vector<HeldAttempt> running = {};
  std::vector<HeldAttempt> reporting = {};
};

class ExecutorTable {
 public:
  struct Options {
    HealthRules health = {};
    Duration incarnation_wait = 6s;
    size_t executors_max = 20'000;
    Duration lost_kept = 1h;  // one that is silent for longer is forgotten; it registers anew
  };
  explicit ExecutorTable(Options options) : options_(options) {}

  enum class Admission {
    kAdmit,   // register it in the store, then Accept
    kWait,    // another incarnation was heard lately and did not leave: no answer yet
    kRefuse,  // another incarnation is alive
    kFull,    // executors_max are known
  };
  Admission Admit(const ExecutorRecord& record, SteadyTime now);
  // Accepts another process of an executor that is known, with the switches that are known of it;
  // nullopt: it is not known, and the store has to tell.
  std::optional<ExecutorRecord> AcceptKnown(ExecutorRecord record, SteadyTime now);
  // `record` as the store has it.
  void Accept(const ExecutorRecord& record, SteadyTime now);

  // False when this incarnation is not the accepted one: it must register again.
  bool Heard(const ExecutorId& id, const Incarnation& incarnation, const Heartbeat& heartbeat,
             WallTime wall, SteadyTime now);
  // Any other message is a sign of life too.
  bool HeardFrom(const ExecutorId& id, const Incarnation& incarnation, SteadyTime now);

  // enabled, draining and labels as the store has them.
  void Refresh(const std::vector<ExecutorRecord>& stored);
  // Judges silence, and forgets who has been silent for very long. Returns true if a state changed
  // since the last call.
  bool JudgeHealth(SteadyTime now);

  std::vector<ExecutorView> TakeChanges();
  // Those whose state changed since the last call, and that are still known.
  std::vector<ExecutorRecord> TakeStateChanges();
  // Those that were enabled, disabled or told to drain since the last call.
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
    bool takes_secrets = false;
    std::vector<HeldAttempt> claiming;  // these until they are passed on
    std::vector<HeldAttempt> running;
    std::vector<HeldAttempt> reporting;
    bool left = false;  // said so with its last heartbeat
  };
  struct Newcomer {
    Incarnation incarnation;
    SteadyTime since;
  };
  void AcceptLocked(const ExecutorRecord& record, SteadyTime now) REQUIRES(mu_);
  static ExecutorView TakeView(Known& known);
  ExecutorState StateOf(const Known& known, Duration silence) const;
  void SetState(Known& known, ExecutorState state) REQUIRES(mu_);
  void ForgetLocked(SteadyTime now) REQUIRES(mu_);

  const Options options_;
  mutable Mutex mu_;
  std::map<ExecutorId, Known> known_ GUARDED_BY(mu_);
  std::map<ExecutorId, Newcomer> newcomers_ GUARDED_BY(mu_);
  std::set<ExecutorId> changed_ GUARDED_BY(mu_);  // those that are not in known_ were forgotten
  std::set<ExecutorId> switched_ GUARDED_BY(mu_);
  std::set<ExecutorId> untold_ GUARDED_BY(mu_);  // their state
  bool state_changed_ GUARDED_BY(mu_) = false;
};

}  // namespace carillon::scheduler
