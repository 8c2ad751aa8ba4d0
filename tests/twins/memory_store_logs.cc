// The logs of attempts: port LogStore.
#include "tests/twins/memory_store.h"

namespace carillon::memory {

Status MemoryStore::AppendLogs(const std::vector<LogRecord>& records) {
  MutexLock lock(mu_);
  for (const LogRecord& record : records) {
    tables_.logs[{record.key, record.attempt}].emplace(record.chunk.first_seq, record.chunk);
  }
  return {};
}

Result<std::vector<LogChunk>> MemoryStore::ReadLog(const RunKey& key, int attempt,
                                                   uint64_t from_seq, size_t bytes_max) {
  MutexLock lock(mu_);
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

Result<LogExtent> MemoryStore::GetLogExtent(const RunKey& key, int attempt) {
  MutexLock lock(mu_);
  const auto log = tables_.logs.find({key, attempt});
  if (log == tables_.logs.end()) return LogExtent{};
  const LogChunk& chunk = log->second.rbegin()->second;
  LogExtent extent{.last_seq = chunk.first_seq + chunk.count - 1, .complete = chunk.last};
  for (const auto& [first_seq, stored] : log->second) extent.entries += stored.count;
  return extent;
}

}  // namespace carillon::memory
