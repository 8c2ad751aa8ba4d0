#include "scheduler/api/accounts/token_routes.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include <fmt/ranges.h>

#include "common/domain/access/roles.h"
#include "scheduler/api/accounts/user_fields.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kTokenNameCharactersMax = 100;
constexpr size_t kTokensOfUserMax = 200;

json TimeOrNull(const std::optional<WallTime>& time) {
  return time ? json(FormatRfc3339(*time)) : json(nullptr);
}

json TokenToJson(const Call& call, const TokenRecord& token) {
  return {{"token_id", token.token_id},
          {"name", token.name},
          {"role", token.role},
          {"scopes", token.scopes.empty() ? json(nullptr) : json(token.scopes)},
          {"prefix", token.prefix},
          {"user_id", token.user_id.empty() ? json(nullptr) : json(token.user_id)},
          {"create_time", FormatRfc3339(token.created)},
          {"expires_at", TimeOrNull(token.expires)},
          {"last_used_at", TimeOrNull(token.last_used)},
          {"allowed_actions", AllowedActions(call, "token", token.user_id)}};
}

// Returns when the new token expires. That time must be in the future. If a token creates the new
// token, the new one must not expire after it.
Outcome<std::optional<WallTime>> ReadExpiry(const Call& call, const json& body, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text, TextMember(body, "expires_at", 100));
  if (text.empty()) return call.caller.expires;
  const auto time = ParseRfc3339(text);
  if (!time.ok()) {
    return InvalidField("/expires_at", "bad_time",
                        "Must be an RFC 3339 time, e.g. 2030-03-01T02:00:00Z.");
  }
  if (*time <= now) return InvalidField("/expires_at", "in_the_past", "Must be in the future.");
  if (call.caller.expires && *time > *call.caller.expires) {
    return InvalidField("/expires_at", "too_late",
                        "Must not be later than the expiry of the token that creates it.");
  }
  return std::optional(*time);
}

Outcome<std::string> ReadTokenRole(const Call& call, const json& body) {
  CARILLON_ASSIGN_OR_RETURN(std::string role, ReadRole(body, call.caller.role));
  if (LesserRole(role, call.caller.role) == role) return role;
  Problem problem{.status = 403,
                  .code = "role_too_high",
                  .detail = fmt::format("Your role is {}; your tokens cannot have the role {}.",
                                        call.caller.role, role),
                  .errors = {{"/role", "role_too_high", "Higher than your own role."}}};
  problem.members["permission"] = Name(Permission::kManageUsers);
  return problem;
}

// Returns the scopes of the new token. If a token creates the new token, the new one has at most
// the scopes of its creator.
Outcome<std::vector<std::string>> ReadScopes(const Call& call, const json& body) {
  const std::vector<std::string>& own = call.caller.scopes;
  if (!body.contains("scopes") || body["scopes"].is_null()) return own;
  const json& wanted = body["scopes"];
  if (!wanted.is_array() || wanted.empty()) {
    return InvalidField("/scopes", "wrong_type",
                        "Must be a list of permissions, e.g. [\"read\", \"jobs:run\"].");
  }
  std::set<std::string> scopes;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string pointer = fmt::format("/scopes/{}", i);
    const std::string name = wanted[i].is_string() ? wanted[i].get<std::string>() : "";
    if (!IsScope(name)) {
      return InvalidField(pointer, "unknown_value",
                          "Unknown permission. They are listed in docs/security.md.");
    }
    if (!own.empty() && std::find(own.begin(), own.end(), name) == own.end()) {
      return Problem{
          .status = 403,
          .code = "scope_too_wide",
          .detail = "A token cannot have more permissions than the token that creates it.",
          .errors = {{pointer, "scope_too_wide", "Your token does not have " + name + "."}}};
    }
    scopes.insert(name);
  }
  return std::vector<std::string>(scopes.begin(), scopes.end());
}

// Returns the problem if the caller already has kTokensOfUserMax tokens. The number is limited,
// because each token has its own rate limit and stays until it is deleted. If two tokens are
// created at the same time, the limit may be exceeded by one.
std::optional<Problem> TooManyTokens(const Call& call) {
  if (call.caller.user_id.empty()) return std::nullopt;  // a token without an owner is not limited
  const auto own =
      call.stores.auth.ListTokens({.user_id = call.caller.user_id, .limit = kTokensOfUserMax});
  if (!own.ok()) return ToProblem(own.error());
  if (own->size() < kTokensOfUserMax) return std::nullopt;
  return Problem{
      .status = 409,
      .code = "too_many_tokens",
      .detail = fmt::format("You have {} tokens, the maximum. Delete one that is no longer used.",
                            kTokensOfUserMax)};
}

}  // namespace

Reply ListTokens(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"user_id", "page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "tokens"));
  TokenFilter filter{
      .user_id = query.Text("user_id"), .after_token_id = page.cursor(), .limit = page.size() + 1};
  if (!call.owns_all) filter.user_id = call.caller.user_id;
  CARILLON_ASSIGN_OR_RETURN(const auto tokens, call.stores.auth.ListTokens(filter));
  for (const TokenRecord& token : tokens) {
    if (!page.Add(TokenToJson(call, token), token.token_id)) break;
  }
  return page.Finish(false, [&] { return call.stores.auth.CountTokens(filter); });
}

// Does not support Idempotency-Key, because the stored answer would contain the token.
Reply CreateToken(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired,
                                       {"name", "role", "scopes", "expires_at", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  const WallTime now = call.services.authenticator.Wall();
  const std::string whole = NewToken();
  TokenRecord token = DescribeToken(whole, now);
  CARILLON_ASSIGN_OR_RETURN(token.name, RequiredText(body, "name", kTokenNameCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(token.role, ReadTokenRole(call, body));
  CARILLON_ASSIGN_OR_RETURN(token.expires, ReadExpiry(call, body, now));
  CARILLON_ASSIGN_OR_RETURN(token.scopes, ReadScopes(call, body));
  token.user_id = call.caller.user_id;
  if (auto too_many = TooManyTokens(call)) return std::move(*too_many);
  CARILLON_TRY(call.stores.auth.CreateToken(token));
  call.note.reason = token.name + " as " + token.role;
  if (!token.scopes.empty()) {
    call.note.reason += fmt::format(", restricted to {}", fmt::join(token.scopes, " "));
  }
  json shown = TokenToJson(call, token);
  shown["token"] = whole;
  HttpResponse response = JsonResponse(201, shown);
  response.headers.emplace_back("Location", "/api/tokens/" + token.token_id);
  return response;
}

Reply DeleteToken(const Call& call) {
  const std::string& id = call.arguments.at(0);
  const auto token = call.stores.auth.GetToken(id);
  if (!token.ok() && token.code() == ErrorCode::kNotFound) {
    return NotFound("No such token. GET /api/tokens lists yours.");
  }
  if (!token.ok()) return token.error();
  CARILLON_TRY(call.stores.auth.DeleteToken(id));
  call.services.authenticator.Forget(id);
  call.note.reason = token->name;
  return HttpResponse{.status = 204};
}

}  // namespace carillon::scheduler
