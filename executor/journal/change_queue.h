// The changes of a segment log on their way to the device, in the order of their positions.
//
// A change passes through three states, and leaves the queue when it is synced:
// - pending;
// - in writing: its bytes are in an order to the device;
// - unsynced: it is in the active segment, and in the index.
// After a failed write or sync all changes in the queue are pending again.
//
// Place    Under segment_log, which adds changes; segment_orders moves them along.
// Threads  Not thread-safe; the log owns it.
// Always   A change is written, and synced, before those with a higher position.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "executor/journal/segment_index.h"

namespace carillon::executor {

class ChangeQueue {
 public:
  using Position = ChangePosition;
  struct Change {
    RecordId id = 0;
    RecordKind kind = RecordKind::kPut;
    Position position = 0;  // set by Add
    // A copy may already be on disk; then only a written removal undoes the put.
    bool on_disk = false;
    std::string payload = {};
    RecordPlace place = {};  // set when writing begins
  };

  void Add(Change change);
  // Removes a record that is not in the index yet. An unknown id is ignored.
  void Withdraw(RecordId id);
  // The payload of the record if its put is pending or in writing; else nullptr.
  const std::string* FindPayload(RecordId id) const;

  Position last() const { return last_; }  // position of the newest change
  Position written() const;                // all changes up to this position are written
  Position synced() const;
  // Requests a sync up to `position`.
  void WantSync(Position position);
  // True if a requested sync can be done now, because the changes it covers are written.
  bool sync_is_due() const;

  bool has_pending() const { return !pending_.empty(); }
  // Size on disk of the first pending change.
  size_t next_bytes() const { return kRecordHeaderBytes + pending_.front().payload.size(); }
  bool has_unsynced() const { return !unsynced_.empty(); }
  Position last_unsynced() const { return unsynced_.back().position; }
  bool moving() const { return moving_ > 0; }
  size_t queued_bytes() const { return queued_bytes_; }
  size_t unindexed_bytes() const { return unindexed_bytes_; }

  // Encodes pending changes into `bytes`, in order, as many as fit into the segment. These changes
  // are then in writing.
  void BeginWrite(const SegmentIndex::Segment& segment, std::string* bytes);
  // Call it when these bytes are written: adds the changes to the index.
  void FinishWrite(size_t bytes, SegmentIndex& index);
  void FinishSync();
  // Makes every unsynced change pending again, and removes it from the index.
  void TakeBack(SegmentIndex& index);

 private:
  Position last_ = 0;
  Position wanted_ = 0;  // position of the next sync that a caller waits for
  std::deque<Change> pending_;
  std::vector<Change> writing_;
  std::vector<Change> unsynced_;
  size_t unindexed_bytes_ = 0;  // payloads of puts not in the index yet
  size_t queued_bytes_ = 0;     // bytes in pending_ and writing_, with headers
  size_t moving_ = 0;           // unsynced moves
};

}  // namespace carillon::executor
