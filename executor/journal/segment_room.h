// The space that a segment log has on its device: the file of the active segment, spare files that
// wait to become segments, and the reserved part of this space.
//
// Place    Under segment_log, which reserves; segment_orders creates the files.
// Threads  Not thread-safe; the log owns it.
// Owns     Its files: the destructor deletes the spares and cuts off the unused end of the
//          active file.
// Always   Reserved bytes fit into files that exist, unless a file failed (short_of_room).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file_descriptor.h"
#include "common/base/result.h"
#include "executor/journal/change_queue.h"
#include "executor/journal/segment_index.h"

namespace carillon::executor {

class SegmentRoom {
 public:
  SegmentRoom(size_t segment_bytes, const SegmentIndex& index, const ChangeQueue& changes)
      : segment_bytes_(segment_bytes), index_(index), changes_(changes) {}
  ~SegmentRoom();
  SegmentRoom(const SegmentRoom&) = delete;
  SegmentRoom& operator=(const SegmentRoom&) = delete;

  // ---- reservations
  // False: a file has to be created first. A failure to create one is returned once.
  Result<bool> Reserve(size_t bytes);
  void Unreserve(size_t bytes) { reserved_bytes_ -= std::min(bytes, reserved_bytes_); }
  // Lets the next Reserve try again despite an earlier failure.
  void ForgetRefusal() { refusal_.reset(); }
  // True while a part of the reserved space, lost with a failed file, is not replaced yet.
  bool short_of_room() const { return lost_ && Capacity() < reserved_bytes_; }
  size_t reserved_bytes() const { return reserved_bytes_; }

  // ---- spare files
  // True if another spare is needed. `to_move`: there are records to copy, which needs space too.
  bool WantsSpare(bool to_move) const;
  // True after a spare could not be created. No other is tried until Reserve has returned the error
  // or ForgetRefusal was called.
  bool refused() const { return refusal_.has_value(); }
  void Created(Result<std::string> path);
  bool has_spare() const { return !spares_.empty(); }
  // The path of the spare that will be activated next. The caller changes it after a rename.
  std::string& next_spare() { return spares_.back(); }

  // ---- the active segment's file
  // `file` was the next spare.
  void Activate(FileDescriptor file);
  bool active() const { return active_.open(); }
  int fd() const { return active_.get(); }
  // The active segment failed and holds nothing of value.
  bool broken() const { return broken_; }
  void Break() { broken_ = true; }
  // Returns the file of the active segment; afterwards there is no active segment.
  FileDescriptor TakeActive();
  // The active segment failed; its space is lost.
  void Lose() { lost_ = true; }

 private:
  size_t Capacity() const;

  const size_t segment_bytes_;
  const SegmentIndex& index_;  // its newest segment is the active one while active_ is open
  const ChangeQueue& changes_;
  FileDescriptor active_;
  bool broken_ = false;
  std::vector<std::string> spares_;  // preallocated
  size_t reserved_bytes_ = 0;
  size_t wanted_bytes_ = 0;  // requested by a Reserve that returned false
  bool lost_ = false;        // a segment failed together with space reserved in it
  std::optional<Error> refusal_;
};

}  // namespace carillon::executor
