// Durable record of the attempts that the warden started and of how they ended.
//
// Threads  Not thread-safe; the warden's loop. The device has a thread of its own.
// Errors   PrepareStart: kExhausted when the end could not be recorded. Step: see segment_log.h;
//          nothing of it is lost, it is tried again.
// Always   Nothing waits for the device but Open. Room for the end of each start is set aside
//          before the start is recorded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/ports/executor_host.h"
#include "executor/journal/segment_log.h"

namespace carillon::executor {

// (run, attempt): what may start once.
struct AttemptName {
  RunKey key;
  int attempt = 1;

  auto operator<=>(const AttemptName&) const = default;
};
inline AttemptName NameOf(const HeldAttempt& held) { return {held.key, held.attempt}; }

struct AttemptNameHash {
  size_t operator()(const AttemptName& name) const noexcept {
    return std::hash<RunKey>{}(name.key) * 31 + static_cast<size_t>(name.attempt);
  }
};

// A start whose end was never recorded: its warden died.
struct OpenStart {
  HeldAttempt attempt;
  JobId job_id;
  WallTime started;
  SegmentLog::RecordId record = 0;
};
struct RecordedEnd {
  HeldAttempt attempt;
  SegmentLog::RecordId record = 0;
};

class WardenJournal {
 public:
  struct Contents {
    std::vector<OpenStart> open_starts;
    std::vector<RecordedEnd> ends;
    size_t unreadable = 0;
  };
  // Creates `directory` when missing.
  static Result<std::unique_ptr<WardenJournal>> Open(const std::string& directory, size_t bytes_max,
                                                     std::unique_ptr<JournalDevice> device,
                                                     Contents* contents);

  // Nullopt: room for its end is being made, ask again after a step (kAgain). A refusal is never an
  // old one: when it is asked for the first time, the disk is asked too.
  enum class Asked { kFirst, kAgain };
  Result<std::optional<SegmentLog::RecordId>> PrepareStart(const StartAttempt& start, WallTime now,
                                                           Asked asked);
  // `start` 0 = nothing was recorded of the start; `reserved` as given to PrepareStart.
  Result<SegmentLog::RecordId> PrepareEnd(const AttemptEnded& ended, SegmentLog::RecordId start);
  void ReleaseReserve(size_t output_bytes_max);
  void Remove(SegmentLog::RecordId record) { log_->Remove(record); }
  // What was prepared so far, and how far the device is: enough for starts when written, for ends
  // when synced. docs/adr/0005 says why.
  SegmentLog::Position last() const { return log_->last(); }
  SegmentLog::Position written() const { return log_->written(); }
  SegmentLog::Position synced() const { return log_->synced(); }
  bool dirty() const { return log_->dirty(); }
  void WantSync(SegmentLog::Position position) { log_->WantSync(position); }
  Status Step() { return log_->Step(); }
  // Nullopt: it is being read, ask again after a step. kCorrupt when its bytes are gone.
  std::optional<Result<AttemptEnded>> ReadEnd(SegmentLog::RecordId record);

  // Keeps some space aside for starts that were claimed before the device was full. kExhausted:
  // there is none left, nothing should be claimed. False: it is being made.
  Result<bool> EnsureHeadroom();
  SegmentLog& log() { return *log_; }

 private:
  WardenJournal(std::unique_ptr<SegmentLog> log, size_t bytes_max)
      : log_(std::move(log)), bytes_max_(bytes_max) {}

  std::unique_ptr<SegmentLog> log_;
  const size_t bytes_max_;
  bool headroom_ = false;
};

}  // namespace carillon::executor
