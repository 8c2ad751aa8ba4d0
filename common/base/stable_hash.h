// A hash that is the same in all processes of all builds, unlike std::hash.
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

}  // namespace carillon
