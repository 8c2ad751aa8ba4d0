// The requests of one simulated daemon. They end with it, and stand still while it is stopped.
//
// The URL decides how a server behaves: "http://sim/ms=1500" answers after 1.5 s; "failures=2"
// makes the first two attempts end with 503 and a Retry-After of 2 s.
//
// Time     The host's steady clock, with the lease rules of executor/leases/lease_watch.h.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/ports/http_runner.h"
#include "tests/sim/host_clock.h"
#include "tests/sim/sim_warden.h"

namespace carillon::sim {

class SimHttp final : public HttpRunner, public Stepper {
 public:
  static constexpr Duration kRetryAfter = 2s;

  struct Ports {
    const ExecutorId host;
    HostClock& clock;
    WardenObserver& observer;
    std::function<void()> wake;  // of this stepper
  };
  explicit SimHttp(Ports ports) : ports_(std::move(ports)) {}

  void Start(StartHttp start) override;
  Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) override;
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override;
  std::vector<AttemptEvent> Receive(size_t max) override;
  void OnReadable(std::function<void()> wake) override { readable_ = std::move(wake); }

  SteadyTime Step(SteadyTime now) override;

  // True if a request of this run is open whose lease allows it; that of attempt `except` does not
  // count. A stopped daemon cannot close a request, which docs/semantics.md says.
  bool IsAlive(const RunKey& key, int except) const;

 private:
  struct Request {
    StartHttp start;
    WallTime started;
    SteadyTime answers_at;
    SteadyTime times_out_at;
    bool fails = false;
    bool cancelled = false;
  };
  bool EndIfDue(const Request& request, SteadyTime now);

  const Ports ports_;
  std::map<AttemptName, Request> open_;
  std::deque<AttemptEvent> events_;
  std::function<void()> readable_;
};

}  // namespace carillon::sim
