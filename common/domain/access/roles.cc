#include "common/domain/access/roles.h"

#include <algorithm>

namespace carillon {
namespace {

struct PermissionRow {
  Permission permission;
  std::string_view name;
  Reach read_only;
  Reach user;
  Reach admin;
};

using enum Reach;
constexpr std::array<PermissionRow, 12> kTable = {{
    {Permission::kAnyone, "anyone", kAll, kAll, kAll},
    {Permission::kRead, "read", kAll, kAll, kAll},
    {Permission::kManageSelf, "self:manage", kOwn, kOwn, kAll},
    {Permission::kWriteJobs, "jobs:write", kNone, kOwn, kAll},
    {Permission::kRunJobs, "jobs:run", kNone, kOwn, kAll},
    {Permission::kWriteEvents, "events:write", kNone, kNone, kAll},
    {Permission::kWriteSecrets, "secrets:write", kNone, kOwn, kAll},
    {Permission::kWriteExecutors, "executors:write", kNone, kNone, kAll},
    {Permission::kWriteConfig, "config:write", kNone, kNone, kAll},
    {Permission::kAcceptStore, "store:accept", kNone, kNone, kAll},
    {Permission::kReadAudit, "audit:read", kNone, kNone, kAll},
    {Permission::kManageUsers, "users:manage", kNone, kNone, kAll},
}};

const PermissionRow& RowOf(Permission permission) {
  return *std::find_if(kTable.begin(), kTable.end(),
                       [&](const PermissionRow& row) { return row.permission == permission; });
}

Reach Of(const PermissionRow& row, std::string_view role) {
  if (role == "admin") return row.admin;
  if (role == "user") return row.user;
  if (role == "read_only") return row.read_only;
  return kNone;
}

}  // namespace

std::string_view Name(Permission permission) { return RowOf(permission).name; }

Reach ReachOf(std::string_view role, Permission permission) { return Of(RowOf(permission), role); }

Reach ReachOf(std::string_view role, const std::vector<std::string>& scopes,
              Permission permission) {
  const PermissionRow& row = RowOf(permission);
  const bool within = scopes.empty() || permission == Permission::kAnyone ||
                      std::find(scopes.begin(), scopes.end(), row.name) != scopes.end();
  return within ? Of(row, role) : kNone;
}

bool IsScope(std::string_view name) {
  return std::any_of(kTable.begin(), kTable.end(), [&](const PermissionRow& row) {
    return row.permission != Permission::kAnyone && row.name == name;
  });
}

bool IsRole(std::string_view role) {
  return std::find(kRoles.begin(), kRoles.end(), role) != kRoles.end();
}

std::string_view LesserRole(std::string_view a, std::string_view b) {
  if (!IsRole(a) || !IsRole(b)) return "";
  return *std::min(std::find(kRoles.begin(), kRoles.end(), a),
                   std::find(kRoles.begin(), kRoles.end(), b));
}

std::vector<std::string> PermissionsOf(std::string_view role,
                                       const std::vector<std::string>& scopes) {
  std::vector<std::string> names;
  for (const PermissionRow& row : kTable) {
    const Reach reach = ReachOf(role, scopes, row.permission);
    if (row.permission == Permission::kAnyone || reach == kNone) continue;
    names.push_back(std::string(row.name) + (reach == kOwn ? ":own" : ""));
  }
  return names;
}

}  // namespace carillon
