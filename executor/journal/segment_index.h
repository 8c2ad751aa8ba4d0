// The segments of a log, oldest first, and where in them the live records are. Pure bookkeeping.
//
// Place    Under segment_log. segment_loader fills it from the disk, change_queue with what was
//          written; segment_orders begins and drops segments.
// Threads  Not thread-safe; the log owns it.
// Always   An id has at most one place; a segment is live while a place is in it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/journal/segment_record.h"

namespace carillon::executor {

using ChangePosition = uint64_t;  // position of a put, move or removal; ascending from 1

struct RecordPlace {
  uint64_t segment = 0;
  size_t offset = 0;  // of the record's header
  size_t payload_size = 0;

  size_t record_bytes() const { return kRecordHeaderBytes + payload_size; }
  size_t end() const { return offset + record_bytes(); }
};

// The file of a segment.
std::string SegmentPath(const std::string& directory, uint64_t number);

class SegmentIndex {
 public:
  struct Segment {
    uint64_t number = 0;
    size_t used = 0;
    size_t synced = 0;  // how many of the used bytes are synced
    size_t allocated = 0;
    size_t live = 0;  // number of live records
    // The latest change that removed or moved one of its records.
    ChangePosition emptied_by = 0;
    std::vector<RecordId> ids;
  };

  // ---- segments
  size_t segments() const { return segments_.size(); }
  const Segment& oldest() const { return segments_.front(); }
  const Segment& newest() const { return segments_.back(); }
  const Segment* FindSegment(uint64_t number) const;
  uint64_t next_number() const { return next_number_; }
  // `number` must be above the number of the newest segment.
  void Begin(uint64_t number, size_t allocated);
  void DropOldest();
  // These functions change the newest segment:
  // - Grow adds bytes written behind the used ones;
  // - MarkSynced marks all used bytes as synced;
  // - CutUnsynced gives up the used bytes that are not synced.
  void Grow(size_t bytes);
  void MarkSynced() { segments_.back().synced = segments_.back().used; }
  void CutUnsynced();

  // ---- records
  // nullptr: the record is live in no segment. The pointer is valid until the next Put or Forget.
  const RecordPlace* Find(RecordId id) const;
  void Put(RecordId id, const RecordPlace& place);
  // `by`: the change that removed or moved the record.
  void Forget(RecordId id, ChangePosition by);
  // The place of the record if it is in this segment; else nullptr.
  const RecordPlace* FindIn(const Segment& segment, RecordId id) const;
  std::vector<RecordId> Ids() const;  // ascending

  size_t live_records() const { return places_.size(); }
  size_t live_bytes() const { return live_bytes_; }
  size_t disk_bytes() const { return disk_bytes_; }

 private:
  std::deque<Segment> segments_;  // ascending
  uint64_t next_number_ = 1;
  std::unordered_map<RecordId, RecordPlace> places_;
  size_t live_bytes_ = 0;
  size_t disk_bytes_ = 0;
};

}  // namespace carillon::executor
