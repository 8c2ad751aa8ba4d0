// Port from the executor's daemon to what runs attempts on its host: the warden (processes and
// containers), requests, and the workers that offer handlers. Each host takes starts of its own
// kind; everything else is the same for all of them.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/domain/run/run.h"
#include "common/domain/run/run_log.h"
#include "common/ports/executor_link.h"

namespace carillon {

// The attempt runs, or may still run if an earlier daemon started it.
struct AttemptStarted {
  HeldAttempt attempt;
  WallTime started = {};
  std::string handler = {};  // "app/name"
};
// `silent`: the attempt may still run, but nobody speaks for it: its worker does not come back,
// though its process lives. Its lease should be left to end, so that it is decided as that of a
// host that is away.
struct AttemptSilent {
  HeldAttempt attempt;
  bool silent = true;
};
// Progress or a checkpoint; comes before the end of its attempt.
struct AttemptContent {
  HeldAttempt attempt;
  std::optional<std::string> progress = {};    // progress_text.h
  std::optional<std::string> checkpoint = {};  // at most kCheckpointBytesMax
};
// A chunk of the attempt's log.
struct AttemptOutput {
  HeldAttempt attempt;
  JobId job_id = {};
  LogChunk chunk;
};
struct AttemptEnded {
  HeldAttempt attempt;
  AttemptResult result;
  JobId job_id = {};  // job id for the result message; empty = unknown
};
using AttemptEvent =
    std::variant<AttemptStarted, AttemptSilent, AttemptContent, AttemptOutput, AttemptEnded>;

class AttemptHost {
 public:
  virtual ~AttemptHost() = default;
  // Extends leases; never shortens them. Unknown attempts are ignored.
  virtual Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) = 0;
  // Ends the attempt, or asks it to end, as its kind allows. Does nothing if it is over.
  virtual Status Cancel(const HeldAttempt& attempt, CancelMode mode) = 0;
  // Called when the results were applied: nothing of these attempts need be kept.
  virtual Status Forget(const std::vector<HeldAttempt>& /*attempts*/) { return {}; }
  // Adds a line by Carillon to the log of an attempt. Does nothing if the attempt is over.
  virtual Status Note(const HeldAttempt& /*attempt*/, const std::string& /*text*/) { return {}; }
  // Every start ends with one AttemptEnded, or several equal ones; by then nothing of the attempt
  // is running.
  virtual std::vector<AttemptEvent> Receive(size_t max) = 0;
  virtual void OnReadable(std::function<void()> wake) = 0;
};

// For Receive: takes the oldest events.
inline std::vector<AttemptEvent> TakeOldest(std::deque<AttemptEvent>& events, size_t max) {
  const auto end = events.begin() + static_cast<std::ptrdiff_t>(std::min(max, events.size()));
  std::vector<AttemptEvent> taken(std::make_move_iterator(events.begin()),
                                  std::make_move_iterator(end));
  events.erase(events.begin(), end);
  return taken;
}

}  // namespace carillon
