#include "common/domain/job_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace carillon {
namespace {

constexpr size_t kVariableNameBytesMax = 63;

// Length of the UTF-8 sequence at the front of `text`, 0 if it is invalid.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t second = byte(1);
  if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
  if (lead == 0xED && second > 0x9F) return 0;  // surrogates
  if (lead == 0xF0 && second < 0x90) return 0;  // overlong
  if (lead == 0xF4 && second > 0x8F) return 0;  // above U+10FFFF
  return length;
}

struct CodePoints {
  char32_t first;
  char32_t last;
};
constexpr std::array<CodePoints, 16> kInvisible = {{{0x00, 0x20},
                                                    {0x7F, 0xA0},
                                                    {0xAD, 0xAD},
                                                    {0x34F, 0x34F},
                                                    {0x61C, 0x61C},
                                                    {0x115F, 0x1160},
                                                    {0x1680, 0x1680},
                                                    {0x17B4, 0x17B5},
                                                    {0x180B, 0x180E},
                                                    {0x2000, 0x200F},
                                                    {0x2028, 0x202F},
                                                    {0x205F, 0x206F},
                                                    {0x2800, 0x2800},
                                                    {0x3000, 0x3000},
                                                    {0x3164, 0x3164},
                                                    {0xFEFF, 0xFEFF}}};
// Embeddings, overrides and isolates. Not the direction marks, because some languages need them.
constexpr std::array<CodePoints, 2> kDirections = {{{0x202A, 0x202E}, {0x2066, 0x2069}}};

template <size_t kSize>
bool IsAmong(const std::array<CodePoints, kSize>& ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [point](const CodePoints& range) {
    return point >= range.first && point <= range.last;
  });
}

// Removes and returns the first code point of `text`, which is valid UTF-8 and not empty.
char32_t TakePoint(std::string_view& text) {
  constexpr std::array<uint8_t, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
  const size_t length = std::max<size_t>(SequenceLength(text), 1);
  char32_t point = static_cast<uint8_t>(text[0]) & kLeadBits[length];
  for (size_t i = 1; i < length; ++i) {
    point = (point << 6) | (static_cast<uint8_t>(text[i]) & 0x3F);
  }
  text.remove_prefix(length);
  return point;
}

bool IsLetterOrUnderscore(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

}  // namespace

std::optional<size_t> CountUtf8(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return std::nullopt;
    text.remove_prefix(length);
    ++count;
  }
  return count;
}

std::string TextFault(std::string_view text, size_t bytes_max) {
  if (text.size() > bytes_max) {
    return fmt::format("has {} bytes; at most {} are allowed", text.size(), bytes_max);
  }
  if (text.find('\0') != std::string_view::npos) return "contains a NUL byte";
  return CountUtf8(text) ? "" : "is not valid UTF-8";
}

bool IsBlank(std::string_view text) {
  while (!text.empty()) {
    if (!IsAmong(kInvisible, TakePoint(text))) return false;
  }
  return true;
}

bool HasDirectionOverride(std::string_view text) {
  while (!text.empty()) {
    if (IsAmong(kDirections, TakePoint(text))) return true;
  }
  return false;
}

bool IsVariableName(std::string_view text) {
  return !text.empty() && text.size() <= kVariableNameBytesMax &&
         IsLetterOrUnderscore(text.front()) && std::all_of(text.begin(), text.end(), [](char c) {
           return IsLetterOrUnderscore(c) || (c >= '0' && c <= '9');
         });
}

bool IsReservedVariable(std::string_view name) {
  constexpr std::array<std::string_view, 14> kReserved{
      "CARILLON_RUN_ID",        "CARILLON_JOB_ID",
      "CARILLON_FIRE_TIME",     "CARILLON_ATTEMPT",
      "CARILLON_SHARD_INDEX",   "CARILLON_SHARD_TOTAL",
      "CARILLON_PROGRESS_FILE", "CARILLON_CHECKPOINT_FILE",
      "CARILLON_TRACE_ID",      "CARILLON_OUTPUT_FILE",
      "CARILLON_CONTAINER",     "CARILLON_TIME_ZONE",
      "CARILLON_FIRE_DATE",     "CARILLON_NODE"};
  return name.starts_with("CARILLON_PARAM_") ||
         std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

bool IsControl(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte < 0x20 || byte == 0x7F;
}

std::string AsciiUpper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

std::string EscapePointer(std::string_view token) {
  std::string escaped;
  for (const char c : token) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace carillon
