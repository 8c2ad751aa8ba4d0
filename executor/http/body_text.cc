#include "executor/http/body_text.h"

#include <fmt/format.h>

#include "common/base/charset.h"
#include "common/base/lower_case.h"

namespace carillon::executor {
namespace {

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
constexpr size_t kCharsetShownMax = 40;

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string CharsetIn(std::string_view content_type) {
  while (true) {
    const size_t next = content_type.find(';');
    if (next == std::string_view::npos) return {};
    content_type.remove_prefix(next + 1);
    const std::string_view pair = WithoutBlanks(content_type.substr(0, content_type.find(';')));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    if (LowerCase(WithoutBlanks(pair.substr(0, equals))) != "charset") continue;
    std::string_view value = WithoutBlanks(pair.substr(equals + 1));
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    return LowerCase(value);
  }
}

BodyText DecodeBody(std::string body, std::string_view content_type) {
  std::string charset(CharsetOfMark(body));
  if (charset.empty()) charset = CharsetIn(content_type);
  if (charset.empty()) return {std::move(body)};
  if (LowerCase(charset) == "utf-8" || charset == "utf8") {
    // Bytes that are no UTF-8 stay, as without a charset.
    if (body.starts_with(kUtf8Mark)) body.erase(0, kUtf8Mark.size());
    return {std::move(body)};
  }
  auto text = ToUtf8(body, charset);
  if (text.ok()) return {*std::move(text)};
  return {
      std::move(body),
      fmt::format("the charset {} of the response is not known here; its bytes are not converted",
                  charset.substr(0, kCharsetShownMax))};
}

}  // namespace carillon::executor
