#include "common/domain/results/result_detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/domain/isolation.h"
#include "common/domain/job/retry.h"
#include "common/domain/run/retry_conditions.h"

namespace carillon {
namespace {

constexpr std::string_view kUsage = "usage";
constexpr std::string_view kHttp = "http";
constexpr std::string_view kRetry = "retry";  // seconds
constexpr std::string_view kErrorCode = "code";
constexpr std::string_view kNoRetry = "no_retry";     // 1
constexpr std::string_view kUnlimited = "unlimited";  // "memory_mb+cpu"

std::optional<int> ReadNumber(std::string_view text, int least, int64_t most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number < least || number > most) return std::nullopt;
  return number;
}

std::vector<std::string> ReadLimitNames(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find('+'));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    if (IsLimitName(name)) names.emplace_back(name);
  }
  return names;
}

void ReadPart(std::string_view name, std::string_view value, AttemptResult& result) {
  if (name == kUsage) {
    result.usage = UsageFromText(value);
  } else if (name == kHttp) {
    result.http_status = ReadNumber(value, 100, 599);
  } else if (name == kRetry) {
    const auto seconds = ReadNumber(value, 0, kRetryAfterMax / std::chrono::seconds(1));
    if (seconds) result.retry_after = std::chrono::seconds(*seconds);
  } else if (name == kErrorCode) {
    if (IsErrorCode(value)) result.error_code = value;
  } else if (name == kNoRetry) {
    result.no_retry = value == "1";
  } else if (name == kUnlimited) {
    result.limits_not_enforced = ReadLimitNames(value);
  }
}

}  // namespace

std::string DetailToText(const AttemptResult& result) {
  std::string text;
  const auto add = [&text](std::string_view name, const auto& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name, value);
  };
  if (result.usage) add(kUsage, UsageToText(*result.usage));
  if (result.http_status) add(kHttp, *result.http_status);
  if (result.retry_after) add(kRetry, *result.retry_after / std::chrono::seconds(1));
  if (!result.error_code.empty()) add(kErrorCode, result.error_code);
  if (result.no_retry) add(kNoRetry, 1);
  if (!result.limits_not_enforced.empty()) {
    add(kUnlimited, fmt::format("{}", fmt::join(result.limits_not_enforced, "+")));
  }
  return text;
}

void ReadDetail(std::string_view text, AttemptResult& result) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    ReadPart(part.substr(0, equals), part.substr(equals + 1), result);
  }
}

}  // namespace carillon
