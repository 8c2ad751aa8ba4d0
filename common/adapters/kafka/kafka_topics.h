// The topics as the cluster wants them: made when they are missing, checked when they exist.
//
// Threads  Each call makes a client of its own and waits up to `limit`.
// Errors   Ensure: kUnavailable when no broker answers; kConflict when a topic has another number
//          of partitions, or fewer replicas (the sentence says what cures it), or when there are
//          fewer brokers than a new one is to have replicas.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/adapters/kafka/kafka_client.h"
#include "common/base/time.h"

namespace carillon::kafka {

struct TopicOptions {
  std::string name;
  int partitions = 8;
  int replicas = 1;
  Duration retention = 24h;
};

Status EnsureTopics(const KafkaOptions& kafka, const std::vector<TopicOptions>& topics,
                    Duration limit);

// Forgets the records before these offsets, by partition; for tests of a reader that was away.
Status DeleteRecords(const KafkaOptions& kafka, const std::string& topic,
                     const std::map<int, int64_t>& before, Duration limit);

// For tests and for operators who start anew. Topics that do not exist are deleted already.
Status DeleteTopics(const KafkaOptions& kafka, const std::vector<std::string>& names,
                    Duration limit);

}  // namespace carillon::kafka
