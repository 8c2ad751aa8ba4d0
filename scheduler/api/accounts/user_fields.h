// The fields of users and tokens in bodies and answers.
//
// Errors   400 with the JSON pointer of the wrong field.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

inline constexpr size_t kDisplayNameCharactersMax = 200;

Outcome<std::string> RequiredText(const nlohmann::json& body, std::string_view member,
                                  size_t characters_max);
Outcome<std::string> ReadUserName(const nlohmann::json& body);
// Reads a valid new password for the user with this name from the field `member`.
Outcome<std::string> ReadNewPassword(const nlohmann::json& body, std::string_view member,
                                     std::string_view user_name);
// The role in `body`, or `otherwise` if it is absent.
Outcome<std::string> ReadRole(const nlohmann::json& body, const std::string& otherwise);
// The shares in `body`; empty if absent.
Outcome<std::vector<Share>> ReadShares(const nlohmann::json& body);

struct UserFields {
  std::string name;
  std::string display_name = {};
  std::string role;
  std::vector<Share> shares = {};
  std::string password;
};
// Returns a user with a new id and the hashed password. The user is not stored yet.
Outcome<UserRecord> NewUser(const Call& call, const UserFields& fields);

}  // namespace carillon::scheduler
