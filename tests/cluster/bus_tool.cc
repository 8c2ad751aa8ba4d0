// Reads and writes the records of a topic for tests, one JSON object per line:
//   {"partition": 3, "headers": {"name": "value"}, "payload": "<hex>"}
//
//   bus_tool BOOTSTRAP PARTITIONS read TOPIC    prints all records, the oldest first
//   bus_tool BOOTSTRAP PARTITIONS create TOPIC  creates it, as somebody does who owns it
//   bus_tool BOOTSTRAP PARTITIONS write TOPIC   sends the records on standard input
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <semaphore>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/kafka_topics.h"

namespace {

using namespace carillon;
using nlohmann::json;

// When no record arrives for this time, all were read.
constexpr auto kQuiet = std::chrono::seconds(2);
constexpr size_t kRecordsPerPoll = 1000;
constexpr auto kCreateWithin = std::chrono::seconds(20);

std::string ToHex(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return hex;
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

int Fail(const Error& error) {
  std::cerr << "bus_tool: " << error.message << "\n";
  return 1;
}

int Read(const kafka::KafkaOptions& broker, int partitions, const std::string& topic) {
  kafka::ConsumerOptions options{.kafka = broker, .topic = topic, .group = "bus-tool"};
  for (int i = 0; i < partitions; ++i) options.partitions.push_back(i);
  auto consumer = kafka::NewConsumer(options);
  if (!consumer.ok()) return Fail(consumer.error());
  std::counting_semaphore<> readable(0);
  (*consumer)->OnReadable([&] { readable.release(); });
  for (;;) {
    const auto records = (*consumer)->Poll(kRecordsPerPoll);
    if (!records.ok()) return Fail(records.error());
    for (const ReceivedRecord& received : *records) {
      std::cout << json{{"partition", received.partition},
                        {"headers", received.record.headers},
                        {"payload", ToHex(received.record.payload)}}
                       .dump()
                << "\n";
    }
    if (records->empty() && !readable.try_acquire_for(kQuiet)) return 0;
  }
}

int Create(const kafka::KafkaOptions& broker, int partitions, const std::string& topic) {
  const Status created =
      kafka::EnsureTopics(broker, {{.name = topic, .partitions = partitions}}, kCreateWithin);
  return created.ok() ? 0 : Fail(created.error());
}

int Write(const kafka::KafkaOptions& broker, int partitions, const std::string& topic) {
  Metrics metrics;
  auto producer = kafka::NewProducer({.kafka = broker, .partitions = partitions}, metrics);
  if (!producer.ok()) return Fail(producer.error());
  std::string line;
  while (std::getline(std::cin, line)) {
    const json record = json::parse(line);
    const Status sent = (*producer)->Send(
        topic, record.at("partition").get<uint64_t>(),
        {.payload = FromHex(record.at("payload").get<std::string>()),
         .headers = record.at("headers").get<std::map<std::string, std::string>>()});
    if (!sent.ok()) return Fail(sent.error());
  }
  producer->reset();  // waits until the broker has acknowledged all records
  const auto undelivered = metrics.counter("carillon_bus_undelivered_total", topic).value();
  if (undelivered == 0) return 0;
  std::cerr << "bus_tool: " << undelivered << " records were not delivered\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "bus_tool BOOTSTRAP PARTITIONS read|create|write TOPIC\n";
    return 2;
  }
  const kafka::KafkaOptions broker{.bootstrap = argv[1], .client_id = "bus-tool"};
  const std::string verb = argv[3];
  if (verb == "read") return Read(broker, std::atoi(argv[2]), argv[4]);
  if (verb == "create") return Create(broker, std::atoi(argv[2]), argv[4]);
  if (verb == "write") return Write(broker, std::atoi(argv[2]), argv[4]);
  return 2;
}
