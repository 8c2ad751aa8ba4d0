// Reads what executors send and answers what can be answered from memory; tells them, unasked, what
// people changed for them.
//
// Place    Step 7 of docs/life-of-a-run.md. Registers go on to executor_registry.h, claims to
//          claims/claim_applier.h; heartbeats are answered here.
// Threads  One loop calls Step. Never waits for the store: leases are renewed while it is away.
// Always   A queue that is full drops the message and counts it; executors send again.
#pragma once

#include "common/base/bounded_queue.h"
#include "common/base/clock.h"
#include "common/base/live_settings.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/executor_link.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/liveness/applied_memory.h"
#include "scheduler/liveness/executor_table.h"
#include "scheduler/liveness/lease_table.h"

namespace carillon::scheduler {

struct ClaimArrival {
  LeaseHolder from;
  SteadyTime received;
  ClaimBatch batch;
};
using ClaimQueue = BoundedQueue<ClaimArrival>;

struct RegisterArrival {
  LeaseHolder from;
  ExecutorRecord record;
};
using RegisterQueue = BoundedQueue<RegisterArrival>;

class LinkService final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    ExecutorHub& hub;
    const ClusterClock& cluster;
    LeaseTable& leases;
    ExecutorTable& executors;
    const AppliedMemory& applied;
    const LiveSettings& settings;
    ClaimQueue& claims;
    RegisterQueue& registers;
    Metrics& metrics;
  };
  struct Options {
    Duration lease = 20s;
    Duration heartbeat = 2s;
    std::function<void()> executors_changed;  // wakes the firing loop
    std::function<void()> state_changed;      // of an executor: wakes who writes it
  };
  LinkService(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

 private:
  void Handle(const LeaseHolder& from, Register& message);
  void Handle(const LeaseHolder& from, Heartbeat& message);
  void Handle(const LeaseHolder& from, ClaimBatch& message);
  void Send(const LeaseHolder& to, ToExecutor message);
  void JudgeHealth(SteadyTime now);
  void PushChanges();
  // Unasked: enabled, draining and the live settings.
  void SendStanding(const ExecutorRecord& record);

  const Ports ports_;
  const Options options_;
  SteadyTime next_health_{};
  int64_t pushed_version_ = 0;  // of the settings
};

}  // namespace carillon::scheduler
