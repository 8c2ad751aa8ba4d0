#include "cli/standalone/standalone_server.h"

#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <thread>

#include "cli/standalone/data_directory.h"
#include "cli/standalone/standalone_options.h"
#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/adapters/memory/memory_link.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/private_mariadbd.h"
#include "common/adapters/system/system_clock.h"
#include "common/base/log.h"
#include "common/base/version.h"
#include "executor/daemon/executor_server.h"
#include "scheduler/daemon/scheduler_server.h"

namespace carillon::cli {
namespace {

constexpr Duration kReadyTimeout = 60s;
constexpr std::string_view kResultsGroup = "scheduler";
constexpr std::string_view kTasksGroup = "executor";

// Waits for `done` without a clock of its own; false after `timeout`.
bool Await(const Clock& clock, Duration timeout, const std::function<bool()>& done) {
  const SteadyTime deadline = clock.Steady() + timeout;
  std::mutex mu;
  std::condition_variable never;
  std::unique_lock lock(mu);
  while (!done()) {
    if (clock.Steady() > deadline) return false;
    never.wait_for(lock, 10ms);
  }
  return true;
}

Status Interrupted() { return {ErrorCode::kUnavailable, "told to stop before it was ready"}; }

// The administrator's token: written to its file first, so that no crash can leave a store whose
// only token nobody knows.
Status EnsureToken(const DataDirectory& directory, AdminStore& store, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(std::string text, directory.ReadSecret("admin.token"));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const bool fresh = text.empty();
  if (fresh) {
    text = scheduler::NewToken();
    CARILLON_TRY(directory.WriteSecret("admin.token", text + "\n"));
  }
  const Status created = store.CreateFirstToken(
      {.token_hash = scheduler::HashToken(text), .name = "admin", .role = "admin", .created = now});
  if (created.ok() || created.code() != ErrorCode::kExists) return created;
  CARILLON_ASSIGN_OR_RETURN(const auto known, store.FindToken(scheduler::HashToken(text)));
  if (known) return {};
  if (fresh) unlink(directory.token_file().c_str());
  return {ErrorCode::kDenied, "the store has an administrator's token, but " +
                                  directory.token_file() + " does not hold it; restore that file"};
}

}  // namespace

struct StandaloneServer::Parts {
  SystemClock clock;
  Metrics metrics;
  std::unique_ptr<DataDirectory> directory;
  std::unique_ptr<mysql::PrivateMariadbd> mariadbd;
  std::unique_ptr<mysql::MysqlStore> store;
  Signer signer = Signer::Generate();
  // The bus keeps what waits and the switchboard what is under way; neither survives the process,
  // and nothing needs them to.
  memory::MemoryBus bus;
  memory::MemorySwitchboard switchboard;
  memory::MemoryEnsemble ensemble;
  std::unique_ptr<BusProducer> producer;
  std::unique_ptr<BusConsumer> results;
  std::unique_ptr<BusConsumer> tasks;
  std::unique_ptr<ExecutorHub> hub;
  std::unique_ptr<ExecutorLink> link;
  std::unique_ptr<Coordinator> coordinator;
  std::unique_ptr<scheduler::SchedulerServer> scheduler;
  std::unique_ptr<executor::ExecutorServer> executor;
  Loops loops;
  Runtime runtime;
  std::string token_file;

  Status StartAll(const config::Config& config, const std::function<bool()>& interrupted);
  Status StartStore(const config::Config& config);
  void MakeScheduler(const config::Config& config);
  Status MakeExecutor(const config::Config& config);
  Status AwaitReady(const std::function<bool()>& interrupted);
  Runtime CurrentRuntime() const;
};

// The order makes sure that a port which is taken is found before anything fires, and that every
// part knows the addresses that it tells to others.
Status StandaloneServer::Parts::StartAll(const config::Config& config,
                                         const std::function<bool()>& interrupted) {
  CARILLON_TRY(StartStore(config));
  if (interrupted()) return Interrupted();
  MakeScheduler(config);
  CARILLON_TRY(scheduler->Listen(ApiOptionsOf(config), OpsOptionsOf(config),
                                 {.version = kVersion, .settings = SettingsOf(config)}));
  CARILLON_TRY(MakeExecutor(config));
  scheduler->StartLoops(loops);
  executor->StartLoops(loops);
  return AwaitReady(interrupted);
}

Status StandaloneServer::Parts::StartStore(const config::Config& config) {
  CARILLON_ASSIGN_OR_RETURN(
      mariadbd, mysql::PrivateMariadbd::Start(MariadbdOptionsOf(config, *directory), clock));
  loops.Add("mariadbd", clock, *mariadbd);
  mysql::MysqlOptions options = StoreOptionsOf(config, *mariadbd);
  options.metrics = &metrics;
  CARILLON_ASSIGN_OR_RETURN(store, mysql::MysqlStore::Open(options));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, store->Now());
  CARILLON_TRY(store->Maintain(now, config.Time("retention_days")));
  return EnsureToken(*directory, *store, now);
}

