// A member of the scheduler and an executor's host, as the world runs them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/metrics.h"
#include "executor/app/executor_daemon.h"
#include "scheduler/app/member.h"
#include "tests/sim/sim_process.h"
#include "tests/sim/sim_warden.h"
#include "tests/sim/world.h"
#include "tests/support/fault_messages.h"
#include "tests/support/fault_store.h"

namespace carillon::sim {

class SchedulerProcess final : public SimProcess, private test::CallGate {
 public:
  SchedulerProcess(World& world, size_t number);
  ~SchedulerProcess() override;

  const Incarnation& incarnation() const { return incarnation_; }
  // Stops it inside its next store call, before or after the call does its work.
  void StopInNextCall(Duration wait) { stop_in_call_ = wait; }
  const scheduler::Member* member() const { return member_.get(); }
  void Nudge(SegmentId segment);
  // Ends the faults of what it holds.
  void Calm();

 private:
  struct Ports;

  void Create() override;
  void Destroy() override;
  test::CallFate Enter(std::string_view call, bool is_fenced_write) override;
  bool Leave() override;
  void Later(std::function<void()> write) override;
  void Wrote(std::string_view call, const Fence& fence) override;
  void Answered(const std::vector<ClaimRequest>& requests,
                const std::vector<ClaimReply>& replies) override;
  void Wait();

  World& world_;
  const size_t number_;
  HostClock clock_of_host_;
  int started_ = 0;
  Incarnation incarnation_;
  std::optional<Duration> stop_in_call_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<scheduler::Member> member_;
};

class ExecutorProcess final : public SimProcess {
 public:
  ExecutorProcess(World& world, size_t number);
  ~ExecutorProcess() override;

  const ExecutorId& id() const { return id_; }
  SimWardenHost& warden() { return warden_; }
  const SimWardenHost& warden() const { return warden_; }
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
  int started_ = 0;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<executor::ExecutorDaemon> daemon_;
};

}  // namespace carillon::sim
