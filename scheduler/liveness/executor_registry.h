// Keeps the executors in the store and in memory in step. Writes registrations and health to the
// store, and reads the switches (enabled, draining, labels) from the store.
//
// Threads  One loop calls Step; Nudge is thread-safe.
// Errors   Store unavailable: the link accepts an executor that was already known, and its
//          registration is written once the store is back. Other executors repeat their request.
// Always   A process whose row is already as it registers is accepted without a write, so that a
//          member that was restarted writes nothing. In a large fleet the switches are read, and
//          load and heartbeats written, less often: a stored heartbeat may be 45 s old.
#pragma once

#include <atomic>
#include <map>
#include <optional>

#include "scheduler/liveness/link_service.h"
#include "scheduler/liveness/stored_hosts.h"

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
    Duration refresh_every = 2s;  // between two reads of the switches; more for many executors
    Duration write_every = 5s;    // between two writes of load and heartbeats; of many, of a part
    // For executors that are in the store but never had a link to this member: at least 90 s,
    // because the store has their heartbeats late. None in the first 30 s.
    Duration lost_after = 10s;
  };
  ExecutorRegistry(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;
  // Makes the next Step refresh from the store at once.
  void Nudge() { nudged_ = true; }
  // Of the last refresh, for two of its intervals.
  StoredHosts& stored_hosts() { return stored_hosts_; }

 private:
  // Returns false if the store does not take registrations now.
  bool RegisterWaiting(SteadyTime now);
  bool AcceptAsStored(const RegisterArrival& arrival, SteadyTime now);
  Status WriteRegistrations(SteadyTime now);
  void NoteRegistered(const ExecutorRecord& stored, SteadyTime now);
  bool IsAccepted(const LeaseHolder& executor) const;
  void Accept(const LeaseHolder& executor, const ExecutorRecord& stored, SteadyTime now);
  void Refuse(const LeaseHolder& executor, const Error& error);
  void Refresh(SteadyTime now);
  void WriteHealth(SteadyTime now);
  void WriteStates();
  void WriteAbilities(const std::vector<ExecutorRecord>& linked);
  void Write(const std::vector<ExecutorRecord>& rows);
  void AddSilent(const std::vector<ExecutorRecord>& linked, std::vector<ExecutorRecord>& silent);
  void KeepPart(std::vector<ExecutorRecord>& rows);

  const Ports ports_;
  const Options options_;
  std::atomic<bool> nudged_{false};
  std::optional<SteadyTime> first_step_;
  SteadyTime next_refresh_{};
  SteadyTime next_write_{};
  std::map<ExecutorId, RegisterArrival> waiting_;  // to be written; the latest of each executor
  std::map<ExecutorId, ExecutorRecord> stored_;    // the store's executors at the last refresh
  StoredHosts stored_hosts_;
  ExecutorId written_to_;  // the last executor of the part whose health was written last
};

}  // namespace carillon::scheduler
