// The message bus on Kafka.
//
// Place    Cluster members and executors; its twin is memory_bus.
// Threads  Thread-safe producers; one thread for each consumer. Each producer owns a thread that
//          serves delivery reports, each consumer one that asks how far it is behind, besides
//          librdkafka's own.
// Errors   Send: kExhausted when the local queue is full, kInvalid when a record is larger than
//          the broker takes. Poll, Commit: kUnavailable.
//          A producer that librdkafka declares broken for good (its sequence of records and the
//          broker's do not agree) is replaced by a new one; meanwhile Send is kUnavailable, and
//          what the broken one held is counted as given up.
// Always   A record that was not acknowledged within `message_timeout` is given up and counted:
//          whoever waits for its effect sends again. Only positions that the caller
//          committed are kept; the broker has them half a second later, or when the consumer ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/kafka/kafka_client.h"
#include "common/base/metrics.h"
#include "common/ports/message_bus.h"

namespace carillon::kafka {

struct ProducerOptions {
  KafkaOptions kafka;
  int partitions = 8;             // of every topic; a key's partition is key mod partitions
  Duration message_timeout = 5s;  // a task is claimed by then or published again
  size_t queue_records_max = 100'000;
  size_t queue_bytes_max = size_t{64} << 20;
};

// Connects in the background.
Result<std::unique_ptr<BusProducer>> NewProducer(const ProducerOptions& options, Metrics& metrics);

struct ConsumerOptions {
  KafkaOptions kafka;
  std::string topic;
  std::string group;                   // whose committed positions it goes on from
  std::vector<int> partitions;         // not empty
  std::optional<BusBegin> begin = {};  // nullopt: a new group begins at the oldest record
};

// Asks the broker where to begin when `begin` is set (kUnavailable:
// no answer), and connects in the background otherwise. A group whose
// position the broker no longer has goes on with the oldest record.
Result<std::unique_ptr<BusConsumer>> NewConsumer(const ConsumerOptions& options);

}  // namespace carillon::kafka
