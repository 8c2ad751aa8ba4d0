// The executor daemon: connects its components, without a thread, socket or clock of its own.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md; executor/README.md shows the components.
// Threads  Each stepper runs on one thread at a time; everything else is thread-safe.
// Owns     Its components. Everything in Ports outlives it.
// Always   An attempt is started only after its claim was accepted; a result is published only
//          after it is on disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ip_address.h"
#include "common/base/live_settings.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/executor_host.h"
#include "common/ports/executor_link.h"
#include "common/ports/handler_runner.h"
#include "common/ports/http_runner.h"
#include "common/ports/message_bus.h"
#include "common/ports/run_files.h"
#include "common/ports/token_source.h"
#include "common/wire/messages/task_codec.h"
#include "executor/link/load_source.h"
#include "executor/tasks/host_programs.h"
#include "executor/tasks/interpreters.h"

namespace carillon::executor {

// Settings that may change while the daemon runs (ExecutorDaemon::Tune).
struct ExecutorTuning {
  int slots = 8;              // processes at once; the default of the setting is 4 * cores
  int starts_per_second = 0;  // processes; 0 = no limit
  // Bytes of output kept with a result, per stream.
  size_t output_bytes_max = 64u << 10;
  // Format of published results.
  BusFormat bus_format = BusFormat::kBinary;

  bool operator==(const ExecutorTuning&) const = default;
};

// The settings of the executor, and how it presents itself to the members.
struct ExecutorOptions {
  ExecutorId executor_id;
  Incarnation incarnation;  // random, new for each start of the daemon
  std::string host;
  int ops_port = 0;
  std::string version;
  std::map<std::string, std::string> labels;
  ExecutorTuning tuning = {};
  size_t log_bytes_max = 16u << 20;  // bytes kept of one attempt's log
  int light_slots = 4096;            // in-process attempts; each counts until its result is applied
  // Environment of every process, with HOME, USER and LOGNAME of its user; variables of the job
  // override it.
  std::map<std::string, std::string> base_env = {
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
      {"LANG", "C.UTF-8"},
      {"SHELL", "/bin/sh"},            // runs the commands, whatever the user's own is
      {"PYTHONUNBUFFERED", "1"}};      // else output comes only when the buffer is full
  Interpreters interpreters = {};      // none: this host runs no scripts
  std::vector<HostCheck> checks = {};  // the start-up report
  // As configured; the server puts in its place the path of an engine that has answered, or
  // nothing.
  std::string container_engine = {};
  // ---- of runs as other users
  std::vector<std::string> run_as_allowed = {};  // names
  std::string run_as_directory = {};
  // ---- of requests
  std::vector<IpNetwork> http_allow = {};
  std::vector<IpNetwork> http_deny = {};
  std::string http_ca_file = {};
  std::string http_proxy = {};
  std::string no_proxy = {};
  // ---- of workers
  std::string worker_socket = {};  // empty = worker.sock in the executor's directory
  std::map<std::string, std::string> worker_users = {};  // WorkerRunner::Options
};

class ExecutorDaemon {
 public:
  struct Ports {
    const Clock& clock;
    TokenSource& tokens;
    BusConsumer& tasks;
    BusProducer& results;  // for results and logs
    ExecutorLink& link;
    Warden& warden;
    ProcessUsers& users;
    HttpRunner& http;
    HandlerRunner& handlers;
    ResultSpool& spool;
    LoadSource& load;
    Metrics& metrics;
    // The members' public keys as known now. Called for each batch of records, so it must be cheap.
    std::function<std::vector<std::string>()> public_keys;
    // Receives the settings that members send. Their observer (cluster_executor.cc) calls Tune.
    LiveSettings& settings;
    // Where attempts leave their progress and their checkpoints; null: they cannot.
    RunFiles* files = nullptr;
    // What is found later of interpreters and engine; null: they stay as the options say.
    const ProgramBoard* programs = nullptr;
  };

  ExecutorDaemon(Ports ports, ExecutorOptions options);
  ~ExecutorDaemon();

  // The loops "exec.core", "exec.report", "exec.logs", and "exec.saves" if there are files. The
  // core loop starts with recovery: it adopts what the warden and the spool hold from an
  // earlier daemon.
  std::vector<NamedStepper> steppers();
  // `wake` is called, from any thread, when a stepper has work before the time that its Step
  // returned. Set it before the first Step.
  void OnWake(const std::function<void(Stepper*)>& wake);

  // Lowering the slots kills nothing; fewer attempts are started. Thread-safe, never waits.
  void Tune(const ExecutorTuning& tuning);
  // Stops claiming. Running attempts continue and results are still sent. Thread-safe.
  void Drain();
  // See ExecutorCore::Leave. Call it after the loops stopped.
  void Leave(SteadyTime now);
  // True once nothing runs and every result was applied.
  bool drained() const;
  // The text with which a member refused this executor, because another executor with the same id
  // is alive. Empty if no member refused.
  std::string refusal() const;

  struct Status {
    int running = 0;    // live processes
    int queued = 0;     // tasks that wait for a slot
    int reporting = 0;  // ended attempts whose result is not applied yet
    bool warden_ready = false;
  };
  Status status() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carillon::executor
