#include "executor/worker/function_log.h"

#include <algorithm>
#include <utility>

#include "executor/output/log_limit.h"

namespace carillon::executor {

const LogEntry* FunctionLog::Limited(const LogEntry& entry, size_t bytes_max, LogEntry& marker) {
  if (entry.stream == LogStream::kCarillon) return &entry;
  if (full_) return nullptr;
  if (bytes_ + entry.text.size() <= bytes_max) {
    bytes_ += entry.text.size();
    return &entry;
  }
  full_ = true;
  marker = {
      .time = entry.time, .stream = LogStream::kCarillon, .text = LogLimitText(bytes_max) + "\n"};
  return &marker;
}

std::vector<LogChunk> FunctionLog::Add(const std::vector<LogEntry>& entries, bool last,
                                       SteadyTime now, size_t bytes_max) {
  if (std::exchange(continues_, false)) {
    next_seq_ = static_cast<uint64_t>(std::max<int64_t>((now - begun_).count(), 1)) + 1;
  }
  std::vector<LogChunk> chunks;
  LogChunk chunk{.first_seq = next_seq_};
  const auto flush = [&](bool is_last) {
    chunk.last = is_last;
    next_seq_ += chunk.count;
    chunks.push_back(std::exchange(chunk, {}));
    chunk.first_seq = next_seq_;
  };
  LogEntry marker;
  for (const LogEntry& one : entries) {
    const LogEntry* entry = Limited(one, bytes_max, marker);
    if (entry == nullptr) continue;
    if (chunk.entries.size() > kLogChunkBytesMax - 2 * kLogEntryBytesMax) flush(false);
    AppendEntry(chunk.entries, *entry);
    ++chunk.count;
  }
  if (last || chunk.count > 0) flush(last);
  return chunks;
}

}  // namespace carillon::executor
