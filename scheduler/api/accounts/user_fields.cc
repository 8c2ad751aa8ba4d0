#include "scheduler/api/accounts/user_fields.h"

#include <nlohmann/json.hpp>

#include "common/domain/access/roles.h"
#include "common/domain/access/standing.h"
#include "common/wire/json/job/share_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/auth/random_token.h"

namespace carillon::scheduler {

using nlohmann::json;

Outcome<std::string> RequiredText(const json& body, std::string_view member,
                                  size_t characters_max) {
  CARILLON_ASSIGN_OR_RETURN(std::string text, TextMember(body, member, characters_max));
  if (text.empty()) {
    return InvalidField(JsonPointer("", member), "missing", std::string(member) + " is required.");
  }
  return text;
}

Outcome<std::string> ReadUserName(const json& body) {
  CARILLON_ASSIGN_OR_RETURN(std::string name, RequiredText(body, "name", 1000));
  const Status fits = CheckUserName(name);
  if (!fits.ok()) return InvalidField("/name", "bad_name", fits.error().message);
  return name;
}

Outcome<std::string> ReadNewPassword(const json& body, std::string_view member,
                                     std::string_view user_name) {
  CARILLON_ASSIGN_OR_RETURN(std::string password, RequiredText(body, member, 1000));
  const Status fits = CheckPassword(user_name, password);
  if (!fits.ok()) {
    return InvalidField(JsonPointer("", member), "bad_password", fits.error().message);
  }
  return password;
}

Outcome<std::string> ReadRole(const json& body, const std::string& otherwise) {
  CARILLON_ASSIGN_OR_RETURN(std::string role, TextMember(body, "role", 100));
  if (role.empty()) return otherwise;
  if (IsRole(role)) return role;
  return InvalidField("/role", "unknown_value", "Must be admin, user or read_only.");
}

Outcome<std::vector<Share>> ReadShares(const json& body) {
  const auto found = body.find("shares");
  if (found == body.end()) return std::vector<Share>();
  auto shares = SharesFromJson(*found);
  if (!shares.ok()) return shares.error();
  return std::move(shares).value();
}

Outcome<UserRecord> NewUser(const Call& call, const UserFields& fields) {
  const WallTime now = call.services.authenticator.Wall();
  UserRecord user{.user_id = std::string(kAccountPrefix) + RandomHex(8),
                  .name = fields.name,
                  .display_name = fields.display_name,
                  .role = fields.role,
                  .shares = fields.shares,
                  .created = now,
                  .updated = now};
  CARILLON_ASSIGN_OR_RETURN(user.password_hash, call.services.sign_in.Hash(fields.password));
  return user;
}

}  // namespace carillon::scheduler
