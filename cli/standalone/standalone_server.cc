#include "cli/standalone/standalone_server.h"

#include <optional>
#include <utility>

#include "cli/standalone/standalone_options.h"
#include "common/adapters/grpc/grpc_hub.h"
#include "common/adapters/grpc/grpc_worker_door.h"
#include "common/adapters/http/curl_transport.h"
#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_coordinator.h"
#include "common/adapters/memory/memory_link.h"
#include "common/adapters/mysql/mariadbd/private_mariadbd.h"
#include "common/adapters/mysql/mysql_stores.h"
#include "common/adapters/system/system_clock.h"
#include "common/base/log.h"
#include "common/base/version.h"
#include "common/config/endpoints.h"
#include "common/config/event_topics.h"
#include "common/config/letter_topic.h"
#include "common/link_bus/carrying_hub.h"
#include "common/process/data_directory.h"
#include "common/process/process.h"
#include "executor/server/executor_server.h"
#include "executor/server/executor_settings.h"
#include "scheduler/auth/enrollment.h"
#include "scheduler/server/admin_token.h"
#include "scheduler/server/link_authority.h"
#include "scheduler/server/notify_secret_files.h"
#include "scheduler/server/scheduler_server.h"
#include "scheduler/server/scheduler_settings.h"
#include "scheduler/server/secret_keys.h"
#include "scheduler/server/setup_link.h"

namespace carillon::cli {
namespace {

constexpr Duration kReadyTimeout = 60s;
constexpr std::string_view kResultsGroup = "scheduler";
constexpr std::string_view kTasksGroup = "executor";

// This server is the only member, so none of the previous version is left. A program that was put
// back before the finish leaves the store to the newer one.
Status FinishUpgrade(SchemaStore& schema) {
  CARILLON_ASSIGN_OR_RETURN(const SchemaLevels levels, schema.ReadLevels());
  if (levels.finished >= levels.applied || levels.known < levels.applied) return {};
  CARILLON_ASSIGN_OR_RETURN(const std::unique_ptr<SchemaHold> hold, schema.Hold());
  return hold->Finish();
}

}  // namespace

struct StandaloneServer::Parts {
  SystemClock clock;
  Metrics metrics;
  std::unique_ptr<process::DataDirectory> directory;
  std::unique_ptr<mysql::PrivateMariadbd> mariadbd;
  scheduler::StoreGuard guard{clock};
  std::unique_ptr<mysql::MysqlStores> store;    // without the guard: works on any store
  std::unique_ptr<mysql::MysqlStores> trusted;  // for the member: works on a trusted store only
  std::unique_ptr<mysql::MysqlStores> for_api;  // for the API: writes to a trusted store only
  std::unique_ptr<CurlTransport> transport;
  std::unique_ptr<scheduler::NotifySecretFiles> notify_secrets;
  std::unique_ptr<scheduler::NoticeSender> sender;
  Signer signer = Signer::Generate();
  LiveSettings settings;
  std::unique_ptr<scheduler::SecretKeys> secret_keys;
  std::unique_ptr<scheduler::SecretResolver> secret_resolver;
  // Messages in memory are lost if the process ends. This loss is harmless, because tasks are
  // published again and results are sent again.
  memory::MemoryBus bus;
  memory::MemorySwitchboard switchboard;
  memory::MemoryEnsemble ensemble;
  // The door for executors of other hosts (standalone.executors), and what joins it to the executor
  // inside; null without the door.
  std::optional<tls::Authority> authority;
  std::unique_ptr<scheduler::ExecutorEnrollment> enrollment;
  std::unique_ptr<rpc::GrpcHub> outer_hub;
  std::unique_ptr<link_bus::CarryingHub> carrying_hub;
  std::unique_ptr<link_bus::JoinedHubs> joined_hubs;
  std::unique_ptr<link_bus::HubProducer> hub_producer;
  std::unique_ptr<BusProducer> producer;
  std::unique_ptr<BusConsumer> results;
  std::unique_ptr<BusConsumer> logs;
  std::unique_ptr<BusConsumer> tasks;
  std::unique_ptr<ExecutorHub> hub;
  std::unique_ptr<ExecutorLink> link;
  std::unique_ptr<Coordinator> coordinator;
  std::unique_ptr<scheduler::SchedulerServer> scheduler;
  std::unique_ptr<executor::ExecutorServer> executor;
  Loops loops;
  process::Runtime runtime;
  std::string setup_link;    // empty if an administrator exists
  std::string link_address;  // at which executors of other hosts connect; empty without a door

