// Access tokens: JWTs signed with HS256, for ten minutes.
//
// Place    Made at sign-in and refresh; read at every request.
// Errors   ReadAccessToken: nullopt for whatever is not a token of ours that is still valid.
// Always   Only HS256 with a whole key; issuer, audience, times and subject are checked here, as
//          the library checks none of them.
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
  std::string session;  // the family of its refresh tokens
  bool operator==(const AccessClaims&) const = default;
};

Result<std::string> IssueAccessToken(const std::string& key, const AccessClaims& claims,
                                     WallTime now);
std::optional<AccessClaims> ReadAccessToken(const std::string& key, const std::string& token,
                                            WallTime now);
// Whether it has the shape of one: three parts between dots.
bool LooksLikeAccessToken(std::string_view token);

}  // namespace carillon::scheduler
