// The contract of JobStore about namespaces, and of AuthStore about shares.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class NamespaceStoreContract : public StoreContract<Factory> {
 protected:
  static StoredJob CreateIn(StoreDriver& s, const std::string& id, const std::string& name_space,
                            const std::string& name = "Bell") {
    JobDefinition definition = s.Manual();
    definition.name = name;
    definition.name_space = name_space;
    return s.Create(id, definition);
  }
  static std::string Ids(StoreDriver& s, const JobFilter& filter) {
    std::string joined;
    for (const StoredJob& job : s.v(s.jobs.ListJobs(filter)).jobs) joined += job.job_id.value();
    return joined;
  }
};
TYPED_TEST_SUITE(NamespaceStoreContract, StoreFactories);

TYPED_TEST(NamespaceStoreContract, AJobIsReadBackWithItsNamespaceAndMayMove) {
  StoreDriver s = this->driver();
  const StoredJob job = this->CreateIn(s, "a", "payroll");
  EXPECT_EQ(s.v(s.jobs.GetJob(job.job_id)).definition, job.definition);
  EXPECT_EQ(s.v(s.jobs.GetJobHead(job.job_id)).name_space, "payroll");
  JobDefinition moved = job.definition;
  moved.name_space = "default";
  const StoredJob after = s.Replace(job, moved, kT0 + 1s);
  EXPECT_EQ(after.definition.name_space, "default");
  EXPECT_EQ(s.v(s.jobs.GetJobHead(job.job_id)).name_space, "default");
  const auto versions = s.v(s.jobs.ListVersions(job.job_id, INT64_MAX, 10));
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_EQ(versions[0].definition->name_space, "default");
  EXPECT_EQ(versions[1].definition->name_space, "payroll");
}

TYPED_TEST(NamespaceStoreContract, ListsAreOfSomeNamespacesAndNamesAreFoundWithinOne) {
  StoreDriver s = this->driver();
  this->CreateIn(s, "c", "payroll", "Nightly");
  this->CreateIn(s, "a", "payroll");
  this->CreateIn(s, "b", "default", "Nightly");
  this->CreateIn(s, "d", "web");
  EXPECT_EQ(this->Ids(s, {}), "abcd");
  EXPECT_EQ(this->Ids(s, {.namespaces = {"payroll"}}), "ac");
  EXPECT_EQ(this->Ids(s, {.namespaces = {"web", "payroll"}}), "acd");
  EXPECT_EQ(this->Ids(s, {.namespaces = {"pay"}}), "");
  EXPECT_EQ(this->Ids(s, {.namespaces = {"payroll"}, .after = JobListPlace{"a"}, .limit = 5}), "c");
  EXPECT_EQ(this->Ids(s, {.namespaces = {"payroll"}, .name = "Nightly"}), "c");
  EXPECT_EQ(this->Ids(s, {.namespaces = {"default"}, .name = "Nightly"}), "b");
  EXPECT_EQ(this->Ids(s, {.namespaces = {"web"}, .name = "Nightly"}), "");
}

TYPED_TEST(NamespaceStoreContract, NamespacesInUseAreListedInPages) {
  StoreDriver s = this->driver();
  EXPECT_TRUE(s.v(s.jobs.ListNamespaces("", 10)).empty());
  int number = 0;
  for (const char* name_space : {"web", "default", "payroll", "default", "old", "web"}) {
    this->CreateIn(s, "job-" + std::to_string(++number), name_space);
  }
  const StoredJob last = s.v(s.jobs.GetJob(JobId("job-5")));
  ASSERT_OK(s.jobs.DeleteJob(last.job_id, last.version, {.now = kT0}));
  using Names = std::vector<std::string>;
  EXPECT_EQ(s.v(s.jobs.ListNamespaces("", 10)), (Names{"default", "payroll", "web"}));
  EXPECT_EQ(s.v(s.jobs.ListNamespaces("", 2)), (Names{"default", "payroll"}));
  EXPECT_EQ(s.v(s.jobs.ListNamespaces("payroll", 2)), Names{"web"});
  EXPECT_EQ(s.v(s.jobs.ListNamespaces("web", 2)), Names{});
}

TYPED_TEST(NamespaceStoreContract, WhoseARunOfADeletedJobIsStaysKnown) {
  StoreDriver s = this->driver();
  const StoredJob job = this->CreateIn(s, "a", "payroll");
  EXPECT_FALSE(s.v(s.jobs.GetJobHead(job.job_id)).deleted);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0}));
  const JobHead head = s.v(s.jobs.GetJobHead(job.job_id));
  EXPECT_TRUE(head.deleted);
  EXPECT_EQ(head.name_space, "payroll");
  EXPECT_EQ(head.user_id, job.definition.user_id);
}

TYPED_TEST(NamespaceStoreContract, SharesAreReadBackWithTheUserHoweverHeIsFound) {
  StoreDriver s = this->driver();
  UserRecord user{.user_id = "user-anna",
                  .name = "anna",
                  .role = "user",
                  .password_hash = "$argon2id$x",
                  .shares = {{"payroll"}, {"*", "team in (etl, \"a b\"), !例"}},
                  .created = kT0,
                  .updated = kT0};
  ASSERT_OK(s.auth.CreateUser(user));
  EXPECT_EQ(s.v(s.auth.GetUser("user-anna")), user);
  EXPECT_EQ(s.v(s.auth.FindUser("anna")), std::optional(user));
  EXPECT_EQ(s.v(s.auth.ListUsers({})), std::vector{user});
  ASSERT_OK(s.auth.CreateSession({.token_hash = "r",
                                  .family = "f",
                                  .user_id = user.user_id,
                                  .created = kT0,
                                  .expires = kT0 + 1h}));
  ASSERT_OK(s.auth.CreateToken({.token_hash = "t",
                                .name = "ci",
                                .role = "user",
                                .created = kT0,
                                .token_id = "tok-t",
                                .user_id = user.user_id}));
  user.shares = {{"web", "tier = 1"}};
  user = s.v(s.auth.UpdateUser(user, kT0 + 1s));
  EXPECT_EQ(user.version, 2);
  EXPECT_EQ(s.v(s.auth.GetUser("user-anna")), user);
  // The session stays valid and has the current shares.
  EXPECT_EQ(s.v(s.auth.FindSession("f", kT0)), std::optional(user));
  EXPECT_EQ(s.v(s.auth.FindToken("t"))->owner, std::optional(user));
  user.shares.clear();
  user = s.v(s.auth.UpdateUser(user, kT0 + 2s));
  EXPECT_TRUE(s.v(s.auth.GetUser("user-anna")).shares.empty());
}

}  // namespace carillon::test
