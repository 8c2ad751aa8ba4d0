#include "executor/worker/worker_result.h"

#include <utility>

namespace carillon::executor {

LogEntry EntryOf(const WorkerLogLine& line, const std::shared_ptr<const SecretPatterns>& patterns) {
  std::string text = Masked(patterns, line.text).substr(0, kLogEntryBytesMax - 1);
  return {.time = line.time,
          .stream = line.error ? LogStream::kStderr : LogStream::kStdout,
          .text = text + "\n"};
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

AttemptResult ResultOf(WorkerDone done, bool lease_over,
                       const std::shared_ptr<const SecretPatterns>& patterns) {
  AttemptResult result{.state = done.state, .error = Masked(patterns, done.error)};
  switch (done.state) {
    case RunState::kCompleted: {
      for (auto& [name, value] : done.outputs) value = Masked(patterns, value);
      const Status outputs = CheckOutputs(done.outputs);
      if (outputs.ok()) {
        result.outputs = std::move(done.outputs);
        return result;
      }
      result.state = RunState::kFailed;
      result.reason = reason::kBadOutputs;
      result.error = outputs.error().message;
      return result;
    }
    case RunState::kCancelled: result.reason = reason::kCancelRequested; return result;
    case RunState::kTimedOut: result.reason = reason::kTimeout; return result;
    case RunState::kLost:
      if (done.never_began) {
        result.reason = reason::kNotStarted;
        return result;
      }
      result.reason = lease_over ? reason::kLeaseEnded : reason::kWorkerStopped;
      return result;
    default: result.reason = reason::kHandlerError; return result;
  }
}

}  // namespace carillon::executor
