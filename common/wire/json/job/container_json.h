// JSON of the field `container` of a job: {"image": "alpine:3.20", "args": ["date"], "network":
// "none", …}.
//
// Errors   kInvalid with a pointer that begins with the given one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/domain/job/container.h"

namespace carillon {

Status ReadContainer(const nlohmann::json& value, const std::string& pointer,
                     std::optional<ContainerDefinition>& out);
nlohmann::json ContainerToJson(const ContainerDefinition& container);

}  // namespace carillon
