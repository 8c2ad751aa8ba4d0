#include "executor/journal/segment_room.h"

#include <unistd.h>

#include <utility>

#include "executor/journal/record_reads.h"

namespace carillon::executor {

SegmentRoom::~SegmentRoom() {
  for (const std::string& spare : spares_) unlink(spare.c_str());
  if (active_.open()) {
    // A failure only wastes space until the log is loaded again.
    static_cast<void>(!ftruncate(active_.get(), static_cast<off_t>(index_.newest().used)));
  }
}

// The bytes that certainly fit into the active segment and the spares. A record is never split
// between two segments, so the end of each segment may stay unused.
size_t SegmentRoom::Capacity() const {
  size_t capacity = spares_.size() * (segment_bytes_ - kRecordPayloadBytesMax);
  if (active_.open() && !broken_) {
    const size_t left = index_.newest().allocated - index_.newest().used;
    capacity += left > kRecordPayloadBytesMax ? left - kRecordPayloadBytesMax : 0;
  }
  return capacity;
}

Result<bool> SegmentRoom::Reserve(size_t bytes) {
  if (Capacity() >= reserved_bytes_ + changes_.queued_bytes() + bytes) {
    wanted_bytes_ = 0;
    reserved_bytes_ += bytes;
    return true;
  }
  if (refusal_) {
    wanted_bytes_ = 0;
    return *std::exchange(refusal_, std::nullopt);
  }
  wanted_bytes_ = std::max(wanted_bytes_, bytes);
  return false;
}

// Records to move need space of their own, because they must not use the reserved space.
bool SegmentRoom::WantsSpare(bool to_move) const {
  const size_t taken = reserved_bytes_ + changes_.queued_bytes();
  if (wanted_bytes_ > 0 && Capacity() < taken + wanted_bytes_) return true;
  if (lost_ && Capacity() < taken) return true;
  return to_move && Capacity() < taken + 2 * RecordReads::kWindowBytes;
}

void SegmentRoom::Created(Result<std::string> path) {
  if (path.ok()) {
    spares_.push_back(*std::move(path));
  } else {
    refusal_ = path.error();
  }
  if (Capacity() >= reserved_bytes_ + changes_.queued_bytes()) lost_ = false;
}

void SegmentRoom::Activate(FileDescriptor file) {
  spares_.pop_back();
  active_ = std::move(file);
}

FileDescriptor SegmentRoom::TakeActive() {
  broken_ = false;
  return std::move(active_);
}

}  // namespace carillon::executor
