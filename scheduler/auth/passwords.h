// Rules for user names and passwords, and the hashing of passwords (Argon2id).
//
// Threads  Thread-safe. HashPassword and VerifyPassword take about a tenth of a second and
//          kPasswordMemoryBytes each; the caller bounds how many run at once.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon::scheduler {

inline constexpr size_t kPasswordCharactersMin = 10;
inline constexpr size_t kPasswordCharactersMax = 256;
inline constexpr size_t kUserNameCharactersMax = 64;
inline constexpr size_t kPasswordMemoryBytes = 64u << 20;
inline constexpr unsigned long long kPasswordPasses = 3;

// The name must consist of letters, digits and ._@- and must begin with a letter or digit.
// Otherwise kInvalid with the reason.
Status CheckUserName(std::string_view name);
// kInvalid with the reason: too short, too long, equal to the name, or a very common password.
Status CheckPassword(std::string_view name, std::string_view password);

// kExhausted: not enough memory.
Result<std::string> HashPassword(const std::string& password);
bool VerifyPassword(const std::string& hash, const std::string& password);

// The hash of an unknown password. If no user has the name, this hash is verified, so that the
// answer takes as long as for a user who exists.
extern const char* const kNobodysPassword;

}  // namespace carillon::scheduler
