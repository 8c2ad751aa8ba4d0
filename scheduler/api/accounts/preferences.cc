#include "scheduler/api/accounts/preferences.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include <fmt/ranges.h>

#include "common/wire/json/json_text.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

struct Preference {
  std::string_view name;
  std::vector<std::string_view> values;
};

// The names and values that the console uses.
const std::vector<Preference>& KnownPreferences() {
  static const std::vector<Preference> known = {{"language", {"en", "zh-CN"}},
                                                {"theme", {"light", "dark", "system"}},
                                                {"time", {"relative", "local", "utc", "job"}}};
  return known;
}

Outcome<std::optional<std::string>> ReadChoice(const Preference& preference, const json& value) {
  if (value.is_null()) return std::optional<std::string>();
  const auto& values = preference.values;
  const bool known = value.is_string() && std::find(values.begin(), values.end(),
                                                    value.get<std::string>()) != values.end();
  if (known) return std::optional(value.get<std::string>());
  return InvalidField(JsonPointer("/preferences", preference.name), "unknown_value",
                      fmt::format("Must be {}, or null.", fmt::join(values, ", ")));
}

}  // namespace

json PreferencesToJson(const Preferences& preferences) {
  json shown = json::object();
  for (const Preference& preference : KnownPreferences()) {
    const std::string name(preference.name);
    const auto chosen = preferences.find(name);
    shown[name] = chosen == preferences.end() ? json(nullptr) : json(chosen->second);
  }
  return shown;
}

Outcome<std::map<std::string, std::optional<std::string>>> ReadPreferenceChanges(const json& body) {
  const auto wanted = body.find("preferences");
  if (wanted == body.end() || !wanted->is_object()) {
    return InvalidField("/preferences", "wrong_type", "Must be an object of preferences.");
  }
  const auto& known = KnownPreferences();
  std::map<std::string, std::optional<std::string>> changes;
  for (const auto& [name, value] : wanted->items()) {
    const auto preference =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (preference == known.end()) {
      return InvalidField(JsonPointer("/preferences", name), "unknown_field",
                          "Unknown preference.");
    }
    CARILLON_ASSIGN_OR_RETURN(changes[name], ReadChoice(*preference, value));
  }
  return changes;
}

}  // namespace carillon::scheduler
