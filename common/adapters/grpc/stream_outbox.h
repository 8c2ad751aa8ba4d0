// Queue of the messages that a stream has yet to write. gRPC accepts one write at a time.
//
// Threads  Not thread-safe; guarded by its stream.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "common/adapters/grpc/grpc_include.h"
#include "common/base/result.h"

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

class StreamOutbox {
 public:
  struct Limits {
    size_t messages_max = 0;
    size_t bytes_max = 0;
  };
  explicit StreamOutbox(const Limits& limits) : limits_(limits) {}

  // If no write is in progress, returns the buffer to write now. Otherwise returns null, and Next
  // returns the buffer later. kExhausted: the queue is full. A message larger than bytes_max is
  // accepted if the queue is empty.
  Result<const grpc::ByteBuffer*> Put(const std::string& bytes) {
    const bool fits = waiting_.empty() || bytes_ + bytes.size() <= limits_.bytes_max;
    if (waiting_.size() >= limits_.messages_max || !fits) {
      return Error{ErrorCode::kExhausted, "control link: the stream's queue is full"};
    }
    waiting_.push_back(ToBuffer(bytes));
    bytes_ += bytes.size();
    return std::exchange(writing_, true) ? nullptr : &waiting_.front();
  }
  // Call Next after a successful write. Returns the next buffer to write, or null.
  const grpc::ByteBuffer* Next() {
    bytes_ -= waiting_.front().Length();
    waiting_.pop_front();
    writing_ = !waiting_.empty();
    return writing_ ? &waiting_.front() : nullptr;
  }

  bool writing() const { return writing_; }

 private:
  const Limits limits_;
  std::deque<grpc::ByteBuffer> waiting_;  // the first message is being written
  size_t bytes_ = 0;                      // total size of waiting_
  bool writing_ = false;
};

}  // namespace carillon::rpc
