// Converts between JSON and the YAML in which users write jobs. A document that is written and read
// back is equal.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

// Reads JSON or one YAML document. The core schema decides whether a scalar without quotes is null,
// a boolean, a number or text. A scalar in quotes is text. kInvalid, with the line in the message:
// no valid YAML, a duplicate name, an alias, or too deep nesting.
Result<nlohmann::json> ReadYaml(const std::string& text);

// One document of a file, with the line of each of its fields.
struct YamlDocument {
  nlohmann::json value;
  std::map<std::string, int> lines = {};  // by JSON pointer; the pointer "" is the whole document
};
// Reads JSON or any number of YAML documents, with anchors, aliases and merge keys (<<). kInvalid,
// with the message "name:line: problem", if the text is not valid, if an alias is recursive, or if
// the aliases expand to more than kYamlBytesMax.
inline constexpr size_t kYamlBytesMax = 4u << 20;
Result<std::vector<YamlDocument>> ReadYamlDocuments(const std::string& text,
                                                    const std::string& name);

// Writes YAML in block style, with texts of several lines as literal blocks. The top-level names in
// `first` come first. All other names are in alphabetical order.
std::string WriteYaml(const nlohmann::json& document,
                      const std::vector<std::string_view>& first = {});

}  // namespace carillon
