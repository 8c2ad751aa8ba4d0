// An append-only set of records on disk: records are put and removed, and all live ones survive
// a crash.
//
// Place    Under the warden's journal and the daemon's result spool. Its parts: change_queue (what
//          is to be written), segment_index (where records are), segment_room (files and reserved
//          space), record_reads, and segment_orders, which gives the device one order at a time.
// Threads  Not thread-safe; one owner. The device may execute orders on a thread of its own.
// Owns     Its directory: segment files of fixed length, filled in turn and deleted oldest first
//          once they hold nothing live. When less than a third of the bytes on disk is live, the
//          live records of the oldest segment are copied to the newest.
// Errors   Append: kExhausted above bytes_max. Reserve: kExhausted on a full device. Step, Commit:
//          kExhausted, kUnavailable; changes not on the device stay in memory and are retried.
//          A torn or corrupt record ends its segment when loaded; the segment's rest is ignored.
// Always   Written changes survive kill -9. Synced changes, and all that Open has loaded, also
//          survive a power cut.
//          Reserved bytes can be written even when the device is full. Only Open, Commit, ForEach
//          and Read wait for the device. Changes (puts and removals) are written and synced in the
//          order of their positions; segment_orders.h says what happens after a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "executor/journal/change_queue.h"
#include "executor/journal/journal_device.h"
#include "executor/journal/record_reads.h"
#include "executor/journal/segment_index.h"
#include "executor/journal/segment_orders.h"
#include "executor/journal/segment_record.h"
#include "executor/journal/segment_room.h"

namespace carillon::executor {

class SegmentLog {
 public:
  using RecordId = executor::RecordId;
  using Position = ChangePosition;
  using Space = DeviceSpace;
  struct Options {
    std::string directory;            // created (0700) when missing; its parent must exist
    size_t segment_bytes = 8u << 20;  // must exceed kRecordBytesMax
    size_t bytes_max = 256u << 20;    // of the payloads of all live records
  };
  static constexpr size_t kRecordBytesMax = kRecordPayloadBytesMax;

  // kUnavailable: the directory cannot be read or written.
  static Result<std::unique_ptr<SegmentLog>> Open(
      Options options, std::unique_ptr<JournalDevice> device = std::make_unique<InlineDevice>());
  ~SegmentLog();

  Result<RecordId> Append(std::string payload);
  // An unknown id is ignored.
  void Remove(RecordId id);
  Position last() const { return changes_.last(); }  // position of the newest change
  Position written() const { return changes_.written(); }
  Position synced() const { return changes_.synced(); }
  bool dirty() const { return synced() < last(); }

  // ---- functions that never wait
  // Collects the result of the device's last order and submits the next. On an error, call Step
  // again to retry.
  Status Step() { return orders_.Step(); }
  // Requests a sync up to `position`. Without it changes are written, but synced only when their
  // segment is full.
  void WantSync(Position position) { changes_.WantSync(position); }
  // Reserves space on the device for records appended later. False: a file is being created; call
  // Reserve again after a Step.
  Result<bool> Reserve(size_t bytes);
  void Unreserve(size_t bytes) { room_.Unreserve(bytes); }
  // Lets the next Reserve try again despite an earlier failure.
  void ForgetRefusal() { room_.ForgetRefusal(); }
  // True while a part of the reserved space, lost with a failed file, is not replaced yet.
  bool short_of_room() const { return room_.short_of_room(); }
  size_t reserved_bytes() const { return room_.reserved_bytes(); }
  // Reads one live record. nullopt: the record is being read; call TryRead again after a Step.
  std::optional<Result<std::string>> TryRead(RecordId id);
  // Writes a line to standard error, through the device, because standard error may be a file on
  // the same disk. Beyond a limit lines are dropped.
  void Log(std::string_view line);
  // A later Step reports the free space of the device that holds `path`.
  void AskSpace(std::string path) { errands_.space_path = std::move(path); }
  const std::optional<Space>& space() const { return errands_.space; }
  bool busy() const { return orders_.busy(); }
  // Orders submitted so far. If busy() and this number stays the same, the device hangs.
  uint64_t orders() const { return orders_.submitted(); }

  // ---- functions that wait for the device
  Status Commit();
  // All live records, oldest first. kCorrupt if one became unreadable since Open.
  Status ForEach(const std::function<void(RecordId, std::string_view)>& visit);
  Result<std::string> Read(RecordId id);

  const SegmentIndex& index() const { return index_; }
  // The number of segments in which Open found a torn or corrupt record.
  size_t corrupt_segments() const { return corrupt_segments_; }

 private:
  SegmentLog(Options options, std::unique_ptr<JournalDevice> device);

  const Options options_;
  const std::unique_ptr<JournalDevice> device_;
  SegmentIndex index_;
  ChangeQueue changes_;
  SegmentRoom room_;
  RecordReads reads_;
  DeviceErrands errands_;
  SegmentOrders orders_;
  RecordId next_id_ = 1;
  size_t corrupt_segments_ = 0;
};

}  // namespace carillon::executor
