// An append-only set of records on disk: put, remove, and everything live comes back after a crash.
//
// Place    Under the warden's journal and the daemon's result spool.
// Threads  Not thread-safe; one owner. The device may carry orders out on a thread of its own.
// Owns     Its directory: segment files of fixed length, filled one after the other, deleted from
//          the oldest on when nothing in them lives. What lives in the oldest is copied to the
//          newest when less than a third of the bytes on disk lives.
// Errors   Append, Reserve: kExhausted above bytes_max or on a full device. Step, Commit:
//          kExhausted, kUnavailable; what is not on the device stays in memory and is tried again.
//          A torn or rotten record ends its segment when it is read; the rest of it is not used.
// Always   What is written survives kill -9, what is synced also a power cut; what was loaded is
//          synced. What was reserved can
//          be written on a full device. Only Open, Commit, ForEach and Read wait for the device.
//
// A change (a put, a removal) has a position. Changes are written and synced in their order; a
// segment is synced before the next is begun, and deleted only when the changes that emptied it are
// synced. After a failed write or sync nothing is known about what was not synced before, and a
// later sync that succeeds says nothing of it: it is written once more, to another segment. What
// was said to be written stays readable in the failed one until then; afterwards it is cut off, and
// what is left of it is only a repetition.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "executor/journal/file_descriptor.h"
#include "executor/journal/journal_device.h"
#include "executor/journal/segment_record.h"

namespace carillon::executor {

class SegmentLog {
 public:
  using RecordId = uint64_t;  // ascending, never used twice
  using Position = uint64_t;  // of a change, ascending from 1
  struct Options {
    std::string directory;            // is created (0700) when missing; its parent must exist
    size_t segment_bytes = 8u << 20;  // above kRecordBytesMax
    size_t bytes_max = 256u << 20;    // of all segments
  };
  static constexpr size_t kRecordBytesMax = kRecordPayloadBytesMax;
  // Read at once: neighbours are asked for together after a restart.
  static constexpr size_t kWindowBytes = 256u << 10;

  // kUnavailable: the directory cannot be read or written.
  static Result<std::unique_ptr<SegmentLog>> Open(
      Options options, std::unique_ptr<JournalDevice> device = std::make_unique<InlineDevice>());
  ~SegmentLog();

  Result<RecordId> Append(std::string payload);
  // An unknown id is ignored.
  void Remove(RecordId id);
  Position last() const { return last_; }  // of all changes
  Position written() const;                // it and all before it are written
  Position synced() const;
  bool dirty() const { return synced() < last_; }

  // ---- never waits
  // Takes back what the device did and gives it the next order. An error: it failed; whoever steps
  // again tries again.
  Status Step();
  // Without it changes are written, but synced only when their segment is full.
  void WantSync(Position position);
  // Sets space on the device aside for records that will be appended later. False: a file for it is
  // being made, ask again after a step.
  Result<bool> Reserve(size_t bytes);
  void Unreserve(size_t bytes);
  // The next Reserve does not fail for what happened before.
  void ForgetRefusal() { create_error_.reset(); }
  // Some of what was set aside is gone (a file failed) and not yet replaced.
  bool short_of_room() const { return room_lost_ && Capacity() < reserved_bytes_; }
  // One live record; nullopt: it is being read, ask again after a step.
  std::optional<Result<std::string>> TryRead(RecordId id);
  // Writes a line to standard error, which may be a file
  // on the same device. Beyond a bound it is dropped.
  void Log(std::string_view line);
  // What a step finds out next about the device that holds `path`.
  struct Space {
    int error = 0;
    uint64_t free_bytes = 0;
    uint64_t free_inodes = 0;
  };
  void AskSpace(std::string path) { space_path_ = std::move(path); }
  const std::optional<Space>& space() const { return space_; }
  bool busy() const { return active_order_; }
  // Orders given so far; one that stays the same while busy: the device does not answer.
  uint64_t orders() const { return orders_; }

  // ---- waits for the device
  Status Commit();
  // Everything live, oldest first. kCorrupt where a record became unreadable since Open.
  Status ForEach(const std::function<void(RecordId, std::string_view)>& visit);
  Result<std::string> Read(RecordId id);

  size_t live_records() const { return index_.size(); }
  size_t reserved_bytes() const { return reserved_bytes_; }
  size_t live_bytes() const { return live_bytes_; }
  size_t disk_bytes() const { return disk_bytes_; }
  size_t corrupt_segments() const { return corrupt_segments_; }