  Status StartAll(const config::Config& config, const process::Interrupted& interrupted);
  Status OpenKeys(const config::Config& config);
  Status StartStore(const config::Config& config, const process::Interrupted& interrupted);
  Status MakeSender(const config::Config& config);
  Status OpenDoor(const config::Config& config, scheduler::MemberOptions& options,
                  const ExecutorProcess& inside);
  Status MakeScheduler(const config::Config& config, const ExecutorProcess& inside);
  Status MakeExecutor(executor::ExecutorOptions options);
  Status AwaitReady(const process::Interrupted& interrupted);
  process::Runtime CurrentRuntime() const;
};

// The order matters. Ports are bound first, so that a port in use is found before anything fires.
// Every part then knows the addresses that it publishes.
Status StandaloneServer::Parts::StartAll(const config::Config& config,
                                         const process::Interrupted& interrupted) {
  CARILLON_TRY(OpenKeys(config));
  CARILLON_TRY(StartStore(config, interrupted));
  if (interrupted()) return process::InterruptedError();
  CARILLON_TRY(MakeSender(config));
  executor::ExecutorOptions inside = executor::ExecutorOptionsOf(config, RandomSeed());
  CARILLON_TRY(MakeScheduler(config, {inside.executor_id, inside.incarnation}));
  CARILLON_TRY(scheduler->Listen(scheduler::ApiOptionsOf(config), scheduler::OpsOptionsOf(config),
                                 {.version = kVersion,
                                  .config = config,
                                  .link_authority = authority ? authority->certificate() : "",
                                  .link_address = link_address,
                                  .one_process = true}));
  CARILLON_TRY(MakeExecutor(std::move(inside)));
  process::FollowSettings(settings, config, [this](const config::Config& now) {
    scheduler->Tune(scheduler::MemberTuningOf(now));
    executor->Tune(executor::ExecutorTuningOf(now));
  });
  scheduler->StartLoops(loops);
  executor->StartLoops(loops);
  return AwaitReady(interrupted);
}

// Takes the key of the secrets out of the environment. Called before anything is started, because
// child processes would inherit the environment.
Status StandaloneServer::Parts::OpenKeys(const config::Config& config) {
  scheduler::SecretKeys::Places places{.file = config.Text("secrets.key_file"),
                                       .environment = scheduler::TakeSecretsEnvironment()};
  if (places.file.empty() && places.environment.empty()) {
    CARILLON_ASSIGN_OR_RETURN(places.file, scheduler::EnsureSecretKeyFile(*directory));
  }
  CARILLON_ASSIGN_OR_RETURN(secret_keys, scheduler::SecretKeys::Open(std::move(places)));
  return {};
}

Status StandaloneServer::Parts::StartStore(const config::Config& config,
                                           const process::Interrupted& interrupted) {
  CARILLON_ASSIGN_OR_RETURN(
      mariadbd, mysql::PrivateMariadbd::Start(MariadbdOptionsOf(config, *directory), clock));
  loops.Add("mariadbd", clock, *mariadbd);
  mysql::MysqlOptions options = StoreOptionsOf(config, *mariadbd);
  options.metrics = &metrics;
  CARILLON_ASSIGN_OR_RETURN(store, mysql::MysqlStores::Open(options, interrupted));
  if (config.Text("upgrade.finish") == "auto") CARILLON_TRY(FinishUpgrade(store->schema));
  trusted = store->Behind(guard, mysql::Gated::kEverything);
  for_api = store->Behind(guard, mysql::Gated::kWrites);
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, store->segments.Now());
  CARILLON_ASSIGN_OR_RETURN(const ClusterSettings stored, store->settings.ReadSettings());
  settings.Adopt(stored);
  const config::Config in_force = process::ConfigUnder(stored, config);
  CARILLON_TRY(store->housekeeping.Maintain(
      now, {.runs = in_force.Time("retention_days"),
            .keep_last = static_cast<int>(in_force.Integer("keep_last_runs"))}));
  return scheduler::EnsureAdminToken(*directory, store->auth, now,
                                     scheduler::TokenOwner::kThisDirectory);
}

