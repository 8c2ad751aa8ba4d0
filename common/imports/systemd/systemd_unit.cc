#include "common/imports/systemd/systemd_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "common/base/ascii.h"

namespace carillon {
namespace {

constexpr std::string_view kUnitBlanks = " \t\r";
constexpr std::string_view kWordBlanks = " \t\r\n";

std::string_view UnitTrimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kUnitBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kUnitBlanks) + 1);
}

std::string_view TakeUnitLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

struct SpanUnit {
  std::string_view name;
  double us;
};
constexpr double kSecondUs = 1e6;
constexpr std::array<SpanUnit, 29> kSpanUnits{{{"", kSecondUs},
                                               {"us", 1},
                                               {"usec", 1},
                                               {"ms", 1e3},
                                               {"msec", 1e3},
                                               {"s", kSecondUs},
                                               {"sec", kSecondUs},
                                               {"second", kSecondUs},
                                               {"seconds", kSecondUs},
                                               {"m", 60 * kSecondUs},
                                               {"min", 60 * kSecondUs},
                                               {"minute", 60 * kSecondUs},
                                               {"minutes", 60 * kSecondUs},
                                               {"h", 3600 * kSecondUs},
                                               {"hr", 3600 * kSecondUs},
                                               {"hour", 3600 * kSecondUs},
                                               {"hours", 3600 * kSecondUs},
                                               {"d", 86400 * kSecondUs},
                                               {"day", 86400 * kSecondUs},
                                               {"days", 86400 * kSecondUs},
                                               {"w", 604800 * kSecondUs},
                                               {"week", 604800 * kSecondUs},
                                               {"weeks", 604800 * kSecondUs},
                                               {"M", 2629800 * kSecondUs},
                                               {"month", 2629800 * kSecondUs},
                                               {"months", 2629800 * kSecondUs},
                                               {"y", 31557600 * kSecondUs},
                                               {"year", 31557600 * kSecondUs},
                                               {"years", 31557600 * kSecondUs}}};

int EscapeHex(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Undoes the escapes of the name of an instance: "-" is "/", and \x2d a byte.
std::string UnescapedName(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool hex = name.substr(i).starts_with("\\x") && i + 3 < name.size() &&
                     EscapeHex(name[i + 2]) >= 0 && EscapeHex(name[i + 3]) >= 0;
    if (hex) {
      text += static_cast<char>(EscapeHex(name[i + 2]) * 16 + EscapeHex(name[i + 3]));
      i += 3;
    } else {
      text += name[i] == '-' ? '/' : name[i];
    }
  }
  return text;
}

// Reads an escape behind its backslash. An unknown one stays as it is.
void AddEscape(std::string_view& rest, std::string& word) {
  constexpr std::string_view kLetters = "abfnrtvs\\\"'";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v \\\"'";
  const size_t simple = rest.empty() ? std::string_view::npos : kLetters.find(rest.front());
  if (simple != std::string_view::npos) {
    word += kMeanings[simple];
    rest.remove_prefix(1);
    return;
  }
  const bool hex =
      rest.size() > 2 && rest.front() == 'x' && EscapeHex(rest[1]) >= 0 && EscapeHex(rest[2]) >= 0;
  if (!hex) {
    word += '\\';
    return;
  }
  word += static_cast<char>(EscapeHex(rest[1]) * 16 + EscapeHex(rest[2]));
  rest.remove_prefix(3);
}

}  // namespace

