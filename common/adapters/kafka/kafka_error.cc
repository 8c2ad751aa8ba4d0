#include "common/adapters/kafka/kafka_error.h"

#include <fmt/core.h>

namespace carillon::kafka {

ErrorCode CodeOf(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__QUEUE_FULL: return ErrorCode::kExhausted;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS: return ErrorCode::kInvalid;
    // More replicas than brokers. Also occurs while some brokers are still starting.
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR: return ErrorCode::kConflict;
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS: return ErrorCode::kExists;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return ErrorCode::kNotFound;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION: return ErrorCode::kDenied;
    default: return ErrorCode::kUnavailable;
  }
}

Error MakeError(std::string_view operation, std::string_view topic, rd_kafka_resp_err_t error) {
  return {CodeOf(error),
          fmt::format("kafka: {} {}: {}", operation, topic, rd_kafka_err2str(error))};
}

}  // namespace carillon::kafka
