// Reads a YAML file as a flat list of settings. yaml-cpp is used only here.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace carillon::config {

struct FileSetting {
  std::string name;  // dotted
  std::string text;
  int line = 0;  // counted from 1
};

// Returns every scalar of the document `text` with its dotted name. A map that is the value of a
// setting of type kPairs counts as one setting. kInvalid with the line: not YAML, a list, a
// duplicate name, or too many levels.
Result<std::vector<FileSetting>> ReadYamlSettings(const std::string& text);

}  // namespace carillon::config
