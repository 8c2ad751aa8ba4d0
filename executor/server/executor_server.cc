#include "executor/server/executor_server.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "common/base/log.h"
#include "executor/checkpoints/disk_run_files.h"
#include "executor/report/file_result_spool.h"
#include "executor/server/container_engine.h"
#include "executor/server/host_checks.h"
#include "executor/server/open_files.h"
#include "executor/worker/worker_runner.h"

namespace carillon::executor {

namespace {

// The first warden answers within milliseconds.
constexpr Duration kWardenChecksWithin = 2s;

// Requests may use half of the descriptors. The rest is for the warden, workers, journals and
// members.
long RequestConnections(const OpenFiles& files) {
  const long most = CurlHttpRunner::Options{}.connections_max;
  return files.now == 0 ? most : std::clamp<long>(static_cast<long>(files.now / 2), 1, most);
}

std::vector<HostCheck> CheckHost(const ExecutorOptions& options, const std::string& home,
                                 WardenClient& warden, ProcessUsers& users,
                                 const HostCheck& engine) {
  HostFacts facts{.directory = home,
                  .interpreters = options.interpreters,
                  .path = options.base_env.at("PATH"),
                  .slots = options.tuning.slots};
  ReadHost(&facts);
  std::vector<HostCheck> checks = DecideHostChecks(facts);
  std::optional<HostCheck> run_as;
  for (HostCheck& check :
       warden.WaitForHostChecks(kWardenChecksWithin).value_or(std::vector<HostCheck>{})) {
    if (check.name == "run_as") {
      run_as = std::move(check);
    } else {
      checks.push_back(std::move(check));
    }
  }
  checks.push_back(engine);
  checks.push_back(CheckHome(users.Own()));
  checks.push_back(CheckRunAs(run_as, options.run_as_allowed, users));
  return checks;
}

// A socket that nobody asked for must not keep an executor from running its other jobs. Where
// processes cannot be watched, nobody would notice that a worker has died, so there is no door.
Result<std::unique_ptr<HandlerRunner>> OpenHandlers(const ExecutorServer::Ports& ports,
                                                    const ExecutorOptions& options,
                                                    const std::string& home, HostCheck* check) {
  const bool asked = !options.worker_socket.empty();
  const std::string socket = asked ? options.worker_socket : home + "/worker.sock";
  const Status watch = CheckProcessWatch();
  *check = DecideWorkersCheck(socket, watch);
  if (!watch.ok()) return std::unique_ptr<HandlerRunner>(std::make_unique<NoHandlers>());
  auto runner = WorkerRunner::Open({.socket = socket,
                                    .directory = home + "/starts",
                                    .users = options.worker_users,
                                    .log_bytes_max = options.log_bytes_max},
                                   ports.open_worker_door, ports.clock, ports.metrics);
  if (runner.ok()) return std::unique_ptr<HandlerRunner>(*std::move(runner));
  if (asked) return runner.error();
  *check = DecideWorkersCheck(socket, runner.error());
  return std::unique_ptr<HandlerRunner>(std::make_unique<NoHandlers>());
}

}  // namespace

Result<std::unique_ptr<ExecutorServer>> ExecutorServer::Make(const Ports& ports,
                                                             const ExecutorOptions& options,
                                                             const std::string& home) {
  if (mkdir(home.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::kUnavailable, "cannot create " + home};
  }
  const OpenFiles files = RaiseOpenFiles();
  std::unique_ptr<ExecutorServer> server(new ExecutorServer(ports.clock));
  ExecutorOptions checked = options;
  const EngineFound engine = FindEngine(options.container_engine, options.base_env.at("PATH"));
  checked.container_engine = engine.path;
  server->warden_ = std::make_unique<WardenClient>(
      WardenClient::Options{
          .directory = home + "/warden",
          .run_directory = options.run_as_allowed.empty() ? "" : options.run_as_directory,
          .open_files = files.before,
          .container_engine = engine.path,
          .log_bytes_max = options.log_bytes_max},
      ports.clock, ports.metrics);
  server->users_ = std::make_unique<HostUsers>(options.run_as_allowed);
  server->users_->Step(ports.clock.Steady());
  checked.checks = CheckHost(options, home, *server->warden_, *server->users_, engine.check);
  server->http_ = std::make_unique<CurlHttpRunner>(
      ports.clock, ports.metrics,
      CurlHttpRunner::Options{.policy = AddressPolicy(options.http_allow, options.http_deny),
                              .ca_file = options.http_ca_file,
                              .proxy = {.url = options.http_proxy, .direct = options.no_proxy},
                              .connections_max = RequestConnections(files)});
  HostCheck workers;
  CARILLON_ASSIGN_OR_RETURN(server->handlers_, OpenHandlers(ports, options, home, &workers));
  checked.checks.push_back(std::move(workers));
  LogHostChecks(checked.checks);
  server->LookForPrograms(options, checked);
  CARILLON_ASSIGN_OR_RETURN(server->spool_,
                            FileResultSpool::Open({.directory = home + "/spool"}, ports.metrics));
  CARILLON_ASSIGN_OR_RETURN(server->files_, DiskRunFiles::Open(home + "/saves"));
  server->load_ = std::make_unique<ProcLoad>(home);
  server->daemon_ =
      std::make_unique<ExecutorDaemon>(ExecutorDaemon::Ports{.clock = ports.clock,
                                                             .tokens = server->tokens_,
                                                             .tasks = ports.tasks,
                                                             .results = ports.results,
                                                             .link = ports.link,
                                                             .warden = *server->warden_,
                                                             .users = *server->users_,
                                                             .http = *server->http_,
                                                             .handlers = *server->handlers_,
                                                             .spool = *server->spool_,
                                                             .load = *server->load_,
                                                             .metrics = ports.metrics,
                                                             .public_keys = ports.public_keys,
                                                             .settings = ports.settings,
                                                             .files = server->files_.get(),
                                                             .programs = server->programs_.get()},
                                       std::move(checked));
  return server;
}

void ExecutorServer::LookForPrograms(const ExecutorOptions& options,
                                     const ExecutorOptions& checked) {
  programs_ = std::make_unique<ProgramBoard>(
      HostPrograms{.interpreters = checked.interpreters,
                   .engine_answers = !checked.container_engine.empty(),
                   .container_engine = checked.container_engine,
                   .checks = checked.checks});
  probe_ = std::make_unique<ProgramProbe>(
      ProgramProbe::Ports{
          .board = *programs_,
          .use_engine = [this](const std::string& engine) { warden_->UseEngine(engine); }},
      ProgramProbe::Options{.engine = options.container_engine,
                            .path = options.base_env.at("PATH")});
}

void ExecutorServer::StartLoops(Loops& loops) {
  std::map<Stepper*, LoopRunner*> runners;
  for (const NamedStepper& named : daemon_->steppers()) {
    runners[named.stepper] = &loops.Add(named.name, clock_, *named.stepper);
  }
  loops.Add("exec.users", clock_, *users_);
  loops.Add("exec.programs", clock_, *probe_);
  daemon_->OnWake([runners](Stepper* stepper) { runners.at(stepper)->Wake(); });
}

}  // namespace carillon::executor
