#include "scheduler/auth/access_token.h"

#include <jwt.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace carillon::scheduler {
namespace {

constexpr const char* kIssuer = "carillon";
constexpr const char* kAudience = "carillon-api";
// A token may have been issued this far in the future, because members' clocks differ.
constexpr int64_t kSkewSeconds = 60;

using Token = std::unique_ptr<jwt_t, decltype(&jwt_free)>;

int64_t Seconds(WallTime time) { return ToUnixMicros(time) / 1'000'000; }

std::string Text(jwt_t* token, const char* claim) {
  const char* value = jwt_get_grant(token, claim);
  return value == nullptr ? "" : value;
}

const unsigned char* KeyBytes(const std::string& key) {
  return reinterpret_cast<const unsigned char*>(key.data());
}

bool TimesFit(jwt_t* token, WallTime now) {
  // A missing claim reads as 0.
  const int64_t issued = jwt_get_grant_int(token, "iat");
  const int64_t expires = jwt_get_grant_int(token, "exp");
  return issued > 0 && issued <= Seconds(now) + kSkewSeconds && expires > Seconds(now);
}

}  // namespace

Result<std::string> IssueAccessToken(const std::string& key, const AccessClaims& claims,
                                     WallTime now) {
  if (key.size() != kSigningKeyBytes) return {ErrorCode::kCorrupt, "the signing key is damaged"};
  jwt_t* made = nullptr;
  if (jwt_new(&made) != 0) return {ErrorCode::kExhausted, "access token: no memory"};
  const Token token(made, &jwt_free);
  const int failed = jwt_set_alg(made, JWT_ALG_HS256, KeyBytes(key), static_cast<int>(key.size())) |
                     jwt_add_grant(made, "iss", kIssuer) | jwt_add_grant(made, "aud", kAudience) |
                     jwt_add_grant(made, "sub", claims.user_id.c_str()) |
                     jwt_add_grant(made, "name", claims.name.c_str()) |
                     jwt_add_grant(made, "role", claims.role.c_str()) |
                     jwt_add_grant(made, "sid", claims.session.c_str()) |
                     jwt_add_grant_int(made, "iat", Seconds(now)) |
                     jwt_add_grant_int(made, "exp", Seconds(now + kAccessTokenLife));
  char* text = failed == 0 ? jwt_encode_str(made) : nullptr;
  if (text == nullptr) return {ErrorCode::kExhausted, "access token: it could not be made"};
  std::string encoded(text);
  std::free(text);
  return encoded;
}

std::optional<AccessClaims> ReadAccessToken(const std::string& key, const std::string& token,
                                            WallTime now) {
  // Check the key first: without one, the library would not verify the signature.
  if (key.size() != kSigningKeyBytes || token.size() > kAccessTokenLengthMax ||
      token.find('\0') != std::string::npos || !LooksLikeAccessToken(token)) {
    return std::nullopt;
  }
  jwt_t* read = nullptr;
  const int failed = jwt_decode(&read, token.c_str(), KeyBytes(key), static_cast<int>(key.size()));
  const Token owned(read, &jwt_free);
  if (failed != 0 || read == nullptr || jwt_get_alg(read) != JWT_ALG_HS256) return std::nullopt;
  AccessClaims claims{.user_id = Text(read, "sub"),
                      .name = Text(read, "name"),
                      .role = Text(read, "role"),
                      .session = Text(read, "sid")};
  const bool ours = Text(read, "iss") == kIssuer && Text(read, "aud") == kAudience;
  if (!ours || !TimesFit(read, now) || claims.user_id.empty() || claims.session.empty()) {
    return std::nullopt;
  }
  return claims;
}

bool LooksLikeAccessToken(std::string_view token) {
  return std::count(token.begin(), token.end(), '.') == 2;
}

}  // namespace carillon::scheduler
