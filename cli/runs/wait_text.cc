#include "cli/runs/wait_text.h"

#include <nlohmann/json.hpp>

#include "cli/terminal/output.h"

namespace carillon::cli {

using nlohmann::json;

std::string Ordinal(int64_t number) {
  const int64_t tens = number % 100;
  const int64_t ones = number % 10;
  const bool teen = tens >= 11 && tens <= 13;
  const char* suffix = teen || ones == 0 || ones > 3 ? "th"
                       : ones == 1                   ? "st"
                       : ones == 2                   ? "nd"
                                                     : "rd";
  return std::to_string(number) + suffix;
}

std::string WaitingText(const json& waiting) {
  const json code = waiting.is_object() ? waiting.value("code", json()) : json();
  if (code == "upstream_run" || code == "host") {
    std::string text = Cell(waiting.value("detail", json()));
    if (text.starts_with('W')) text[0] = 'w';
    return text;
  }
  if (code != "group") return {};
  std::string text = "waits for a slot of group " + Cell(waiting.value("group", json()));
  const json position = waiting.value("position", json());
  if (position.is_number_integer()) text += ", " + Ordinal(position.get<int64_t>());
  const json length = waiting.value("length", json());
  if (length.is_number_integer()) text += " of " + std::to_string(length.get<int64_t>());
  return text;
}

}  // namespace carillon::cli
