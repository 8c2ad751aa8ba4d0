#include "scheduler/main/cluster_scheduler.h"

#include <unistd.h>

#include <atomic>
#include <numeric>
#include <optional>
#include <utility>

#include "common/adapters/grpc/grpc_hub.h"
#include "common/adapters/http/curl_transport.h"
#include "common/adapters/mysql/mysql_stores.h"
#include "common/adapters/system/system_clock.h"
#include "common/adapters/zookeeper/zookeeper_coordinator.h"
#include "common/base/log.h"
#include "common/base/version.h"
#include "common/cluster/cluster_options.h"
#include "common/cluster/kafka_event_topics.h"
#include "common/cluster/late_bus.h"
#include "common/process/data_directory.h"
#include "common/process/process.h"
#include "common/store/store_options.h"
#include "common/tls/certificates.h"
#include "scheduler/auth/enrollment.h"
#include "scheduler/server/admin_token.h"
#include "scheduler/server/link_authority.h"
#include "scheduler/server/notify_secret_files.h"
#include "scheduler/server/scheduler_server.h"
#include "scheduler/server/scheduler_settings.h"
#include "scheduler/server/secret_keys.h"
#include "scheduler/server/setup_link.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kAskStoreEvery = 1s;
// Executors repeat a result at least every 20 s until the run's owner has answered. So a member
// skips older records, even if it has not read them (docs/adr/0018).
constexpr Duration kResultsOfInterest = 30s;
// A new member leaves older pieces of logs to the other members. A member that returns continues at
// its position, because a warden may have deleted the pieces that it has sent (docs/adr/0018).
constexpr Duration kLogsOfInterest = 10min;
// At most one batch of dead letters waits, unless the one before it was given up.
constexpr size_t kLettersQueuedMax = 1'000;
constexpr size_t kLettersQueuedBytesMax = size_t{8} << 20;

// Others may own the topic of dead letters. What they did to it is only logged, after some tries:
// brokers that return one by one say for a while that there are too few of them.
class LettersTopicCheck {
 public:
  explicit LettersTopicCheck(const config::Config& config) : config_(config) {}

  Status operator()(Duration limit) {
    const Status ready = cluster::CheckLettersTopic(config_, limit);
    if (ready.ok()) return ready;
    const std::string& error = ready.error().message;
    if (ready.code() == ErrorCode::kUnavailable) {
      if (std::exchange(told_, error) != error) log::Warn("letters", "{}", error);
      return ready;
    }
    if (misfits_ < kMisfitsMax && ++misfits_ < kMisfitsMax) return ready;
    if (std::exchange(told_, error) != error) {
      log::Error("letters", "{}; dead letters are sent to it all the same", error);
    }
    return {};
  }

 private:
  static constexpr int kMisfitsMax = 10;  // fewer than those after which LateBus gives up
  config::Config config_;
  int misfits_ = 0;
  std::string told_;
};

Result<mysql::MysqlOptions> StoreOptionsOf(const config::Config& config, Metrics& metrics) {
  CARILLON_ASSIGN_OR_RETURN(mysql::SessionOptions session, store::SessionOptionsOf(config));
  return mysql::MysqlOptions{
      .session = std::move(session),
      .pool_size = StoreConnectionsOf(config),
      .create_database = true,
      .segment_count = static_cast<uint32_t>(config.Integer("scheduler.segments")),
      .metrics = &metrics};
}

}  // namespace

struct ClusterScheduler::Parts {
  SystemClock clock;
  Metrics metrics;
  std::unique_ptr<process::DataDirectory> directory;
  StoreGuard guard{clock};
  std::unique_ptr<mysql::MysqlStores> store;    // without the guard: any store that answers
  std::unique_ptr<mysql::MysqlStores> trusted;  // with the guard, for the member
  std::unique_ptr<mysql::MysqlStores> for_api;  // with the guard for writes only
  std::unique_ptr<CurlTransport> transport;
  std::unique_ptr<NotifySecretFiles> notify_secrets;
  std::unique_ptr<NoticeSender> sender;
  const Signer signer = Signer::Generate();
  LiveSettings settings;
  std::unique_ptr<SecretKeys> secret_keys;
  std::unique_ptr<SecretResolver> secret_resolver;
  std::optional<tls::Authority> authority;  // nullopt: no TLS on the control link
  std::unique_ptr<ExecutorEnrollment> enrollment;
  std::atomic<ExecutorEnrollment*> joins = nullptr;  // set once the store is open
  std::unique_ptr<cluster::LateBus> bus;
  BusConsumer* results = nullptr;             // owned by `bus`
  BusConsumer* logs = nullptr;                // owned by `bus`
  std::unique_ptr<cluster::LateBus> letters;  // null: dead letters are not published
  std::unique_ptr<EventTopics> event_topics;  // null: there are none
  std::unique_ptr<Coordinator> coordinator;
  std::unique_ptr<ExecutorHub> hub;
  std::unique_ptr<SchedulerServer> server;
  Loops loops;
  process::Runtime runtime;
  std::string setup_link;  // empty if there is an administrator, or this is not the first member

