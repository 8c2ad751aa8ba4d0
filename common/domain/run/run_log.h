// The log of an attempt: its output on both streams, in order, with times.
//
// An entry is a piece of one stream, up to and including its newline. A line that is longer than
// kLogEntryBytesMax, or whose end does not arrive soon, is split into several entries. Entries are
// numbered from 1 across both streams, and are sent and stored in chunks.
//
// Errors   DecodeEntries: kCorrupt for bytes that AppendEntry did not write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

inline constexpr size_t kLogEntryBytesMax = 16u << 10;   // bytes of an entry's text
inline constexpr size_t kLogChunkBytesMax = 128u << 10;  // bytes of a chunk's encoded entries

enum class LogStream : uint8_t {
  kStdout = 0,
  kStderr = 1,
  kCarillon = 2,  // added by Carillon: says which output is missing, and why
};
// "stdout", "stderr", "carillon".
std::string_view Name(LogStream stream);

struct LogEntry {
  WallTime time;  // when the first byte of the entry was read
  LogStream stream = LogStream::kStdout;
  std::string text;  // any bytes; ends in a newline unless the next entry continues it

  bool operator==(const LogEntry&) const = default;
};

// Consecutive entries. Only the last chunk may be empty.
struct LogChunk {
  uint64_t first_seq = 1;
  uint32_t count = 0;
  bool last = false;    // the attempt ended; nothing follows
  std::string entries;  // encoded

  bool operator==(const LogChunk&) const = default;
};

void AppendEntry(std::string& encoded, const LogEntry& entry);
Result<std::vector<LogEntry>> DecodeEntries(std::string_view encoded, uint32_t count);

}  // namespace carillon
