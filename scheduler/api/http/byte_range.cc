#include "scheduler/api/http/byte_range.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "common/adapters/http/http_target.h"
#include "common/base/lower_case.h"

namespace carillon::scheduler {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Parses a text of digits only; a number that does not fit becomes UINT64_MAX.
std::optional<uint64_t> ReadDigits(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? number : UINT64_MAX;
}

}  // namespace

std::optional<ByteRange::Span> ByteRange::Within(size_t length) const {
  if (suffix) {
    const size_t size = std::min<uint64_t>(last, length);
    if (size == 0) return std::nullopt;
    return Span{.offset = length - size, .size = size};
  }
  if (first >= length) return std::nullopt;
  return Span{.offset = first, .size = std::min<uint64_t>(last, length - 1) - first + 1};
}

std::optional<ByteRange> ReadByteRange(const HttpRequest& request) {
  const std::string* header = request.Header("range");
  if (request.method != "GET" || header == nullptr || request.CountHeader("range") != 1) {
    return std::nullopt;
  }
  const std::string_view text = Trimmed(*header);
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || LowerCase(text.substr(0, equals)) != "bytes") {
    return std::nullopt;
  }
  const std::string_view range = Trimmed(text.substr(equals + 1));
  const size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto last = ReadDigits(range.substr(dash + 1));
  if (dash == 0) {
    if (!last) return std::nullopt;
    return ByteRange{.suffix = true, .last = *last};
  }
  const auto first = ReadDigits(range.substr(0, dash));
  if (!first) return std::nullopt;
  if (dash + 1 == range.size()) return ByteRange{.first = *first};
  if (!last || *last < *first) return std::nullopt;
  return ByteRange{.first = *first, .last = *last};
}

}  // namespace carillon::scheduler
