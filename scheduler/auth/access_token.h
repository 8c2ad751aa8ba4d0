// Access tokens: JWTs signed with HS256, valid for ten minutes.
//
// Place    Issued at sign-in and refresh; read at every request.
// Errors   ReadAccessToken returns nullopt unless the token is valid and was signed with `key`.
// Always   Accepts only HS256, and only with a key of full length. Issuer, audience, times and
//          subject are checked here, because the library checks none of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::scheduler {

inline constexpr Duration kAccessTokenLife = 10min;
inline constexpr size_t kSigningKeyBytes = 32;
inline constexpr size_t kAccessTokenLengthMax = 4096;

struct AccessClaims {
  std::string user_id;
  std::string name;
  std::string role;
  std::string session;  // the same for all refresh tokens of one sign-in
  bool operator==(const AccessClaims&) const = default;
};

Result<std::string> IssueAccessToken(const std::string& key, const AccessClaims& claims,
                                     WallTime now);
std::optional<AccessClaims> ReadAccessToken(const std::string& key, const std::string& token,
                                            WallTime now);
// True if the token has the shape of a JWT: three parts separated by dots.
bool LooksLikeAccessToken(std::string_view token);

}  // namespace carillon::scheduler
