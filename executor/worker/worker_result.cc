#include "executor/worker/worker_result.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace carillon::executor {

void AddLine(const WorkerLogLine& line, const std::shared_ptr<const SecretPatterns>& patterns,
             std::vector<LogEntry>& entries) {
  constexpr size_t kMost = kLogEntryBytesMax - 1;
  const std::string text = Masked(patterns, line.text);
  std::string_view rest = text;
  do {
    size_t end = std::min(rest.size(), kMost);
    // Not inside a character.
    while (end < rest.size() && end > kMost - 4 && (rest[end] & 0xC0) == 0x80) --end;
    entries.push_back({.time = line.time,
                       .stream = line.error ? LogStream::kStderr : LogStream::kStdout,
                       .text = std::string(rest.substr(0, end)) + "\n"});
    rest.remove_prefix(end);
  } while (!rest.empty());
}

size_t BytesOf(const AttemptEvent& event) {
  size_t bytes = sizeof(event);
  if (const auto* output = std::get_if<AttemptOutput>(&event)) {
    bytes += output->chunk.entries.size();
  } else if (const auto* save = std::get_if<AttemptContent>(&event)) {
    bytes += save->progress.value_or("").size() + (save->checkpoint ? save->checkpoint->size() : 0);
  } else if (const auto* ended = std::get_if<AttemptEnded>(&event)) {
    bytes += ended->result.error.size() + ended->result.output.size() +
             carillon::BytesOf(ended->result.outputs);
  }
  return bytes;
}

WorkerEnd ResultOf(WorkerDone done, bool lease_over,
                   const std::shared_ptr<const SecretPatterns>& patterns) {
  WorkerEnd end{.result = {.state = done.state, .error = Masked(patterns, done.error)}};
  AttemptResult& result = end.result;
  switch (done.state) {
    case RunState::kCompleted: {
      for (auto& [name, value] : done.outputs) value = Masked(patterns, value);
      const Status outputs = CheckOutputs(done.outputs);
      // The work of the function is done, and another attempt would do it twice.
      if (outputs.ok()) {
        result.outputs = std::move(done.outputs);
      } else {
        end.note = "no output was kept: " + outputs.error().message;
      }
      return end;
    }
    case RunState::kCancelled: result.reason = reason::kCancelRequested; return end;
    case RunState::kTimedOut: result.reason = reason::kTimeout; return end;
    case RunState::kLost:
      result.reason = done.never_began ? reason::kNotStarted
                      : lease_over     ? reason::kLeaseEnded
                                       : reason::kWorkerStopped;
      return end;
    default:
      result.reason = reason::kHandlerError;
      // A part of a secret is no name.
      if (Masked(patterns, done.code) == done.code) result.error_code = std::move(done.code);
      result.no_retry = done.no_retry;
      result.retry_after = done.retry_after;
      return end;
  }
}

}  // namespace carillon::executor
