#include "cli/jobs/flags/flag_values.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/terminal/session.h"

namespace carillon::cli {

using nlohmann::json;

void ReplaceField(json& body, FlagsBody form, const std::string& field, json value) {
  body.erase(field);
  if (form == FlagsBody::kPatch || !value.is_null()) body[field] = std::move(value);
}

std::optional<int64_t> WholeNumberIn(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read != end) return std::nullopt;
  return number;
}

Result<int64_t> WholeSecondsOf(const std::string& flag, const std::string& text) {
  const auto time = ParseDuration(text);
  if (!time.ok()) return {ErrorCode::kInvalid, flag + ": " + time.error().message};
  if (time->count() % 1'000'000 != 0) {
    return {ErrorCode::kInvalid, flag + ": must be whole seconds"};
  }
  return time->count() / 1'000'000;
}

}  // namespace carillon::cli
