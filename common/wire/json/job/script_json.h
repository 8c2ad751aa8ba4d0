// JSON of the field `script` of a job: {"interpreter": "python3", "body": "…", "args": ["…"]}.
//
// Errors   kInvalid with a pointer that begins with the given one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/domain/job/script.h"

namespace carillon {

Status ReadScript(const nlohmann::json& value, const std::string& pointer,
                  std::optional<ScriptDefinition>& out);
nlohmann::json ScriptToJson(const ScriptDefinition& script);

}  // namespace carillon
