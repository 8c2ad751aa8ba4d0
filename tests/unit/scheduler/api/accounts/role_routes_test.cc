// GET /api/roles: the description of the roles for clients.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class RoleRoutesTest : public PeopleEnv {};

TEST_F(RoleRoutesTest, EachSaysWhatItMay) {
  const Answer answer = Get("/api/roles");
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json body = answer.body();
  ASSERT_EQ(body["items"].size(), 3u);
  EXPECT_EQ(body["total"], 3);
  EXPECT_EQ(body["items"][0],
            (json{{"role", "read_only"}, {"permissions", {"read", "self:manage:own"}}}));
  EXPECT_EQ(body["items"][1]["permissions"], (json{"read", "self:manage:own", "jobs:write:own",
                                                   "jobs:run:own", "secrets:write:own"}));
  const json& admin = body["items"][2]["permissions"];
  EXPECT_EQ(body["items"][2]["role"], "admin");
  EXPECT_NE(std::find(admin.begin(), admin.end(), "users:manage"), admin.end());
}

TEST_F(RoleRoutesTest, TheyComeInPagesAsAnyList) {
  const json first = Get("/api/roles?page_size=2").body();
  ASSERT_EQ(first["items"].size(), 2u);
  const std::string token = first["next_page_token"];
  const json second = Get("/api/roles?page_size=2&page_token=" + token).body();
  ASSERT_EQ(second["items"].size(), 1u);
  EXPECT_EQ(second["items"][0]["role"], "admin");
  EXPECT_TRUE(second["next_page_token"].is_null());
  EXPECT_EQ(Get("/api/roles?page_size=2&page_token=" + token + "A").status, 400);
}

}  // namespace
}  // namespace carillon::test
