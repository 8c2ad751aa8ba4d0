#include "scheduler/api/accounts/auth_routes.h"

#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/base/ip_address.h"
#include "scheduler/api/accounts/preferences.h"
#include "scheduler/api/accounts/session_answer.h"
#include "scheduler/api/accounts/user_fields.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/client_address.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/auth/random_token.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr std::string_view kRefreshHeader = "x-carillon-refresh";
constexpr std::string_view kNobody = "(unknown)";

Problem WrongCredentials() {
  Problem problem{.status = 401,
                  .code = "wrong_credentials",
                  .detail = "The name or the password is wrong, or the account is disabled."};
  problem.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"carillon\"");
  return problem;
}

Problem TooManyAttempts(Duration wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  Problem problem{.status = 429,
                  .code = "too_many_attempts",
                  .detail = fmt::format("Too many failed attempts. Retry in {} s.", seconds)};
  problem.headers.emplace_back("Retry-After", std::to_string(seconds));
  return problem;
}

Problem NoSession(const Call& call, std::string code, std::string detail) {
  Problem problem{.status = 401, .code = std::move(code), .detail = std::move(detail)};
  problem.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"carillon\"");
  problem.headers.emplace_back("Set-Cookie", CookieOf(call, ""));
  return problem;
}

void Tell(const Call& call, std::string actor, std::string action, std::string object_id,
          const std::string& more = "") {
  RecordAudit(call, {.at = {},
                     .actor = std::move(actor),
                     .action = std::move(action),
                     .object_id = std::move(object_id),
                     .reason = "from " + AddressOf(call.request) + more});
}

// Records a failed sign-in. If no user has the name, the record leaves the name out, because people
// sometimes type their password as the name.
void FailuresToReport(const Call& call, const std::optional<UserRecord>& user) {
  const auto passed_over = call.services.sign_in.FailuresToReport();
  if (!passed_over) return;
  const std::string more =
      *passed_over == 0 ? "" : fmt::format("; {} earlier ones were not recorded", *passed_over);
  Tell(call, user ? user->name : std::string(kNobody), "auth.login_failed",
       user ? user->user_id : "", more);
}

// True if the password is correct. The check takes equally long for an unknown or disabled user. So
// its duration does not reveal which users exist.
Outcome<bool> IsPassword(const Call& call, const std::optional<UserRecord>& user,
                         const std::string& password) {
  const bool able = user && !user->disabled;
  CARILLON_ASSIGN_OR_RETURN(
      const bool right, call.services.sign_in.Verify(
                            able ? user->password_hash : std::string(kNobodysPassword), password));
  return right && able;
}

// Checks the password within the limits of the lock-out. If the password is wrong, records that in
// the audit and returns false.
Outcome<bool> CheckAttempt(const Call& call, const std::string& name,
                           const std::optional<UserRecord>& user, const std::string& password) {
  const std::string address = NetworkOf(AddressOf(call.request));
  if (const auto wait = call.services.sign_in.Admit(name, address)) return TooManyAttempts(*wait);
  const auto right = IsPassword(call, user, password);
  if (!right.ok()) {
    call.services.sign_in.Withdraw(name, address);
    return right.error();
  }
  if (*right) {
    call.services.sign_in.Succeeded(name, address);
    return true;
  }
  FailuresToReport(call, user);
  return false;
}

Problem SetupRefused(const Error& error) {
  if (error.code == ErrorCode::kConflict) {
    return {
        .status = 409, .code = "setup_done", .detail = "An administrator already exists. Sign in."};
  }
  if (error.code == ErrorCode::kDenied) {
    return {.status = 403,
            .code = "setup_link_invalid",
            .detail =
                "This setup link is no longer valid. `carillon user setup-link` prints a new one."};
  }
  return ToProblem(error);
}

}  // namespace

std::string SetupPath(const std::string& token) { return "/setup#token=" + token; }

