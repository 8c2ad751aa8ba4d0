// Owning handles for librdkafka's objects, and the configuration of all clients.
//
// Errors   NewClient: kInvalid names the setting that librdkafka rejects.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/adapters/kafka/kafka_error.h"
#include "common/adapters/kafka/kafka_include.h"

namespace carillon::kafka {

struct KafkaOptions {
  std::string bootstrap;  // "host:port,host:port"
  std::string client_id = "carillon";
  // Further properties of librdkafka, e.g. security.protocol; they override ours.
  std::map<std::string, std::string> properties = {};
};

// False for librdkafka before 2.6.1, whose SCRAM repeats the client's nonce. Brokers up to Kafka
// 3.9 accept such a login; later brokers reject it as wrong credentials.
bool ScramFitsNewBrokers();

struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
  void operator()(rd_kafka_headers_t* headers) const { rd_kafka_headers_destroy(headers); }
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
  void operator()(rd_kafka_error_t* error) const { rd_kafka_error_destroy(error); }
  void operator()(const rd_kafka_metadata_t* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
  void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
  void operator()(rd_kafka_DeleteTopic_t* topic) const { rd_kafka_DeleteTopic_destroy(topic); }
  void operator()(rd_kafka_DeleteRecords_t* request) const {
    rd_kafka_DeleteRecords_destroy(request);
  }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

// `defaults` are the properties of one kind of client. `opaque` is passed to `delivered`.
Result<Owned<rd_kafka_t>> NewClient(rd_kafka_type_t type, const KafkaOptions& options,
                                    const std::map<std::string, std::string>& defaults,
                                    void (*delivered)(rd_kafka_t*, const rd_kafka_message_t*,
                                                      void*) = nullptr,
                                    void* opaque = nullptr);

}  // namespace carillon::kafka
