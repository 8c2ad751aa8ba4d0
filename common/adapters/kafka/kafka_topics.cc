#include "common/adapters/kafka/kafka_topics.h"

#include <fmt/core.h>

#include <array>

namespace carillon::kafka {
namespace {

constexpr Duration kLookEvery = 50ms;  // time between checks while a new topic is not visible yet

int Milliseconds(Duration d) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

// Returns the first error among the results of an answer, one for each topic. The code `fine` does
// not count as an error.
Status FirstError(std::string_view operation, const rd_kafka_topic_result_t** results, size_t count,
                  ErrorCode fine) {
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[i]);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || CodeOf(error) == fine) continue;
    return MakeError(operation, rd_kafka_topic_result_name(results[i]), error);
  }
  return {};
}

// Waits for the response to an admin request on `queue`.
Result<Owned<rd_kafka_event_t>> Answer(rd_kafka_queue_t* queue, Duration limit,
                                       std::string_view operation) {
  Owned<rd_kafka_event_t> event(rd_kafka_queue_poll(queue, Milliseconds(limit)));
  if (!event) {
    return Error{ErrorCode::kUnavailable, fmt::format("kafka: {}: no broker answers", operation)};
  }
  const rd_kafka_resp_err_t error = rd_kafka_event_error(event.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError(operation, "topics", error);
  return event;
}

Result<Owned<rd_kafka_NewTopic_t>> NewTopic(const TopicOptions& topic) {
  std::array<char, 512> complaint{};
  Owned<rd_kafka_NewTopic_t> made(rd_kafka_NewTopic_new(
      topic.name.c_str(), topic.partitions, topic.replicas, complaint.data(), complaint.size()));
  if (!made) return Error{ErrorCode::kInvalid, "kafka: " + std::string(complaint.data())};
  rd_kafka_NewTopic_set_config(made.get(), "retention.ms",
                               std::to_string(Milliseconds(topic.retention)).c_str());
  return made;
}

Status Create(rd_kafka_t* client, const std::vector<TopicOptions>& topics, Duration limit) {
  std::vector<Owned<rd_kafka_NewTopic_t>> made;
  std::vector<rd_kafka_NewTopic_t*> bare;
  for (const TopicOptions& topic : topics) {
    CARILLON_ASSIGN_OR_RETURN(Owned<rd_kafka_NewTopic_t> one, NewTopic(topic));
    bare.push_back(one.get());
    made.push_back(std::move(one));
  }
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client));
  rd_kafka_CreateTopics(client, bare.data(), bare.size(), nullptr, queue.get());
  CARILLON_ASSIGN_OR_RETURN(const auto event, Answer(queue.get(), limit, "create"));
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  return FirstError("create", results, count, ErrorCode::kExists);
}

Status Check(const TopicOptions& wanted, const rd_kafka_metadata_topic_t& found) {
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError("read", wanted.name, found.err);
  if (found.partition_cnt != wanted.partitions) {
    return {ErrorCode::kConflict,
            fmt::format("kafka: topic {} has {} partitions and the configuration says {}: {}",
                        wanted.name, found.partition_cnt, wanted.partitions, wanted.cure)};
  }
  for (int i = 0; i < found.partition_cnt; ++i) {
    if (found.partitions[i].replica_cnt >= wanted.replicas) continue;
    return {ErrorCode::kConflict,
            fmt::format("kafka: topic {} has {} replicas and kafka.replicas asks for {}: give its "
                        "partitions more replicas, or lower the setting",
                        wanted.name, found.partitions[i].replica_cnt, wanted.replicas)};
  }
  return {};
}

bool IsUnavailable(const Status& status) {
  return !status.ok() && status.code() == ErrorCode::kUnavailable;
}

// Checks the topics as the brokers see them. kUnavailable: a topic is too new to be visible.
Status CheckAll(rd_kafka_t* client, const std::vector<TopicOptions>& topics, Duration limit) {
  const rd_kafka_metadata_t* bare = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(client, 1, nullptr, &bare, Milliseconds(limit));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError("read", "topics", error);
  const Owned<const rd_kafka_metadata_t> metadata(bare);
  for (const TopicOptions& topic : topics) {
    Status checked(ErrorCode::kUnavailable, "kafka: topic " + topic.name + " is not there yet");
    for (int i = 0; i < metadata->topic_cnt; ++i) {
      if (topic.name == metadata->topics[i].topic) checked = Check(topic, metadata->topics[i]);
    }
    if (!checked.ok()) return checked;
  }
  return {};
}

}  // namespace

