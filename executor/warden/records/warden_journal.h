// Durable record of the attempts that the warden started, and of how they ended.
//
// Threads  Not thread-safe; the warden's loop. The device has a thread of its own.
// Errors   PrepareStart: kExhausted if the end could not be recorded. Step: see segment_log.h;
//          nothing is lost, the next Step tries again.
// Always   Only Open waits for the device. Space for the end of each start is reserved before the
//          start is recorded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/ports/executor_host.h"
#include "executor/journal/segment_log.h"

namespace carillon::executor {

// (run, attempt): the unit that may start once.
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

// A start whose end was never recorded, because its warden died.
struct OpenStart {
  HeldAttempt attempt;
  JobId job_id;
  WallTime started;
  SegmentLog::RecordId record = 0;
  // Of a container: the engine's command line, and the id of the warden in its label.
  struct Container {
    std::string engine;
    std::string warden_id;
  };
  std::optional<Container> container = {};
};
// An end in the journal that the database has not confirmed yet.
struct RecordedEnd {
  HeldAttempt attempt;
  SegmentLog::RecordId record = 0;
};

class WardenJournal {
 public:
  // The content that Open found; `unreadable` counts records and segments that could not be
  // decoded.
  struct Contents {
    std::vector<OpenStart> open_starts;
    std::vector<RecordedEnd> ends;
    size_t unreadable = 0;
  };
  // Creates `directory` if missing.
  static Result<std::unique_ptr<WardenJournal>> Open(const std::string& directory, size_t bytes_max,
                                                     std::unique_ptr<JournalDevice> device,
                                                     Contents* contents);

  // Records a start, after reserving space for its end. nullopt while that space is being made:
  // call it again after a Step, with kAgain. With kFirst the disk is tried again, even if the disk
  // refused before.
  enum class Asked { kFirst, kAgain };
  Result<std::optional<SegmentLog::RecordId>> PrepareStart(const StartAttempt& start, WallTime now,
                                                           Asked asked);
  // The id of this warden in the label of containers, which their starts record.
  void SetWardenId(std::string id) { warden_id_ = std::move(id); }
  // `start` is the id from PrepareStart; 0 = the start was not recorded.
  Result<SegmentLog::RecordId> PrepareEnd(const AttemptEnded& ended, SegmentLog::RecordId start);
  void ReleaseReserve(size_t output_bytes_max);
  void Remove(SegmentLog::RecordId record) { log_->Remove(record); }
  // Positions in the journal of the newest change, the last written one and the last synced one. A
  // start may proceed when its record is written, an end when its record is synced (docs/adr/0005
  // says why).
  SegmentLog::Position last() const { return log_->last(); }
  SegmentLog::Position written() const { return log_->written(); }
  SegmentLog::Position synced() const { return log_->synced(); }
  bool dirty() const { return log_->dirty(); }
  void WantSync(SegmentLog::Position position) { log_->WantSync(position); }
  Status Step() { return log_->Step(); }
  // Reads a recorded end. nullopt while it is being read: call it again after a Step. kCorrupt if
  // the record cannot be decoded.
  std::optional<Result<AttemptEnded>> ReadEnd(SegmentLog::RecordId record);

  // Reserves some space for starts that were claimed before the device was full. kExhausted: no
  // space is left, so nothing should be claimed. False while the space is being made.
  Result<bool> EnsureHeadroom();
  // Writes a line to the warden's log. The loop itself never writes to a file: a hanging disk would
  // keep it from enforcing leases.
  void Complain(const std::string& what) { log_->Log("warden: " + what); }
  SegmentLog& log() { return *log_; }

 private:
  WardenJournal(std::unique_ptr<SegmentLog> log, size_t bytes_max)
      : log_(std::move(log)), bytes_max_(bytes_max) {}

  std::unique_ptr<SegmentLog> log_;
  const size_t bytes_max_;
  bool headroom_ = false;
  std::string warden_id_;
};

}  // namespace carillon::executor
