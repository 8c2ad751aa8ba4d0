// Random secrets, and the hashes under which they are stored.
#pragma once

#include <string>
#include <string_view>

namespace carillon::scheduler {

inline constexpr size_t kSecretBytes = 32;  // 256 bits

// Initialises libsodium once. Call it before any function of the library.
void StartSodium();

// Returns `bytes` random bytes: raw, as base64url without padding, or as lower-case hex.
std::string RandomBytes(size_t bytes);
std::string RandomText(size_t bytes);
std::string RandomHex(size_t bytes);

// Hex of BLAKE2b-256. Use it only for secrets of many random bits. For passwords see passwords.h.
std::string HashSecret(std::string_view secret);

// True if the texts are equal. The time does not depend on the first difference, so it reveals
// nothing about a secret.
bool SameText(std::string_view a, std::string_view b);

}  // namespace carillon::scheduler
