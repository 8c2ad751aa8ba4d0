#include "executor/main/cluster_executor.h"

#include <atomic>
#include <utility>

#include "common/adapters/grpc/grpc_link.h"
#include "common/adapters/grpc/grpc_worker_door.h"
#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/system/system_clock.h"
#include "common/adapters/zookeeper/zookeeper_directory.h"
#include "common/base/log.h"
#include "common/base/version.h"
#include "common/cluster/cluster_options.h"
#include "common/cluster/late_bus.h"
#include "common/config/endpoints.h"
#include "common/link_bus/carrying_link.h"
#include "common/ops/ops_server.h"
#include "common/process/data_directory.h"
#include "common/process/process.h"
#include "executor/main/link_identity.h"
#include "executor/server/executor_server.h"
#include "executor/server/executor_settings.h"
#include "executor/server/listed_members.h"
#include "executor/server/member_follower.h"

namespace carillon::executor {
namespace {

// A new executor skips tasks older than this. They have expired, even if the clocks of the hosts
// differ by minutes.
constexpr Duration kTasksOfInterest = 10min;

}  // namespace

struct ClusterExecutor::Parts {
  SystemClock clock;
  Metrics metrics;
  std::unique_ptr<process::DataDirectory> directory;
  LiveSettings settings;
  std::unique_ptr<cluster::LateBus> bus;   // null: the control link carries the records
  BusConsumer* tasks = nullptr;            // owned by the bus, or received_tasks
  BusProducer* results = nullptr;          // owned by the bus, or carrier
  std::unique_ptr<LinkIdentity> identity;  // null: no TLS on the control link
  std::unique_ptr<rpc::GrpcLink> link;
  // Only without Kafka. Tasks that are lost with this process are published again.
  std::unique_ptr<memory::MemoryBus> received;
  std::unique_ptr<BusProducer> receiver;
  std::unique_ptr<BusConsumer> received_tasks;
  std::unique_ptr<link_bus::CarryingLink> carrier;
  std::unique_ptr<MemberDirectory> members;
  std::unique_ptr<MemberFollower> follower;
  std::unique_ptr<ExecutorServer> executor;
  std::unique_ptr<ops::Health> health;
  std::unique_ptr<ops::OpsServer> ops;
  // The ops port opens before the executor is built. Until then it answers without the executor.
  std::atomic<bool> built = false;
  std::atomic<bool> draining = false;
  Loops loops;
  process::Runtime runtime;

