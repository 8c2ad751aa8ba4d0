// Unit files of systemd: their settings, times and specifiers. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

struct UnitSetting {
  std::string section;
  std::string name;
  std::string value;
};

// A unit with its drop-ins: the settings in their order.
class SystemdUnit {
 public:
  // Adds the settings of a file.
  void Read(std::string_view text);

  // The values of a setting that may come several times; an empty one removes those before it.
  std::vector<std::string> All(std::string_view section, std::string_view name) const;
  // The last value; "" if there is none.
  std::string Last(std::string_view section, std::string_view name) const;
  bool Flag(std::string_view section, std::string_view name) const;
  // The settings of a section with a value that are not in `known`, each once.
  std::vector<std::string> Others(std::string_view section,
                                  const std::vector<std::string_view>& known) const;

 private:
  std::vector<UnitSetting> settings_;
};

// "1h 30min" in microseconds; nullopt if it is no time. The longest for "infinity".
std::optional<int64_t> ReadSystemdSpan(std::string_view text);

// Replaces %i, %I, %n, %N, %p, %P, %j, %J and %% of the unit. kInvalid: the name of another one.
Result<std::string> ReplaceSpecifiers(std::string_view text, std::string_view unit);

// Removes a word as systemd reads it, with quotation marks and escapes, and the blanks behind it.
// kInvalid: a quotation is not closed.
Result<std::string> TakeSystemdWord(std::string_view& text);
// All words of a text.
Result<std::vector<std::string>> SystemdWords(std::string_view text);

}  // namespace carillon