Reply AuthState(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const bool needed, call.stores.auth.NeedsSetup());
  return JsonResponse(200, {{"setup_needed", needed}});
}

Reply SetUp(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired,
                                                        {"setup_token", "name", "password"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string token, RequiredText(body, "setup_token", 200));
  CARILLON_ASSIGN_OR_RETURN(const std::string name, ReadUserName(body));
  CARILLON_ASSIGN_OR_RETURN(const std::string password, ReadNewPassword(body, "password", name));
  CARILLON_ASSIGN_OR_RETURN(const bool needed, call.stores.auth.NeedsSetup());
  if (!needed) return SetupRefused({ErrorCode::kConflict, "an administrator already exists"});
  const std::string address = NetworkOf(AddressOf(call.request));
  const std::string account = "setup from " + address;
  if (const auto wait = call.services.sign_in.Admit(account, address))
    return TooManyAttempts(*wait);
  const WallTime now = call.services.authenticator.Wall();
  CARILLON_ASSIGN_OR_RETURN(UserRecord user,
                            NewUser(call, {.name = name, .role = "admin", .password = password}));
  const Status made = call.stores.auth.Setup(HashSecret(token), user, now);
  if (!made.ok()) return SetupRefused(made.error());
  call.services.sign_in.Succeeded(account, address);
  Tell(call, user.name, "auth.setup", user.user_id);
  return OpenSession(call, user, 201);
}

Reply Login(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired, {"name", "password"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string name, RequiredText(body, "name", 256));
  CARILLON_ASSIGN_OR_RETURN(const std::string password,
                            RequiredText(body, "password", kPasswordCharactersMax));
  std::optional<UserRecord> user;
  if (CheckUserName(name).ok()) {
    CARILLON_ASSIGN_OR_RETURN(user, call.stores.auth.FindUser(name));
  }
  CARILLON_ASSIGN_OR_RETURN(const bool right, CheckAttempt(call, name, user, password));
  if (!right) return WrongCredentials();
  CARILLON_ASSIGN_OR_RETURN(HttpResponse response, OpenSession(call, *user, 200));
  Tell(call, user->name, "auth.login", user->user_id);
  return response;
}

Reply RefreshSession(const Call& call) {
  const std::string* header = call.request.Header(kRefreshHeader);
  if (header == nullptr || *header != "1") {
    return Problem{
        .status = 403,
        .code = "refresh_header_missing",
        .detail = "Send the header X-Carillon-Refresh: 1; it guards against cross-site requests."};
  }
  const std::string old_token = RefreshTokenOf(call.request);
  if (old_token.empty()) return NoSession(call, "refresh_invalid", "There is no session. Sign in.");
  const WallTime now = call.services.authenticator.Wall();
  const std::string new_token = RandomText(kSecretBytes);
  CARILLON_ASSIGN_OR_RETURN(
      const Rotation rotation,
      call.stores.auth.RotateSession(HashSecret(old_token), HashSecret(new_token), now,
                                     now + kRefreshTokenLife));
  switch (rotation.verdict) {
    case RefreshVerdict::kRotated:
      return SessionAnswer(call, *rotation.user, rotation.family, new_token, 200);
    case RefreshVerdict::kReused:
      call.services.authenticator.Forget(rotation.family);
      Tell(call, rotation.user->name, "auth.refresh_reused", rotation.user->user_id);
      return NoSession(call, "refresh_reused",
                       "This refresh token was already used, so its session was ended. Sign in.");
    case RefreshVerdict::kUnknown:
    case RefreshVerdict::kExpired: break;
  }
  return NoSession(call, "refresh_invalid", "The session has ended. Sign in.");
}

Reply Logout(const Call& call) {
  const std::string token = RefreshTokenOf(call.request);
  if (!token.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const auto ended, call.stores.auth.EndSession(HashSecret(token)));
    if (ended) {
      call.services.authenticator.Forget(ended->family);
      const auto user = call.stores.auth.GetUser(ended->user_id);
      Tell(call, user.ok() ? user->name : std::string(kNobody), "auth.logout", ended->user_id);
    }
  }
  HttpResponse response{.status = 204};
  response.headers.emplace_back("Set-Cookie", CookieOf(call, ""));
  return response;
}

