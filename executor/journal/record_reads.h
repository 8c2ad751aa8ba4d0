// Reads live records. Each read replaces the window, the part of one segment that is in memory.
//
// A read covers neighbouring records too, up to kWindowBytes. It serves a request of a caller, or
// moves records out of the oldest segment.
//
// Place    Under segment_log, which passes on the requests; segment_orders submits the reads.
// Threads  Not thread-safe; the log owns it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "executor/journal/journal_device.h"
#include "executor/journal/segment_index.h"

namespace carillon::executor {

class RecordReads {
 public:
  // Bytes per read: after a restart neighbouring records are requested one after the other.
  static constexpr size_t kWindowBytes = 256u << 10;

  RecordReads(std::string directory, const SegmentIndex& index)
      : directory_(std::move(directory)), index_(index) {}

  // nullopt: the record is not in memory, and a read was requested. The error of a failed read is
  // returned once.
  std::optional<Result<std::string>> Take(RecordId id, const RecordPlace& place);
  bool has_request() const { return requested_.has_value(); }
  // Frees the window.
  void Drop() { window_ = {}; }

  // Fills in the order that reads the requested record, or `to_move` if none is requested.
  void Begin(DeviceOrder& order, std::optional<RecordId> to_move);
  struct Moved {
    RecordId id = 0;
    std::string payload;
  };
  // Handles the outcome of the order. Returns the records to move if that was its purpose.
  std::optional<std::vector<Moved>> Finish(DeviceOrder& order);
  // The number of a segment with records that cannot be moved; 0 = none.
  uint64_t unmovable_segment() const { return unmovable_segment_; }

 private:
  struct Window {
    uint64_t segment = 0;
    size_t offset = 0;
    std::string bytes;
  };
  bool InWindow(const RecordPlace& place) const;
  // nullopt: the bytes at this place in the window are not the record.
  std::optional<std::string> Parse(RecordId id, const RecordPlace& place) const;
  void Fail(Error error);
  std::vector<Moved> MoveFromWindow();

  const std::string directory_;
  const SegmentIndex& index_;
  Window window_;
  std::optional<RecordId> requested_;
  RecordId reading_ = 0;
  RecordPlace reading_from_;
  bool reading_to_move_ = false;
  std::optional<std::pair<RecordId, Error>> failed_;
  uint64_t unmovable_segment_ = 0;
};

}  // namespace carillon::executor