  Status Build(const config::Config& config, const process::Interrupted& interrupted);
  Status OpenStore(const config::Config& config, const process::Interrupted& interrupted);
  Status OpenBus(const config::Config& config);
  Status OpenLetters(const config::Config& config);
  Status OpenEvents(const config::Config& config, MemberOptions& options);
  void StartBuses();
  Status OpenLink(const config::Config& config, MemberInfo& self);
  Result<std::string> Issue(const JoinRequest& request);
};

// The loops start last, after every port is bound. So a member that fails to start fires nothing.
Status ClusterScheduler::Parts::Build(const config::Config& config,
                                      const process::Interrupted& interrupted) {
  CARILLON_ASSIGN_OR_RETURN(directory, process::DataDirectory::Open(config));
  metrics.gauge("carillon_build_info", kVersion).Set(1);
  CARILLON_ASSIGN_OR_RETURN(secret_keys,
                            SecretKeys::Open({.file = config.Text("secrets.key_file"),
                                              .environment = TakeSecretsEnvironment()}));
  MemberOptions options = MemberOptionsOf(config, RandomSeed());
  options.incarnation_wait = config.Time("zookeeper.session_timeout_ms");
  CARILLON_TRY(OpenLink(config, options.self));
  CARILLON_ASSIGN_OR_RETURN(const auto ensemble, cluster::CoordinatorOptionsOf(config));
  CARILLON_ASSIGN_OR_RETURN(coordinator, zookeeper::ZookeeperCoordinator::Make(ensemble));
  CARILLON_TRY(OpenStore(config, interrupted));
  CARILLON_ASSIGN_OR_RETURN(const SchemaLevels levels, store->schema.ReadLevels());
  options.self.schema = levels.known;
  if (authority) {
    enrollment = std::make_unique<ExecutorEnrollment>(
        ExecutorEnrollment::Stores{for_api->auth, for_api->executors, for_api->audit}, *authority,
        [this] { return for_api->segments.Now(); });
    joins = enrollment.get();
  }
  CARILLON_TRY(OpenBus(config));
  CARILLON_TRY(OpenEvents(config, options));
  secret_resolver = std::make_unique<SecretResolver>(trusted->secrets, *secret_keys);
  CARILLON_ASSIGN_OR_RETURN(auto notify, NotifyOptionsOf(config));
  transport = std::make_unique<CurlTransport>(
      config.Text("notify.tls_ca_file"),
      CurlTransport::Proxies{config.Text("notify.proxy"), config.Text("notify.mail_proxy")});
  notify_secrets = std::make_unique<NotifySecretFiles>(config);
  sender = std::make_unique<NoticeSender>(clock, *transport, *notify_secrets, std::move(notify));
  server = std::make_unique<SchedulerServer>(
      SchedulerServer::Ports{.member = {.clock = clock,
                                        .stores = trusted->Ports(),
                                        .identity = store->identity,
                                        .schema = trusted->schema,
                                        .guard = guard,
                                        .producer = bus->producer(),
                                        .results = *results,
                                        .logs = *logs,
                                        .hub = *hub,
                                        .coordinator = *coordinator,
                                        .signer = signer,
                                        .metrics = metrics,
                                        .settings = settings,
                                        .secrets = secret_resolver.get(),
                                        .sender = sender.get(),
                                        .letters = letters ? &letters->producer() : nullptr,
                                        .event_topics = event_topics.get()},
                             .api = for_api->Ports(),
                             .secret_keys = *secret_keys},
      options);
  process::FollowSettings(settings, config,
                          [this](const config::Config& now) { server->Tune(MemberTuningOf(now)); });
  CARILLON_TRY(server->Listen(ApiOptionsOf(config), OpsOptionsOf(config),
                              {.version = kVersion,
                               .config = config,
                               .link_authority = authority ? authority->certificate() : ""}));
  // The settings are read again, because the cluster may have been paused after the store was
  // opened. Then nothing may fire.
  if (const auto stored = store->settings.ReadSettings(); stored.ok()) settings.Adopt(*stored);
  server->StartLoops(loops);
  StartBuses();
  runtime = {.url = server->url(),
             .ops_url = server->ops_url(),
             .grpc = options.self.grpc_address,
             .member_id = options.self.id.value()};
  if (access(directory->token_file().c_str(), R_OK) == 0) {
    runtime.token_file = directory->token_file();
    setup_link = NewSetupLink(store->auth, server->public_url(), store->segments.Now());
  }
  return directory->Publish(runtime);
}

