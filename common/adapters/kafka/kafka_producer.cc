#include <atomic>
#include <thread>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/base/log.h"

namespace carillon::kafka {
namespace {

constexpr int kServeMs = 100;   // one turn of the thread that serves reports
constexpr int kFlushMs = 2000;  // what is queued when the producer ends

std::string Milliseconds(Duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

class KafkaProducer final : public BusProducer {
 public:
  KafkaProducer(int partitions, Metrics& metrics) : partitions_(partitions), metrics_(metrics) {}
  ~KafkaProducer() override {
    stopping_ = true;
    if (server_.joinable()) server_.join();
    if (client_) rd_kafka_flush(client_.get(), kFlushMs);
  }

  Status Open(const ProducerOptions& options) {
    CARILLON_ASSIGN_OR_RETURN(
        client_,
        NewClient(RD_KAFKA_PRODUCER, options.kafka,
                  {{"acks", "all"},
                   {"enable.idempotence", "true"},
                   {"linger.ms", Milliseconds(options.linger)},
                   {"message.timeout.ms", Milliseconds(options.message_timeout)},
                   {"queue.buffering.max.messages", std::to_string(options.queue_records_max)},
                   {"queue.buffering.max.kbytes", std::to_string(options.queue_bytes_max / 1024)},
                   {"compression.type", "none"}},
                  &OnDelivered, this));
    server_ = std::thread([this] {
      while (!stopping_) rd_kafka_poll(client_.get(), kServeMs);
    });
    return {};
  }

  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record) override {
    const std::string name(topic);
    const auto partition = static_cast<int32_t>(partition_key % static_cast<uint64_t>(partitions_));
    Owned<rd_kafka_headers_t> headers(rd_kafka_headers_new(record.headers.size()));
    for (const auto& [key, value] : record.headers) {
      rd_kafka_header_add(headers.get(), key.data(), static_cast<ssize_t>(key.size()), value.data(),
                          static_cast<ssize_t>(value.size()));
    }
    const rd_kafka_resp_err_t error =
        rd_kafka_producev(client_.get(), RD_KAFKA_V_TOPIC(name.c_str()),
                          RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_VALUE(record.payload.data(), record.payload.size()),
                          RD_KAFKA_V_HEADERS(headers.get()), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      metrics_.counter("carillon_queue_rejections_total", "bus").Add();
    }
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError("send", topic, error);
    static_cast<void>(headers.release());  // the client's
    return {};
  }

 private:
  static void OnDelivered(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    auto* producer = static_cast<KafkaProducer*>(self);
    producer->metrics_.counter("carillon_bus_undelivered_total", rd_kafka_topic_name(message->rkt))
        .Add();
    log::Debug("kafka", "undelivered: {}", rd_kafka_err2str(message->err));
  }

  const int partitions_;
  Metrics& metrics_;
  Owned<rd_kafka_t> client_;
  std::atomic<bool> stopping_ = false;
  std::thread server_;
};

}  // namespace

Result<std::unique_ptr<BusProducer>> NewProducer(const ProducerOptions& options, Metrics& metrics) {
  auto producer = std::make_unique<KafkaProducer>(options.partitions, metrics);
  CARILLON_TRY(producer->Open(options));
  return std::unique_ptr<BusProducer>(std::move(producer));
}

}  // namespace carillon::kafka
