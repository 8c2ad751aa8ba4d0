#include "executor/worker/function_log.h"

#include <algorithm>
#include <utility>

namespace carillon::executor {

std::vector<LogChunk> FunctionLog::Add(const std::vector<LogEntry>& entries, bool last,
                                       SteadyTime now) {
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
  for (const LogEntry& entry : entries) {
    if (chunk.entries.size() > kLogChunkBytesMax - 2 * kLogEntryBytesMax) flush(false);
    AppendEntry(chunk.entries, entry);
    ++chunk.count;
  }
  if (last || chunk.count > 0) flush(last);
  return chunks;
}

}  // namespace carillon::executor
