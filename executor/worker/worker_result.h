// Turns what a worker says about the end of a function into the result of its attempt, without the
// values of secrets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/domain/run/run_log.h"
#include "common/ports/handler_runner.h"
#include "common/wire/messages/worker_codec.h"
#include "executor/output/secret_masker.h"

namespace carillon::executor {

// Finds the values, of which there may be none, then null.
inline std::shared_ptr<const SecretPatterns> PatternsOf(const std::vector<std::string>& values) {
  return values.empty() ? nullptr : std::make_shared<SecretPatterns>(values);
}

// Appends the line as an entry of the log of its attempt; as several if it is too long for one.
void AddLine(const WorkerLogLine& line, const std::shared_ptr<const SecretPatterns>& patterns,
             std::vector<LogEntry>& entries);

// The memory that the event holds, about.
size_t BytesOf(const AttemptEvent& event);

struct WorkerEnd {
  AttemptResult result;
  std::string note = {};  // for its log
};
// `lease_over`: the lease of the attempt had ended, or nearly so.
WorkerEnd ResultOf(WorkerDone done, bool lease_over,
                   const std::shared_ptr<const SecretPatterns>& patterns);

}  // namespace carillon::executor
