#include <cstdint>

#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Lead {
  size_t length = 0;  // of the whole character; 0 = cannot start a character
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xBF;
};

// Table 3-7 of the Unicode standard: no overlong forms, surrogates or values above U+10FFFF.
Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

// The number of bytes at `at` that belong to one character or are the beginning of one: what
// Unicode calls a maximal subpart.
size_t SubpartLength(std::string_view bytes, size_t at, const Lead& lead) {
  size_t length = 1;
  while (length < lead.length && at + length < bytes.size()) {
    const auto byte = static_cast<uint8_t>(bytes[at + length]);
    const uint8_t least = length == 1 ? lead.second_min : 0x80;
    const uint8_t most = length == 1 ? lead.second_max : 0xBF;
    if (byte < least || byte > most) break;
    ++length;
  }
  return length;
}

}  // namespace

std::string ToValidUtf8(std::string_view bytes) {
  std::string valid;
  valid.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const Lead lead = LeadOf(static_cast<uint8_t>(bytes[at]));
    const size_t length = SubpartLength(bytes, at, lead);
    if (length == lead.length) {
      valid.append(bytes.substr(at, length));
    } else {
      valid.append(kReplacement);
    }
    at += length;
  }
  return valid;
}

}  // namespace carillon
