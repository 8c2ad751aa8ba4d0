#include "common/domain/access/roles.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

TEST(RolesTest, EachRoleMayDoItsOwn) {
  using enum Permission;
  for (const Permission permission :
       {kRead, kManageSelf, kWriteJobs, kRunJobs, kWriteExecutors, kWriteConfig, kAcceptStore,
        kReadAudit, kManageUsers, kWriteEvents}) {
    EXPECT_EQ(ReachOf("admin", permission), Reach::kAll) << Name(permission);
    EXPECT_EQ(ReachOf("", permission), Reach::kNone) << Name(permission);
    EXPECT_EQ(ReachOf("Admin", permission), Reach::kNone) << Name(permission);
  }
  EXPECT_EQ(ReachOf("user", kRead), Reach::kAll);
  EXPECT_EQ(ReachOf("user", kWriteJobs), Reach::kOwn);
  EXPECT_EQ(ReachOf("user", kRunJobs), Reach::kOwn);
  EXPECT_EQ(ReachOf("user", kWriteSecrets), Reach::kOwn);
  EXPECT_EQ(ReachOf("read_only", kRead), Reach::kAll);
  EXPECT_EQ(ReachOf("read_only", kManageSelf), Reach::kOwn);
  for (const Permission permission :
       {kWriteExecutors, kWriteConfig, kAcceptStore, kReadAudit, kManageUsers, kWriteEvents}) {
    EXPECT_EQ(ReachOf("user", permission), Reach::kNone) << Name(permission);
    EXPECT_EQ(ReachOf("read_only", permission), Reach::kNone) << Name(permission);
  }
  EXPECT_EQ(ReachOf("read_only", kWriteJobs), Reach::kNone);
  EXPECT_EQ(ReachOf("read_only", kRunJobs), Reach::kNone);
  EXPECT_EQ(ReachOf("read_only", kWriteSecrets), Reach::kNone);
}

TEST(RolesTest, PermissionsAreNamedWithTheirReach) {
  using enum Permission;
  const std::vector<std::string> user = {"read", "self:manage:own", "jobs:write:own",
                                         "jobs:run:own", "secrets:write:own"};
  EXPECT_EQ(PermissionsOf("user"), user);
  EXPECT_EQ(PermissionsOf("read_only"), (std::vector<std::string>{"read", "self:manage:own"}));
  EXPECT_EQ(PermissionsOf("admin").size(), 11u);
  EXPECT_TRUE(PermissionsOf("nobody").empty());
}

TEST(RolesTest, ScopesTakeAwayAndNeverAdd) {
  using enum Permission;
  const std::vector<std::string> scopes = {"jobs:run", "config:write", "of a later version"};
  EXPECT_EQ(ReachOf("user", scopes, kRunJobs), Reach::kOwn);
  EXPECT_EQ(ReachOf("admin", scopes, kRunJobs), Reach::kAll);
  EXPECT_EQ(ReachOf("user", scopes, kRead), Reach::kNone);
  EXPECT_EQ(ReachOf("user", scopes, kWriteConfig), Reach::kNone);
  EXPECT_EQ(ReachOf("nobody", scopes, kRunJobs), Reach::kNone);
  EXPECT_EQ(ReachOf("user", {"unknown"}, kRead), Reach::kNone);
  EXPECT_EQ(PermissionsOf("user", scopes), std::vector<std::string>{"jobs:run:own"});
  EXPECT_TRUE(IsScope("users:manage"));
  EXPECT_FALSE(IsScope("anyone"));
  EXPECT_FALSE(IsScope("jobs:run:own"));
}

// Events start jobs of others, too.
TEST(RolesTest, AnIntegrationMayOnlySendEvents) {
  using enum Permission;
  EXPECT_TRUE(IsScope("events:write"));
  EXPECT_EQ(PermissionsOf("admin", {"events:write"}), std::vector<std::string>{"events:write"});
  EXPECT_EQ(ReachOf("admin", {"events:write"}, kWriteEvents), Reach::kAll);
  EXPECT_EQ(ReachOf("admin", {"events:write"}, kRead), Reach::kNone);
  EXPECT_EQ(ReachOf("user", {"events:write"}, kWriteEvents), Reach::kNone);
}

TEST(RolesTest, OfTwoRolesTheLesserCounts) {
  using enum Permission;
  EXPECT_EQ(LesserRole("admin", "user"), "user");
  EXPECT_EQ(LesserRole("read_only", "admin"), "read_only");
  EXPECT_EQ(LesserRole("user", "user"), "user");
  EXPECT_EQ(LesserRole("user", "root"), "");
  EXPECT_TRUE(IsRole("read_only"));
  EXPECT_FALSE(IsRole("ADMIN"));
}

}  // namespace
}  // namespace carillon
