// Audit records of changes to things other than jobs: field by field, without secrets.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class AuditChangesTest : public PeopleEnv {
 protected:
  // The changes in the newest record with this action.
  json Newest(const std::string& action) {
    const json items = Get("/api/audit").body()["items"];
    for (const json& item : items) {
      if (item["action"] == action) return item;
    }
    return {};
  }
  static json Change(const std::string& path, const json& from, const json& to) {
    return {{"path", path}, {"from", from}, {"to", to}};
  }
};

TEST_F(AuditChangesTest, Configuration) {
  const std::string tag = Get("/api/system/config").header("etag");
  const json body = {{"settings", {{"scheduler.dispatch_timeout_ms", 9000}}}, {"reason", "slow"}};
  ASSERT_EQ(Send("PUT", "/api/system/config", body.dump(), {{"If-Match", tag}}).status, 200);
  const json record = Newest("config.change");
  EXPECT_EQ(record["reason"], "slow");
  EXPECT_EQ(record["changes"],
            json::array({Change("/scheduler.dispatch_timeout_ms", nullptr, "9000")}));
}

TEST_F(AuditChangesTest, Executors) {
  AddExecutor("e1");
  ASSERT_EQ(Send("PATCH", "/api/executors/e1", R"({"labels": {"zone": "a"}})", {{"If-Match", "*"}})
                .status,
            200);
  EXPECT_EQ(Newest("executor.patch")["changes"],
            json::array({Change("/labels/zone", nullptr, "a")}));
  Post("/api/executors/e1/drain", {{"reason", "disk"}});
  EXPECT_EQ(Newest("executor.drain")["changes"], json::array({Change("/draining", false, true)}));
  EXPECT_EQ(Newest("executor.drain")["reason"], "disk");
  Post("/api/executors/e1/disable");
  EXPECT_EQ(Newest("executor.disable")["changes"], json::array({Change("/enabled", true, false)}));
  Post("/api/executors/e1/enable");
  EXPECT_EQ(Newest("executor.enable")["changes"],
            json::array({Change("/draining", true, false), Change("/enabled", false, true)}));
  Post("/api/executors/e1/enable");
  EXPECT_TRUE(Newest("executor.enable")["changes"].is_null());
}

TEST_F(AuditChangesTest, UsersWithoutTheirPasswords) {
  AddUser("ann", "user");
  const json ann = Get("/api/users").body()["items"][0];
  const std::string path = "/api/users/" + ann["user_id"].get<std::string>();
  const std::string tag = Get(path).header("etag");
  const std::string password = "a long enough pass phrase 17";
  const json body = {{"role", "read_only"}, {"password", password}};
  const Answer patched = Send("PATCH", path, body.dump(), {{"If-Match", tag}});
  ASSERT_EQ(patched.status, 200) << patched.text;
  const json record = Newest("user.patch");
  EXPECT_EQ(record["changes"], json::array({Change("/role", "user", "read_only"),
                                            Change("/password", nullptr, "***")}));
  EXPECT_EQ(record.dump().find(password), std::string::npos);
}

TEST_F(AuditChangesTest, SecretsWithoutTheirValues) {
  ASSERT_EQ(Post("/api/secrets", {{"name", "db"}, {"value", "hunter2 and more"}}).status, 201);
  const std::string tag = Get("/api/secrets/db").header("etag");
  const json body = {{"value", "hunter3 and more"}, {"description", "of the store"}};
  ASSERT_EQ(Send("PUT", "/api/secrets/db", body.dump(), {{"If-Match", tag}}).status, 200);
  const json record = Newest("secret.update");
  EXPECT_EQ(record["changes"], json::array({Change("/description", "", "of the store"),
                                            Change("/value", nullptr, "***")}));
  EXPECT_EQ(Get("/api/audit").text.find("hunter"), std::string::npos);
}

}  // namespace
}  // namespace carillon::test
