// Decides whether a lane may claim more work, and counts its free slots.
//
// Place    Step 7 of docs/life-of-a-run.md; under ExecutorCore.
// Threads  SetSlots, slots, Drain and draining are thread-safe; the rest is the core loop's.
#pragma once

#include <atomic>

#include "executor/agent/attempt_runner.h"
#include "executor/agent/executor_daemon.h"
#include "executor/report/result_sender.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class ClaimGate {
 public:
  // Unapplied results; at the limit no process is claimed.
  static constexpr int kReportingMax = 8192;
  static constexpr size_t kReportingBytesMax = 64u << 20;

  struct Rooms {
    const RunTable& runs;
    const AttemptRunner& runner;
    const ResultSender& sender;
    Warden& warden;
  };
  ClaimGate(const ExecutorOptions& options, Rooms rooms)
      : rooms_(rooms), light_slots_(options.light_slots), slots_(options.tuning.slots) {}

  void SetSlots(int slots) { slots_.store(slots); }
  int slots() const { return slots_.load(); }
  // Nothing is accepted any more.
  void Drain() { draining_.store(true); }
  bool draining() const { return draining_.load(); }

  // Ask only when it is known what an earlier daemon left.
  bool Accepts(Lane lane) const;
  int FreeSlots(Lane lane) const;

 private:
  const Rooms rooms_;
  const int light_slots_;
  std::atomic<int> slots_;
  std::atomic<bool> draining_{false};
};

}  // namespace carillon::executor
