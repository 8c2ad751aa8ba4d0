// JSON of the fields `shards` and `broadcast` of a job: {"total": 8}, {"total": "alive", "max": 9},
// {"total": "{{params.n}}", "max": 9} and {"wait_s": 60}. null is none.
//
// Errors   kInvalid with a pointer that begins with the given one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/domain/job/fan_out.h"

namespace carillon {

Status ReadShards(const nlohmann::json& value, const std::string& pointer,
                  std::optional<Shards>& out);
Status ReadBroadcast(const nlohmann::json& value, const std::string& pointer,
                     std::optional<Broadcast>& out);
nlohmann::json ShardsToJson(const Shards& shards);
nlohmann::json BroadcastToJson(const Broadcast& broadcast);

}  // namespace carillon
