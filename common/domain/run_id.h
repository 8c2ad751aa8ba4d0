// The identity of a run: computable before the run exists, sorted by time, and reversible.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace carillon {

// Fire time (whole microseconds since 1970), schedule and shard: the primary key of job_runs.
struct RunKey {
  WallTime fire;           // 56 bits: 1970 to 4253
  ScheduleId schedule_id;  // 52 bits
  uint32_t shard = 0;      // 20 bits

  auto operator<=>(const RunKey&) const = default;
};

// The place of a part among those of its fire, from 0, as its process sees it; 0 for any other run.
constexpr uint32_t ShardIndexOf(const RunKey& key) { return key.shard > 0 ? key.shard - 1 : 0; }

// 26 characters of Crockford base32 (upper case), most significant first: two zero bits, then 56 +
// 52 + 20 bits. Keys and their texts have the same order.
std::string EncodeRunId(const RunKey& key);
// Accepts lower case. kInvalid for a wrong length, a character outside the alphabet, or bits
// beyond 128.
Result<RunKey> DecodeRunId(std::string_view text);

// An executor makes this value of 128 random bits for each claim. A repeated claim has the same
// token. Only a result that carries the token of the last claim is accepted.
struct ClaimToken {
  uint64_t high = 0;
  uint64_t low = 0;

  bool empty() const { return high == 0 && low == 0; }
  auto operator<=>(const ClaimToken&) const = default;
};

// 32 lower-case hex digits.
std::string FormatClaimToken(ClaimToken token);
Result<ClaimToken> ParseClaimToken(std::string_view text);

}  // namespace carillon

template <>
struct std::hash<carillon::RunKey> {
  size_t operator()(const carillon::RunKey& key) const noexcept {
    uint64_t h = static_cast<uint64_t>(carillon::ToUnixMicros(key.fire)) * 0x9e3779b97f4a7c15ull;
    h ^= (key.schedule_id.value() + (h >> 29)) * 0xbf58476d1ce4e5b9ull;
    h ^= (key.shard + (h >> 32)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
  }
};