Status ClusterScheduler::Parts::OpenStore(const config::Config& config,
                                          const process::Interrupted& interrupted) {
  CARILLON_ASSIGN_OR_RETURN(const mysql::MysqlOptions options, StoreOptionsOf(config, metrics));
  while (!store) {
    auto opened = mysql::MysqlStores::Open(options, interrupted);
    if (opened.ok()) {
      store = std::move(opened).value();
    } else if (opened.code() != ErrorCode::kUnavailable) {
      return opened.error();
    } else {
      log::Warn("store", "{}; store.host is {}", opened.error().message, options.session.host);
      process::Await(clock, kAskStoreEvery, interrupted);
      if (interrupted()) return process::InterruptedError();
    }
  }
  trusted = store->Behind(guard, mysql::Gated::kEverything);
  for_api = store->Behind(guard, mysql::Gated::kWrites);
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, store->segments.Now());
  CARILLON_ASSIGN_OR_RETURN(const ClusterSettings stored, store->settings.ReadSettings());
  settings.Adopt(stored);
  return EnsureAdminToken(*directory, store->auth, now, TokenOwner::kAnyMember);
}

// Every member reads all results and logs. A segment may change its owner while a result
// is in transit.
Status ClusterScheduler::Parts::OpenBus(const config::Config& config) {
  const std::string name = "carillon-" + config.Text("scheduler.id");
  CARILLON_ASSIGN_OR_RETURN(kafka::ProducerOptions options,
                            cluster::ProducerOptionsOf(config, name));
  options.topics = {std::string(kTasksTopic)};
  bus = std::make_unique<cluster::LateBus>(cluster::LateBus::Ports{
      .check_topics = [config](Duration limit) { return cluster::CheckTopics(config, limit); },
      .open_producer = [this, options] { return kafka::NewProducer(options, metrics); }});
  std::vector<int> partitions(static_cast<size_t>(options.partitions));
  std::iota(partitions.begin(), partitions.end(), 0);
  kafka::ConsumerOptions reads{
      .kafka = options.kafka, .group = name, .partitions = std::move(partitions)};
  reads.topic = kResultsTopic;
  reads.begin = {.at = clock.Wall() - kResultsOfInterest, .of = BusBegin::Of::kAnyGroup};
  results = &bus->AddConsumer([reads] { return kafka::NewConsumer(reads); });
  reads.topic = kLogsTopic;
  reads.begin = {.at = clock.Wall() - kLogsOfInterest, .of = BusBegin::Of::kNewGroup};
  logs = &bus->AddConsumer([reads] { return kafka::NewConsumer(reads); });
  CARILLON_TRY(OpenLetters(config));
  return bus->Open();
}

