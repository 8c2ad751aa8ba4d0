#include "common/domain/run/retry_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "common/domain/job/http_request.h"
#include "common/domain/results/exit_code.h"

namespace carillon {
namespace {

constexpr std::string_view kExitPrefix = "exit:";
constexpr std::string_view kHttpPrefix = "http:";
constexpr std::string_view kErrorPrefix = "error:";
constexpr int kExitCodeMax = 255;

struct Named {
  std::string_view name;
  RetryCondition::Kind kind;
};
constexpr std::array<Named, 5> kNamed{{{"signal", RetryCondition::Kind::kSignal},
                                       {"oom", RetryCondition::Kind::kOom},
                                       {"timeout", RetryCondition::Kind::kTimeout},
                                       {"spawn", RetryCondition::Kind::kSpawn},
                                       {"http:error", RetryCondition::Kind::kHttpError}}};

std::optional<int> ReadCode(std::string_view text) {
  int code = 0;
  if (text.starts_with('0')) return std::nullopt;  // one text for each code, and a short one
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || code < 1 || code > kExitCodeMax) return std::nullopt;
  return code;
}

}  // namespace

bool IsErrorCode(std::string_view text) {
  return !text.empty() && text.size() <= kErrorCodeMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.' || c == '-';
         });
}

Result<RetryCondition> ParseRetryCondition(std::string_view text) {
  for (const Named& named : kNamed) {
    if (text == named.name) return RetryCondition{.kind = named.kind};
  }
  if (text.starts_with(kExitPrefix)) {
    const std::string_view range = text.substr(kExitPrefix.size());
    const size_t dash = range.find('-');
    const auto first = ReadCode(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ReadCode(range.substr(dash + 1));
    if (first && last && *first <= *last) {
      return RetryCondition{.kind = RetryCondition::Kind::kExit, .first = *first, .last = *last};
    }
  }
  if (text.starts_with(kHttpPrefix)) {
    const auto range = ParseHttpStatusRange(text.substr(kHttpPrefix.size()));
    if (range.ok()) {
      return RetryCondition{
          .kind = RetryCondition::Kind::kHttp, .first = range->first, .last = range->last};
    }
  }
  if (text.starts_with(kErrorPrefix) && IsErrorCode(text.substr(kErrorPrefix.size()))) {
    return RetryCondition{.kind = RetryCondition::Kind::kError,
                          .code = std::string(text.substr(kErrorPrefix.size()))};
  }
  return Error{ErrorCode::kInvalid,
               fmt::format("'{}' is not one of exit:N and exit:N-M (1 to 255), signal, oom, "
                           "timeout, spawn, http:503, http:500-599, http:5xx, http:error, "
                           "error:CODE (up to {} letters, digits, '_', '.' and '-')",
                           text.substr(0, 64), kErrorCodeMax)};
}

bool RetryCondition::Matches(const AttemptResult& result) const {
  switch (kind) {
    case Kind::kExit:
      return result.exit_code && *result.exit_code >= first && *result.exit_code <= last;
    case Kind::kSignal:
      return result.reason == reason::kSignal ||
             (result.reason == reason::kExitCode && result.exit_code &&
              SignalOfExitCode(*result.exit_code));
    case Kind::kTimeout: return result.state == RunState::kTimedOut;
    case Kind::kHttp:
      return result.http_status && *result.http_status >= first && *result.http_status <= last;
    case Kind::kHttpError: return result.reason == reason::kHttpError;
    case Kind::kOom: return result.reason == reason::kOom;
    case Kind::kError: return result.reason == reason::kHandlerError && result.error_code == code;
    case Kind::kSpawn: return result.reason == reason::kSpawn || result.reason == reason::kHost;
  }
  return false;
}

bool RetryConditions::Allow(const AttemptResult& result) const {
  const auto matches = [&](const RetryCondition& condition) { return condition.Matches(result); };
  if (result.no_retry) return false;
  if (std::any_of(no_retry_on.begin(), no_retry_on.end(), matches)) return false;
  return retry_on.empty() || std::any_of(retry_on.begin(), retry_on.end(), matches);
}

bool RetryConditions::Names(const AttemptResult& result) {
  return result.state == RunState::kTimedOut || result.reason == reason::kExitCode ||
         result.reason == reason::kSignal || result.reason == reason::kSpawn ||
         result.reason == reason::kHost || result.reason == reason::kHttpStatus ||
         result.reason == reason::kHttpBody || result.reason == reason::kHttpError ||
         result.reason == reason::kOom || result.reason == reason::kHandlerError;
}

bool NamesErrorCode(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return text.starts_with(kErrorPrefix); });
}

bool HasNewCondition(const std::vector<std::string>& texts) {
  return NamesErrorCode(texts) || std::find(texts.begin(), texts.end(), "oom") != texts.end();
}

std::vector<Error> FindConditionMistakes(std::string_view field,
                                         const std::vector<std::string>& texts) {
  std::vector<Error> mistakes;
  if (texts.size() > kRetryConditionsMax) {
    mistakes.push_back(
        {ErrorCode::kInvalid,
         fmt::format("has {} entries; at most {} are allowed", texts.size(), kRetryConditionsMax),
         fmt::format("/{}", field)});
    return mistakes;
  }
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size() + 1;
  if (bytes > kRetryConditionsBytesMax) {
    mistakes.push_back({ErrorCode::kInvalid,
                        fmt::format("its entries and a comma after each have {} characters; at "
                                    "most {} are allowed",
                                    bytes, kRetryConditionsBytesMax),
                        fmt::format("/{}", field)});
    return mistakes;
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto parsed = ParseRetryCondition(texts[i]);
    if (parsed.ok()) continue;
    mistakes.push_back(
        {ErrorCode::kInvalid, parsed.error().message, fmt::format("/{}/{}", field, i)});
  }
  return mistakes;
}

std::vector<RetryCondition> ReadRetryConditions(const std::vector<std::string>& texts) {
  std::vector<RetryCondition> conditions;
  for (const std::string& text : texts) {
    const auto parsed = ParseRetryCondition(text);
    if (parsed.ok()) conditions.push_back(*parsed);
  }
  return conditions;
}

}  // namespace carillon
