#include <algorithm>
#include <map>
#include <utility>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/partition_watch.h"
#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/base/mutex.h"

namespace carillon::kafka {
namespace {

constexpr int kAskMs = 5000;              // limit of each request for positions
constexpr char kCommitEveryMs[] = "500";  // bounds the records read again after a crash

BusRecord RecordOf(const rd_kafka_message_t& message) {
  BusRecord record;
  record.payload.assign(static_cast<const char*>(message.payload), message.len);
  if (message.key != nullptr) {
    record.key.assign(static_cast<const char*>(message.key), message.key_len);
  }
  rd_kafka_headers_t* headers = nullptr;  // owned by the message
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return record;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    record.headers[name] =
        value == nullptr ? std::string() : std::string(static_cast<const char*>(value), size);
  }
  return record;
}

class KafkaConsumer final : public BusConsumer {
 public:
  explicit KafkaConsumer(std::string topic) : topic_(std::move(topic)) {}
  ~KafkaConsumer() override {
    // The callback, the watch and the queue use the client, so they end before the client.
    if (queue_) rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
    if (!client_) return;
    watch_.reset();
    queue_.reset();
    rd_kafka_consumer_close(client_.get());  // commits the stored positions
  }

  Status Open(const ConsumerOptions& options) {
    CARILLON_ASSIGN_OR_RETURN(client_, NewClient(RD_KAFKA_CONSUMER, options.kafka,
                                                 {{"group.id", options.group},
                                                  {"enable.auto.commit", "true"},
                                                  {"auto.commit.interval.ms", kCommitEveryMs},
                                                  {"enable.auto.offset.store", "false"},
                                                  {"auto.offset.reset", "earliest"},
                                                  {"fetch.wait.max.ms", "500"},
                                                  {"fetch.error.backoff.ms", "50"},
                                                  {"queued.max.messages.kbytes", "16384"}}));
    rd_kafka_poll_set_consumer(client_.get());
    queue_.reset(rd_kafka_queue_get_consumer(client_.get()));
    for (const int partition : options.partitions) next_[partition] = RD_KAFKA_OFFSET_STORED;
    if (options.begin) CARILLON_TRY(Begin(*options.begin));
    CARILLON_TRY(Assign());
    watch_ = std::make_unique<PartitionWatch>(client_.get(), topic_, next_);
    return {};
  }

  Result<std::vector<ReceivedRecord>> Poll(size_t max) override {
    std::vector<rd_kafka_message_t*> messages(max);
    const ssize_t count =
        rd_kafka_consume_batch_queue(queue_.get(), 0, messages.data(), messages.size());
    if (count < 0) return MakeError("poll", topic_, rd_kafka_last_error());
    std::vector<ReceivedRecord> received;
    for (ssize_t i = 0; i < count; ++i) {
      const Owned<rd_kafka_message_t> message(messages[static_cast<size_t>(i)]);
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        // An error event among the records. Reading continues when the broker is available again.
        log::Debug("kafka", "{}: {}", topic_, rd_kafka_message_errstr(message.get()));
        // Without a topic, the event concerns the group: the coordinator refused the request for
        // the committed positions. librdkafka does not repeat this request, so without a new
        // assignment reading would never begin.
        if (message->rkt == nullptr) assign_again_ = true;
        continue;
      }
      next_[message->partition] = message->offset + 1;
      received.push_back({.record = RecordOf(*message),
                          .partition = message->partition,
                          .offset = message->offset});
    }
    // Assigns only after the batch, so that its records are neither lost nor read twice.
    if (assign_again_) {
      const Status assigned = Assign();
      if (!assigned.ok()) log::Warn("kafka", "{}", assigned.error().message);
      assign_again_ = !assigned.ok();
    }
    return received;
  }

