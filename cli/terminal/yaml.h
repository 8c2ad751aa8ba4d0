// YAML as people write and read jobs, to JSON and back. Reading back gives an equal document.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon::cli {

// JSON or one YAML document. Plain scalars are null, booleans, numbers or text by the core schema;
// quoted ones are text. kInvalid with the line: not YAML, a name twice, an alias, too deep.
Result<nlohmann::json> ReadYaml(const std::string& text);

// One of the documents of a file, and where in the file each of its members stands.
struct YamlDocument {
  nlohmann::json value;
  std::map<std::string, int> lines = {};  // by JSON pointer, "" is the document
};
// JSON or any number of YAML documents, with anchors, aliases and merge keys (<<). kInvalid, its
// message "name:line: what": also for what aliases make endless or larger than kYamlBytesMax.
inline constexpr size_t kYamlBytesMax = 4u << 20;
Result<std::vector<YamlDocument>> ReadYamlDocuments(const std::string& text,
                                                    const std::string& name);

// Block style, text of several lines as literal blocks. Names in alphabetical order; those of the
// document itself that are in `first` go before the others.
std::string WriteYaml(const nlohmann::json& document,
                      const std::vector<std::string_view>& first = {});

}  // namespace carillon::cli
