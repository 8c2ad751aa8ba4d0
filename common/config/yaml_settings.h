// A YAML file as flat settings. yaml-cpp stays behind this.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace carillon::config {

struct FileSetting {
  std::string name;  // dotted
  std::string text;
  int line = 0;  // from 1
};

// Every scalar of the document `text` by its dotted name; a map below a setting of type kPairs is
// one setting. kInvalid with the line: not YAML, a list, a name twice, deeper than any setting.
Result<std::vector<FileSetting>> ReadYamlSettings(const std::string& text);

}  // namespace carillon::config