Status StandaloneServer::Parts::MakeSender(const config::Config& config) {
  CARILLON_ASSIGN_OR_RETURN(auto options, scheduler::NotifyOptionsOf(config));
  transport = std::make_unique<CurlTransport>(
      config.Text("notify.tls_ca_file"),
      CurlTransport::Proxies{config.Text("notify.proxy"), config.Text("notify.mail_proxy")});
  notify_secrets = std::make_unique<scheduler::NotifySecretFiles>(config);
  sender = std::make_unique<scheduler::NoticeSender>(clock, *transport, *notify_secrets,
                                                     std::move(options));
  return {};
}

// Executors of other hosts authenticate with certificates of an authority in the data directory.
Status StandaloneServer::Parts::OpenDoor(const config::Config& config,
                                         scheduler::MemberOptions& options,
                                         const ExecutorProcess& inside) {
  const auto endpoint = config::StandaloneExecutors(config);
  if (!endpoint) return {};
  const WallTime now = clock.Wall();
  CARILLON_ASSIGN_OR_RETURN(authority, scheduler::EnsureLinkAuthority(*directory, now));
  CARILLON_ASSIGN_OR_RETURN(const tls::Identity identity,
                            scheduler::NewMemberIdentity(*authority, options.self.id, now));
  enrollment = std::make_unique<scheduler::ExecutorEnrollment>(
      scheduler::ExecutorEnrollment::Stores{for_api->auth, for_api->executors, for_api->audit},
      *authority, [this] { return for_api->segments.Now(); });
  CARILLON_ASSIGN_OR_RETURN(
      outer_hub,
      rpc::GrpcHub::Start(
          {.member = options.self.id,
           .public_key = signer.public_key(),
           .join_secret = "",
           .identity = identity,
           .join = [this](const JoinRequest& request) { return enrollment->Issue(request); },
           .address = endpoint->host,
           .port = endpoint->port,
           .metrics = &metrics},
          clock));
  const std::string& advertised = config.Text("link.advertise");
  const std::string bound = outer_hub->endpoint();
  const bool everywhere = endpoint->host == "0.0.0.0" || endpoint->host == "[::]";
  const std::string host = everywhere ? process::HostName() : endpoint->host;
  link_address = (advertised.empty() ? host : advertised) + bound.substr(bound.rfind(':'));
  options.self.grpc_address = link_address;
  carrying_hub = std::make_unique<link_bus::CarryingHub>(*outer_hub, *producer, metrics);
  joined_hubs = std::make_unique<link_bus::JoinedHubs>(*hub, inside, *carrying_hub);
  hub_producer = std::make_unique<link_bus::HubProducer>(*carrying_hub, *producer, inside);
  return {};
}

Status StandaloneServer::Parts::MakeScheduler(const config::Config& config,
                                              const ExecutorProcess& inside) {
  producer = bus.NewProducer();
  results = bus.NewConsumer(kResultsTopic, kResultsGroup);
  logs = bus.NewConsumer(kLogsTopic, kResultsGroup);
  coordinator = ensemble.NewClient();
  secret_resolver = std::make_unique<scheduler::SecretResolver>(trusted->secrets, *secret_keys);
  scheduler::MemberOptions options = scheduler::MemberOptionsOf(config, RandomSeed());
  CARILLON_ASSIGN_OR_RETURN(const SchemaLevels levels, store->schema.ReadLevels());
  options.self.schema = levels.known;
  hub = switchboard.OpenHub(options.self.id);
  CARILLON_TRY(OpenDoor(config, options, inside));
  ExecutorHub& all_executors = joined_hubs ? static_cast<ExecutorHub&>(*joined_hubs) : *hub;
  BusProducer& tasks_out = hub_producer ? static_cast<BusProducer&>(*hub_producer) : *producer;
  scheduler = std::make_unique<scheduler::SchedulerServer>(
      scheduler::SchedulerServer::Ports{.member = {.clock = clock,
                                                   .stores = trusted->Ports(),
                                                   .identity = store->identity,
                                                   .schema = trusted->schema,
                                                   .guard = guard,
                                                   .producer = tasks_out,
                                                   .results = *results,
                                                   .logs = *logs,
                                                   .hub = all_executors,
                                                   .coordinator = *coordinator,
                                                   .signer = signer,
                                                   .metrics = metrics,
                                                   .settings = settings,
                                                   .secrets = secret_resolver.get(),
                                                   .sender = sender.get()},
                                        .api = for_api->Ports(),
                                        .secret_keys = *secret_keys},
      options);
  return {};
}

