#include "common/base/overload_levels.h"

#include <charconv>

namespace carillon {
namespace {

std::string_view WithoutBlanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// A whole number of digits only, from `least` to `most`.
std::optional<int> NumberIn(std::string_view text, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= least && number <= most ? std::optional(number) : std::nullopt;
}

std::optional<OverloadLevel> ParseLevel(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto late =
      NumberIn(WithoutBlanks(text.substr(0, colon)), kOverloadLateMin, kOverloadLateMax);
  const auto below = NumberIn(WithoutBlanks(text.substr(colon + 1)), 1, kOverloadBelowMax);
  if (!late || !below) return std::nullopt;
  return OverloadLevel{.late = std::chrono::seconds(*late), .below = *below};
}

}  // namespace

std::optional<std::vector<OverloadLevel>> ParseOverloadLevels(std::string_view text) {
  std::vector<OverloadLevel> levels;
  if (WithoutBlanks(text).empty()) return levels;
  while (true) {
    const size_t comma = text.find(',');
    const auto level = ParseLevel(text.substr(0, comma));
    if (!level || levels.size() == kOverloadLevelsMax) return std::nullopt;
    const bool ascends =
        levels.empty() || (level->late > levels.back().late && level->below > levels.back().below);
    if (!ascends) return std::nullopt;
    levels.push_back(*level);
    if (comma == std::string_view::npos) return levels;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace carillon
