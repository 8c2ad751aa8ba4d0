// Formats the entries of a log: plain text, NDJSON, server-sent events.
//
// A line of NDJSON, and the data of an event:
//   {"seq": 17, "t": "2026-03-01T00:00:00.000000Z", "stream": "stdout", "line": "text"}
// If the line continues in the next entry of the stream, the entry also has "partial": true.
// Invalid UTF-8 becomes U+FFFD.
//
// The id of an event is the number of its entry, such as "17". From the second attempt of a run
// on, the id begins with the attempt, as in "2-17". So a client that reconnects continues with
// the same attempt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/run/run_log.h"

namespace carillon::scheduler {

struct NumberedEntry {
  uint64_t seq = 0;
  LogEntry entry;
};

enum class LogFormat { kText, kNdjson, kEvents };

// Appends the entry. In the format kText only its text is appended.
void AppendLogEntry(std::string& out, const NumberedEntry& entry, LogFormat format,
                    int attempt = 1);

// Ends the last line of the text if it is of another stream and has no end of its own: the prompt
// on stderr is no part of the line on stdout.
void EndOtherLine(std::string& out, const std::optional<LogStream>& last, LogStream next);

// Appends the output of an attempt as entries of the stream "output", without times. Used for an
// attempt without a log: its executor is older, or the log was deleted.
void AppendOutput(std::string& out, std::string_view output, uint64_t after_seq, LogFormat format,
                  int attempt = 1);

inline constexpr int64_t kAttemptMax = 1'000'000;

struct EventId {
  // nullopt: the requested attempt, or the first one if none is requested.
  std::optional<int> attempt = {};
  uint64_t seq = 0;
};
std::optional<EventId> ParseEventId(std::string_view text);

// True if the entry belongs to the requested stream `only`. nullopt means all streams.
inline bool IsShown(const LogEntry& entry, const std::optional<LogStream>& only) {
  return !only || entry.stream == *only;
}

// True if the entry says that output is missing. Other entries by Carillon say what happened to the
// attempt, and name causes after a colon.
bool SaysMissing(const LogEntry& entry);

// A new daemon of an executor does not know the numbers of a function's log, and goes on at the
// microseconds since the start of the attempt: at least as many numbers are left out then, and
// usually no entry.
inline constexpr uint64_t kNumbersOfRestart = 1'000'000;
inline bool IsRestart(uint64_t first_seq, uint64_t last_seq) {
  return first_seq > last_seq && first_seq - last_seq > kNumbersOfRestart;
}
// An entry that says that the entries after `last_seq` and before `first_seq` are missing.
NumberedEntry MissingBefore(uint64_t first_seq, uint64_t last_seq);

// The numbered entries of a chunk. A chunk that cannot be parsed becomes one entry that says so.
std::vector<NumberedEntry> EntriesOf(const LogChunk& chunk);

}  // namespace carillon::scheduler
