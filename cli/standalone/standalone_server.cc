#include "cli/standalone/standalone_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <thread>

#include "cli/standalone/data_directory.h"
#include "cli/standalone/loops.h"
#include "cli/standalone/member_status_source.h"
#include "cli/standalone/standalone_options.h"
#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/adapters/memory/memory_link.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/private_mariadbd.h"
#include "common/adapters/system/system_clock.h"
#include "common/base/log.h"
#include "common/base/version.h"
#include "executor/app/executor_daemon.h"
#include "executor/link/proc_load.h"
#include "executor/report/file_result_spool.h"
#include "executor/warden/warden_client.h"
#include "scheduler/api/api_server.h"
#include "scheduler/api/ops_server.h"
#include "scheduler/app/member.h"

namespace carillon::cli {
namespace {

constexpr Duration kReadyTimeout = 60s;
constexpr std::string_view kResultsGroup = "scheduler";
constexpr std::string_view kTasksGroup = "executor";

// Waits for `done` without a clock of its own; false after `timeout`.
template <typename Condition>
bool Await(const Clock& clock, Duration timeout, Condition done) {
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
  std::unique_ptr<executor::WardenClient> warden;
  std::unique_ptr<ResultSpool> spool;
  std::unique_ptr<executor::ProcLoad> load;
  std::unique_ptr<scheduler::Member> member;
  std::unique_ptr<executor::ExecutorDaemon> daemon;
  std::unique_ptr<MemberStatusSource> status;
  std::unique_ptr<scheduler::ApiServer> api;
  std::unique_ptr<scheduler::OpsServer> ops;
  Loops loops;
  Runtime runtime;
  std::string token_file;

  Status StartStore(const config::Config& config);
  Status StartExecutor(const config::Config& config);
  void StartMember(const config::Config& config);
  Status StartServers(const config::Config& config);
  Status AwaitReady();
  Runtime CurrentRuntime() const;
};

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

void StandaloneServer::Parts::StartMember(const config::Config& config) {
  producer = bus.NewProducer();
  results = bus.NewConsumer(kResultsTopic, kResultsGroup);
  coordinator = ensemble.NewClient();
  const scheduler::MemberOptions options = MemberOptionsOf(config, RandomSeed());
  hub = switchboard.OpenHub(options.self.id);
  member = std::make_unique<scheduler::Member>(scheduler::MemberPorts{.clock = clock,
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
                                               options);
  for (const scheduler::NamedStepper& named : member->steppers()) {
    LoopRunner& runner = loops.Add(named.name, clock, *named.stepper);
    named.wake->Set([&runner] { runner.Wake(); });
  }
  status = std::make_unique<MemberStatusSource>(*member);
}

Status StandaloneServer::Parts::StartExecutor(const config::Config& config) {
  const std::string home = directory->Sub("executor");
  if (mkdir(home.c_str(), 0700) != 0 && errno != EEXIST) {
    return {ErrorCode::kUnavailable, "cannot make " + home};
  }
  const executor::ExecutorOptions options = ExecutorOptionsOf(config, RandomSeed());
  tasks = bus.NewConsumer(kTasksTopic, kTasksGroup);
  link = switchboard.OpenLink(options.executor_id, options.incarnation);
  warden = std::make_unique<executor::WardenClient>(
      executor::WardenClient::Options{.directory = home + "/warden"}, metrics);
  CARILLON_ASSIGN_OR_RETURN(spool, executor::FileResultSpool::Open({.directory = home + "/spool"}));
  load = std::make_unique<executor::ProcLoad>(home);
  daemon = std::make_unique<executor::ExecutorDaemon>(
      executor::ExecutorDaemon::Ports{
          .clock = clock,
          .rng = Rng(RandomSeed()),
          .tasks = *tasks,
          .results = *producer,
          .link = *link,
          .warden = *warden,
          .spool = *spool,
          .load = *load,
          .metrics = metrics,
          .public_keys = [this] { return std::vector<std::string>{signer.public_key()}; }},
      options);
  std::map<Stepper*, LoopRunner*> runners;
  for (const NamedStepper& named : daemon->steppers()) {
    runners[named.stepper] = &loops.Add(named.name, clock, *named.stepper);
  }
  daemon->OnWake([runners](Stepper* stepper) { runners.at(stepper)->Wake(); });
  return {};
}

Status StandaloneServer::Parts::StartServers(const config::Config& config) {
  const scheduler::ApiContext context{
      .jobs = *store,
      .runs = *store,
      .executors = *store,
      .admin = *store,
      .segments = *store,
      .status = *status,
      .nudge = [this](SegmentId segment) { member->Nudge(segment); },
      .nudge_executors = [this] { member->NudgeExecutors(); },
      .cluster_now = [this] { return member->ClusterNow(); },
      .clock = clock,
      .seed = RandomSeed(),
      .metrics = metrics,
      .version = kVersion};
  CARILLON_ASSIGN_OR_RETURN(api, scheduler::ApiServer::Start(ApiOptionsOf(config), context));
  scheduler::OpsContext ops_context{.metrics = metrics, .clock = clock};
  ops_context.ready = {
      {"store",
       [this]() -> Status {
         auto now = store->Now();
         return now.ok() ? Status() : Status(now.error());
       }},
      {"member",
       [this]() -> Status {
         if (member->ready()) return {};
         return {ErrorCode::kUnavailable,
                 "segments are not owned yet, or the clock is not trusted"};
       }},
  };
  CARILLON_ASSIGN_OR_RETURN(
      ops, scheduler::OpsServer::Start(OpsOptionsOf(config), std::move(ops_context)));
  return {};
}

Status StandaloneServer::Parts::AwaitReady() {
  const bool ready = Await(clock, kReadyTimeout, [this] {
    const scheduler::MemberStatus seen = member->GetStatus();
    return member->ready() && !seen.executors.empty() && warden->warden_pid() > 0;
  });
  if (ready) return {};
  return {ErrorCode::kUnavailable, "the server did not become ready in time; see its log"};
}

Runtime StandaloneServer::Parts::CurrentRuntime() const {
  return {.warden_pid = static_cast<int>(warden->warden_pid()),
          .mariadbd_pid = mariadbd->pid(),
          .url = api->url(),
          .ops_url = ops->url(),
          .store_socket = mariadbd->socket_path(),
          .store_database = std::string(kStoreDatabase),
          .store_user = mariadbd->user()};
}

StandaloneServer::StandaloneServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<StandaloneServer>> StandaloneServer::Start(const config::Config& config) {
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
  CARILLON_TRY(started.StartStore(config));
  started.StartMember(config);
  CARILLON_TRY(started.StartExecutor(config));
  CARILLON_TRY(started.StartServers(config));
  CARILLON_TRY(started.AwaitReady());
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
  if (parts_->api) parts_->api->Stop();
  if (parts_->daemon) parts_->daemon->Drain();
}

bool StandaloneServer::drained() const { return parts_->daemon->drained(); }

void StandaloneServer::Stop() {
  Parts& parts = *parts_;
  if (!parts.directory) return;
  if (parts.api) parts.api->Stop();
  if (parts.ops) parts.ops->Stop();
  // Each thread's wake-ups end with its loop, so all loops stop before anything is destroyed.
  parts.loops.Stop();
  if (parts.member) parts.member->Leave();
  if (parts.warden) parts.warden->Leave();
  parts.daemon.reset();
  parts.warden.reset();
  parts.member.reset();
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
