// The executor daemon of one host: ExecutorDaemon with a warden, a spool and the host's own load.
//
// Place    The executor's half of `carillon standalone`, and all of `carillon-executor`.
// Threads  Called by one thread. Its loops run on the Loops passed in.
// Owns     Warden client, HTTP runner, spool, load. The ports outlive it; the loops stop before it
//          is destroyed.
// Errors   Make: kUnavailable if the directory cannot be used.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/live_settings.h"
#include "common/base/loops/loops.h"
#include "common/ports/worker_door.h"
#include "common/wire/random_tokens.h"
#include "executor/agent/executor_daemon.h"
#include "executor/http/curl_http_runner.h"
#include "executor/link/proc_load.h"
#include "executor/server/host_users.h"
#include "executor/server/program_probe.h"
#include "executor/warden/client/warden_client.h"

namespace carillon::executor {

class ExecutorServer {
 public:
  struct Ports {
    const Clock& clock;
    BusConsumer& tasks;
    BusProducer& results;
    ExecutorLink& link;
    Metrics& metrics;
    std::function<std::vector<std::string>()> public_keys;
    LiveSettings& settings;
    OpenWorkerDoor open_worker_door;
  };
  // `home` is the directory of all files of the executor, created if missing.
  static Result<std::unique_ptr<ExecutorServer>> Make(const Ports& ports,
                                                      const ExecutorOptions& options,
                                                      const std::string& home);

  void StartLoops(Loops& loops);
  pid_t warden_pid() const { return static_cast<pid_t>(warden_->warden_pid()); }
  bool warden_answers() const { return warden_->answers(); }
  void Tune(const ExecutorTuning& tuning) { daemon_->Tune(tuning); }
  void Drain() { daemon_->Drain(); }
  bool drained() const { return daemon_->drained(); }
  std::string refusal() const { return daemon_->refusal(); }
  // Notifies the members and the warden that this daemon ends. The warden keeps the attempts that
  // still run. Call it after the loops stopped.
  void Leave() {
    daemon_->Leave(clock_.Steady());
    warden_->Leave();
  }

 private:
  explicit ExecutorServer(const Clock& clock) : clock_(clock) {}
  void LookForPrograms(const ExecutorOptions& options, const ExecutorOptions& checked);

  const Clock& clock_;
  RandomTokens tokens_;
  std::unique_ptr<WardenClient> warden_;
  std::unique_ptr<HostUsers> users_;
  std::unique_ptr<CurlHttpRunner> http_;
  std::unique_ptr<HandlerRunner> handlers_;
  std::unique_ptr<ResultSpool> spool_;
  std::unique_ptr<RunFiles> files_;
  std::unique_ptr<ProcLoad> load_;
  std::unique_ptr<ProgramBoard> programs_;
  std::unique_ptr<ProgramProbe> probe_;
  std::unique_ptr<ExecutorDaemon> daemon_;
};

}  // namespace carillon::executor
