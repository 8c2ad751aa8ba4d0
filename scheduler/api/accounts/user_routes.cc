#include "scheduler/api/accounts/user_routes.h"

#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/wire/json/job/share_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/accounts/user_fields.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/http/sort.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

json UserToJson(const Call& call, const UserRecord& user) {
  return {{"user_id", user.user_id},
          {"name", user.name},
          {"display_name", user.display_name},
          {"role", user.role},
          {"shares", SharesToJson(user.shares)},
          {"disabled", user.disabled},
          {"version", user.version},
          {"create_time", FormatRfc3339(user.created)},
          {"update_time", FormatRfc3339(user.updated)},
          {"allowed_actions", AllowedActions(call, "user")}};
}

HttpResponse UserResponse(const Call& call, int status, const UserRecord& user) {
  HttpResponse response = JsonResponse(status, UserToJson(call, user));
  response.headers.emplace_back("ETag", VersionTag(user.version));
  return response;
}

Problem StaleVersion(const Call& call, const UserRecord& user) {
  Problem problem{
      .status = 412,
      .code = "stale_version",
      .detail = fmt::format(
          "The user is now at version {}. Review `current` and send If-Match with its ETag.",
          user.version)};
  problem.members["current_version"] = user.version;
  problem.members["current"] = UserToJson(call, user);
  problem.headers.emplace_back("ETag", VersionTag(user.version));
  return problem;
}

Problem LastAdministrator() {
  return {.status = 409,
          .code = "last_admin",
          .detail = "This is the last enabled administrator. Create another one first."};
}

Outcome<UserRecord> ReadUser(const Call& call) {
  const auto user = call.stores.auth.GetUser(call.arguments.at(0));
  if (!user.ok() && user.code() == ErrorCode::kNotFound) {
    return NotFound("No such user. GET /api/users lists them.");
  }
  if (!user.ok()) return user.error();
  return *user;
}

Outcome<UserRecord> ReadAtVersion(const Call& call, const EntityTags& wanted) {
  CARILLON_ASSIGN_OR_RETURN(UserRecord user, ReadUser(call));
  if (!wanted.MatchesStrongly(VersionTag(user.version))) return StaleVersion(call, user);
  return user;
}

// The problem for a write that the store refused.
Problem Refused(const Call& call, const Error& error) {
  if (error.code == ErrorCode::kDenied) return LastAdministrator();
  if (error.code == ErrorCode::kTimeout) {
    return OutcomeUnknown("It is unknown whether this was done. GET the user before retrying.",
                          error);
  }
  if (error.code != ErrorCode::kConflict) return ToProblem(error);
  const auto current = ReadUser(call);
  return current.ok() ? StaleVersion(call, *current) : current.error();
}

json ForTheAudit(const UserRecord& user) {
  return {{"role", user.role},
          {"display_name", user.display_name},
          {"disabled", user.disabled},
          {"shares", SharesToJson(user.shares)}};
}

// Notes the changed fields for the audit. For a password, notes only that it changed.
void NotePatch(const Call& call, const UserRecord& before, const UserRecord& after) {
  json to = ForTheAudit(after);
  if (before.password_hash != after.password_hash) to["password"] = "***";
  NoteChanges(call, ForTheAudit(before), to);
}

Outcome<UserRecord> Patched(const Call& call, UserRecord user, const json& body) {
  CARILLON_ASSIGN_OR_RETURN(user.role, ReadRole(body, user.role));
  if (body.contains("display_name")) {
    CARILLON_ASSIGN_OR_RETURN(user.display_name,
                              TextMember(body, "display_name", kDisplayNameCharactersMax));
  }
  if (body.contains("shares")) {
    CARILLON_ASSIGN_OR_RETURN(user.shares, ReadShares(body));
  }
  if (body.contains("disabled")) {
    CARILLON_ASSIGN_OR_RETURN(user.disabled, FlagMember(body, "disabled"));
  }
  if (body.contains("password")) {
    CARILLON_ASSIGN_OR_RETURN(const std::string password,
                              ReadNewPassword(body, "password", user.name));
    CARILLON_ASSIGN_OR_RETURN(user.password_hash, call.services.sign_in.Hash(password));
  }
  return user;
}

}  // namespace

