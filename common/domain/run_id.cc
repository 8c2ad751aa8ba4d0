#include "common/domain/run_id.h"

#include <array>
#include <charconv>
#include <utility>

namespace carillon {
namespace {

__extension__ typedef unsigned __int128 Uint128;

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr size_t kRunIdLength = 26;
constexpr size_t kClaimTokenLength = 32;
constexpr uint64_t kFireMask = (uint64_t{1} << 56) - 1;
constexpr uint64_t kScheduleMask = (uint64_t{1} << 52) - 1;
constexpr uint64_t kShardMask = (uint64_t{1} << 20) - 1;

// The value of each character as a digit, in both cases; -1 for other characters.
constexpr std::array<int8_t, 256> DigitValues() {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    const char c = kAlphabet[i];
    values[static_cast<unsigned char>(c)] = static_cast<int8_t>(i);
    if (c >= 'A') values[static_cast<unsigned char>(c - 'A' + 'a')] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr std::array<int8_t, 256> kDigitValues = DigitValues();

// A separate function, so that the text is built only after a failure: decoding must be cheap,
// because every message about a run contains its id and its token.
Error NotARunId(std::string_view text) {
  return {ErrorCode::kInvalid, "not a run id: '" + std::string(text.substr(0, 64)) + "'"};
}

Error NotAClaimToken() { return {ErrorCode::kInvalid, "not a claim token"}; }

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
  if (text.size() != kRunIdLength) return NotARunId(text);
  Uint128 bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int digit = kDigitValues[static_cast<unsigned char>(text[i])];
    if (digit < 0 || (i == 0 && digit > 7)) return NotARunId(text);
    bits = bits << 5 | static_cast<unsigned>(digit);
  }
  RunKey key;
  key.shard = static_cast<uint32_t>(bits & kShardMask);
  key.schedule_id = ScheduleId(static_cast<uint64_t>(bits >> 20) & kScheduleMask);
  key.fire = FromUnixMicros(static_cast<int64_t>(static_cast<uint64_t>(bits >> 72) & kFireMask));
  return key;
}

std::string FormatClaimToken(ClaimToken token) {
  std::string text(kClaimTokenLength, '0');
  uint64_t high = token.high;
  uint64_t low = token.low;
  for (size_t i = kClaimTokenLength / 2; i-- > 0; high >>= 4, low >>= 4) {
    text[i] = kHexDigits[high & 15];
    text[i + kClaimTokenLength / 2] = kHexDigits[low & 15];
  }
  return text;
}

Result<ClaimToken> ParseClaimToken(std::string_view text) {
  if (text.size() != kClaimTokenLength) return NotAClaimToken();
  ClaimToken token;
  for (const auto& [part, out] :
       {std::pair{text.substr(0, 16), &token.high}, std::pair{text.substr(16), &token.low}}) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), *out, 16);
    if (error != std::errc() || end != part.data() + part.size()) return NotAClaimToken();
  }
  return token;
}

}  // namespace carillon
