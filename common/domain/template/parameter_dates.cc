#include "common/domain/template/parameter_dates.h"

#include <functional>

#include "common/domain/job_text.h"
#include "common/domain/template/fire_date.h"

namespace carillon {
namespace {

// Returns the value of the date `name`, which stands in the text as `whole`.
using DateValue = std::function<Result<std::string>(std::string_view name, std::string_view whole)>;

std::string_view WithoutOuterBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The text with the value of each {{…}} that is a local date.
Result<std::string> WithDates(std::string_view text, const DateValue& value_of) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = text.find("{{");
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const size_t close = text.find("}}");
    const std::string_view name =
        close == std::string_view::npos ? "" : WithoutOuterBlanks(text.substr(2, close - 2));
    if (!IsFireDate(name)) {
      filled += text.front();
      text.remove_prefix(1);
      continue;
    }
    CARILLON_ASSIGN_OR_RETURN(const std::string value, value_of(name, text.substr(0, close + 2)));
    filled += value;
    text.remove_prefix(close + 2);
  }
  return filled;
}

}  // namespace

bool HasDates(const Parameters& parameters) {
  bool found = false;
  for (const auto& [name, value] : parameters) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) continue;
    const auto note = [&found](std::string_view, std::string_view) {
      found = true;
      return Result<std::string>(std::string());
    };
    static_cast<void>(WithDates(*text, note).ok());
  }
  return found;
}

Status CheckDates(const Parameters& parameters, const std::string& pointer) {
  for (const auto& [name, value] : parameters) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) continue;
    const auto check = [](std::string_view date, std::string_view) -> Result<std::string> {
      CARILLON_TRY(ParseFireDate(date));
      return std::string();
    };
    const auto checked = WithDates(*text, check);
    if (checked.ok()) continue;
    return Error{ErrorCode::kInvalid, checked.error().message, pointer + "/" + EscapePointer(name)};
  }
  return {};
}

Result<Parameters> FillDates(Parameters parameters, const std::set<std::string>& outside,
                             WallTime fire, std::string_view zone) {
  const auto fill = [&](std::string_view name, std::string_view whole) -> Result<std::string> {
    const auto date = ParseFireDate(name);
    if (!date.ok()) return std::string(whole);  // given at the start of the run, unchecked
    return FormatFireDate(*date, fire, zone);
  };
  for (auto& [name, value] : parameters) {
    auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || outside.contains(name)) continue;
    CARILLON_ASSIGN_OR_RETURN(*text, WithDates(*text, fill));
  }
  return parameters;
}

}  // namespace carillon
