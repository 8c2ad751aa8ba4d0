// JSON of the field `limits` of a job: {"memory_mb": 512, "cpu": 0.5, "enforce": "required"}.
// Limits that are not set are left out. Limits that limit nothing are none.
//
// Errors   kInvalid with a pointer that begins with the given one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/domain/isolation.h"

namespace carillon {

Status ReadLimits(const nlohmann::json& value, const std::string& pointer,
                  std::optional<Limits>& out);
nlohmann::json LimitsToJson(const Limits& limits);

}  // namespace carillon
