// Keeps the executors in the store and in memory in step. Writes registrations and health to the
// store, and reads the switches (enabled, draining, labels) from the store.
//
// Threads  One loop calls Step; Nudge is thread-safe.
// Errors   Store unavailable: the link accepts an executor that was already known, and its
//          registration is written once the store is back. Other executors repeat their request.
#pragma once

#include <atomic>
#include <map>

#include "scheduler/liveness/link_service.h"

namespace carillon::scheduler {

class ExecutorRegistry final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    ExecutorStore& store;
    ExecutorHub& hub;
    const ClusterClock& cluster;
    ExecutorTable& executors;
    RegisterQueue& registers;
    const LiveSettings& settings;
    Metrics& metrics;
    std::function<bool()> writes_health;      // true on one member only, the leader
    std::function<void()> executors_changed;  // wakes the firing loop and the link
  };
  struct Options {
    Duration heartbeat = 2s;      // the interval that executors are to use
    Duration refresh_every = 2s;  // between two reads of the switches from the store
    Duration write_every = 5s;    // between two writes of the health of all executors to the store
    // For executors that are in the store but never had a link to this member.
    Duration lost_after = 10s;
  };
  ExecutorRegistry(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;
  // Makes the next Step refresh from the store at once.
  void Nudge() { nudged_ = true; }

 private:
  void RegisterWaiting(SteadyTime now);
  bool IsAccepted(const LeaseHolder& executor) const;
  void Accept(const LeaseHolder& executor, const ExecutorRecord& stored, SteadyTime now);
  void Refuse(const LeaseHolder& executor, const Error& error);
  void Refresh(SteadyTime now);
  void WriteHealth(SteadyTime now);
  void WriteStates();
  void Write(const std::vector<ExecutorRecord>& rows);

  const Ports ports_;
  const Options options_;
  std::atomic<bool> nudged_{false};
  SteadyTime next_refresh_{};
  SteadyTime next_write_{};
  std::map<ExecutorId, RegisterArrival> waiting_;  // to be written; the latest of each executor
  std::vector<ExecutorRecord> stored_;             // the store's executors at the last refresh
};

}  // namespace carillon::scheduler
