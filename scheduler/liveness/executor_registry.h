// The store's side of executors: registers them, keeps their switches fresh, records their health.
//
// Threads  One loop calls Step; Nudge is thread-safe.
// Errors   Store away: the link has registered again who was known already, which is written when
//          it is back; others ask again.
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
  };
  struct Options {
    Duration heartbeat = 2s;  // told to who registers
    Duration refresh_every = 2s;
    Duration write_every = 5s;
    Duration lost_after = 10s;
    std::function<bool()> writes_health;      // only one member (the leader) does
    std::function<void()> executors_changed;  // wakes the firing loop and the link
  };
  ExecutorRegistry(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;
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
  std::map<ExecutorId, RegisterArrival> waiting_;  // to be written; the newest of each
  std::vector<ExecutorRecord> stored_;             // as of the last refresh
};

}  // namespace carillon::scheduler
