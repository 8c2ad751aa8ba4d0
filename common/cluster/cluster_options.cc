#include "common/cluster/cluster_options.h"

#include "common/base/log.h"
#include "common/process/daemon.h"
#include "common/process/process.h"

namespace carillon::cluster {
namespace {

constexpr Duration kBrokersAnswer = 5s;

std::vector<kafka::TopicOptions> TopicsOf(const config::Config& config) {
  std::vector<kafka::TopicOptions> topics;
  for (const std::string_view name : {kTasksTopic, kResultsTopic, kLogsTopic, kDeadLettersTopic}) {
    topics.push_back({.name = std::string(name),
                      .partitions = static_cast<int>(config.Integer("kafka.partitions")),
                      .replicas = static_cast<int>(config.Integer("kafka.replicas"))});
  }
  return topics;
}

}  // namespace

kafka::ProducerOptions ProducerOptionsOf(const config::Config& config, const std::string& client) {
  return {.kafka = {.bootstrap = config.Text("kafka.bootstrap"), .client_id = client},
          .partitions = static_cast<int>(config.Integer("kafka.partitions"))};
}

Result<zookeeper::CoordinatorOptions> CoordinatorOptionsOf(const config::Config& config) {
  zookeeper::CoordinatorOptions options{
      .connect = config.Text("zookeeper.connect"),
      .session_timeout = config.Time("zookeeper.session_timeout_ms")};
  const std::string& file = config.Text("zookeeper.digest_file");
  if (file.empty()) return options;
  CARILLON_ASSIGN_OR_RETURN(options.digest, process::ReadSecretFile(file, "zookeeper.digest_file"));
  return options;
}

Result<std::string> JoinSecretOf(const config::Config& config) {
  return process::ReadSecretFile(config.Text("link.join_secret_file"), "link.join_secret_file");
}

Status AwaitTopics(const config::Config& config, const std::function<bool()>& interrupted) {
  const kafka::KafkaOptions options{.bootstrap = config.Text("kafka.bootstrap")};
  while (!interrupted()) {
    Status ready = kafka::EnsureTopics(options, TopicsOf(config), kBrokersAnswer);
    if (ready.ok() || ready.code() != ErrorCode::kUnavailable) return ready;
    log::Warn("kafka", "{}; kafka.bootstrap is {}", ready.error().message, options.bootstrap);
  }
  return process::ToldToStop();
}

}  // namespace carillon::cluster
