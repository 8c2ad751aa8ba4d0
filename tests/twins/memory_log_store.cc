#include "tests/twins/memory_log_store.h"

namespace carillon::memory {

Status MemoryLogStore::AppendLogs(const std::vector<LogRecord>& records) {
  MutexLock lock(tables_.mu);
  for (const LogRecord& record : records) {
    tables_.logs[{record.key, record.attempt}].emplace(record.chunk.first_seq, record.chunk);
  }
  return {};
}

Result<std::vector<size_t>> MemoryLogStore::FindForeign(const std::vector<LogOrigin>& origins) {
  MutexLock lock(tables_.mu);
  std::vector<size_t> foreign;
  for (size_t i = 0; i < origins.size(); ++i) {
    const RunEntry* run = tables_.FindRun(origins[i].key);
    LogOwner owner;
    if (run != nullptr) {
      owner = {.attempt = run->row.attempt, .token = run->row.claim_token};
      for (const RunAttempt& earlier : run->attempts) {
        if (earlier.attempt == origins[i].attempt) owner.executor = earlier.executor;
      }
    }
    if (run == nullptr || !IsOf(origins[i], owner)) foreign.push_back(i);
  }
  return foreign;
}

Result<std::vector<LogChunk>> MemoryLogStore::ReadLog(const RunKey& key, int attempt,
                                                      uint64_t from_seq, size_t bytes_max) {
  MutexLock lock(tables_.mu);
  std::vector<LogChunk> chunks;
  const auto log = tables_.logs.find({key, attempt});
  if (log == tables_.logs.end()) return chunks;
  auto at = log->second.upper_bound(from_seq);
  if (at != log->second.begin()) --at;
  size_t bytes = 0;
  for (; at != log->second.end(); ++at) {
    const LogChunk& chunk = at->second;
    if (chunk.first_seq + chunk.count <= from_seq && !chunk.last) continue;
    bytes += chunk.entries.size();
    if (!chunks.empty() && bytes > bytes_max) break;
    chunks.push_back(chunk);
  }
  return chunks;
}

Result<LogExtent> MemoryLogStore::GetLogExtent(const RunKey& key, int attempt) {
  MutexLock lock(tables_.mu);
  const auto log = tables_.logs.find({key, attempt});
  if (log == tables_.logs.end() || log->second.empty()) return LogExtent{};
  const LogChunk& chunk = log->second.rbegin()->second;
  LogExtent extent{.last_seq = chunk.first_seq + chunk.count - 1, .complete = chunk.last};
  for (const auto& [first_seq, stored] : log->second) extent.entries += stored.count;
  return extent;
}

}  // namespace carillon::memory
