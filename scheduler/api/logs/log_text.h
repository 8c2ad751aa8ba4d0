// Entries of a log as people and programs read them: plain text, NDJSON, server-sent events.
//
// One line of NDJSON, and the data of one event:
//   {"seq": 17, "t": "2026-03-01T00:00:00.000000Z", "stream": "stdout", "line": "text"}
// and "partial": true when the line goes on in the next entry of the stream. Invalid UTF-8 is
// U+FFFD. The id of an event is the number of its entry, of a later attempt than the first "2-17":
// a listener that comes again means that one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/run_log.h"

namespace carillon::scheduler {

struct NumberedEntry {
  uint64_t seq = 0;
  LogEntry entry;
};

enum class LogFormat { kText, kNdjson, kEvents };

// Appends the entry; as text its bytes only.
void AppendLogEntry(std::string& out, const NumberedEntry& entry, LogFormat format,
                    int attempt = 1);

// The output of an attempt that has no log (of an older executor, or of long ago), as entries of
// the stream "output" without times.
void AppendOutput(std::string& out, std::string_view output, uint64_t after_seq, LogFormat format,
                  int attempt = 1);

inline constexpr int64_t kAttemptMax = 1'000'000;

struct EventId {
  std::optional<int> attempt = {};  // nullopt: of the one that was asked for, else of the first
  uint64_t seq = 0;
};
std::optional<EventId> ParseEventId(std::string_view text);

// Whether somebody who asked for `only` (nullopt: everything) is shown it.
inline bool IsShown(const LogEntry& entry, const std::optional<LogStream>& only) {
  return !only || entry.stream == *only;
}

// In place of the entries between these two.
NumberedEntry MissingBefore(uint64_t first_seq, uint64_t last_seq);

// The entries of a chunk with their numbers; what does not parse is one entry that says so.
std::vector<NumberedEntry> EntriesOf(const LogChunk& chunk);

}  // namespace carillon::scheduler
