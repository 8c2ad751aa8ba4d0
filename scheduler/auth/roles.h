// Roles and their permissions: the one table that all checks use. Pure.
//
// Always   A role that is not known may do nothing.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace carillon::scheduler {

enum class Permission {
  kAnyone,  // needs no authentication
  kRead,
  kManageSelf,  // one's own password, tokens and session
  kWriteJobs,
  kRunJobs,
  kWriteSecrets,
  kWriteExecutors,
  kWriteConfig,
  kAcceptStore,
  kReadAudit,
  kManageUsers,
};
// "jobs:write", as answers name it.
std::string_view Name(Permission permission);

// The objects that a permission covers.
enum class Reach {
  kNone,
  kOwn,  // what belongs to the caller
  kAll,
};
Reach ReachOf(std::string_view role, Permission permission);
// The same, restricted to `scopes`: names of permissions, none = all.
Reach ReachOf(std::string_view role, const std::vector<std::string>& scopes, Permission permission);
// A permission by its name; "anyone" is none.
bool IsScope(std::string_view name);

inline constexpr std::array<std::string_view, 3> kRoles = {"read_only", "user", "admin"};
bool IsRole(std::string_view role);
// The lesser of two roles; empty when one of them is none.
std::string_view LesserRole(std::string_view a, std::string_view b);

// "read", "jobs:write:own", …: what `role` may do within
// `scopes`, for clients that show or hide actions.
std::vector<std::string> PermissionsOf(std::string_view role,
                                       const std::vector<std::string>& scopes = {});

}  // namespace carillon::scheduler
