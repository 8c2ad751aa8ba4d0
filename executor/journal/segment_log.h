// An append-only set of records on disk: put, remove, and everything live comes back after a crash.
//
// Place    Under the warden's journal and the daemon's result spool.
// Threads  Not thread-safe; one owner.
// Owns     Its directory: segment files of fixed length, filled one after the other, deleted from
// the
//          oldest on when nothing in them lives. What lives in the oldest is copied to the newest
//          when less than a third of the bytes on disk lives.
// Errors   Append, Reserve: kExhausted above bytes_max or on a full device. Commit: kExhausted,
//          kUnavailable; everything uncommitted stays in memory and the next Commit tries again.
//          A torn or rotten record ends its segment when it is read; the rest of it is not used.
// Always   After Commit returned ok, records survive kill -9 and power loss; what was reserved can
//          be committed on a full device.
//
// A record is {crc, size, id, kind, payload}. A removal is a record too; since segments are deleted
// oldest first, it outlives what it removes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "executor/journal/file_descriptor.h"

namespace carillon::executor {

class SegmentLog {
 public:
  using RecordId = uint64_t;  // ascending, never used twice
  struct Options {
    std::string directory;  // is created (0700) when missing; its parent must exist
    size_t segment_bytes = 8u << 20;
    size_t bytes_max = 256u << 20;  // of all segments
  };
  static constexpr size_t kRecordBytesMax = 1u << 20;

  // kUnavailable: the directory cannot be read or written.
  static Result<std::unique_ptr<SegmentLog>> Open(Options options);
  ~SegmentLog();

  // Everything live, oldest first. kCorrupt where a record became unreadable since Open.
  Status ForEach(const std::function<void(RecordId, std::string_view)>& visit);
  // One committed record.
  Result<std::string> Read(RecordId id);

  Result<RecordId> Append(std::string payload);
  // Takes effect with the next Commit; an unknown id is ignored.
  void Remove(RecordId id);
  Status Commit();
  bool dirty() const { return !pending_.empty(); }

  // Sets space on the device aside for records that will be appended later.
  Status Reserve(size_t bytes);
  void Unreserve(size_t bytes);

  size_t live_records() const { return index_.size(); }
  size_t live_bytes() const { return live_bytes_; }
  size_t disk_bytes() const { return disk_bytes_; }
  size_t corrupt_segments() const { return corrupt_segments_; }

 private:
  struct Segment {
    uint64_t number = 0;
    size_t used = 0;
    size_t allocated = 0;
    size_t live = 0;
    std::vector<RecordId> ids;
  };
  struct Place {
    uint64_t segment = 0;
    size_t offset = 0;  // of the header
    size_t payload_size = 0;
  };
  struct Pending {
    RecordId id = 0;
    uint8_t kind = 0;
    std::string payload;
  };

  explicit SegmentLog(Options options) : options_(std::move(options)) {}
  Status Load();
  Status LoadSegment(uint64_t number);
  void Forget(RecordId id);
  void Settle(const Pending& record, const Place& place);
  Status WritePending();
  Status WriteChunk(size_t* next);
  Status OpenActive();
  Result<std::string> CreateSpare();
  Status SyncDirectory();
  void DropDeadSegments();
  Status CompactOldest();
  void SealBroken();
  size_t ReservedCapacity() const;
  std::string PathOf(uint64_t number) const;
  Segment* Find(uint64_t number);

  const Options options_;
  std::deque<Segment> segments_;  // ascending; the last is active while active_ is open
  FileDescriptor active_;
  std::vector<std::string> spares_;  // preallocated files, waiting to become segments
  uint64_t next_segment_ = 1;
  uint64_t next_spare_ = 1;
  RecordId next_id_ = 1;
  std::unordered_map<RecordId, Place> index_;
  std::vector<Pending> pending_;
  size_t pending_bytes_ = 0;
  size_t live_bytes_ = 0;
  size_t disk_bytes_ = 0;
  size_t reserved_bytes_ = 0;
  size_t corrupt_segments_ = 0;
};

}  // namespace carillon::executor
