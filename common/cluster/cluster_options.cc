#include "common/cluster/cluster_options.h"

#include <utility>

#include "common/base/log.h"
#include "common/process/process.h"

namespace carillon::cluster {
namespace {

// Readers outside may be away over a weekend.
constexpr Duration kLettersKept = 24h * 7;

std::vector<kafka::TopicOptions> TopicsOf(const config::Config& config) {
  std::vector<kafka::TopicOptions> topics;
  for (const std::string_view name : {kTasksTopic, kResultsTopic, kLogsTopic, kDeadLettersTopic}) {
    topics.push_back({.name = std::string(name),
                      .partitions = static_cast<int>(config.Integer("kafka.partitions")),
                      .replicas = static_cast<int>(config.Integer("kafka.replicas"))});
  }
  return topics;
}

kafka::TopicOptions LettersTopicOf(const config::Config& config) {
  kafka::TopicOptions outside = TopicsOf(config).front();
  outside.name = config.Text("dead_letters.topic");
  outside.retention = kLettersKept;
  outside.cure = "give it as many, or name a topic in dead_letters.topic that Carillon can create";
  return outside;
}

using Properties = std::map<std::string, std::string>;

void AddTls(const config::Config& config, Properties& properties) {
  const bool verify = config.Text("kafka.tls") == "verify";
  properties["enable.ssl.certificate.verification"] = verify ? "true" : "false";
  properties["ssl.endpoint.identification.algorithm"] = verify ? "https" : "none";
  for (const auto& [setting, property] :
       {std::pair("kafka.tls_ca_file", "ssl.ca.location"),
        std::pair("kafka.tls_certificate_file", "ssl.certificate.location"),
        std::pair("kafka.tls_key_file", "ssl.key.location")}) {
    if (!config.Text(setting).empty()) properties[property] = config.Text(setting);
  }
}

Status AddSasl(const config::Config& config, Properties& properties) {
  const std::string& mechanism = config.Text("kafka.sasl");
  properties["sasl.mechanism"] = mechanism == "plain"           ? "PLAIN"
                                 : mechanism == "scram-sha-256" ? "SCRAM-SHA-256"
                                                                : "SCRAM-SHA-512";
  properties["sasl.username"] = config.Text("kafka.user");
  CARILLON_ASSIGN_OR_RETURN(
      properties["sasl.password"],
      process::ReadSecretFile(config.Text("kafka.password_file"), "kafka.password_file"));
  return {};
}

}  // namespace

Result<kafka::KafkaOptions> KafkaOptionsOf(const config::Config& config,
                                           const std::string& client) {
  kafka::KafkaOptions options{.bootstrap = config.Text("kafka.bootstrap"), .client_id = client};
  const bool tls = config.Text("kafka.tls") != "off";
  const bool sasl = config.Text("kafka.sasl") != "off";
  if (!tls && !sasl) return options;
  options.properties["security.protocol"] = !sasl ? "SSL" : tls ? "SASL_SSL" : "SASL_PLAINTEXT";
  if (tls) AddTls(config, options.properties);
  if (sasl) CARILLON_TRY(AddSasl(config, options.properties));
  return options;
}

Result<kafka::ProducerOptions> ProducerOptionsOf(const config::Config& config,
                                                 const std::string& client) {
  kafka::ProducerOptions options{.partitions =
                                     static_cast<int>(config.Integer("kafka.partitions"))};
  CARILLON_ASSIGN_OR_RETURN(options.kafka, KafkaOptionsOf(config, client));
  return options;
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

bool LinkHasTls(const config::Config& config) { return config.Text("link.tls") == "mutual"; }

Result<std::string> JoinSecretOf(const config::Config& config) {
  if (LinkHasTls(config)) return std::string();
  return process::ReadSecretFile(config.Text("link.join_secret_file"), "link.join_secret_file");
}

Status CheckTopics(const config::Config& config, Duration limit) {
  CARILLON_ASSIGN_OR_RETURN(const kafka::KafkaOptions options, KafkaOptionsOf(config, "carillon"));
  const Status ready = kafka::EnsureTopics(options, TopicsOf(config), limit);
  if (ready.ok() || ready.code() != ErrorCode::kUnavailable) return ready;
  log::Warn("kafka", "{}; kafka.bootstrap is {}", ready.error().message, options.bootstrap);
  if (config.Text("kafka.sasl").starts_with("scram") && !kafka::ScramFitsNewBrokers()) {
    log::Warn("kafka",
              "kafka.sasl is {}, which Kafka 4.0 and later refuse from librdkafka before 2.6.1: "
              "use plain over TLS with them",
              config.Text("kafka.sasl"));
  }
  return ready;
}

Status CheckLettersTopic(const config::Config& config, Duration limit) {
  CARILLON_ASSIGN_OR_RETURN(const kafka::KafkaOptions options, KafkaOptionsOf(config, "carillon"));
  return kafka::EnsureTopics(options, {LettersTopicOf(config)}, limit);
}

}  // namespace carillon::cluster
