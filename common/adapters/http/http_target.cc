#include "common/adapters/http/http_target.h"

#include <cstdint>

namespace carillon {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Length of the well-formed UTF-8 sequence at the front of `text` (RFC 3629), 0 if it is malformed.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
  if (lead == 0xed && byte(1) >= 0xa0) return 0;  // surrogates
  if (lead == 0xf0 && byte(1) < 0x90) return 0;   // overlong
  if (lead == 0xf4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
  return length;
}

enum class Plus { kLiteral, kSpace };

Result<std::string> Decode(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::kSpace) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const int high = i + 1 < text.size() ? HexValue(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0) return Error{ErrorCode::kInvalid, "a bad percent escape"};
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (HasControl(decoded)) return Error{ErrorCode::kInvalid, "a control character"};
  if (!IsValidUtf8(decoded)) return Error{ErrorCode::kInvalid, "bytes that are not UTF-8"};
  return decoded;
}

// Calls `take` with each piece of `text` between separators; stops at the first error.
template <typename Take>
Status ForEachPiece(std::string_view text, char separator, Take take) {
  while (true) {
    const size_t end = text.find(separator);
    CARILLON_TRY(take(text.substr(0, end)));
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

Status ParseQuery(std::string_view text, HttpTarget& target) {
  return ForEachPiece(text, '&', [&](std::string_view piece) -> Status {
    if (piece.empty()) return {};
    if (target.query.size() >= kQueryParametersMax) {
      return {ErrorCode::kInvalid, "too many query parameters"};
    }
    const size_t equals = piece.find('=');
    CARILLON_ASSIGN_OR_RETURN(auto name, Decode(piece.substr(0, equals), Plus::kSpace));
    std::string value;
    if (equals != std::string_view::npos) {
      CARILLON_ASSIGN_OR_RETURN(value, Decode(piece.substr(equals + 1), Plus::kSpace));
    }
    target.query.emplace_back(std::move(name), std::move(value));
    return {};
  });
}

}  // namespace

bool HasControl(std::string_view text) {
  for (const char c : text) {
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<HttpTarget> ParseHttpTarget(std::string_view target) {
  if (target.empty() || target.front() != '/') {
    return Error{ErrorCode::kInvalid, "the target is not an absolute path"};
  }
  target = target.substr(0, target.find('#'));
  const size_t question = target.find('?');
  const std::string_view path =
      target.substr(1, question == std::string_view::npos ? std::string_view::npos : question - 1);
  HttpTarget parsed;
  CARILLON_TRY(ForEachPiece(path, '/', [&](std::string_view piece) -> Status {
    CARILLON_ASSIGN_OR_RETURN(auto segment, Decode(piece, Plus::kLiteral));
    parsed.segments.push_back(std::move(segment));
    return {};
  }));
  if (question != std::string_view::npos) {
    CARILLON_TRY(ParseQuery(target.substr(question + 1), parsed));
  }
  return parsed;
}

std::string PercentEncode(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
    if (unreserved) {
      encoded += c;
    } else {
      const auto byte = static_cast<uint8_t>(c);
      encoded += '%';
      encoded += kHex[byte >> 4];
      encoded += kHex[byte & 15];
    }
  }
  return encoded;
}

}  // namespace carillon
