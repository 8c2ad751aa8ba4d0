// The log of an attempt: what it wrote to both streams, in order and with times.
//
// An entry is a piece of one stream, up to and with its newline; a longer line, or one that waits
// too long for its end, comes in several. Entries are numbered from 1 over both streams. They
// travel, and are stored, in chunks.
//
// Errors   DecodeEntries: kCorrupt for bytes that EncodeEntries did not write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

inline constexpr size_t kLogEntryBytesMax = 16u << 10;   // of text
inline constexpr size_t kLogChunkBytesMax = 128u << 10;  // encoded

enum class LogStream : uint8_t {
  kStdout = 0,
  kStderr = 1,
  kCarillon = 2,  // said by Carillon itself: where something is missing, and why
};
// "stdout", "stderr", "carillon".
std::string_view Name(LogStream stream);

struct LogEntry {
  WallTime time;  // when its first byte was read
  LogStream stream = LogStream::kStdout;
  std::string text;  // any bytes; ends in a newline unless the line goes on in the next entry

  bool operator==(const LogEntry&) const = default;
};

// Consecutive entries. A chunk without entries can only be the last.
struct LogChunk {
  uint64_t first_seq = 1;
  uint32_t count = 0;
  bool last = false;    // nothing follows: the attempt ended
  std::string entries;  // encoded

  bool operator==(const LogChunk&) const = default;
};

void AppendEntry(std::string& encoded, const LogEntry& entry);
Result<std::vector<LogEntry>> DecodeEntries(std::string_view encoded, uint32_t count);

}  // namespace carillon
