// Chooses the next order of a segment log to its device, and applies the outcome.
//
// Place    Under segment_log, whose Step drives it.
// Threads  Not thread-safe; the log owns it. The device may execute orders on a thread of its own.
// Errors   Step, Finish: the error of an order that serves a caller. A failed order of the upkeep
//          is repeated without an error.
// Always   One order at a time. Orders for callers and for upkeep alternate, so that both progress.
//          A sync that is due is passed by at most one write, which it then covers, too.
//
// A segment is synced before the next is begun, and deleted only when the changes that emptied it
// are synced. After a failed write or sync the state of all unsynced changes is unknown, and a
// later successful sync proves nothing about them. So they are written again, to another segment.
// Until then the failed segment is kept, because changes already reported as written must stay
// readable; afterwards its unsynced tail is cut off. A tail that cannot be cut off only
// repeats records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/file_descriptor.h"
#include "common/base/result.h"
#include "executor/journal/change_queue.h"
#include "executor/journal/journal_device.h"
#include "executor/journal/record_reads.h"
#include "executor/journal/segment_index.h"
#include "executor/journal/segment_room.h"

namespace carillon::executor {

// Free space on a device.
struct DeviceSpace {
  int error = 0;
  uint64_t free_bytes = 0;
  uint64_t free_inodes = 0;
};

// Requests to the device that are not about records.
struct DeviceErrands {
  std::string log;         // lines for standard error
  std::string space_path;  // empty: no free space is requested
  std::optional<DeviceSpace> space = {};
};

class SegmentOrders {
 public:
  struct Parts {
    JournalDevice& device;
    SegmentIndex& index;
    ChangeQueue& changes;
    SegmentRoom& room;
    RecordReads& reads;
    DeviceErrands& errands;
  };
  // `segment_bytes`: length of a new file in `directory`.
  SegmentOrders(std::string directory, size_t segment_bytes, const Parts& parts)
      : directory_(std::move(directory)), segment_bytes_(segment_bytes), parts_(parts) {}
  ~SegmentOrders() { AwaitDevice(); }
  SegmentOrders(const SegmentOrders&) = delete;
  SegmentOrders& operator=(const SegmentOrders&) = delete;

  // Never waits. Collects the result of the last order and submits the next.
  Status Step();
  // Never waits. Submits the creation of a spare file. True if the creation has ended already, even
  // if it failed; false while the device is busy.
  bool CreateSpare();
  // Waits for the end of the current order. The next Step applies its outcome.
  void AwaitDevice();
  // Waits. Deletes the oldest segments that hold nothing live.
  Status DeleteDead();

  bool busy() const { return active_; }
  uint64_t submitted() const { return submitted_; }

 private:
  using Kind = DeviceOrder::Kind;
  struct Next {
    Kind kind;
    // The order serves a caller rather than upkeep, so Step returns its failure.
    bool for_use;
  };
  struct Failed {
    FileDescriptor file;
    size_t synced = 0;  // synced bytes; the bytes after them will be cut off
    // The failed segment may be dropped once the changes up to here are written elsewhere.
    ChangePosition written_to = 0;
  };

  std::optional<Next> NextOrder() const;
  std::optional<Kind> NextForUse() const;
  std::optional<Kind> NextForUpkeep() const;
  bool NextFits() const;
  bool FailedIsRewritten() const;
  bool HasDeadSegment() const;
  std::optional<RecordId> NextToMove() const;

  void Begin(Next next);
  void BeginSeal();
  Status Finish();
  void FinishWrite();
  void FinishSync();
  void FinishCreate();
  void FinishActivate();
  void FinishRead();
  void TakeBackUnsynced();
  void GiveUpActive();

  const std::string directory_;
  const size_t segment_bytes_;
  const Parts parts_;
  DeviceOrder order_;
  bool active_ = false;
  bool for_use_ = false;          // Next::for_use of the last order
  bool sync_was_passed_ = false;  // by a write; the sync comes next
  uint64_t submitted_ = 0;
  uint64_t next_spare_ = 1;
  std::optional<Failed> failed_;
};

}  // namespace carillon::executor
