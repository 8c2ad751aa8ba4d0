// Roles and their permissions. Every check of permissions uses this one table. Pure.
//
// Always   An unknown role has no permissions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace carillon {

enum class Permission {
  kAnyone,  // needs no authentication
  kRead,
  kManageSelf,  // the caller's own password, tokens and sessions
  kWriteJobs,
  kRunJobs,
  kWriteEvents,
  kWriteSecrets,
  kWriteExecutors,
  kWriteConfig,
  kAcceptStore,
  kReadAudit,
  kManageUsers,
};
// The name in answers, such as "jobs:write".
std::string_view Name(Permission permission);

// The objects to which a permission extends.
enum class Reach {
  kNone,
  kOwn,  // objects that belong to the caller
  kAll,
};
Reach ReachOf(std::string_view role, Permission permission);
// The same for a token with scopes. `scopes` are names of permissions. Empty: all permissions
// of the role.
Reach ReachOf(std::string_view role, const std::vector<std::string>& scopes, Permission permission);
// True if `name` is the name of a permission other than kAnyone.
bool IsScope(std::string_view name);

inline constexpr std::array<std::string_view, 3> kRoles = {"read_only", "user", "admin"};
bool IsRole(std::string_view role);
// Returns the role of the two that allows less. Empty if one of them is not a role.
std::string_view LesserRole(std::string_view a, std::string_view b);

// Returns the permissions of `role` within `scopes`, as "read", "jobs:write:own", …. Clients use
// them to show or hide actions.
std::vector<std::string> PermissionsOf(std::string_view role,
                                       const std::vector<std::string>& scopes = {});

}  // namespace carillon
