// Maps errors of librdkafka to Carillon's error codes.
#pragma once

#include <string_view>

#include "common/adapters/kafka/kafka_include.h"
#include "common/base/result.h"

namespace carillon::kafka {

ErrorCode CodeOf(rd_kafka_resp_err_t error);

// "send carillon.tasks: Local: Queue full"
Error MakeError(std::string_view operation, std::string_view topic, rd_kafka_resp_err_t error);

}  // namespace carillon::kafka
