// Every attempt this daemon knows, and the slots the attempts occupy.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the core loop owns it.
// Always   An attempt is known once, by (run, attempt), so a task delivered again is recognised. A
//          process occupies a slot from its claim to its end. An in-process attempt occupies its
//          slot until its result is applied, which bounds the results that wait to be reported.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/domain/job/job_types.h"
#include "common/ports/executor_host.h"
#include "common/wire/messages/task_codec.h"
#include "executor/runs/run_machine.h"

namespace carillon::executor {

// Processes, in-process attempts and handlers have separate queues and slots; each handler has its
// own slots.
enum class Lane { kProcess = 0, kLight = 1, kHandler = 2 };
inline constexpr size_t kLanes = 3;
constexpr Lane LaneOf(Runner runner) {
  if (runner == Runner::kWarden) return Lane::kProcess;
  return runner == Runner::kWorker ? Lane::kHandler : Lane::kLight;
}

// The identity of an attempt.
struct AttemptId {
  RunKey key;
  int attempt = 1;

  auto operator<=>(const AttemptId&) const = default;
};
inline AttemptId IdOf(const HeldAttempt& held) { return {held.key, held.attempt}; }
struct AttemptIdHash {
  size_t operator()(const AttemptId& id) const noexcept {
    return std::hash<RunKey>{}(id.key) * 31 + static_cast<size_t>(id.attempt);
  }
};

// All that the daemon knows of one attempt. A field whose comment names a stage is valid
// only in that stage.
struct RunEntry {
  AttemptId id;
  HeldAttempt held;  // has a token from the claim on
  RunStage stage = RunStage::kQueued;
  Runner runner = Runner::kWarden;
  std::string handler = {};  // kWorker: "app/name"
  TaskMessage task;          // the task's command is dropped once the attempt is started
  // Kept from the accepted claim until the start.
  SecretValues secrets;
  std::optional<std::string> checkpoint = {};
  // The member that the attempt was claimed from; later the member that last renewed its lease.
  MemberId member;
  SteadyTime since{};    // kQueued: arrival; kClaiming: first request; kStarting: its beginning
  SteadyTime asked{};    // kClaiming: latest request
  SteadyTime renewed{};  // latest renewal of the lease
  SteadyTime lease_end{};
  bool kill_at_lease_end = true;
  bool holds_slot = false;
  bool cancel_asked = false;
  bool silent = false;  // kWorker: AttemptSilent
  bool saves = false;   // kWorker: it has sent progress or a checkpoint, or got one, or may have
  size_t output_bytes = 0;  // kReporting

  Lane lane() const { return LaneOf(runner); }
};

class RunTable {
 public:
  RunEntry* Find(const AttemptId& id);
  // Returns the entry of this attempt if it was claimed with the same token; else null.
  RunEntry* FindHeld(const HeldAttempt& held);
  // `entry.id` must not be known yet.
  RunEntry& Insert(RunEntry entry);
  // Changes the stage and keeps the counts; kGone erases the entry and invalidates the reference.
  void Move(RunEntry& entry, RunStage stage);
  // Takes a slot for the entry, or gives it back. An unanswered claim gives its slot back. If the
  // claim is accepted later, the entry takes a slot again.
  void SetSlot(RunEntry& entry, bool holds);

  int used(Lane lane) const { return used_[static_cast<size_t>(lane)]; }
  int used(const std::string& handler) const {
    const auto found = used_by_handler_.find(handler);
    return found == used_by_handler_.end() ? 0 : found->second;
  }
  int count(RunStage stage) const { return counts_[static_cast<size_t>(stage)]; }
  size_t reporting_bytes() const { return reporting_bytes_; }
  size_t size() const { return entries_.size(); }
  // `visit` must not insert or erase.
  void ForEach(const std::function<void(RunEntry&)>& visit);
  std::vector<AttemptId> InStage(RunStage stage) const;
  void AddOutput(RunEntry& entry, size_t bytes);

 private:
  std::unordered_map<AttemptId, RunEntry, AttemptIdHash> entries_;
  std::array<int, 6> counts_{};
  std::array<int, kLanes> used_{};
  std::unordered_map<std::string, int> used_by_handler_;  // without zeros
  size_t reporting_bytes_ = 0;
};

}  // namespace carillon::executor
