// Answers that open or refresh a session. The body has the access token and the user. The refresh
// token is in a cookie that scripts cannot read.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

inline constexpr Duration kRefreshTokenLife = 24h * 14;
inline constexpr std::string_view kRefreshCookie = "carillon_refresh";

// The caller and their permissions: {kind, user_id, name, display_name, token_id, role,
// permissions, shares, preferences}.
nlohmann::json CallerToJson(const Caller& caller);
// Opens a new session of `user`.
Reply OpenSession(const Call& call, const UserRecord& user, int status);
// The answer for a session that is already stored.
Reply SessionAnswer(const Call& call, const UserRecord& user, const std::string& session,
                    const std::string& refresh_token, int status);
// The refresh token in the cookie of the request; empty if there is none.
std::string RefreshTokenOf(const HttpRequest& request);
// The value of Set-Cookie for `refresh_token`. An empty token makes the browser delete the cookie.
std::string CookieOf(const Call& call, const std::string& refresh_token);

}  // namespace carillon::scheduler
