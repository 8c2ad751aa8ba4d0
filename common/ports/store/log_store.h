// Port of the stored output of attempts.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/domain/log_origin.h"
#include "common/domain/run/run.h"
#include "common/domain/run/run_log.h"

namespace carillon {

// One chunk of the log of an attempt.
struct LogRecord {
  RunKey key;
  int attempt = 1;
  LogChunk chunk;
};

// The stored part of one attempt's log.
struct LogExtent {
  uint64_t last_seq = 0;  // number of the last stored entry; 0 = none
  bool complete = false;  // the last chunk is stored; earlier ones may be missing
  uint64_t entries = 0;   // number of stored entries

  // True if the log is complete and will not change.
  bool settled() const { return complete && entries == last_seq; }
};

class LogStore {
 public:
  virtual ~LogStore() = default;
  // Stores all records or none. A chunk may arrive twice; the stored chunk is kept.
  virtual Status AppendLogs(const std::vector<LogRecord>& records) = 0;
  // Returns the places of the origins that are not of an attempt of their run (IsOf), ascending.
  virtual Result<std::vector<size_t>> FindForeign(const std::vector<LogOrigin>& origins) = 0;
  // Returns in ascending order the chunks that have entries from `from_seq` on, or the end of the
  // log. Returns at least one chunk if any exists, and more up to `bytes_max` of entries. Chunks
  // may be missing in between.
  virtual Result<std::vector<LogChunk>> ReadLog(const RunKey& key, int attempt, uint64_t from_seq,
                                                size_t bytes_max) = 0;
  virtual Result<LogExtent> GetLogExtent(const RunKey& key, int attempt) = 0;
};

}  // namespace carillon
