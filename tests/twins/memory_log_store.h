// The port LogStore in memory: the logs of attempts.
#pragma once

#include <vector>

#include "common/ports/store/log_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryLogStore final : public LogStore {
 public:
  explicit MemoryLogStore(MemoryTables& tables) : tables_(tables) {}

  Status AppendLogs(const std::vector<LogRecord>& records) override;
  Result<std::vector<size_t>> FindForeign(const std::vector<LogOrigin>& origins) override;
  Result<std::vector<LogChunk>> ReadLog(const RunKey& key, int attempt, uint64_t from_seq,
                                        size_t bytes_max) override;
  Result<LogExtent> GetLogExtent(const RunKey& key, int attempt) override;

 private:
  MemoryTables& tables_;
};

}  // namespace carillon::memory