void SystemdUnit::Read(std::string_view text) {
  std::string section;
  while (!text.empty()) {
    std::string line(UnitTrimmed(TakeUnitLine(text)));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    // A line goes on behind a backslash; comments between are no part of it.
    while (line.ends_with('\\') && !text.empty()) {
      const std::string_view next = UnitTrimmed(TakeUnitLine(text));
      if (next.starts_with('#') || next.starts_with(';')) continue;
      line.back() = ' ';
      line += next;
    }
    if (line.front() == '[' && line.back() == ']') {
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const size_t middle = line.find('=');
    if (middle == std::string::npos) continue;
    const std::string_view whole(line);
    settings_.push_back({.section = section,
                         .name = std::string(UnitTrimmed(whole.substr(0, middle))),
                         .value = std::string(UnitTrimmed(whole.substr(middle + 1)))});
  }
}

std::vector<std::string> SystemdUnit::All(std::string_view section, std::string_view name) const {
  std::vector<std::string> values;
  for (const UnitSetting& setting : settings_) {
    if (setting.section != section || setting.name != name) continue;
    if (setting.value.empty()) {
      values.clear();
    } else {
      values.push_back(setting.value);
    }
  }
  return values;
}

std::string SystemdUnit::Last(std::string_view section, std::string_view name) const {
  const auto values = All(section, name);
  return values.empty() ? std::string() : values.back();
}

bool SystemdUnit::Flag(std::string_view section, std::string_view name) const {
  std::string value = Last(section, name);
  for (char& c : value) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return value == "yes" || value == "true" || value == "on" || value == "1" || value == "y" ||
         value == "t";
}

std::vector<std::string> SystemdUnit::Others(std::string_view section,
                                             const std::vector<std::string_view>& known) const {
  std::vector<std::string> names;
  for (const UnitSetting& setting : settings_) {
    const bool other = setting.section == section && !setting.value.empty() &&
                       std::find(known.begin(), known.end(), setting.name) == known.end() &&
                       std::find(names.begin(), names.end(), setting.name) == names.end();
    if (other) names.push_back(setting.name);
  }
  return names;
}

std::optional<int64_t> ReadSystemdSpan(std::string_view text) {
  constexpr double kMost = 9e18;
  if (UnitTrimmed(text) == "infinity") return std::numeric_limits<int64_t>::max();
  double total = 0;
  bool any = false;
  while (true) {
    text = UnitTrimmed(text);
    if (text.empty()) break;
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || !(number >= 0)) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
    text = UnitTrimmed(text);
    size_t letters = 0;
    while (letters < text.size() && IsLetter(text[letters])) ++letters;
    const std::string_view name = text.substr(0, letters);
    text.remove_prefix(letters);
    const auto* unit = std::find_if(kSpanUnits.begin(), kSpanUnits.end(),
                                    [name](const SpanUnit& one) { return one.name == name; });
    if (unit == kSpanUnits.end()) return std::nullopt;
    total += number * unit->us;
    any = true;
  }
  if (!any || !(total < kMost)) return std::nullopt;
  return static_cast<int64_t>(total);
}

Result<std::string> ReplaceSpecifiers(std::string_view text, std::string_view unit) {
  const std::string_view stem = unit.substr(0, unit.rfind('.'));
  const size_t at = stem.find('@');
  const std::string_view prefix = stem.substr(0, at);
  const std::string_view instance =
      at == std::string_view::npos ? std::string_view() : stem.substr(at + 1);
  const std::string_view last = prefix.substr(prefix.rfind('-') + 1);
  std::string replaced;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      replaced += text[i];
      continue;
    }
    switch (text[++i]) {
      case '%': replaced += '%'; break;
      case 'i': replaced += instance; break;
      case 'I': replaced += UnescapedName(instance); break;
      case 'n': replaced += unit; break;
      case 'N': replaced += stem; break;
      case 'p': replaced += prefix; break;
      case 'P': replaced += UnescapedName(prefix); break;
      case 'j': replaced += last; break;
      case 'J': replaced += UnescapedName(last); break;
      default:
        return Error{ErrorCode::kInvalid,
                     fmt::format("the specifier %{} is not available: write its value", text[i])};
    }
  }
  return replaced;
}

Result<std::string> TakeSystemdWord(std::string_view& text) {
  std::string word;
  char quote = '\0';
  while (!text.empty()) {
    const char c = text.front();
    if (quote == '\0' && kWordBlanks.find(c) != std::string_view::npos) break;
    text.remove_prefix(1);
    if (c == '\\') {
      AddEscape(text, word);
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else {
      word += c;
    }
  }
  if (quote != '\0') return Error{ErrorCode::kInvalid, "a quotation is not closed"};
  text.remove_prefix(std::min(text.find_first_not_of(kWordBlanks), text.size()));
  return word;
}

Result<std::vector<std::string>> SystemdWords(std::string_view text) {
  std::vector<std::string> words;
  text.remove_prefix(std::min(text.find_first_not_of(kWordBlanks), text.size()));
  while (!text.empty()) {
    CARILLON_ASSIGN_OR_RETURN(words.emplace_back(), TakeSystemdWord(text));
  }
  return words;
}

}  // namespace carillon
