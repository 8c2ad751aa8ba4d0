// Takes tasks off the bus and queues them, both new ones and ones that were published again.
//
// Place    Between steps 6 and 7 of docs/life-of-a-run.md; under ExecutorCore.
// Threads  The core loop.
// Errors   A task for which there is no room is counted and dropped; its owner publishes it again.
//          While a queue is full, the tasks wait on the bus.
#pragma once

#include <optional>

#include "executor/agent/claim_gate.h"
#include "executor/agent/executor_daemon.h"
#include "executor/agent/lane_queues.h"
#include "executor/agent/open_claims.h"
#include "executor/intake/cluster_time.h"
#include "executor/intake/task_intake.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class TaskAdmission {
 public:
  // Largest record that a broker accepts.
  static constexpr size_t kRecordBytesMax = size_t{1} << 20;
  static constexpr size_t kRecordsPerStep = 64;
  static constexpr Duration kQueueWaitMax = 10s;

  struct Rooms {
    RunTable& runs;
    LaneQueues& queues;
    OpenClaims& claims;
    const ClaimGate& gate;
  };
  TaskAdmission(const ExecutorDaemon::Ports& ports, const ExecutorOptions& options, Rooms rooms);

  // Approximate memory that a task holds.
  static size_t BytesOf(const TaskMessage& task);

  // Takes the cluster time that a member sent, by which expired tasks on the bus are recognised.
  void LearnTime(const std::optional<WallTime>& told, SteadyTime now);
  // Returns true if the bus may have more.
  bool TakeTasks(SteadyTime now);
  // Drops tasks that waited longer than kQueueWaitMax. Their owner publishes them again, to another
  // executor or to this one.
  void DropExpired(SteadyTime now);

 private:
  void Admit(TaskMessage task, SteadyTime now);
  void Enqueue(TaskMessage task, SteadyTime now);

  const ExecutorDaemon::Ports& ports_;
  const Rooms rooms_;
  TaskIntake intake_;
  ClusterTime cluster_time_;
  bool clock_logged_ = false;  // a wrong clock of this host was logged
};

}  // namespace carillon::executor
