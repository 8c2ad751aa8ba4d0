#include "common/domain/run_id.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace carillon {
namespace {

__extension__ typedef unsigned __int128 Uint128;

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr size_t kRunIdLength = 26;
constexpr uint64_t kFireMask = (uint64_t{1} << 56) - 1;
constexpr uint64_t kScheduleMask = (uint64_t{1} << 52) - 1;
constexpr uint64_t kShardMask = (uint64_t{1} << 20) - 1;

int DigitValue(char c) {
  if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  const size_t at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::string EncodeRunId(const RunKey& key) {
  const auto fire = static_cast<uint64_t>(ToUnixMicros(key.fire));
  CARILLON_CHECK(
      fire <= kFireMask && key.schedule_id.value() <= kScheduleMask && key.shard <= kShardMask,
      "run key out of range");
  Uint128 bits = fire;
  bits = bits << 52 | key.schedule_id.value();
  bits = bits << 20 | key.shard;
  std::string text(kRunIdLength, '0');
  for (size_t i = kRunIdLength; i-- > 0; bits >>= 5) {
    text[i] = kAlphabet[static_cast<size_t>(bits & 31)];
  }
  return text;
}

Result<RunKey> DecodeRunId(std::string_view text) {
  const Error bad{ErrorCode::kInvalid, "not a run id: '" + std::string(text.substr(0, 64)) + "'"};
  if (text.size() != kRunIdLength) return bad;
  Uint128 bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int digit = DigitValue(text[i]);
    if (digit < 0 || (i == 0 && digit > 7)) return bad;
    bits = bits << 5 | static_cast<unsigned>(digit);
  }
  RunKey key;
  key.shard = static_cast<uint32_t>(bits & kShardMask);
  key.schedule_id = ScheduleId(static_cast<uint64_t>(bits >> 20) & kScheduleMask);
  key.fire = FromUnixMicros(static_cast<int64_t>(static_cast<uint64_t>(bits >> 72) & kFireMask));
  return key;
}

std::string FormatClaimToken(ClaimToken token) {
  std::array<char, 33> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%016llx%016llx",
                static_cast<unsigned long long>(token.high),
                static_cast<unsigned long long>(token.low));
  return buffer.data();
}

Result<ClaimToken> ParseClaimToken(std::string_view text) {
  const Error bad{ErrorCode::kInvalid, "not a claim token"};
  if (text.size() != 32) return bad;
  ClaimToken token;
  for (const auto& [part, out] :
       {std::pair{text.substr(0, 16), &token.high}, std::pair{text.substr(16), &token.low}}) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), *out, 16);
    if (error != std::errc() || end != part.data() + part.size()) return bad;
  }
  return token;
}

}  // namespace carillon
