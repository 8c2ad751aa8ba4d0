// Hashes that are the same in all processes of all builds, unlike std::hash. They never change,
// because the fires of stored schedules depend on them.
#pragma once

#include <cstdint>
#include <string_view>

namespace carillon {

// FNV-1a, 64 bits.
constexpr uint64_t StableHash(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

// The finaliser of SplitMix64: each bit of the result depends on each bit of `x`.
constexpr uint64_t MixBits(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace carillon
