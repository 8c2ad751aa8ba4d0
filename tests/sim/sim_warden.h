// The warden and the spool of one simulated host. They survive the daemon; the warden itself can
// die and come back, as the real one does with what its journal says.
//
// Processes do what their command says: "ms=1500 exit=0 term=100" runs 1.5 s, exits with 0, and
// dies 100 ms after SIGTERM (term=-1: only by SIGKILL); "failures=2" makes the first two attempts
// exit with 1.
//
// Time     The host's steady clock. Lease rules are the warden's own
// (executor/warden/lease_watch.h).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/ports/executor_host.h"
#include "tests/sim/host_clock.h"

namespace carillon::sim {

using AttemptName = std::pair<RunKey, int>;
inline AttemptName NameOf(const HeldAttempt& held) { return {held.key, held.attempt}; }

// What the checkers are told.
class WardenObserver {
 public:
  virtual ~WardenObserver() = default;
  virtual void ProcessStarted(const ExecutorId& host, const StartAttempt& start) = 0;
  virtual void AttemptEndedOnDisk(const ExecutorId& host, const AttemptEnded& ended) = 0;
  // Leases of `count` processes now end `ahead` from now.
  virtual void LeasesRenewed(const ExecutorId& host, size_t count, Duration ahead) = 0;
};

class SimWarden;

class SimWardenHost {
 public:
  struct Ports {
    const ExecutorId host;
    HostClock& clock;
    WardenObserver& observer;
  };
  explicit SimWardenHost(Ports ports) : ports_(std::move(ports)) {}

  // ---- faults
  void Kill();     // with everything it runs (PR_SET_PDEATHSIG)
  void Restart();  // with its journal
  void Pause(Duration wait);
  void SetDiskFull(bool full) { disk_full_ = full; }
  bool up() const { return up_; }

  // ---- the simulator's turn: acts on what is due; returns when it next wants one (host time)
  void Step();
  SteadyTime NextStep() const;

  // A process of this run that is alive now, other than attempt `except`.
  bool IsAlive(const RunKey& key, int except = 0) const;
  size_t alive() const;
  size_t unreported() const { return ended_.size() + spool_.size(); }

  // ---- the daemon's side
  std::unique_ptr<Warden> Connect();
  ResultSpool& spool() { return *spool_port_; }

 private:
  friend class SimWarden;
  friend class SimSpool;

  struct Process {
    StartAttempt start;
    WallTime started;
    SteadyTime exits_at;  // by itself
    SteadyTime times_out_at;
    int exit_code = 0;
    Duration term{};  // from SIGTERM to death; negative: ignores it
    // Why it is being ended, and when it is dead of it at the latest.
    std::optional<AttemptResult> ending;
    SteadyTime dies_at = SteadyTime::max();
  };
  enum class Grace { kGiven, kNone };

  void Do(const StartAttempt& start);
  void Launch(const StartAttempt& start);
  void Renew(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end);
  void End(Process& process, RunState state, std::string_view why, Grace grace);
  void Watch(Process& process);
  void Reap();
  void Record(const AttemptEnded& ended);
  bool Acts() const { return up_ && ports_.clock.Steady() >= paused_until_; }

  const Ports ports_;
  std::unique_ptr<ResultSpool> spool_port_ = MakeSpool();
  std::unique_ptr<ResultSpool> MakeSpool();

  bool up_ = true;
  bool disk_full_ = false;
  SteadyTime paused_until_{};
  SteadyTime stepped_{};                    // last
  std::deque<std::function<void()>> pipe_;  // what the daemon said and was not yet read
  std::map<AttemptName, Process> running_;
  // ---- on disk
  std::set<AttemptName> known_;  // never started again
  std::map<AttemptName, AttemptEnded> ended_;
  std::map<AttemptName, HeldAttempt> open_starts_;
  std::vector<AttemptEnded> spool_;

  SimWarden* connection_ = nullptr;
};

}  // namespace carillon::sim
