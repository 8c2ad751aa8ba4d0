// The JSON form of an http job's request: {"method", "url", "headers", "body", "expect", "follow",
// "connect_timeout", "tls_verify", "client_certificate", "poll"}. Only "url" is required.
//
// Errors   kInvalid with the pointer of the wrong field, below the given one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/domain/job/http_request.h"

namespace carillon {

// null: no request.
Status ReadHttp(const nlohmann::json& value, const std::string& pointer,
                std::optional<HttpDefinition>& out);
nlohmann::json HttpToJson(const HttpDefinition& http);

}  // namespace carillon