void StandaloneServer::Parts::MakeScheduler(const config::Config& config) {
  producer = bus.NewProducer();
  results = bus.NewConsumer(kResultsTopic, kResultsGroup);
  coordinator = ensemble.NewClient();
  const scheduler::MemberOptions options = MemberOptionsOf(config, RandomSeed());
  hub = switchboard.OpenHub(options.self.id);
  scheduler = std::make_unique<scheduler::SchedulerServer>(
      scheduler::SchedulerServer::Ports{.member = {.clock = clock,
                                                   .firing = *store,
                                                   .segments = *store,
                                                   .executors = *store,
                                                   .admin = *store,
                                                   .producer = *producer,
                                                   .results = *results,
                                                   .hub = *hub,
                                                   .coordinator = *coordinator,
                                                   .signer = signer,
                                                   .metrics = metrics},
                                        .jobs = *store,
                                        .runs = *store},
      options);
}

Status StandaloneServer::Parts::MakeExecutor(const config::Config& config) {
  executor::ExecutorOptions options = ExecutorOptionsOf(config, RandomSeed());
  options.ops_port = scheduler->ops_port();
  tasks = bus.NewConsumer(kTasksTopic, kTasksGroup);
  link = switchboard.OpenLink(options.executor_id, options.incarnation);
  CARILLON_ASSIGN_OR_RETURN(
      executor,
      executor::ExecutorServer::Make(
          {.clock = clock,
           .tasks = *tasks,
           .results = *producer,
           .link = *link,
           .metrics = metrics,
           .public_keys = [this] { return std::vector<std::string>{signer.public_key()}; }},
          options, directory->Sub("executor"), RandomSeed()));
  return {};
}

Status StandaloneServer::Parts::AwaitReady(const std::function<bool()>& interrupted) {
  bool stop = false;
  const bool ready = Await(clock, kReadyTimeout, [&] {
    stop = interrupted();
    return stop || (scheduler->ready() && !scheduler->view().GetStatus().executors.empty() &&
                    executor->warden_pid() > 0);
  });
  if (stop) return Interrupted();
  if (ready) return {};
  return {ErrorCode::kUnavailable, "the server did not become ready in time; see its log"};
}

Runtime StandaloneServer::Parts::CurrentRuntime() const {
  return {.warden_pid = static_cast<int>(executor->warden_pid()),
          .mariadbd_pid = mariadbd->pid(),
          .url = scheduler->url(),
          .ops_url = scheduler->ops_url(),
          .store_socket = mariadbd->socket_path(),
          .store_database = std::string(kStoreDatabase),
          .store_user = mariadbd->user()};
}

StandaloneServer::StandaloneServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<StandaloneServer>> StandaloneServer::Start(
    const config::Config& config, std::function<bool()> interrupted) {
  auto parts = std::make_unique<Parts>();
  const char* home = std::getenv("HOME");
  const std::string path =
      config::ExpandHome(config.Text("data_dir"), home != nullptr ? home : "/root");
  CARILLON_ASSIGN_OR_RETURN(parts->directory, DataDirectory::Open(path));
  parts->token_file = parts->directory->token_file();
  parts->metrics.gauge("carillon_build_info", kVersion).Set(1);
  // From here on the destructor stops what was started.
  std::unique_ptr<StandaloneServer> server(new StandaloneServer(std::move(parts)));
  Parts& started = *server->parts_;
  CARILLON_TRY(started.StartAll(config, interrupted));
  started.runtime = started.CurrentRuntime();
  CARILLON_TRY(started.directory->Publish(started.runtime));
  return server;
}

StandaloneServer::~StandaloneServer() { Stop(); }

void StandaloneServer::Supervise() {
  const Runtime current = parts_->CurrentRuntime();
  // A pid of 0 is a warden that is being started again: the old one stays published until then.
  if (current == parts_->runtime || current.warden_pid == 0) return;
  // A full disk: tried again with the next call.
  if (parts_->directory->Publish(current).ok()) parts_->runtime = current;
}

void StandaloneServer::BeginDrain() {
  parts_->scheduler->BeginDrain();
  parts_->executor->Drain();
}

bool StandaloneServer::drained() const { return parts_->executor->drained(); }

void StandaloneServer::Stop() {
  Parts& parts = *parts_;
  if (!parts.directory) return;
  if (parts.scheduler) parts.scheduler->StopListening();
  // Each thread's wake-ups end with its loop, so all loops stop before anything is destroyed.
  parts.loops.Stop();
  if (parts.scheduler) parts.scheduler->Leave();
  if (parts.executor) parts.executor->Leave();
  parts.executor.reset();
  parts.scheduler.reset();
  parts.store.reset();
  if (parts.mariadbd) {
    const Status stopped = parts.mariadbd->Stop();
    if (!stopped.ok()) log::Error("standalone", "{}", stopped.error().message);
  }
  parts.directory->Unpublish();
  parts.directory.reset();
}

const std::string& StandaloneServer::url() const { return parts_->runtime.url; }
const std::string& StandaloneServer::token_file() const { return parts_->token_file; }

}  // namespace carillon::cli
