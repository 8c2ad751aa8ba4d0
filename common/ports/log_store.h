// Port of the stored output of attempts.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/domain/run.h"
#include "common/domain/run_log.h"

namespace carillon {

struct LogRecord {
  RunKey key;
  int attempt = 1;
  LogChunk chunk;
};

// What is there of one attempt's log.
struct LogExtent {
  uint64_t last_seq = 0;  // of its last entry; 0 = none
  bool complete = false;  // the last chunk is there; earlier ones may still be missing
  uint64_t entries = 0;   // that are stored

  // Nothing comes to it any more.
  bool settled() const { return complete && entries == last_seq; }
};

class LogStore {
 public:
  virtual ~LogStore() = default;
  // All or none. What is there already stays as it is: a chunk may come twice.
  virtual Status AppendLogs(const std::vector<LogRecord>& records) = 0;
  // Chunks that hold entries from `from_seq` on, or that end the log, ascending: at least one when
  // there is any, then up to `bytes_max` of entries. Gaps between them are possible.
  virtual Result<std::vector<LogChunk>> ReadLog(const RunKey& key, int attempt, uint64_t from_seq,
                                                size_t bytes_max) = 0;
  virtual Result<LogExtent> GetLogExtent(const RunKey& key, int attempt) = 0;
};

}  // namespace carillon
