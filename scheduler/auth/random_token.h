// Secrets made at random, and the hashes that are kept of them.
#pragma once

#include <string>
#include <string_view>

namespace carillon::scheduler {

inline constexpr size_t kSecretBytes = 32;  // 256 bits

// `bytes` random bytes as they are, as base64url without padding, as lower-case hex.
std::string RandomBytes(size_t bytes);
std::string RandomText(size_t bytes);
std::string RandomHex(size_t bytes);

// Hex of BLAKE2b-256. Only for secrets of many random bits; passwords have passwords.h.
std::string HashSecret(std::string_view secret);

// Takes the same time wherever the texts differ.
bool SameText(std::string_view a, std::string_view b);

}  // namespace carillon::scheduler