  Status Commit(const std::vector<ReceivedRecord>& handled) override {
    std::map<int, int64_t> next;
    for (const ReceivedRecord& record : handled) {
      int64_t& position = next[record.partition];
      position = std::max(position, record.offset + 1);
    }
    if (next.empty()) return {};
    Owned<rd_kafka_topic_partition_list_t> positions(
        rd_kafka_topic_partition_list_new(static_cast<int>(next.size())));
    for (const auto& [partition, position] : next) {
      rd_kafka_topic_partition_list_add(positions.get(), topic_.c_str(), partition)->offset =
          position;
    }
    // librdkafka commits the stored positions every kCommitEveryMs, and when the consumer closes. A
    // commit for each batch would cost the broker as much as the records.
    const rd_kafka_resp_err_t error = rd_kafka_offsets_store(client_.get(), positions.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError("commit", topic_, error);
    watch_->Handled(next);
    return {};
  }

  BusHealth Look() override { return watch_->Look(); }

  void OnReadable(std::function<void()> wake) override {
    MutexLock lock(mu_);
    wake_ = std::move(wake);
    rd_kafka_queue_cb_event_enable(
        queue_.get(),
        [](rd_kafka_t*, void* self) { static_cast<KafkaConsumer*>(self)->Readable(); }, this);
  }

 private:
  // Sets next_ to the positions where reading begins. Ignores a committed position beyond the end
  // of its partition: the topic was recreated after the commit.
  Status Begin(const BusBegin& begin) {
    Owned<rd_kafka_topic_partition_list_t> positions(
        rd_kafka_topic_partition_list_new(static_cast<int>(next_.size())));
    for (const auto& [partition, offset] : next_) {
      rd_kafka_topic_partition_list_add(positions.get(), topic_.c_str(), partition);
    }
    CARILLON_TRY(Ask(rd_kafka_committed(client_.get(), positions.get(), kAskMs), *positions));
    std::map<int, int64_t> committed;
    Owned<rd_kafka_topic_partition_list_t> asked(
        rd_kafka_topic_partition_list_new(static_cast<int>(next_.size())));
    for (int i = 0; i < positions->cnt; ++i) {
      const int partition = positions->elems[i].partition;
      const int64_t offset = positions->elems[i].offset;
      if (offset >= 0) committed[partition] = offset;
      if (offset >= 0 && begin.of == BusBegin::Of::kNewGroup) continue;
      rd_kafka_topic_partition_list_add(asked.get(), topic_.c_str(), partition);
    }
    if (asked->cnt == 0) return {};
    // Asks for the ends first. If a partition has no record as new as `begin`, reading begins at
    // the partition's end. A record that arrives between the two requests is beyond this end, so it
    // is read.
    std::map<int, int64_t> ends;
    CARILLON_TRY(AskTime(*asked, RD_KAFKA_OFFSET_END, &ends));
    failpoint::Hit("kafka.begin.between");
    std::map<int, int64_t> begins = ends;
    CARILLON_TRY(AskTime(*asked, ToUnixMicros(begin.at) / 1000, &begins));
    for (const auto& [partition, offset] : begins) {
      const auto old = committed.find(partition);
      const bool usable = old != committed.end() && old->second <= ends[partition];
      next_[partition] = usable ? std::max(old->second, offset) : offset;
    }
    return {};
  }

  // Finds the first record of each partition at time `ms` (since 1970) or later. Leaves out
  // partitions without such a record. If `ms` is RD_KAFKA_OFFSET_END, finds the position of the
  // next record.
  Status AskTime(const rd_kafka_topic_partition_list_t& partitions, int64_t ms,
                 std::map<int, int64_t>* offsets) {
    Owned<rd_kafka_topic_partition_list_t> asked(rd_kafka_topic_partition_list_copy(&partitions));
    for (int i = 0; i < asked->cnt; ++i) asked->elems[i].offset = ms;
    CARILLON_TRY(Ask(rd_kafka_offsets_for_times(client_.get(), asked.get(), kAskMs), *asked));
    for (int i = 0; i < asked->cnt; ++i) {
      const rd_kafka_topic_partition_t& answer = asked->elems[i];
      if (answer.offset >= 0) (*offsets)[answer.partition] = answer.offset;
    }
    return {};
  }

  Status Ask(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t& answers) const {
    for (int i = 0; i < answers.cnt && error == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
      error = answers.elems[i].err;
    }
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    return MakeError("begin", topic_, error);
  }

  // Restarts fetching at the positions in next_. Records fetched beyond these are fetched again.
  Status Assign() {
    Owned<rd_kafka_topic_partition_list_t> wanted(
        rd_kafka_topic_partition_list_new(static_cast<int>(next_.size())));
    for (const auto& [partition, offset] : next_) {
      rd_kafka_topic_partition_list_add(wanted.get(), topic_.c_str(), partition)->offset = offset;
    }
    const rd_kafka_resp_err_t assigned = rd_kafka_assign(client_.get(), wanted.get());
    if (assigned != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError("read", topic_, assigned);
    return {};
  }

  void Readable() {
    std::function<void()> wake;
    {
      MutexLock lock(mu_);
      wake = wake_;
    }
    if (wake) wake();
  }

  const std::string topic_;
  Owned<rd_kafka_t> client_;
  Owned<rd_kafka_queue_t> queue_;
  std::map<int, int64_t> next_;  // the next offset of each partition
  bool assign_again_ = false;
  std::unique_ptr<PartitionWatch> watch_;
  Mutex mu_;
  std::function<void()> wake_ GUARDED_BY(mu_);
};

}  // namespace

Result<std::unique_ptr<BusConsumer>> NewConsumer(const ConsumerOptions& options) {
  auto consumer = std::make_unique<KafkaConsumer>(options.topic);
  CARILLON_TRY(consumer->Open(options));
  return std::unique_ptr<BusConsumer>(std::move(consumer));
}

}  // namespace carillon::kafka
