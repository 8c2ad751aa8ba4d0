// Port from the executor's daemon to its host: the warden, which runs processes and outlives the
// daemon, and the spool, where results wait. In the simulator both are in memory and survive a
// crash of the daemon, as the real ones do.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/domain/run.h"
#include "common/domain/run_log.h"
#include "common/ports/executor_link.h"

namespace carillon {

// One attempt to start. Everything the warden needs, resolved.
struct StartAttempt {
  HeldAttempt attempt;
  std::string command;                     // for /bin/sh -c
  std::map<std::string, std::string> env;  // complete: the process gets nothing else
  Duration timeout = 3600s;
  Duration kill_grace = 10s;
  SteadyTime lease_end;                  // CLOCK_BOOTTIME
  bool kill_at_lease_end = true;         // false: on_lost is hold or fail: let it finish
  size_t output_bytes_max = 64u << 10;   // of each stream
  JobId job_id = {};                     // comes back with the end
  std::vector<std::string> masked = {};  // values that its output must not show
};

struct AttemptStarted {
  HeldAttempt attempt;
  WallTime started;
};
struct AttemptEnded {
  HeldAttempt attempt;
  AttemptResult result;  // already on disk
  JobId job_id = {};     // for the result message; empty = not known any more
};
// A piece of the attempt's log; comes again after a reconnect until it is confirmed.
struct AttemptOutput {
  HeldAttempt attempt;
  JobId job_id = {};
  LogChunk chunk;
};
using WardenEvent = std::variant<AttemptStarted, AttemptEnded, AttemptOutput>;

class Warden {
 public:
  virtual ~Warden() = default;
  // Asked before a claim. kUnavailable: no warden is attached. kExhausted: the end of one more
  // attempt could not be recorded (disk full, too much unreported).
  virtual Status CanStart() { return {}; }
  // Starts it, or ends it at once with LOST (lease_ended: nothing was started, after lease_end - 3
  // s) or FAILED (spawn). A second Start of the same (run, attempt) is ignored, whatever its token.
  // kUnavailable: no warden can be reached or started now. kInvalid: the one that is attached is of
  // a version that cannot mask; nothing was started.
  virtual Status Start(const StartAttempt& start) = 0;
  // Moves lease ends later (never earlier).
  virtual Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) = 0;
  // SIGTERM, grace, SIGKILL to the whole tree, or SIGKILL at once, also in the middle of a grace;
  // ends as CANCELLED when the tree is dead. A warden of a version that cannot kill at once gives
  // the grace.
  virtual Status Cancel(const HeldAttempt& attempt, CancelMode mode) = 0;
  // Everything it holds: running, and ended but not yet forgotten. For a daemon that comes back.
  struct Inventory {
    std::vector<AttemptStarted> running;
    std::vector<AttemptEnded> ended;
  };
  virtual Result<Inventory> List() = 0;
  // The result was applied: its files may go.
  virtual Status Forget(const std::vector<HeldAttempt>& attempts) = 0;
  // These pieces are kept elsewhere. Lost with the connection they would only be told again.
  virtual Status ConfirmOutput(const std::vector<StoredOutput>& /*confirmed*/) { return {}; }
  virtual std::vector<WardenEvent> Receive(size_t max) = 0;
  virtual void OnReadable(std::function<void()> wake) = 0;
};

// Results that are not yet applied, on disk, in the order they ended. Used for in-process attempts,
// whose exit no warden keeps.
class ResultSpool {
 public:
  virtual ~ResultSpool() = default;
  // Durable when it returns (one fsync for the whole batch). kExhausted: above spool_bytes_max or
  // no space left on the device.
  virtual Status Append(const std::vector<AttemptEnded>& results) = 0;
  virtual Status Remove(const std::vector<HeldAttempt>& applied) = 0;
  virtual Result<std::vector<AttemptEnded>> Load() = 0;
};

}  // namespace carillon