Reply WhoAmI(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  Caller caller = call.caller;
  // The cached caller may be older than a preference that the user has set on another member.
  if (caller.kind == CallerKind::kUser) {
    const auto user = call.stores.auth.GetUser(caller.user_id);
    if (user.ok()) caller.preferences = user->preferences;
  }
  return JsonResponse(200, CallerToJson(caller));
}

// No If-Match is needed. If a user makes two changes at the same time, the later change wins.
Reply ChangeMe(const Call& call) {
  if (call.caller.kind != CallerKind::kUser) {
    return Problem{.status = 403,
                   .code = "user_needed",
                   .detail = "An API token has no preferences. Sign in as the user."};
  }
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired, {"preferences"}));
  PreferenceChange change{.user_id = call.caller.user_id, .changes = {}};
  CARILLON_ASSIGN_OR_RETURN(change.changes, ReadPreferenceChanges(body));
  const auto changed = RetryIfUnknown([&] { return call.stores.auth.ChangePreferences(change); });
  if (IsUnknown(changed)) {
    return OutcomeUnknown("It is unknown whether this was stored. Retrying is safe.",
                          changed.error());
  }
  if (!changed.ok()) return changed.error();
  call.services.authenticator.ForgetUser(change.user_id);
  Caller caller = call.caller;
  caller.preferences = *changed;
  return JsonResponse(200, CallerToJson(caller));
}

Reply ChangePassword(const Call& call) {
  if (call.caller.kind != CallerKind::kUser) {
    return Problem{.status = 403,
                   .code = "user_needed",
                   .detail = "An API token has no password. Sign in as the user."};
  }
  CARILLON_ASSIGN_OR_RETURN(
      const json body, ReadObject(call.request, Body::kRequired, {"old_password", "new_password"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string old_password,
                            RequiredText(body, "old_password", kPasswordCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const std::string new_password,
                            ReadNewPassword(body, "new_password", call.caller.name));
  CARILLON_ASSIGN_OR_RETURN(UserRecord user, call.stores.auth.GetUser(call.caller.user_id));
  CARILLON_ASSIGN_OR_RETURN(const bool right, CheckAttempt(call, user.name, user, old_password));
  if (!right)
    return InvalidField("/old_password", "wrong_password", "The current password is wrong.");
  if (new_password == old_password) {
    return InvalidField("/new_password", "bad_password", "Must differ from the current password.");
  }
  CARILLON_ASSIGN_OR_RETURN(user.password_hash, call.services.sign_in.Hash(new_password));
  CARILLON_ASSIGN_OR_RETURN(const UserRecord changed,
                            call.stores.auth.UpdateUser(user, call.services.authenticator.Wall()));
  call.services.authenticator.ForgetUser(user.user_id);
  Tell(call, user.name, "auth.password", user.user_id);
  return OpenSession(call, changed, 200);
}

Reply CreateSetupLink(const Call& call) {
  CARILLON_TRY(ReadObject(call.request, Body::kOptional, {}));
  const WallTime expires = call.services.authenticator.Wall() + kSetupLinkLife;
  const std::string token = RandomText(kSecretBytes);
  const Status put = call.stores.auth.PutSetupLink(HashSecret(token), expires);
  if (!put.ok()) return SetupRefused(put.error());
  json made = {{"path", SetupPath(token)}, {"expires_at", FormatRfc3339(expires)}};
  std::string base = call.api.config.Text("rest.public_url");
  while (base.ends_with('/')) base.pop_back();
  if (!base.empty()) made["url"] = base + SetupPath(token);
  return JsonResponse(201, made);
}

}  // namespace carillon::scheduler
