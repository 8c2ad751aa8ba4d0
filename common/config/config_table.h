// Every setting of Carillon: one table, used for loading, `check-config` and docs/configuration.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carillon::config {

inline constexpr int64_t kKiB = 1024;
inline constexpr int64_t kMiB = kKiB * kKiB;

enum class SettingType {
  kText,      // one line of at least `least` bytes
  kInteger,   // within [least, most]; also times and sizes
  kFlag,      // true | false
  kChoice,    // one of `choices`
  kIdentity,  // [a-z0-9][a-z0-9-]{0,62}
  kAddress,   // an IP address, or localhost
  kNetworks,  // IP addresses and networks (10.0.0.0/8), separated by commas
  kPairs,     // name=value,name=value; in YAML also a map
  kLevels,    // late_s:below,late_s:below (overload_levels.h)
};

// One row of the table of settings.
struct Setting {
  std::string_view name;  // "scheduler.lease_s": the suffix is the unit
  SettingType type = SettingType::kText;
  std::string_view fallback;  // default value, in the syntax of the file
  int64_t least = 0;          // kInteger: lowest value; kText: fewest bytes
  int64_t most = 0;           // kInteger: highest value
  std::string_view choices;   // kChoice: the valid values, separated by '|'
  std::string_view help;
  bool live = false;  // may change while the process runs: PUT /api/system/config
};

// All settings, in the order of docs/configuration.md.
const std::vector<Setting>& SettingTable();
// Returns null if there is no such setting.
const Setting* FindSetting(std::string_view name);

// "rest.port" -> "CARILLON_REST_PORT".
std::string EnvironmentName(std::string_view setting);

// The complete text of docs/configuration.md.
std::string ConfigurationPage();

}  // namespace carillon::config
