// YAML as people write and read jobs, to JSON and back. Reading back gives an equal document.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon::cli {

// JSON or one YAML document. Plain scalars are null, booleans, numbers or text by the core schema;
// quoted ones are text. kInvalid with the line: not YAML, a name twice, an alias, too deep.
Result<nlohmann::json> ReadYaml(const std::string& text);

// Block style, names in order, text of several lines as literal blocks.
std::string WriteYaml(const nlohmann::json& document);

}  // namespace carillon::cli
