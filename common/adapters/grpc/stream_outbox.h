// Queues of the messages that a stream has yet to write. gRPC accepts one write at a time.
//
// Threads  Not thread-safe; guarded by its stream.
// Always   Records of the bus and bulk messages, those with checkpoints, never delay a control
//          message by more than the record or the piece that is being written: a heartbeat behind a
//          queue of logs would end leases. A peer of an earlier version takes no pieces, and gets
//          bulk messages whole.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "common/adapters/grpc/grpc_include.h"
#include "common/base/result.h"
#include "common/wire/messages/link_pieces.h"

namespace carillon::rpc {

inline grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

inline std::string ToBytes(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (buffer.TrySingleSlice(&slice).ok() || buffer.DumpToSingleSlice(&slice).ok()) {
    return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
  }
  return {};
}

enum class OutboxLane { kControl, kRecords, kBulk };

class StreamOutbox {
 public:
  struct Limits {
    size_t messages_max = 0;  // of each lane
    size_t bytes_max = 0;     // of the control lane
    size_t record_bytes_max = size_t{8} << 20;
    size_t bulk_bytes_max = size_t{8} << 20;
  };
  explicit StreamOutbox(const Limits& limits) : limits_(limits) {}

  // From now on bulk messages are written in pieces.
  void CutBulk() { cuts_ = true; }

  // If no write is in progress, returns the buffer to write now. Otherwise returns null, and Next
  // returns the buffer later. kExhausted: the lane is full. A message larger than the limit is
  // accepted if the lane is empty.
  Result<const grpc::ByteBuffer*> Put(const std::string& bytes,
                                      OutboxLane lane = OutboxLane::kControl) {
    const size_t bytes_max = std::array{limits_.bytes_max, limits_.record_bytes_max,
                                        limits_.bulk_bytes_max}[static_cast<size_t>(lane)];
    Queue& queue = queues_[static_cast<size_t>(lane)];
    const bool fits = queue.waiting.empty() || queue.bytes + bytes.size() <= bytes_max;
    if (queue.waiting.size() >= limits_.messages_max || !fits) {
      return Error{ErrorCode::kExhausted, "control link: the stream's queue is full"};
    }
    if (lane == OutboxLane::kBulk && cuts_) {
      for (const std::string& piece : CutIntoPieces(bytes)) queue.Add(piece);
    } else {
      queue.Add(bytes);
    }
    if (writing_) return nullptr;
    writing_ = lane;
    return &queue.waiting.front();
  }
  // Call Next after a successful write. Returns the next buffer to write, or null.
  const grpc::ByteBuffer* Next() {
    Queue& written = queues_[static_cast<size_t>(*writing_)];
    written.bytes -= written.waiting.front().Length();
    written.waiting.pop_front();
    // Records and bulk messages take turns.
    const bool after_record = writing_ == OutboxLane::kRecords;
    writing_.reset();
    const std::array by_turn = after_record ? std::array{OutboxLane::kBulk, OutboxLane::kRecords}
                                            : std::array{OutboxLane::kRecords, OutboxLane::kBulk};
    for (const OutboxLane lane : {OutboxLane::kControl, by_turn[0], by_turn[1]}) {
      Queue& queue = queues_[static_cast<size_t>(lane)];
      if (queue.waiting.empty()) continue;
      writing_ = lane;
      return &queue.waiting.front();
    }
    return nullptr;
  }

  bool writing() const { return writing_.has_value(); }

 private:
  struct Queue {
    std::deque<grpc::ByteBuffer> waiting;
    size_t bytes = 0;  // total size of `waiting`

    void Add(const std::string& message) {
      waiting.push_back(ToBuffer(message));
      bytes += message.size();
    }
  };
  const Limits limits_;
  bool cuts_ = false;
  std::array<Queue, 3> queues_;        // by lane
  std::optional<OutboxLane> writing_;  // the first message of this lane is being written
};

}  // namespace carillon::rpc