 private:
  using Order = DeviceOrder::Kind;
  struct Segment {
    uint64_t number = 0;
    size_t used = 0;
    size_t synced = 0;  // of used
    size_t allocated = 0;
    size_t live = 0;
    Position emptied_by = 0;  // the latest change that took something away from it
    std::vector<RecordId> ids;
  };
  struct Place {
    uint64_t segment = 0;
    size_t offset = 0;  // of the header
    size_t payload_size = 0;
  };
  struct Change {
    RecordId id = 0;
    RecordKind kind = RecordKind::kPut;
    Position position = 0;
    bool on_disk = false;  // there may be a copy of it: only a removal undoes it
    std::string payload;
    Place place = {};  // from when it is being written
  };
  struct Failed {
    FileDescriptor file;
    size_t synced = 0;        // bytes; the rest is cut off
    Position written_to = 0;  // once that is written elsewhere
  };
  struct Window {
    uint64_t segment = 0;
    size_t offset = 0;
    std::string bytes;
  };

  SegmentLog(Options options, std::unique_ptr<JournalDevice> device)
      : options_(std::move(options)), device_(std::move(device)) {}

  // segment_log_load.cc
  Status Load();
  Status LoadSegment(uint64_t number);
  Status SyncLoaded(const FileDescriptor& file);

  // segment_log.cc: the set
  void Queue(Change change);
  void Forget(RecordId id, Position by);
  void Settle(const Change& change);
  const Change* FindQueued(RecordId id) const;
  bool InWindow(const Place& place) const;
  size_t Capacity() const;
  std::string PathOf(uint64_t number) const;
  Segment* Find(uint64_t number);

  // segment_log_orders.cc: what the device does next, and what came of it
  struct Next {
    Order kind;
    bool for_use;  // not upkeep: its failure is that of the step
  };
  std::optional<Next> NextOrder() const;
  std::optional<Order> NextForUse() const;
  std::optional<Order> NextForUpkeep() const;
  bool FailedIsRewritten() const { return failed_ && written() >= failed_->written_to; }
  bool HasDeadSegment() const;
  bool WantsFile(bool to_move) const;
  std::optional<RecordId> NextToMove() const;
  void Begin(Next next);
  void PrepareSeal();
  void PrepareWrite();
  void PrepareRead();
  Status Finish();
  void SettleWritten();
  void SettleSynced();
  void FinishActivate();
  void FinishRead();
  void MoveFromWindow();
  void TakeBackUnsynced();
  void GiveUpActive();

  const Options options_;
  const std::unique_ptr<JournalDevice> device_;
  DeviceOrder order_;
  bool active_order_ = false;
  bool order_for_use_ = false;    // the last one
  std::deque<Segment> segments_;  // ascending; the last is active while active_ is open
  FileDescriptor active_;
  bool broken_ = false;  // the active segment failed and holds nothing that counts
  std::optional<Failed> failed_;
  std::vector<std::string> spares_;  // preallocated files, waiting to become segments
  uint64_t next_segment_ = 1;
  uint64_t next_spare_ = 1;
  RecordId next_id_ = 1;
  Position last_ = 0;
  Position wanted_ = 0;  // the next sync that somebody waits for
  std::unordered_map<RecordId, Place> index_;
  // A change goes from one to the next; together they are ordered by position.
  std::deque<Change> pending_;
  std::vector<Change> writing_;
  std::vector<Change> unsynced_;  // in the active segment
  size_t pending_bytes_ = 0;      // payloads of puts that are not in the index yet
  size_t queued_bytes_ = 0;       // with headers, of pending_ and writing_
  size_t moving_ = 0;             // moves that are not synced
  uint64_t unmovable_segment_ = 0;
  Window window_;
  std::optional<RecordId> to_read_;
  RecordId reading_ = 0;
  Place reading_from_;
  bool reading_to_move_ = false;
  std::optional<std::pair<RecordId, Error>> failed_read_;
  size_t wanted_room_ = 0;
  bool room_lost_ = false;             // a segment failed with what was set aside in it
  std::optional<Error> create_error_;  // no file is made again until somebody asks for room
  std::string log_;
  std::string space_path_;
  std::optional<Space> space_;
  uint64_t orders_ = 0;
  size_t live_bytes_ = 0;
  size_t disk_bytes_ = 0;
  size_t reserved_bytes_ = 0;
  size_t corrupt_segments_ = 0;
};

}  // namespace carillon::executor
