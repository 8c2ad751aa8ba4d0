// Converts the settings into the options of the adapters that every daemon of a cluster uses.
//
// Errors   Functions that read a secret file fail like process::ReadSecretFile.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/kafka_topics.h"
#include "common/adapters/zookeeper/zookeeper_membership.h"
#include "common/config/load.h"

namespace carillon::cluster {

// The result contains the TLS and SASL options of the brokers, including a password.
Result<kafka::KafkaOptions> KafkaOptionsOf(const config::Config& config, const std::string& client);
Result<kafka::ProducerOptions> ProducerOptionsOf(const config::Config& config,
                                                 const std::string& client);
Result<zookeeper::CoordinatorOptions> CoordinatorOptionsOf(const config::Config& config);
// The secret that executors present on the control link; empty if the link uses TLS.
Result<std::string> JoinSecretOf(const config::Config& config);
bool LinkHasTls(const config::Config& config);

// Creates Carillon's topics that are missing, within `limit`. kConflict: existing topics differ
// from what is required; kUnavailable: no broker answers.
Status CheckTopics(const config::Config& config, Duration limit);
// The same for the topic that dead_letters.topic names, to which others may write.
Status CheckLettersTopic(const config::Config& config, Duration limit);

}  // namespace carillon::cluster