Status EnsureTopics(const KafkaOptions& kafka, const std::vector<TopicOptions>& topics,
                    Duration limit) {
  CARILLON_ASSIGN_OR_RETURN(const Owned<rd_kafka_t> client,
                            NewClient(RD_KAFKA_PRODUCER, kafka, {}));
  CARILLON_TRY(Create(client.get(), topics, limit));
  Status checked = CheckAll(client.get(), topics, limit);
  for (Duration waited{}; IsUnavailable(checked) && waited < limit; waited += kLookEvery) {
    rd_kafka_poll(client.get(), Milliseconds(kLookEvery));  // only waits
    checked = CheckAll(client.get(), topics, limit);
  }
  return checked;
}

// The client is a consumer, because a producer's question would let brokers create the topic.
Result<int> CountPartitions(const KafkaOptions& kafka, const std::string& topic, Duration limit) {
  CARILLON_ASSIGN_OR_RETURN(const Owned<rd_kafka_t> client,
                            NewClient(RD_KAFKA_CONSUMER, kafka, {}));
  const Owned<rd_kafka_topic_t> asked(rd_kafka_topic_new(client.get(), topic.c_str(), nullptr));
  if (!asked) return MakeError("read", topic, rd_kafka_last_error());
  const rd_kafka_metadata_t* bare = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(client.get(), 0, asked.get(), &bare, Milliseconds(limit));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError("read", topic, error);
  const Owned<const rd_kafka_metadata_t> metadata(bare);
  if (metadata->topic_cnt != 1) return MakeError("read", topic, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC);
  const rd_kafka_metadata_topic_t& found = metadata->topics[0];
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError("read", topic, found.err);
  return found.partition_cnt;
}

Status DeleteRecords(const KafkaOptions& kafka, const std::string& topic,
                     const std::map<int, int64_t>& before, Duration limit) {
  CARILLON_ASSIGN_OR_RETURN(const Owned<rd_kafka_t> client,
                            NewClient(RD_KAFKA_PRODUCER, kafka, {}));
  const Owned<rd_kafka_topic_partition_list_t> offsets(
      rd_kafka_topic_partition_list_new(static_cast<int>(before.size())));
  for (const auto& [partition, offset] : before) {
    rd_kafka_topic_partition_list_add(offsets.get(), topic.c_str(), partition)->offset = offset;
  }
  const Owned<rd_kafka_DeleteRecords_t> request(rd_kafka_DeleteRecords_new(offsets.get()));
  rd_kafka_DeleteRecords_t* bare = request.get();
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
  rd_kafka_DeleteRecords(client.get(), &bare, 1, nullptr, queue.get());
  CARILLON_ASSIGN_OR_RETURN(const auto event, Answer(queue.get(), limit, "delete records"));
  return {};
}

Status DeleteTopics(const KafkaOptions& kafka, const std::vector<std::string>& names,
                    Duration limit) {
  CARILLON_ASSIGN_OR_RETURN(const Owned<rd_kafka_t> client,
                            NewClient(RD_KAFKA_PRODUCER, kafka, {}));
  std::vector<Owned<rd_kafka_DeleteTopic_t>> made;
  std::vector<rd_kafka_DeleteTopic_t*> bare;
  for (const std::string& name : names) {
    made.emplace_back(rd_kafka_DeleteTopic_new(name.c_str()));
    bare.push_back(made.back().get());
  }
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
  rd_kafka_DeleteTopics(client.get(), bare.data(), bare.size(), nullptr, queue.get());
  CARILLON_ASSIGN_OR_RETURN(const auto event, Answer(queue.get(), limit, "delete"));
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event.get()), &count);
  return FirstError("delete", results, count, ErrorCode::kNotFound);
}

}  // namespace carillon::kafka