Reply ListUsers(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"sort", "page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "users"));
  CARILLON_ASSIGN_OR_RETURN(const auto sort, ReadSort(query, {"name"}));
  const UserListing listing{.by_name = sort.has_value(),
                            .descending = sort && sort->descending,
                            .after = page.cursor(),
                            .limit = page.size() + 1};
  CARILLON_ASSIGN_OR_RETURN(const auto users, call.stores.auth.ListUsers(listing));
  for (const UserRecord& user : users) {
    if (!page.Add(UserToJson(call, user), listing.by_name ? user.name : user.user_id)) break;
  }
  return page.Finish(false, [&] { return call.stores.auth.CountUsers(); });
}

Reply CreateUser(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired,
                                                        {"name", "display_name", "role", "shares",
                                                         "password", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  UserFields fields;
  CARILLON_ASSIGN_OR_RETURN(fields.name, ReadUserName(body));
  CARILLON_ASSIGN_OR_RETURN(fields.display_name,
                            TextMember(body, "display_name", kDisplayNameCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(fields.role, ReadRole(body, "user"));
  CARILLON_ASSIGN_OR_RETURN(fields.shares, ReadShares(body));
  CARILLON_ASSIGN_OR_RETURN(fields.password, ReadNewPassword(body, "password", fields.name));
  CARILLON_ASSIGN_OR_RETURN(const UserRecord user, NewUser(call, fields));
  const Status made = call.stores.auth.CreateUser(user);
  if (!made.ok() && made.code() == ErrorCode::kExists) {
    return Problem{.status = 409,
                   .code = "exists",
                   .detail = "This name is already used.",
                   .errors = {{"/name", "exists", "This name is already used."}}};
  }
  if (!made.ok()) return Refused(call, made.error());
  call.note.reason = user.name + " as " + user.role;
  NoteChanges(call, {}, ForTheAudit(user));
  HttpResponse response = UserResponse(call, 201, user);
  response.headers.emplace_back("Location", "/api/users/" + user.user_id);
  return response;
}

Reply GetUser(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const UserRecord user, ReadUser(call));
  return UserResponse(call, 200, user);
}

// If nothing changes, nothing is written and the version stays the same.
Reply PatchUser(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired,
                                                        {"display_name", "role", "shares",
                                                         "disabled", "password", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const EntityTags tags, RequireIfMatch(call.request));
  return WriteMatching(tags, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const UserRecord user, ReadAtVersion(call, tags));
    CARILLON_ASSIGN_OR_RETURN(const UserRecord wanted, Patched(call, user, body));
    NotePatch(call, user, wanted);
    if (wanted == user) return UserResponse(call, 200, user);
    const auto changed = call.stores.auth.UpdateUser(wanted, call.services.authenticator.Wall());
    if (!changed.ok()) return Refused(call, changed.error());
    call.services.authenticator.ForgetUser(user.user_id);
    // A new password is usually set because the user failed to sign in with the old one. So the
    // failures are forgotten.
    if (wanted.password_hash != user.password_hash) call.services.sign_in.Forgive(user.name);
    return UserResponse(call, 200, *changed);
  });
}

Reply DeleteUser(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const EntityTags tags, RequireIfMatch(call.request));
  return WriteMatching(tags, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const UserRecord user, ReadAtVersion(call, tags));
    const Status deleted = call.stores.auth.DeleteUser(user.user_id, user.version);
    if (!deleted.ok()) return Refused(call, deleted.error());
    call.services.authenticator.ForgetUser(user.user_id);
    call.note.reason = user.name;
    return HttpResponse{.status = 204};
  });
}

}  // namespace carillon::scheduler
