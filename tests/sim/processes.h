// The simulated processes: a member of the scheduler, and an executor with its warden.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/base/metrics/metrics.h"
#include "executor/agent/executor_daemon.h"
#include "scheduler/member/member.h"
#include "tests/sim/sim_process.h"
#include "tests/sim/sim_warden.h"
#include "tests/sim/world.h"
#include "tests/support/fault_messages.h"
#include "tests/support/faults/fault_stores.h"
#include "tests/support/no_users.h"
#include "tests/support/seeded_tokens.h"

namespace carillon::sim {

// A fault that an event triggers: `act` is called, and then the process or its call waits.
struct Hook {
  Duration wait;
  std::function<void()> act;
};

class SchedulerProcess final : public SimProcess, private test::CallGate {
 public:
  SchedulerProcess(World& world, size_t number);
  ~SchedulerProcess() override;

  const Incarnation& incarnation() const { return incarnation_; }
  // Stops the process inside its next store call, before or after the call takes effect.
  void StopInNextCall(Duration wait) { stop_in_call_ = wait; }
  // Calls `read` at the process's next read of epochs, and delays the answer by `wait`.
  void DelayNextProof(Duration wait, std::function<void()> read) {
    in_proof_ = Hook{wait, std::move(read)};
  }
  const scheduler::Member* member() const { return member_.get(); }
  uint64_t pause() const override { return paused_ ? pauses_ : 0; }
  // settings() and coordinator() return null while the process is not up.
  LiveSettings* settings();
  Coordinator* coordinator();
  void Nudge(const ChangedWork& work);
  // Ends the faults of this process's ports.
  void Calm();

 private:
  struct Ports;

  void Create() override;
  void Destroy() override;
  test::CallFate Enter(const test::StoreCall& call) override;
  bool Leave() override;
  // What a world lacks must not change it. Scans for completions have no faults, because one that
  // fails is only repeated.
  bool IsExempt(std::string_view call, bool finds_nothing) override {
    return finds_nothing || call == "ScanCompletions" || call == "ScanStuck";
  }
  void Later(std::function<void()> write) override;
  void Wrote(std::string_view call, const Fence& fence) override;
  void LosingBegins(const std::vector<LostReport>& reports) override;
  void LosingEnded(const std::vector<LostReport>& reports, bool answered) override;
  void Taken(const Fence& fence) override;
  void Sending(const ToExecutor& message);
  void Answered(const std::vector<ClaimRequest>& requests,
                const std::vector<ClaimReply>& replies) override;
  void Published(std::string_view topic);
  // True if the cluster was paused, as far as this process knows, since before the current turn
  // began. Such a turn must not plan, publish or accept a claim.
  bool MayStartNothing() const;
  void Wait();
  test::CallFate EnterHanging(const test::StoreCall& call);

  World& world_;
  const size_t number_;
  HostClock clock_of_host_;
  int started_ = 0;
  Incarnation incarnation_;
  std::optional<Duration> stop_in_call_;
  std::string call_;  // the store call in progress
  bool paused_ = false;
  uint64_t pauses_ = 0;
  bool claims_nothing_ = false;  // MayStartNothing() was true when the claim call began
  bool late_write_ = false;      // the write in progress began in an earlier turn
  std::optional<Hook> in_proof_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<scheduler::Member> member_;
};

class ExecutorProcess final : public SimProcess {
 public:
  // `id` is the name of another executor, which a person has given to this one, too.
  ExecutorProcess(World& world, size_t number, std::optional<ExecutorId> id = {});
  ~ExecutorProcess() override;

  const ExecutorId& id() const { return id_; }
  SimWardenHost& warden() { return warden_; }
  const SimWardenHost& warden() const { return warden_; }
  // True if a process or a request of this run is alive here; that of attempt `except` does
  // not count.
  bool IsAlive(const RunKey& key, int except) const;
  // Stops the process when its next claim is accepted, so that it reads the answer `wait` later.
  void StopAtAcceptance(Duration wait, std::function<void()> stopped) {
    at_acceptance_ = Hook{wait, std::move(stopped)};
  }
  void Accepted();
  void Calm();

 private:
  struct Ports;

  void Create() override;
  void Destroy() override;

  World& world_;
  const ExecutorId id_;
  HostClock clock_of_host_;
  SimWardenHost warden_;
  int slots_;
  std::optional<Hook> at_acceptance_;
  int started_ = 0;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<executor::ExecutorDaemon> daemon_;
};

}  // namespace carillon::sim