  Status Build(const config::Config& config, const process::Interrupted& interrupted);
  Status OpenBus(const config::Config& config, const ExecutorOptions& options);
  void CarryOnLink();
  Result<std::unique_ptr<MemberDirectory>> OpenDirectory(const config::Config& config);
  Status OpenMembers(const config::Config& config, const ExecutorOptions& options,
                     const process::Interrupted& interrupted);
  Status ListenOps(const config::Config& config);
  void StartLoops();
};

namespace {

Error NotReady(const std::string& why) { return {ErrorCode::kUnavailable, why}; }

}  // namespace

Status ClusterExecutor::Parts::Build(const config::Config& config,
                                     const process::Interrupted& interrupted) {
  CARILLON_ASSIGN_OR_RETURN(directory, process::DataDirectory::Open(config));
  metrics.gauge("carillon_build_info", kVersion).Set(1);
  ExecutorOptions options = ExecutorOptionsOf(config, RandomSeed());
  CARILLON_TRY(OpenMembers(config, options, interrupted));
  CARILLON_TRY(ListenOps(config));
  options.ops_port = ops->port();
  if (config::LinkMembers(config).empty()) {
    CARILLON_TRY(OpenBus(config, options));
  } else {
    CarryOnLink();
  }
  CARILLON_ASSIGN_OR_RETURN(
      executor,
      ExecutorServer::Make({.clock = clock,
                            .tasks = *tasks,
                            .results = *results,
                            .link = carrier ? static_cast<ExecutorLink&>(*carrier) : *link,
                            .metrics = metrics,
                            .public_keys = [this] { return link->public_keys(); },
                            .settings = settings,
                            .open_worker_door = &rpc::ListenForWorkers},
                           options, directory->Sub("executor")));
  process::FollowSettings(settings, config, [this](const config::Config& now) {
    executor->Tune(ExecutorTuningOf(now));
  });
  StartLoops();
  built = true;
  runtime = {.ops_url = ops->url(), .executor_id = options.executor_id.value()};
  return directory->Publish(runtime);
}

// Opens the bus. The consumer reads only the partition with this executor's tasks, and the bus
// keeps its position under the executor's name.
Status ClusterExecutor::Parts::OpenBus(const config::Config& config,
                                       const ExecutorOptions& options) {
  const std::string name = "carillon-" + options.executor_id.value();
  CARILLON_ASSIGN_OR_RETURN(kafka::ProducerOptions producer,
                            cluster::ProducerOptionsOf(config, name));
  producer.topics = {std::string(kResultsTopic), std::string(kLogsTopic)};
  bus = std::make_unique<cluster::LateBus>(cluster::LateBus::Ports{
      .check_topics = [config](Duration limit) { return cluster::CheckTopics(config, limit); },
      .open_producer = [this, producer] { return kafka::NewProducer(producer, metrics); }});
  const auto partitions = static_cast<uint64_t>(producer.partitions);
  const int partition = static_cast<int>(TaskPartitionKey(options.executor_id) % partitions);
  tasks = &bus->AddConsumer(
      [wanted = kafka::ConsumerOptions{.kafka = producer.kafka,
                                       .topic = std::string(kTasksTopic),
                                       .group = name,
                                       .partitions = {partition},
                                       .begin = BusBegin{.at = clock.Wall() - kTasksOfInterest}}] {
        return kafka::NewConsumer(wanted);
      });
  results = &bus->producer();
  return bus->Open();
}

void ClusterExecutor::Parts::CarryOnLink() {
  received = std::make_unique<memory::MemoryBus>(memory::MemoryBus::Options{.partitions = 1});
  receiver = received->NewProducer();
  received_tasks = received->NewConsumer(kTasksTopic, "executor");
  carrier = std::make_unique<link_bus::CarryingLink>(*link, *receiver, metrics);
  tasks = received_tasks.get();
  results = carrier.get();
}

Result<std::unique_ptr<MemberDirectory>> ClusterExecutor::Parts::OpenDirectory(
    const config::Config& config) {
  std::vector<MemberInfo> listed;
  for (const config::Endpoint& endpoint : config::LinkMembers(config)) {
    listed.push_back(
        {.id = {}, .incarnation = {}, .rest_url = "", .grpc_address = endpoint.Text()});
  }
  if (!listed.empty()) {
    return std::unique_ptr<MemberDirectory>(std::make_unique<ListedMembers>(std::move(listed)));
  }
  CARILLON_ASSIGN_OR_RETURN(const auto ensemble, cluster::CoordinatorOptionsOf(config));
  CARILLON_ASSIGN_OR_RETURN(auto watched, zookeeper::ZookeeperDirectory::Make(ensemble));
  return std::unique_ptr<MemberDirectory>(std::move(watched));
}

Status ClusterExecutor::Parts::OpenMembers(const config::Config& config,
                                           const ExecutorOptions& options,
                                           const process::Interrupted& interrupted) {
  CARILLON_ASSIGN_OR_RETURN(const std::string secret, cluster::JoinSecretOf(config));
  CARILLON_ASSIGN_OR_RETURN(members, OpenDirectory(config));
  const Duration refused_after = 2 * config.Time("zookeeper.session_timeout_ms");
  rpc::CurrentIdentity current_identity;
  if (cluster::LinkHasTls(config)) {
    identity = std::make_unique<LinkIdentity>(
        LinkIdentity::Options{.executor = options.executor_id,
                              .token_file = config.Text("link.join_token_file"),
                              .refused_after = refused_after},
        *directory, clock,
        [this, id = options.executor_id,
         incarnation = options.incarnation]() -> Result<std::vector<MemberInfo>> {
          // The directory lists members only to a process that announced itself.
          CARILLON_TRY(members->Announce(id, incarnation));
          return members->Members();
        });
    CARILLON_TRY(identity->Open(interrupted));
    current_identity = [this] { return identity->current(); };
  }
  link = rpc::GrpcLink::Make({.executor = options.executor_id,
                              .incarnation = options.incarnation,
                              .join_secret = secret,
                              .seed = RandomSeed()},
                             clock, std::move(current_identity));
  follower = std::make_unique<MemberFollower>(
      *members, [this](const std::vector<MemberInfo>& seen) { link->SetMembers(seen); },
      MemberFollower::Options{.executor = options.executor_id,
                              .incarnation = options.incarnation,
                              .refused_after = refused_after,
                              .seed = RandomSeed()});
  return {};
}

Status ClusterExecutor::Parts::ListenOps(const config::Config& config) {
  std::vector<ops::ReadyCheck> checks = {
      {.name = "warden",
       .check = [this]() -> Status {
         if (!built || executor->warden_pid() == 0)
           return NotReady("the warden has not started yet");
         if (!executor->warden_answers()) return NotReady("the warden does not respond");
         return {};
       }},
      {.name = "members",
       .check = [this]() -> Status {
         if (!link->Members().empty()) return {};
         return NotReady("no member of the scheduler can be reached");
       }},
      {.name = "draining",
       .check = [this]() -> Status {
         if (!draining) return {};
         return NotReady("stopping: waiting for running processes");
       }},
  };
  health = std::make_unique<ops::Health>(std::move(checks), clock);
  CARILLON_ASSIGN_OR_RETURN(
      ops,
      ops::OpsServer::Start({.address = config.Text("ops.listen"),
                             .port = static_cast<uint16_t>(config.Integer("ops.port")),
                             .allow_beyond_loopback = config.Flag("ops.allow_beyond_loopback")},
                            {.metrics = metrics, .clock = clock, .health = *health}));
  return {};
}

void ClusterExecutor::Parts::StartLoops() {
  executor->StartLoops(loops);
  if (bus) loops.Add("bus", clock, *bus);
  LoopRunner& following = loops.Add("members", clock, *follower);
  members->OnChange([&following] { following.Wake(); });
  if (identity) loops.Add("link-identity", clock, *identity);
}

ClusterExecutor::ClusterExecutor(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<process::Daemon>> ClusterExecutor::Start(
    const config::Config& config, const process::Interrupted& interrupted) {
  // From here on the destructor stops what was started.
  std::unique_ptr<ClusterExecutor> executor(new ClusterExecutor(std::make_unique<Parts>()));
  CARILLON_TRY(executor->parts_->Build(config, interrupted));
  return std::unique_ptr<process::Daemon>(std::move(executor));
}

ClusterExecutor::~ClusterExecutor() { Stop(); }

std::string ClusterExecutor::ReadyText() const {
  return "carillon-executor " + parts_->runtime.executor_id + " is up";
}

Status ClusterExecutor::Supervise() {
  if (parts_->bus) CARILLON_TRY(parts_->bus->failure());
  for (const std::string& refusal : {parts_->follower->refusal(), parts_->executor->refusal()}) {
    if (!refusal.empty()) return {ErrorCode::kConflict, refusal};
  }
  const int warden = static_cast<int>(parts_->executor->warden_pid());
  // 0 means that the warden is being restarted. The old pid stays published until the new
  // one is known.
  if (warden == 0 || warden == parts_->runtime.warden_pid) return {};
  process::Runtime current = parts_->runtime;
  current.warden_pid = warden;
  // If the disk is full, the next call tries again.
  if (parts_->directory->Publish(current).ok()) parts_->runtime = std::move(current);
  return {};
}

void ClusterExecutor::BeginDrain() {
  parts_->draining = true;
  parts_->executor->Drain();
}

bool ClusterExecutor::drained() const { return parts_->executor->drained(); }

void ClusterExecutor::Stop() {
  Parts& parts = *parts_;
  if (!parts.directory) return;
  if (parts.ops) parts.ops->Stop();
  // A thread may wake other loops until its own loop ends. So all loops stop before
  // anything is destroyed.
  parts.loops.Stop();
  if (parts.members) parts.members->Withdraw();
  if (parts.executor) parts.executor->Leave();
  parts.executor.reset();
  parts.follower.reset();
  parts.members.reset();
  parts.carrier.reset();
  parts.link.reset();
  parts.identity.reset();
  parts.bus.reset();
  parts.received_tasks.reset();
  parts.receiver.reset();
  parts.received.reset();
  parts.directory->Unpublish();
  parts.directory.reset();
}

}  // namespace carillon::executor
