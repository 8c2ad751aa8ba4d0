// Decides whether a lane may claim more work, and counts its free slots.
//
// Place    Step 7 of docs/life-of-a-run.md; under ExecutorCore.
// Threads  SetSlots, slots, Drain and draining are thread-safe; the core loop calls all others.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "executor/agent/attempt_runner.h"
#include "executor/agent/executor_daemon.h"
#include "executor/agent/start_rate.h"
#include "executor/checkpoints/checkpoint_sender.h"
#include "executor/report/result_sender.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class ClaimGate {
 public:
  // Limits of the results that are not applied yet. From kReportingMax results on, no process is
  // claimed. Above kReportingBytesMax bytes of output, nothing is claimed.
  static constexpr int kReportingMax = 8192;
  static constexpr size_t kReportingBytesMax = 64u << 20;
  // Above this many bytes of checkpoints that are not on disk yet, nothing is claimed, because the
  // reply to a claim may bring another checkpoint.
  static constexpr size_t kPlacingBytesMax = 64u << 20;

  struct Rooms {
    const RunTable& runs;
    const AttemptRunner& runner;
    const ResultSender& sender;
    const CheckpointSender& saver;
    Warden& warden;
  };
  ClaimGate(const ExecutorOptions& options, Rooms rooms)
      : rooms_(rooms),
        light_slots_(options.light_slots),
        slots_(options.tuning.slots),
        rate_(options.tuning.starts_per_second) {}

  void SetSlots(int slots) { slots_.store(slots); }
  int slots() const { return slots_.load(); }
  // After the call Accepts returns false.
  void Drain() { draining_.store(true); }
  bool draining() const { return draining_.load(); }

  // The attempts that the warden runs for an earlier daemon are known. Until then no process is
  // claimed, because they may occupy slots.
  void OpenProcesses() { processes_open_ = true; }

  // Call Accepts and FreeSlots only after the spool was loaded: its results count towards the
  // limits above and may occupy slots. Accepts does not look at the free slots.
  bool Accepts(Lane lane) const;
  int FreeSlots(Lane lane) const;  // not of kHandler
  int FreeSlots(const std::string& handler) const;
  // Of the processes, to be asked after a free slot was found.
  StartRate& rate() { return rate_; }
  const StartRate& rate() const { return rate_; }
  // What the workers offer now.
  void SetOffers(std::shared_ptr<const HandlerOffers> offers) { offers_ = std::move(offers); }
  const std::shared_ptr<const HandlerOffers>& offers() const { return offers_; }

 private:
  const Rooms rooms_;
  const int light_slots_;
  std::atomic<int> slots_;
  StartRate rate_;
  std::shared_ptr<const HandlerOffers> offers_ = std::make_shared<HandlerOffers>();
  std::atomic<bool> draining_{false};
  bool processes_open_ = false;
};

}  // namespace carillon::executor
