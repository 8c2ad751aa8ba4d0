// The warden and the result spool of one simulated host. Both survive the daemon. The warden can be
// killed and restarted; like the real warden, it then continues from its journal.
//
// The command decides how a process behaves: "ms=1500 exit=0 term=100" runs for 1.5 s, exits with
// 0, and dies 100 ms after SIGTERM (term=-1: only by SIGKILL); "failures=2" makes the first two
// attempts exit with 1.
//
// Time     The host's steady clock, with the lease rules of the real warden
//          (executor/leases/lease_watch.h).
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

// Receives the events that the checker needs.
class WardenObserver {
 public:
  virtual ~WardenObserver() = default;
  virtual void ProcessStarted(const ExecutorId& host, const StartAttempt& start) = 0;
  virtual void AttemptEndedOnDisk(const ExecutorId& host, const AttemptEnded& ended) = 0;
  // The leases of `count` processes were renewed: they now end `ahead` from now.
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
  void Kill();     // its processes die too (PR_SET_PDEATHSIG)
  void Restart();  // continues from its journal
  void Pause(Duration wait);
  void SetDiskFull(bool full) { disk_full_ = full; }
  bool up() const { return up_; }

  // ---- for the simulator. Step does what is due; NextStep: when to call it next (host time)
  void Step();
  SteadyTime NextStep() const;

  // True if a process of this run is alive; the process of attempt `except` does not count.
  bool IsAlive(const RunKey& key, int except = 0) const;
  size_t alive() const;
  size_t unreported() const { return ended_.size() + spool_.size(); }

  // ---- for the daemon
  std::unique_ptr<Warden> Connect();
  ResultSpool& spool() { return *spool_port_; }

 private:
  friend class SimWarden;
  friend class SimSpool;

  struct Process {
    StartAttempt start;
    WallTime started;
    SteadyTime exits_at;  // if nothing ends it earlier
    SteadyTime times_out_at;
    int exit_code = 0;
    Duration term{};  // from SIGTERM to death; negative: ignores it
    // `ending`: the reason why it is being ended, if it is. It is dead by `dies_at` at the latest.
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
  SteadyTime stepped_{};                    // when Step last ran
  std::deque<std::function<void()>> pipe_;  // messages of the daemon that are not yet read
  std::map<AttemptName, Process> running_;
  // ---- on disk
  std::set<AttemptName> known_;  // attempts that must never be started again
  std::map<AttemptName, AttemptEnded> ended_;
  std::map<AttemptName, HeldAttempt> open_starts_;
  std::vector<AttemptEnded> spool_;

  SimWarden* connection_ = nullptr;
};

}  // namespace carillon::sim
