// Numbers the lines of the log of one function and gathers them into chunks.
//
// Threads  Not thread-safe.
// Bounds   Only the first `bytes_max` bytes of the function's lines are kept, and a line by
//          Carillon marks the place. A later daemon counts anew.
// Always   No number is given twice, also not by a later daemon, which does not know how many an
//          earlier one gave: it goes on at the microseconds since the start, of which there are
//          more. These are steady ones, because a wall clock may be set back.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/time.h"
#include "common/domain/run/run_log.h"

namespace carillon::executor {

class FunctionLog {
 public:
  // An earlier daemon has begun the log, and the function at this time.
  void Continue(SteadyTime begun) {
    begun_ = begun;
    continues_ = true;
  }
  bool empty() const { return next_seq_ == 1 && !continues_; }
  // No more lines of the function are kept.
  bool full() const { return full_; }
  // Chunks of at most kLogChunkBytesMax bytes. `last`: the last one says that nothing follows.
  std::vector<LogChunk> Add(const std::vector<LogEntry>& entries, bool last, SteadyTime now,
                            size_t bytes_max);

 private:
  // The entry, the marker in its place, or null.
  const LogEntry* Limited(const LogEntry& entry, size_t bytes_max, LogEntry& marker);

  size_t bytes_ = 0;
  bool full_ = false;
  uint64_t next_seq_ = 1;
  SteadyTime begun_{};
  bool continues_ = false;
};

}  // namespace carillon::executor
