// The scheduler's end of the control link. Receives the executors' messages, and answers those that
// can be answered from memory. Pushes changed switches, settings and intervals to the executors,
// and ends the streams of those that are lost.
//
// Place    Step 7 of docs/life-of-a-run.md. Registrations go to executor_registry.h, and claims to
//          claims/claim_applier.h. Heartbeats are answered here.
// Threads  One loop calls Step. Step never waits for the store, so that leases are renewed while
//          the store is unavailable.
// Always   If a queue is full, the message is dropped and counted. Executors send it again.
#pragma once

#include "common/base/clock.h"
#include "common/base/live_settings.h"
#include "common/base/loops/bounded_queue.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/executor_link.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/liveness/applied_memory.h"
#include "scheduler/liveness/executor_table.h"
#include "scheduler/liveness/lease_table.h"

namespace carillon::scheduler {

// A batch of claims, with its time of arrival and the sender that the link has authenticated.
struct ClaimArrival {
  LeaseHolder from;
  SteadyTime received;
  ClaimBatch batch;
};
using ClaimQueue = BoundedQueue<ClaimArrival>;

// A registration with the sender that the link has authenticated.
struct RegisterArrival {
  LeaseHolder from;
  ExecutorRecord record;
};
using RegisterQueue = BoundedQueue<RegisterArrival>;

// A save of an attempt, with the sender that the link has authenticated.
struct SaveArrival {
  LeaseHolder from;
  RunSave save;
};
using SaveQueue = BoundedQueue<SaveArrival>;

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
    SaveQueue& progress;     // saves without a checkpoint
    SaveQueue& checkpoints;  // fewer, because each may have a mebibyte
    Metrics& metrics;
    std::function<void()> executors_changed;  // wakes the firing loop
    std::function<void()> state_changed;      // wakes the registry, which writes executor states
  };
  struct Options {
    Duration lease = 20s;     // sent with each answer to a heartbeat
    Duration heartbeat = 2s;  // the interval that executors are to use
  };
  LinkService(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

 private:
  void Handle(const LeaseHolder& from, Register& message);
  void Handle(const LeaseHolder& from, Heartbeat& message);
  void Handle(const LeaseHolder& from, ClaimBatch& message);
  void Handle(const LeaseHolder& from, CarriedRecord& message);
  void Handle(const LeaseHolder& from, AttemptSave& message);
  void Send(const LeaseHolder& to, ToExecutor message);
  bool MayJudge(SteadyTime now);
  void JudgeHealth(SteadyTime now);
  void PushChanges();
  void TellPace(SteadyTime now);
  // Sends the executor's switches (enabled, draining), the live settings and the intervals.
  void SendStanding(const ExecutorRecord& record);

  const Ports ports_;
  const Options options_;
  SteadyTime next_health_{};
  std::optional<SteadyTime> stepped_;
  bool catches_up_ = false;  // after a stop of this process
  int full_steps_ = 0;       // in a row, that did not read all messages
  PaceTelling telling_;
  std::vector<ExecutorId> to_tell_;  // a changed interval
  size_t told_ = 0;                  // of these
  int64_t pushed_version_ = 0;  // the latest version of the settings that was sent to executors
};

}  // namespace carillon::scheduler
