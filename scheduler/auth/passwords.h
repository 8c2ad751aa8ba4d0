// Passwords and names: which are taken, and how passwords are kept (Argon2id).
//
// Threads  Thread-safe. HashPassword and VerifyPassword take about a tenth of a second and
//          kPasswordMemoryBytes each: the caller bounds how many run at once.
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

// kInvalid with the reason: letters, digits and ._@- only, the first a letter or digit.
Status CheckUserName(std::string_view name);
// kInvalid with the reason: too short, too long, the name, or a common password.
Status CheckPassword(std::string_view name, std::string_view password);

// kExhausted: no memory for it.
Result<std::string> HashPassword(const std::string& password);
bool VerifyPassword(const std::string& hash, const std::string& password);

// The hash of an unknown password, which is verified for unknown names so that the answer takes as
// long as for known ones.
extern const char* const kNobodysPassword;

}  // namespace carillon::scheduler