// A client of its own, so that nothing about this topic holds up tasks. If a record is given up, a
// client of librdkafka sends nothing to any topic until the requests under way have been answered.
Status ClusterScheduler::Parts::OpenLetters(const config::Config& config) {
  const std::string& topic = config.Text("dead_letters.topic");
  if (topic.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(
      kafka::ProducerOptions options,
      cluster::ProducerOptionsOf(config, "carillon-" + config.Text("scheduler.id") + "-letters"));
  options.topics = {topic};
  options.queue_records_max = kLettersQueuedMax;
  options.queue_bytes_max = kLettersQueuedBytesMax;
  letters = std::make_unique<cluster::LateBus>(cluster::LateBus::Ports{
      .check_topics = LettersTopicCheck(config),
      .open_producer = [this, options] { return kafka::NewProducer(options, metrics); },
      .required = false});
  return {};
}

// The leader opens its topics when it reads them.
Status ClusterScheduler::Parts::OpenEvents(const config::Config& config, MemberOptions& options) {
  CARILLON_ASSIGN_OR_RETURN(options.event_topics, EventTopicsOf(config));
  if (options.event_topics.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(
      kafka::KafkaOptions brokers,
      cluster::KafkaOptionsOf(config, "carillon-" + config.Text("scheduler.id") + "-events"));
  event_topics = std::make_unique<cluster::KafkaEventTopics>(std::move(brokers));
  return {};
}

void ClusterScheduler::Parts::StartBuses() {
  loops.Add("bus", clock, *bus);
  if (letters) loops.Add("letters", clock, *letters);
}

Status ClusterScheduler::Parts::OpenLink(const config::Config& config, MemberInfo& self) {
  CARILLON_ASSIGN_OR_RETURN(const std::string secret, cluster::JoinSecretOf(config));
  tls::Identity identity;
  if (cluster::LinkHasTls(config)) {
    CARILLON_ASSIGN_OR_RETURN(authority, ReadLinkAuthority(config));
    CARILLON_ASSIGN_OR_RETURN(identity, NewMemberIdentity(*authority, self.id, clock.Wall()));
  }
  IssueCertificate join;
  if (authority) join = [this](const JoinRequest& request) { return Issue(request); };
  CARILLON_ASSIGN_OR_RETURN(
      auto started,
      rpc::GrpcHub::Start({.member = self.id,
                           .public_key = signer.public_key(),
                           .join_secret = secret,
                           .identity = identity,
                           .join = join,
                           .address = config.Text("link.listen"),
                           .port = static_cast<uint16_t>(config.Integer("link.port")),
                           .allow_beyond_loopback = config.Flag("link.allow_beyond_loopback"),
                           .metrics = &metrics},
                          clock));
  const std::string endpoint = started->endpoint();
  const std::string& advertised = config.Text("link.advertise");
  self.grpc_address =
      advertised.empty() ? endpoint : advertised + endpoint.substr(endpoint.rfind(':'));
  hub = std::move(started);
  return {};
}

// The hub listens before the store is open. Until the store is open, requests to join are refused.
Result<std::string> ClusterScheduler::Parts::Issue(const JoinRequest& request) {
  const ExecutorEnrollment* const ready = joins.load();
  if (ready == nullptr)
    return Error{ErrorCode::kUnavailable, "this member is starting; retry shortly"};
  return ready->Issue(request);
}

ClusterScheduler::ClusterScheduler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<process::Daemon>> ClusterScheduler::Start(
    const config::Config& config, const process::Interrupted& interrupted) {
  // From here on the destructor stops what was started.
  std::unique_ptr<ClusterScheduler> scheduler(new ClusterScheduler(std::make_unique<Parts>()));
  CARILLON_TRY(scheduler->parts_->Build(config, interrupted));
  return std::unique_ptr<process::Daemon>(std::move(scheduler));
}

ClusterScheduler::~ClusterScheduler() { Stop(); }

std::string ClusterScheduler::ReadyText() const {
  return "carillon-scheduler " + parts_->runtime.member_id + " is up: " + parts_->runtime.url +
         SetupText(parts_->setup_link);
}

bool ClusterScheduler::Reload() { return parts_->server->ReloadCertificate(); }

Status ClusterScheduler::Supervise() {
  CARILLON_TRY(parts_->bus->failure());
  return parts_->server->Supervise();
}

void ClusterScheduler::BeginDrain() { parts_->server->BeginDrain(); }

void ClusterScheduler::Stop() {
  Parts& parts = *parts_;
  if (!parts.directory) return;
  if (parts.transport) parts.transport->Stop();
  if (parts.server) parts.server->StopListening();
  // The loops wake one another. So all of them stop before anything is destroyed.
  parts.loops.Stop();
  if (parts.server) parts.server->Leave();
  parts.server.reset();
  parts.hub.reset();
  parts.coordinator.reset();
  parts.event_topics.reset();
  parts.letters.reset();
  parts.bus.reset();
  parts.for_api.reset();
  parts.trusted.reset();
  parts.store.reset();
  parts.directory->Unpublish();
  parts.directory.reset();
}

}  // namespace carillon::scheduler
