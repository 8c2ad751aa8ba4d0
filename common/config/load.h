// Loads and checks the settings of one process: flags override the environment, the environment
// overrides the file, the file overrides the defaults.
//
// Threads  Config is immutable after Load; safe to share.
// Errors   Load: kInvalid names the place (file and line, variable or flag), the setting and the
//          values that the setting accepts. kUnavailable: the file cannot be read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ip_address.h"
#include "common/base/overload_levels.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/config/config_table.h"
#include "common/config/environment.h"

namespace carillon::config {

enum class Origin { kDefault, kFile, kEnvironment, kFlag, kLive };
std::string_view Name(Origin origin);  // "default", "file", …

struct Value {
  std::string text;  // as written at its origin; a YAML map (kPairs) becomes name=value,…
  Origin origin = Origin::kDefault;
  std::string place;  // "carillon.yaml:3", "CARILLON_REST_PORT", "--port"; empty for a default
};

class Config {
 public:
  // Every name below must be in SettingTable() with that type (checked).
  const std::string& Text(std::string_view name) const;  // kText, kChoice, kIdentity, kAddress
  int64_t Integer(std::string_view name) const;
  bool Flag(std::string_view name) const;
  std::map<std::string, std::string> Pairs(std::string_view name) const;
  std::vector<IpNetwork> Networks(std::string_view name) const;
  std::vector<OverloadLevel> Levels(std::string_view name) const;
  // A setting in milliseconds, seconds or days: its name ends in _ms, _s or _days.
  Duration Time(std::string_view name) const;

  // The value with its origin.
  const Value& Get(std::string_view name) const;
  // Returns this configuration with the cluster's live settings in place of its own values. Skips
  // invalid values, and names that are not live settings of this version. `left_out` receives a
  // text about each skipped value.
  Config With(const std::map<std::string, std::string>& live,
              std::vector<std::string>* left_out) const;
  // Warnings for the log about suspicious but harmless input, e.g. an unknown CARILLON_* variable.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class Loader;
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> warnings_;
};

// A setting given as a flag.
struct Override {
  std::string name;
  std::string value;
  std::string flag;  // as the user typed it, for messages: "--port"
};

struct LoadRequest {
  std::string file = {};                                // empty = none
  std::map<std::string, std::string> environment = {};  // only CARILLON_* variables are read
  std::vector<Override> flags = {};                     // the last flag of a name is used
};

inline constexpr size_t kConfigFileBytesMax = 1u << 20;

// `further` receives the errors after the one that is returned.
Result<Config> Load(const LoadRequest& request, std::vector<Error>* further = nullptr);

// Returns an empty text if `text` is a valid value; otherwise the values that `setting` accepts, as
// a sentence without its subject: "must be true or false".
std::string Complaint(const Setting& setting, const std::string& text);

}  // namespace carillon::config
