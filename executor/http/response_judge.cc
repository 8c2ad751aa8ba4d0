#include "executor/http/response_judge.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "common/domain/job/retry.h"

namespace carillon::executor {
namespace {

using nlohmann::json;

constexpr size_t kShownMax = 100;

bool IsExpectedStatus(const HttpExpect& expect, int status) {
  return std::any_of(expect.status.begin(), expect.status.end(), [&](const std::string& text) {
    const auto range = ParseHttpStatusRange(text);
    return range.ok() && range->Has(status);
  });
}

bool Equals(const json& found, const ExpectedValue& expected) {
  if (!expected) return found.is_null();
  const ParameterValue& wanted = *expected;
  if (const auto* text = std::get_if<std::string>(&wanted)) return found == *text;
  if (const auto* flag = std::get_if<bool>(&wanted)) return found.is_boolean() && found == *flag;
  if (!found.is_number()) return false;
  if (const auto* whole = std::get_if<int64_t>(&wanted)) return found == *whole;
  return found == std::get<double>(wanted);
}

// Null if nothing stands there, or the pointer is none.
const json* At(const json& document, const std::string& pointer) {
  try {
    const json::json_pointer at(pointer);
    if (document.contains(at)) return &document.at(at);
  } catch (const json::exception&) {
    // Not a JSON pointer, or one that does not fit the document.
  }
  return nullptr;
}

// A sentence about the first condition on the body that does not hold; empty if all hold.
std::string ComplaintAboutBody(const HttpExpect& expect, const HttpAnswer& answer) {
  if (!expect.LooksAtBody()) return {};
  const std::string_view beyond =
      answer.whole ? "" : " in its first part, and the rest is not read";
  if (!expect.contains.empty() && answer.body.find(expect.contains) == std::string::npos) {
    return fmt::format("the response does not contain '{}'{}", expect.contains.substr(0, kShownMax),
                       beyond);
  }
  if (!expect.regex.empty()) {
    const RE2 regex(expect.regex, RE2::Quiet);
    if (!regex.ok()) return "the regular expression is invalid: " + regex.error();
    if (!RE2::PartialMatch(answer.body, regex)) {
      return fmt::format("the response does not match {}{}", expect.regex.substr(0, kShownMax),
                         beyond);
    }
  }
  if (expect.json.empty()) return {};
  if (!answer.whole) return "the response is too long to be checked as JSON";
  const json document = json::parse(answer.body, nullptr, false);
  if (document.is_discarded()) return "the response is not JSON";
  for (const auto& [pointer, wanted] : expect.json) {
    const json* found = At(document, pointer);
    if (found != nullptr && Equals(*found, wanted)) continue;
    return fmt::format("the response does not have the expected value at {}", pointer);
  }
  return {};
}

AttemptResult Failed(std::string_view reason, std::string error, int status) {
  return {.state = RunState::kFailed,
          .reason = std::string(reason),
          .error = std::move(error),
          .http_status = status};
}

}  // namespace

AttemptResult JudgeAnswer(const HttpExpect& expect, const HttpAnswer& answer) {
  if (!IsExpectedStatus(expect, answer.status)) {
    return Failed(reason::kHttpStatus, fmt::format("the server answered {}", answer.status),
                  answer.status);
  }
  std::string complaint = ComplaintAboutBody(expect, answer);
  if (!complaint.empty()) return Failed(reason::kHttpBody, std::move(complaint), answer.status);
  return {.state = RunState::kCompleted, .http_status = answer.status};
}

Result<bool> IsPending(const HttpPoll& poll, const HttpAnswer& answer) {
  if (answer.status < 200 || answer.status > 299) return false;
  const bool accepted = answer.status == 202;
  if (poll.until.empty()) return accepted;
  const json document =
      answer.whole ? json::parse(answer.body, nullptr, false) : json(json::value_t::discarded);
  if (document.is_discarded()) {
    if (accepted) return true;
    return Error{ErrorCode::kInvalid, "the response is not JSON, in which poll.until could look"};
  }
  return !std::ranges::all_of(poll.until, [&](const auto& condition) {
    const json* found = At(document, condition.first);
    return found != nullptr &&
           std::ranges::any_of(condition.second,
                               [&](const ExpectedValue& value) { return Equals(*found, value); });
  });
}

std::optional<std::string> TextAt(const std::string& pointer, const HttpAnswer& answer) {
  const json document = json::parse(answer.body, nullptr, false);
  const json* found = document.is_discarded() ? nullptr : At(document, pointer);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_integer()) return found->dump();
  return std::nullopt;
}

std::optional<Duration> RetryAfterOf(std::string_view header, WallTime now) {
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  const bool digits = end == header.data() + header.size() && !header.empty();
  Duration wait{};
  if (digits && error == std::errc() && seconds >= 0) {
    wait = std::chrono::seconds(std::min<int64_t>(seconds, kRetryAfterMax / 1s));
  } else {
    const time_t date = curl_getdate(std::string(header).c_str(), nullptr);
    if (date == -1) return std::nullopt;
    wait = FromUnixMicros(int64_t{date} * 1'000'000) - now;
  }
  // Whole seconds, which is what the result carries.
  return std::chrono::seconds(std::clamp(wait, Duration{}, kRetryAfterMax) / 1s);
}

}  // namespace carillon::executor
