// The message bus on Kafka.
//
// Place    Cluster members and executors; its in-memory counterpart is memory_bus.
// Threads  Producers are thread-safe; a consumer has one user. Besides the threads of librdkafka,
//          each producer owns a thread that serves delivery reports. Each consumer owns a thread
//          that measures the consumer's lag.
// Errors   Send: kExhausted when the local queue is full, kInvalid if a record is larger than the
//          broker accepts. Poll, Commit: kUnavailable.
//          If the record sequences of a producer and the broker disagree, librdkafka declares the
//          producer fatally broken. Such a producer is replaced. Before the replacement Send
//          returns kUnavailable. The records in the broken producer count as given up.
// Always   If a record is not acknowledged within `message_timeout`, it is given up and counted. A
//          caller that waits for the record's effect must send the record again.
//          A consumer stores only positions that its caller committed. The broker receives these
//          positions within 0.5 s, or when the consumer ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/kafka/kafka_client.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/message_bus.h"

namespace carillon::kafka {

struct ProducerOptions {
  KafkaOptions kafka;
  int partitions = 8;  // per topic; a record goes to (key mod partitions)
  // Looked up while connecting. The first record to any other topic may wait for 1 s, because the
  // client looks up topics that it learns of later once a second.
  std::vector<std::string> topics = {};
  Duration message_timeout = 5s;  // the owner publishes an unclaimed task again after 5 s, too
  size_t queue_records_max = 100'000;
  size_t queue_bytes_max = size_t{64} << 20;
};

// Connects in the background.
Result<std::unique_ptr<BusProducer>> NewProducer(const ProducerOptions& options, Metrics& metrics);

// The partitions that a consumer reads, and where reading begins.
struct ConsumerOptions {
  KafkaOptions kafka;
  std::string topic;
  std::string group;                   // reading continues at the group's committed positions
  std::vector<int> partitions;         // not empty
  std::optional<BusBegin> begin = {};  // nullopt: a new group begins at the oldest record
};

// If `begin` is set, asks the broker where to begin. kUnavailable: the broker did not answer. If
// `begin` is not set, connects in the background. If the broker no longer has the record at the
// group's position, reading continues with the oldest record.
Result<std::unique_ptr<BusConsumer>> NewConsumer(const ConsumerOptions& options);

}  // namespace carillon::kafka
