// An append-only set of records on disk: records are put and removed, and all live ones survive
// a crash.
//
// Place    Under the warden's journal and the daemon's result spool.
// Threads  Not thread-safe; one owner. The device may execute orders on a thread of its own.
// Owns     Its directory: segment files of fixed length, filled in turn and deleted oldest first
//          once they hold nothing live. When less than a third of the bytes on disk is live, the
//          live records of the oldest segment are copied to the newest.
// Errors   Append, Reserve: kExhausted above bytes_max or on a full device. Step, Commit:
//          kExhausted, kUnavailable; what is not on the device stays in memory and is tried again.
//          A torn or corrupt record ends its segment when it is loaded; the rest of it is ignored.
// Always   Written changes survive kill -9, synced ones a power cut too; loaded records are synced.
//          Reserved bytes can be written even when the device is full. Only Open, Commit, ForEach
//          and Read wait for the device.
//
// Each change (a put or a removal) has a position. Changes are written and synced in that order. A
// segment is synced before the next is begun, and deleted only when the changes that emptied it are
// synced. After a failed write or sync the state of everything unsynced is unknown, and a later
// successful sync proves nothing about it: it is written again, to another segment. Until that is
// done the failed segment is kept, because changes already reported as written must stay readable;
// then its unsynced part is cut off. A tail that cannot be cut off only repeats records.
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
  using Position = uint64_t;  // of a change; ascending from 1
  struct Options {
    std::string directory;            // created (0700) when missing; its parent must exist
    size_t segment_bytes = 8u << 20;  // must exceed kRecordBytesMax
    size_t bytes_max = 256u << 20;    // of all segments together
  };
  static constexpr size_t kRecordBytesMax = kRecordPayloadBytesMax;
  // Bytes per read. After a restart neighbouring records are requested together.
  static constexpr size_t kWindowBytes = 256u << 10;

  // kUnavailable: the directory cannot be read or written.
  static Result<std::unique_ptr<SegmentLog>> Open(
      Options options, std::unique_ptr<JournalDevice> device = std::make_unique<InlineDevice>());
  ~SegmentLog();

  Result<RecordId> Append(std::string payload);
  // An unknown id is ignored.
  void Remove(RecordId id);
  Position last() const { return last_; }  // of the newest change
  Position written() const;                // this change and all before it are written
  Position synced() const;
  bool dirty() const { return synced() < last_; }

  // ---- never waits
  // Collects the result of the device's last order and submits the next. On an error, call Step
  // again to retry.
  Status Step();
  // Asks for a sync up to `position`. Otherwise changes are written, but synced only when their
  // segment is full.
  void WantSync(Position position);
  // Sets space on the device aside for records appended later. False: a file for it is being
  // created; ask again after a Step.
  Result<bool> Reserve(size_t bytes);
  void Unreserve(size_t bytes);
  // Lets the next Reserve try again despite an earlier failure.
  void ForgetRefusal() { create_error_.reset(); }
  // Part of the reserved space was lost with a failed file and has not been replaced yet.
  bool short_of_room() const { return room_lost_ && Capacity() < reserved_bytes_; }
  // One live record; nullopt: it is being read; ask again after a Step.
  std::optional<Result<std::string>> TryRead(RecordId id);
  // Writes a line to standard error, which may be a file on the same device. Beyond a bound lines
  // are dropped.
  void Log(std::string_view line);
  // Free space on a device; a later Step reports it for the path given to AskSpace.
  struct Space {
    int error = 0;
    uint64_t free_bytes = 0;
    uint64_t free_inodes = 0;
  };
  void AskSpace(std::string path) { space_path_ = std::move(path); }
  const std::optional<Space>& space() const { return space_; }
  bool busy() const { return active_order_; }
  // Orders submitted so far. If busy() and this number stays the same, the device hangs.
  uint64_t orders() const { return orders_; }

  // ---- waits for the device
  Status Commit();
  // All live records, oldest first. kCorrupt if one became unreadable since Open.
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
    // The latest change that removed or moved one of its records.
    Position emptied_by = 0;
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
    // A copy may be on disk, so that only a written removal undoes the put.
    bool on_disk = false;
    std::string payload;
    Place place = {};  // set when writing begins
  };
  struct Failed {
    FileDescriptor file;
    size_t synced = 0;  // bytes; the rest will be cut off
    // The failed segment may be dropped once the changes up to here are written elsewhere.
    Position written_to = 0;
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

  // segment_log.cc: the set of records
  void Queue(Change change);
  void Forget(RecordId id, Position by);
  void Settle(const Change& change);
  const Change* FindQueued(RecordId id) const;
  bool InWindow(const Place& place) const;
  size_t Capacity() const;
  std::string PathOf(uint64_t number) const;
  Segment* Find(uint64_t number);

  // segment_log_orders.cc: choosing the next order, and handling its outcome
  struct Next {
    Order kind;
    // Serves a caller rather than upkeep, so that its failure is returned by Step.
    bool for_use;
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
  // Next::for_use of the last order.
  bool order_for_use_ = false;
  std::deque<Segment> segments_;  // ascending; the last is active while active_ is open
  FileDescriptor active_;
  bool broken_ = false;  // the active segment failed and holds nothing of value
  std::optional<Failed> failed_;
  std::vector<std::string> spares_;  // preallocated files, waiting to become segments
  uint64_t next_segment_ = 1;
  uint64_t next_spare_ = 1;
  RecordId next_id_ = 1;
  Position last_ = 0;
  Position wanted_ = 0;  // the next sync a caller waits for
  std::unordered_map<RecordId, Place> index_;
  // A change moves through these three; together they are ordered by position.
  std::deque<Change> pending_;
  std::vector<Change> writing_;
  std::vector<Change> unsynced_;  // in the active segment
  size_t pending_bytes_ = 0;      // payloads of puts not in the index yet
  size_t queued_bytes_ = 0;       // of pending_ and writing_, with headers
  size_t moving_ = 0;             // unsynced moves
  uint64_t unmovable_segment_ = 0;
  Window window_;
  std::optional<RecordId> to_read_;
  RecordId reading_ = 0;
  Place reading_from_;
  bool reading_to_move_ = false;
  std::optional<std::pair<RecordId, Error>> failed_read_;
  size_t wanted_room_ = 0;
  bool room_lost_ = false;  // a segment failed together with space reserved in it
  // While set no file is created; Reserve clears it by returning it, as does ForgetRefusal.
  std::optional<Error> create_error_;
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
