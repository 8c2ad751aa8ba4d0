#include "scheduler/api/accounts/session_answer.h"

#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/access/roles.h"
#include "common/wire/json/job/share_json.h"
#include "scheduler/api/accounts/preferences.h"
#include "scheduler/api/http/forwarded_prefix.h"
#include "scheduler/api/http/page.h"
#include "scheduler/auth/access_token.h"
#include "scheduler/auth/random_token.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// Browsers send the cookie only below this path, the longest that refresh and logout share, behind
// the path under which a proxy serves them.
constexpr const char* kCookiePath = "/api/auth";

int64_t Seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

}  // namespace

json CallerToJson(const Caller& caller) {
  const bool token = caller.kind == CallerKind::kToken;
  return {{"kind", token ? "token" : "user"},
          {"user_id", caller.user_id.empty() ? json(nullptr) : json(caller.user_id)},
          {"name", caller.name},
          {"display_name", token ? json("") : json(caller.display_name)},
          {"token_id", token ? json(caller.credential) : json(nullptr)},
          {"role", caller.role},
          {"permissions", PermissionsOf(caller.role, caller.scopes)},
          {"shares", SharesToJson(caller.shared.shares())},
          {"preferences", PreferencesToJson(caller.preferences)}};
}

std::string CookieOf(const Call& call, const std::string& refresh_token) {
  return fmt::format("{}={}; Path={}; Max-Age={}; HttpOnly; SameSite=Strict{}", kRefreshCookie,
                     refresh_token, BelowPrefix(call.request, kCookiePath),
                     refresh_token.empty() ? 0 : Seconds(kRefreshTokenLife),
                     call.api.serves_tls ? "; Secure" : "");
}

std::string RefreshTokenOf(const HttpRequest& request) {
  const std::string* header = request.Header("cookie");
  if (header == nullptr) return {};
  std::string_view rest = *header;
  while (!rest.empty()) {
    const size_t end = rest.find(';');
    std::string_view pair = rest.substr(0, end);
    while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == kRefreshCookie) {
      return std::string(pair.substr(equals + 1));
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return {};
}

Reply SessionAnswer(const Call& call, const UserRecord& user, const std::string& session,
                    const std::string& refresh_token, int status) {
  CARILLON_ASSIGN_OR_RETURN(const std::string key, call.services.authenticator.SigningKey());
  CARILLON_ASSIGN_OR_RETURN(
      const std::string access_token,
      IssueAccessToken(
          key, {.user_id = user.user_id, .name = user.name, .role = user.role, .session = session},
          call.services.authenticator.Wall()));
  HttpResponse response = JsonResponse(status, {{"access_token", access_token},
                                                {"token_type", "Bearer"},
                                                {"expires_in", Seconds(kAccessTokenLife)},
                                                {"user", CallerToJson(CallerOf(user, session))}});
  response.headers.emplace_back("Set-Cookie", CookieOf(call, refresh_token));
  return response;
}

Reply OpenSession(const Call& call, const UserRecord& user, int status) {
  const WallTime now = call.services.authenticator.Wall();
  const std::string refresh_token = RandomText(kSecretBytes);
  const std::string session = "ses-" + RandomHex(16);
  CARILLON_TRY(call.stores.auth.CreateSession({.token_hash = HashSecret(refresh_token),
                                               .family = session,
                                               .user_id = user.user_id,
                                               .session_epoch = user.session_epoch,
                                               .created = now,
                                               .expires = now + kRefreshTokenLife}));
  return SessionAnswer(call, user, session, refresh_token, status);
}

}  // namespace carillon::scheduler
