// Ports from the executor's daemon to its host: the warden, which runs processes and outlives the
// daemon, and the spool, where results wait. In the simulator both are in memory and, like the real
// ones, survive a crash of the daemon.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/features.h"
#include "common/domain/isolation.h"
#include "common/domain/job/container.h"
#include "common/ports/attempt_host.h"

namespace carillon {

// A user of the host as whom a process can run.
struct ProcessUser {
  std::string name;
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::vector<uint32_t> groups = {};  // supplementary groups
  std::string home = {};              // "": none

  bool operator==(const ProcessUser&) const = default;
};

// The users of the host as whom jobs run.
class ProcessUsers {
 public:
  virtual ~ProcessUsers() = default;
  // Never waits. kDenied: the executor does not allow the user. kNotFound: the host has no such
  // user. kUnavailable: the host was not asked yet, or did not answer; the caller tries again.
  virtual Result<ProcessUser> Find(const std::string& name) = 0;
  // The executor's own user, without groups. Never waits. kNotFound: the host's user database has
  // no entry of it. kUnavailable: as above.
  virtual Result<ProcessUser> Own() = 0;
};

// One attempt to start, with everything the warden needs.
struct StartAttempt {
  HeldAttempt attempt;
  std::string command;                     // for /bin/sh -c; of a script: its text
  std::map<std::string, std::string> env;  // complete: nothing is inherited
  Duration timeout = 3600s;
  Duration kill_grace = 10s;
  SteadyTime lease_end;                  // CLOCK_BOOTTIME
  bool kill_at_lease_end = true;         // false (on_lost is hold or fail): the process may finish
  size_t output_bytes_max = 64u << 10;   // per stream
  JobId job_id = {};                     // returned in AttemptEnded
  std::vector<std::string> masked = {};  // values that the output must not show
  // Of a script, which runs as interpreter, file, args. The file gets the suffix.
  struct Script {
    std::string interpreter;  // absolute path
    std::string suffix;
    std::vector<std::string> args;
  };
  std::optional<Script> script = {};
  // Of a container: `limits` are the engine's to enforce, and `env` has only the variables of
  // the container.
  struct Container {
    std::string engine;  // absolute path of its command line
    ContainerDefinition definition;
  };
  std::optional<Container> container = {};
  std::optional<Limits> limits = {};
  std::optional<ProcessUser> user = {};  // nullopt: the warden's own
  // Absolute; the process begins there, and nobody removes it. "": in the attempt's own.
  std::string working_directory = {};
  std::string output_encoding = {};  // of its output; "": UTF-8
};

class Warden : public AttemptHost {
 public:
  // Called before a claim. kUnavailable: no warden is attached. kExhausted: the result of one more
  // attempt could not be recorded (disk full, too many unreported results).
  virtual Status CanStart() { return {}; }
  // Starts the attempt. If that is impossible, ends it immediately:
  // - as LOST (lease_ended) if the time is later than lease_end - 3 s;
  // - as FAILED (spawn) if the process cannot be created.
  // A second Start of the same (run, attempt) is ignored, even with another token. kUnavailable: no
  // warden can be reached or started now.
  virtual Status Start(const StartAttempt& start) = 0;
  // The features (limits, run_as, working_directory, output_encoding) that the warden of this host
  // offers; none while none is attached.
  virtual Features Isolation() { return {}; }
  // kGraceful: SIGTERM, then after the grace SIGKILL, to the whole process tree. kKill: SIGKILL
  // immediately, even during a grace. The attempt ends as CANCELLED when the tree is dead.
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override = 0;
  // All attempts that the warden knows: running ones, and ended ones until Forget names them. A
  // restarted daemon reads them.
  struct Inventory {
    std::vector<AttemptStarted> running;
    std::vector<AttemptEnded> ended;
  };
  virtual Result<Inventory> List() = 0;
  // Called when these chunks are in the store. The warden repeats chunks that are not confirmed.
  virtual Status ConfirmOutput(const std::vector<StoredOutput>& /*confirmed*/) { return {}; }
};

// Results on disk that are not applied yet, in the order in which the attempts ended. Used for
// in-process attempts, whose results no warden keeps.
class ResultSpool {
 public:
  virtual ~ResultSpool() = default;
  // Durable on return (one fsync for the whole batch). kExhausted: above spool_bytes_max, or no
  // space left on the device.
  virtual Status Append(const std::vector<AttemptEnded>& results) = 0;
  virtual Status Remove(const std::vector<HeldAttempt>& applied) = 0;
  virtual Result<std::vector<AttemptEnded>> Load() = 0;
};

}  // namespace carillon
