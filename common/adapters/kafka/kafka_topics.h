// The topics of the cluster: created if missing, checked if they exist.
//
// Threads  Each call makes a client of its own and waits up to `limit`.
// Errors   EnsureTopics:
//          kUnavailable: no broker answers.
//          kConflict: a topic has another number of partitions or fewer replicas, and the message
//          says how to fix this; or a new topic needs more replicas than there are brokers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/adapters/kafka/kafka_client.h"
#include "common/base/time.h"

namespace carillon::kafka {

// The required properties of a topic.
struct TopicOptions {
  std::string name;
  int partitions = 8;
  int replicas = 1;
  Duration retention = 24h;
  // What to do about another number of partitions, for the message.
  std::string cure = "set kafka.partitions to that number on every daemon";
};

Status EnsureTopics(const KafkaOptions& kafka, const std::vector<TopicOptions>& topics,
                    Duration limit);

// `before` has an offset by partition. Deletes the records of each partition before its offset. For
// tests of a reader that falls behind the oldest record.
Status DeleteRecords(const KafkaOptions& kafka, const std::string& topic,
                     const std::map<int, int64_t>& before, Duration limit);

// The number of partitions of a topic, which is not created. kNotFound: there is no such topic.
// kDenied: it may not be read. kUnavailable: no broker answers, or the topic is not ready.
Result<int> CountPartitions(const KafkaOptions& kafka, const std::string& topic, Duration limit);

// Deletes topics, for tests and for operators who start over. A topic that does not exist counts
// as deleted.
Status DeleteTopics(const KafkaOptions& kafka, const std::vector<std::string>& names,
                    Duration limit);

}  // namespace carillon::kafka