Status StandaloneServer::Parts::MakeExecutor(executor::ExecutorOptions options) {
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
           .public_keys = [this] { return std::vector<std::string>{signer.public_key()}; },
           .settings = settings,
           .open_worker_door = &rpc::ListenForWorkers},
          options, directory->Sub("executor")));
  return {};
}

Status StandaloneServer::Parts::AwaitReady(const process::Interrupted& interrupted) {
  bool stop = false;
  const bool ready = process::Await(clock, kReadyTimeout, [&] {
    stop = interrupted();
    return stop || (scheduler->ready() && !scheduler->view().GetStatus().executors.empty() &&
                    executor->warden_pid() > 0);
  });
  if (stop) return process::InterruptedError();
  if (ready) return {};
  return {ErrorCode::kUnavailable, "the server did not become ready in time; see its log"};
}

process::Runtime StandaloneServer::Parts::CurrentRuntime() const {
  return {.warden_pid = static_cast<int>(executor->warden_pid()),
          .mariadbd_pid = mariadbd->pid(),
          .url = scheduler->url(),
          .ops_url = scheduler->ops_url(),
          .grpc = link_address,
          .token_file = directory->token_file(),
          .store_socket = mariadbd->socket_path(),
          .store_database = std::string(kStoreDatabase),
          .store_user = mariadbd->user()};
}

StandaloneServer::StandaloneServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<process::Daemon>> StandaloneServer::Start(
    const config::Config& config, const process::Interrupted& interrupted) {
  CARILLON_TRY(config::RefuseLetterTopic(config));
  CARILLON_TRY(config::RefuseEventTopics(config));
  auto parts = std::make_unique<Parts>();
  CARILLON_ASSIGN_OR_RETURN(parts->directory, process::DataDirectory::Open(config));
  parts->metrics.gauge("carillon_build_info", kVersion).Set(1);
  // If a later step fails, the destructor of `server` stops what was started.
  std::unique_ptr<StandaloneServer> server(new StandaloneServer(std::move(parts)));
  Parts& started = *server->parts_;
  CARILLON_TRY(started.StartAll(config, interrupted));
  started.runtime = started.CurrentRuntime();
  started.setup_link = scheduler::NewSetupLink(started.store->auth, started.scheduler->public_url(),
                                               started.store->segments.Now());
  CARILLON_TRY(started.directory->Publish(started.runtime));
  return std::unique_ptr<process::Daemon>(std::move(server));
}

StandaloneServer::~StandaloneServer() { Stop(); }

// Writes runtime.json again if a part was restarted, such as the warden.
Status StandaloneServer::Supervise() {
  const process::Runtime current = parts_->CurrentRuntime();
  // Pid 0 means that the warden is being restarted. Its old pid stays published until its new pid
  // is known.
  if (current == parts_->runtime || current.warden_pid == 0) return {};
  // If writing fails, for example because the disk is full, the next call tries again.
  if (parts_->directory->Publish(current).ok()) parts_->runtime = current;
  return {};
}

bool StandaloneServer::Reload() { return parts_->scheduler->ReloadCertificate(); }

void StandaloneServer::BeginDrain() {
  parts_->scheduler->BeginDrain();
  parts_->executor->Drain();
}

bool StandaloneServer::drained() const { return parts_->executor->drained(); }

void StandaloneServer::Stop() {
  Parts& parts = *parts_;
  if (!parts.directory) return;
  if (parts.transport) parts.transport->Stop();
  if (parts.scheduler) parts.scheduler->StopListening();
  // All loops stop before anything is destroyed, because the thread of a loop may wake other loops
  // until its own loop has ended.
  parts.loops.Stop();
  if (parts.scheduler) parts.scheduler->Leave();
  if (parts.executor) parts.executor->Leave();
  parts.executor.reset();
  parts.scheduler.reset();
  parts.hub_producer.reset();
  parts.joined_hubs.reset();
  parts.carrying_hub.reset();
  parts.outer_hub.reset();
  parts.enrollment.reset();
  parts.for_api.reset();
  parts.trusted.reset();
  parts.store.reset();
  if (parts.mariadbd) {
    const Status stopped = parts.mariadbd->Stop();
    if (!stopped.ok()) log::Error("standalone", "{}", stopped.error().message);
  }
  parts.directory->Unpublish();
  parts.directory.reset();
}

std::string StandaloneServer::ReadyText() const {
  return "carillon is ready: " + parts_->runtime.url + " (token in " + parts_->runtime.token_file +
         ")" + scheduler::SetupText(parts_->setup_link);
}

}  // namespace carillon::cli
