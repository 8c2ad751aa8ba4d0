#include "cli/client/sign_in.h"

#include <nlohmann/json.hpp>

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kCookie = "carillon_refresh=";
// An access token is renewed this long before it expires.
constexpr Duration kRenewBefore = 30s;

const std::string& Address(const ApiClient& client) { return client.target().urls.front(); }

Outcome<StoredSession> ReadSession(const ApiResponse& answer, WallTime now) {
  const std::string& cookie = answer.set_cookie;
  const json& body = answer.body;
  const bool whole = cookie.rfind(kCookie, 0) == 0 && body.is_object() &&
                     body.contains("access_token") && body["access_token"].is_string() &&
                     body.contains("expires_in") && body["expires_in"].is_number_integer();
  if (!whole) {
    return Failure{.message = "unexpected answer from the server: no session",
                   .code = "bad_answer"};
  }
  const size_t end = cookie.find(';');
  StoredSession session{
      .name = {},
      .refresh_token = cookie.substr(
          kCookie.size(), end == std::string::npos ? std::string::npos : end - kCookie.size()),
      .access_token = body["access_token"].get<std::string>(),
      .access_expires = now + std::chrono::seconds(body["expires_in"].get<int64_t>())};
  if (body.contains("user") && body["user"].is_object()) {
    session.name = body["user"].value("name", "");
  }
  return session;
}

HttpHeaders CookieHeader(const StoredSession& session) {
  return {{"Cookie", std::string(kCookie) + session.refresh_token}};
}

}  // namespace

Outcome<StoredSession> SignIn(ApiClient& client, SessionFile& file, const Credentials& credentials,
                              WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse answer,
      client.Call({.method = "POST",
                   .path = "/api/auth/login",
                   .body = json{{"name", credentials.name}, {"password", credentials.password}}}));
  CARILLON_ASSIGN_OR_RETURN(StoredSession session, ReadSession(answer, now));
  CARILLON_TRY(file.Put(Address(client), session));
  return session;
}

Outcome<std::optional<std::string>> AccessToken(ApiClient& client, SessionFile& file,
                                                WallTime now) {
  const auto known = file.Find(Address(client));
  if (!known) return std::optional<std::string>();
  if (now < known->access_expires - kRenewBefore) return std::optional(known->access_token);
  HttpHeaders headers = CookieHeader(*known);
  headers.emplace_back("X-Carillon-Refresh", "1");
  auto answer =
      client.Call({.method = "POST", .path = "/api/auth/refresh", .headers = std::move(headers)});
  if (!answer.ok()) {
    Failure failure = answer.error();
    if (failure.exit != ExitCode::kDenied) return failure;
    CARILLON_TRY(file.Remove(Address(client)));
    failure.message += " Sign in with `carillon login`.";
    return failure;
  }
  CARILLON_ASSIGN_OR_RETURN(const StoredSession session, ReadSession(*answer, now));
  CARILLON_TRY(file.Put(Address(client), session));
  return std::optional(session.access_token);
}

Outcome<StoredSession> ChangePassword(ApiClient& client, SessionFile& file,
                                      const PasswordChange& change, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const auto token, AccessToken(client, file, now));
  if (!token) {
    return Failure{.exit = ExitCode::kDenied,
                   .message = "not signed in to " + Address(client),
                   .code = "user_needed"};
  }
  client.SetToken(*token);
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse answer,
      client.Call({.method = "POST",
                   .path = "/api/auth/password",
                   .body = json{{"old_password", change.before}, {"new_password", change.after}}}));
  CARILLON_ASSIGN_OR_RETURN(StoredSession session, ReadSession(answer, now));
  if (const Status kept = file.Put(Address(client), session); !kept.ok()) {
    Failure failure = FailureOf(kept.error());
    failure.message = "the password was changed, but you have to sign in again: " + failure.message;
    return failure;
  }
  return session;
}

Outcome<bool> SignOut(ApiClient& client, SessionFile& file) {
  const auto known = file.Find(Address(client));
  if (!known) return false;
  CARILLON_TRY(
      client.Call({.method = "POST", .path = "/api/auth/logout", .headers = CookieHeader(*known)}));
  CARILLON_TRY(file.Remove(Address(client)));
  return true;
}

}  // namespace carillon::cli
