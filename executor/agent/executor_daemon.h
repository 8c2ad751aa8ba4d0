// The executor daemon: its rooms put together, without a thread, a socket or a clock of its own.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md; executor/README.md draws the rooms.
// Threads  Each stepper is used by one thread (or by turns); everything else is thread-safe.
// Owns     Its rooms. Everything in Ports outlives it.
// Always   An attempt is started only after its claim was accepted; a result leaves only after it
//          is on disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live_settings.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/executor_host.h"
#include "common/ports/executor_link.h"
#include "common/ports/message_bus.h"
#include "common/ports/token_source.h"
#include "common/wire/task_codec.h"
#include "executor/link/load_source.h"

namespace carillon::executor {

// What may change while the daemon runs (ExecutorDaemon::Tune).
struct ExecutorTuning {
  int slots = 8;  // processes at once; the app sets 4 * cores
  size_t output_bytes_max = 64u << 10;
  BusFormat bus_format = BusFormat::kBinary;

  bool operator==(const ExecutorTuning&) const = default;
};

struct ExecutorOptions {
  ExecutorId executor_id;
  Incarnation incarnation;  // random per start of the daemon
  std::string host;
  int ops_port = 0;
  std::string version;
  std::map<std::string, std::string> labels;
  ExecutorTuning tuning = {};
  size_t log_bytes_max = 16u << 20;  // kept of the log of an attempt
  int light_slots = 4096;            // in-process attempts until their result is applied
  // What every process gets unless its job says otherwise.
  std::map<std::string, std::string> base_env = {
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
      {"LANG", "C.UTF-8"}};
};

class ExecutorDaemon {
 public:
  struct Ports {
    const Clock& clock;
    TokenSource& tokens;
    BusConsumer& tasks;
    BusProducer& results;  // and logs
    ExecutorLink& link;
    Warden& warden;
    ResultSpool& spool;
    LoadSource& load;
    Metrics& metrics;
    // The members' keys as known now; asked for each batch of records, so it must be cheap.
    std::function<std::vector<std::string>()> public_keys;
    LiveSettings& settings;  // as members tell them; what they change is told by Tune
  };

  ExecutorDaemon(Ports ports, ExecutorOptions options);
  ~ExecutorDaemon();

  // The loops: "exec.core", "exec.report" and "exec.logs". Stepping starts with recovery: what the
  // warden and the spool hold from an earlier daemon.
  std::vector<NamedStepper> steppers();
  // Called, from any thread, when a stepper has something to do before the time it named. Set
  // before the first Step.
  void OnWake(const std::function<void(Stepper*)>& wake);

  // With fewer slots nothing is killed: less is started. Thread-safe, and does not wait.
  void Tune(const ExecutorTuning& tuning);
  // No new claims from now on; what runs goes on, results go out. Thread-safe.
  void Drain();
  // As ExecutorCore::Leave: after the loops stopped.
  void Leave(SteadyTime now);
  // Nothing runs and every result was applied.
  bool drained() const;
  // A member said that another executor with this id is alive; text of the refusal, else empty.
  std::string refusal() const;

  struct Status {
    int running = 0;    // processes
    int queued = 0;     // waiting for a slot
    int reporting = 0;  // ended, not yet applied
    bool warden_ready = false;
  };
  Status status() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carillon::executor
