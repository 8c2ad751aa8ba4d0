// The settings that the whole cluster was given while it runs (docs/configuration.md: live).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace carillon {

struct ClusterSettings {
  int64_t version = 0;  // moves by one with each change; 0: nobody changed anything yet
  std::map<std::string, std::string> values = {};  // only what was set, as a file would say it

  bool operator==(const ClusterSettings&) const = default;
};

}  // namespace carillon
