// Converts between YAML, as users write jobs, and JSON. Reading back gives an equal document.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon::cli {

// Reads JSON or one YAML document. Plain scalars are null, booleans, numbers or text by the core
// schema; quoted ones are text. kInvalid with the line: not YAML, a duplicate name, an alias,
// too deep.
Result<nlohmann::json> ReadYaml(const std::string& text);

// One document of a file, with the line of each of its members.
struct YamlDocument {
  nlohmann::json value;
  std::map<std::string, int> lines = {};  // by JSON pointer; "" is the document
};
// Reads JSON or any number of YAML documents, with anchors, aliases and merge keys (<<). kInvalid
// with the message "name:line: problem", also for recursive aliases and for those that expand
// beyond kYamlBytesMax.
inline constexpr size_t kYamlBytesMax = 4u << 20;
Result<std::vector<YamlDocument>> ReadYamlDocuments(const std::string& text,
                                                    const std::string& name);

// Writes block style, with multi-line texts as literal blocks. Names are in alphabetical order,
// except that top-level names listed in `first` come first.
std::string WriteYaml(const nlohmann::json& document,
                      const std::vector<std::string_view>& first = {});

}  // namespace carillon::cli
