// What the warden must not forget: which attempts were started, and how they ended.
//
// Threads  Not thread-safe; the warden's only one.
// Errors   PrepareStart: kExhausted when the end could not be recorded. Commit: see segment_log.h;
//          nothing of it is lost, it is tried again.
// Always   A start is on disk before its process acts, an end before anybody is told.
#pragma once

#include <memory>
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
                                                     Contents* contents);

  // Space for the end is set aside; durable with the next Commit.
  Result<SegmentLog::RecordId> PrepareStart(const StartAttempt& start, WallTime now);
  // `start` 0 = nothing was recorded of the start; `reserved` as given to PrepareStart.
  Result<SegmentLog::RecordId> PrepareEnd(const AttemptEnded& ended, SegmentLog::RecordId start);
  void ReleaseReserve(size_t output_bytes_max);
  void Remove(SegmentLog::RecordId record) { log_->Remove(record); }
  Status Commit() { return log_->Commit(); }
  bool dirty() const { return log_->dirty(); }
  // kCorrupt when its bytes are gone.
  Result<AttemptEnded> ReadEnd(SegmentLog::RecordId record);

  // Keeps some space aside for starts that were claimed before the device was full. kExhausted:
  // there is none left, nothing should be claimed.
  Status EnsureHeadroom();

 private:
  explicit WardenJournal(std::unique_ptr<SegmentLog> log, size_t bytes_max)
      : log_(std::move(log)), bytes_max_(bytes_max) {}

  std::unique_ptr<SegmentLog> log_;
  const size_t bytes_max_;
  bool headroom_ = false;
};

}  // namespace carillon::executor
