#include "common/adapters/kafka/kafka_client.h"

#include <array>

#include "common/base/log.h"

namespace carillon::kafka {
namespace {

void LogLine(const rd_kafka_t*, int level, const char* facility, const char* text) {
  // The levels are those of syslog: 3 and below are errors.
  if (level <= 3) {
    log::Warn("kafka", "{}: {}", facility, text);
  } else {
    log::Debug("kafka", "{}: {}", facility, text);
  }
}

Status Apply(rd_kafka_conf_t* conf, const std::map<std::string, std::string>& settings) {
  std::array<char, 512> complaint{};
  for (const auto& [name, value] : settings) {
    const auto set =
        rd_kafka_conf_set(conf, name.c_str(), value.c_str(), complaint.data(), complaint.size());
    if (set != RD_KAFKA_CONF_OK) {
      return {ErrorCode::kInvalid, "kafka: " + std::string(complaint.data())};
    }
  }
  return {};
}

}  // namespace

bool ScramFitsNewBrokers() { return rd_kafka_version() >= 0x02060100; }

Result<Owned<rd_kafka_t>> NewClient(rd_kafka_type_t type, const KafkaOptions& options,
                                    const std::map<std::string, std::string>& defaults,
                                    void (*delivered)(rd_kafka_t*, const rd_kafka_message_t*,
                                                      void*),
                                    void* opaque) {
  Owned<rd_kafka_conf_t> conf(rd_kafka_conf_new());
  CARILLON_TRY(Apply(conf.get(), {{"bootstrap.servers", options.bootstrap},
                                  {"client.id", options.client_id},
                                  {"reconnect.backoff.ms", "50"},
                                  {"reconnect.backoff.max.ms", "1000"},
                                  {"topic.metadata.refresh.interval.ms", "10000"},
                                  {"socket.keepalive.enable", "true"}}));
  CARILLON_TRY(Apply(conf.get(), defaults));
  CARILLON_TRY(Apply(conf.get(), options.properties));
  rd_kafka_conf_set_log_cb(conf.get(), &LogLine);
  if (delivered != nullptr) rd_kafka_conf_set_dr_msg_cb(conf.get(), delivered);
  rd_kafka_conf_set_opaque(conf.get(), opaque);
  std::array<char, 512> complaint{};
  rd_kafka_t* client = rd_kafka_new(type, conf.get(), complaint.data(), complaint.size());
  if (client == nullptr) {
    return Error{ErrorCode::kInvalid, "kafka: " + std::string(complaint.data())};
  }
  static_cast<void>(conf.release());  // now owned by the client
  return Owned<rd_kafka_t>(client);
}

}  // namespace carillon::kafka
