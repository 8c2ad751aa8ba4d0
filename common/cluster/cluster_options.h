// From the table of settings to the adapters that every daemon of a cluster has.
//
// Errors   Those that read a file: as process::ReadSecretFile.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/kafka_topics.h"
#include "common/adapters/zookeeper/zookeeper_coordinator.h"
#include "common/config/load.h"

namespace carillon::cluster {

// With what the brokers are told of TLS and SASL: it holds a password.
Result<kafka::KafkaOptions> KafkaOptionsOf(const config::Config& config, const std::string& client);
Result<kafka::ProducerOptions> ProducerOptionsOf(const config::Config& config,
                                                 const std::string& client);
Result<zookeeper::CoordinatorOptions> CoordinatorOptionsOf(const config::Config& config);
// Empty when there is TLS: nobody is asked for it.
Result<std::string> JoinSecretOf(const config::Config& config);
bool LinkHasTls(const config::Config& config);

// Makes the topics that are missing, within `limit`. kConflict: they are not as they must be;
// kUnavailable: no broker answers.
Status CheckTopics(const config::Config& config, Duration limit);

}  // namespace carillon::cluster
