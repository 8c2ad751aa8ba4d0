#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/base/log.h"
#include "common/base/mutex.h"

namespace carillon::kafka {
namespace {

constexpr int kServeMs = 100;   // poll interval of the thread that serves reports
constexpr int kFlushMs = 2000;  // limit for queued records when the producer ends

std::string MillisecondsText(Duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

class KafkaProducer final : public BusProducer {
 public:
  KafkaProducer(ProducerOptions options, Metrics& metrics)
      : options_(std::move(options)), metrics_(metrics) {}
  ~KafkaProducer() override {
    stopping_ = true;
    if (server_.joinable()) server_.join();
    const Client last = client();
    if (!last) return;
    rd_kafka_flush(last.get(), kFlushMs);
    GiveUp(*last);
  }

  Status Open() {
    CARILLON_ASSIGN_OR_RETURN(Client made, Make());
    Adopt(std::move(made));
    server_ = std::thread([this] { Serve(); });
    return {};
  }

  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
              Delivered delivered) override {
    const std::string name(topic);
    const auto partition =
        static_cast<int32_t>(partition_key % static_cast<uint64_t>(options_.partitions));
    Owned<rd_kafka_headers_t> headers(rd_kafka_headers_new(record.headers.size()));
    for (const auto& [key, value] : record.headers) {
      rd_kafka_header_add(headers.get(), key.data(), static_cast<ssize_t>(key.size()), value.data(),
                          static_cast<ssize_t>(value.size()));
    }
    auto asks = delivered ? std::make_unique<Delivered>(std::move(delivered)) : nullptr;
    const void* const key = record.key.empty() ? nullptr : record.key.data();
    const Client now = client();
    const rd_kafka_resp_err_t error = rd_kafka_producev(
        now.get(), RD_KAFKA_V_TOPIC(name.c_str()), RD_KAFKA_V_PARTITION(partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, record.key.size()),
        RD_KAFKA_V_VALUE(record.payload.data(), record.payload.size()),
        RD_KAFKA_V_HEADERS(headers.get()), RD_KAFKA_V_OPAQUE(asks.get()), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      metrics_.counter("carillon_queue_rejections_total", "bus").Add();
    }
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return MakeError("send", topic, error);
    static_cast<void>(headers.release());  // now owned by the client
    static_cast<void>(asks.release());     // until OnDelivered
    return {};
  }

 private:
  // Shared with calls of Send that began before a replacement.
  using Client = std::shared_ptr<rd_kafka_t>;
  struct Opened {
    Owned<rd_kafka_t> client;
    std::vector<Owned<rd_kafka_topic_t>> topics = {};  // known to the client while these live
  };

  Result<Client> Make() {
    CARILLON_ASSIGN_OR_RETURN(
        Owned<rd_kafka_t> made,
        NewClient(RD_KAFKA_PRODUCER, options_.kafka,
                  {{"acks", "all"},
                   {"enable.idempotence", "true"},
                   // The loops already gather records and send them together, so waiting for
                   // further records would only delay them.
                   {"linger.ms", "0"},
                   {"message.timeout.ms", MillisecondsText(options_.message_timeout)},
                   {"queue.buffering.max.messages", std::to_string(options_.queue_records_max)},
                   {"queue.buffering.max.kbytes", std::to_string(options_.queue_bytes_max / 1024)},
                   {"compression.type", "none"}},
                  &OnDelivered, this));
    auto opened = std::make_shared<Opened>(Opened{.client = std::move(made)});
    rd_kafka_t* const kafka = opened->client.get();
    for (const std::string& name : options_.topics) {
      opened->topics.emplace_back(rd_kafka_topic_new(kafka, name.c_str(), nullptr));
      if (!opened->topics.back()) return MakeError("open", name, rd_kafka_last_error());
    }
    return Client(std::move(opened), kafka);
  }

  Client client() {
    MutexLock lock(mu_);
    return client_;
  }
  void Adopt(Client made) {
    MutexLock lock(mu_);
    client_ = std::move(made);
  }

  void Serve() {
    while (!stopping_) {
      const Client now = client();
      rd_kafka_poll(now.get(), kServeMs);
      std::array<char, 256> why{};
      if (rd_kafka_fatal_error(now.get(), why.data(), why.size()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        Replace(*now, why.data());
      }
    }
  }

  // Drops the records in the broken producer. A caller that waits for a record's effect sends the
  // record again.
  void Replace(rd_kafka_t& broken, const char* why) {
    Result<Client> made = Make();
    if (!made.ok()) {
      log::Error("kafka", "a new producer: {}", made.error().message);
      return;
    }
    log::Error("kafka", "the producer is replaced by a new one: {}", why);
    Adopt(std::move(made).value());
    GiveUp(broken);
  }

  // Delivers the report of each record that is left.
  static void GiveUp(rd_kafka_t& client) {
    rd_kafka_purge(&client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(&client, kFlushMs);
  }

  static void OnDelivered(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
    const std::unique_ptr<Delivered> asks(static_cast<Delivered*>(message->_private));
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (asks) (*asks)(Status());
      return;
    }
    const char* const topic = rd_kafka_topic_name(message->rkt);
    auto* producer = static_cast<KafkaProducer*>(self);
    producer->metrics_.counter("carillon_bus_undelivered_total", topic).Add();
    log::Debug("kafka", "undelivered: {}", rd_kafka_err2str(message->err));
    if (asks) (*asks)(MakeError("send", topic, message->err));
  }

  const ProducerOptions options_;
  Metrics& metrics_;
  std::atomic<bool> stopping_ = false;
  Mutex mu_;
  Client client_ GUARDED_BY(mu_);
  std::thread server_;
};

}  // namespace

Result<std::unique_ptr<BusProducer>> NewProducer(const ProducerOptions& options, Metrics& metrics) {
  auto producer = std::make_unique<KafkaProducer>(options, metrics);
  CARILLON_TRY(producer->Open());
  return std::unique_ptr<BusProducer>(std::move(producer));
}

}  // namespace carillon::kafka
