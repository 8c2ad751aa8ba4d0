// Versions of a job: list with changes, show, compare, revert.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class VersionRoutesTest : public ApiEnv {
 protected:
  Answer Patch(const std::string& id, int version, const json& changes) {
    return Send("PATCH", "/api/jobs/" + id, changes.dump(), {{"If-Match", Tag(version)}});
  }
  Answer Revert(const std::string& id, int at, const json& body) {
    return Send("POST", "/api/jobs/" + id + "/revert", body.dump(), {{"If-Match", Tag(at)}});
  }
  static std::string Tag(int version) { return "\"v" + std::to_string(version) + "\""; }
  // Creates a job with three versions: 2 changes the priority, 3 the command and a label.
  void MakeThree() {
    Create({{"job_id", "a"}});
    ASSERT_EQ(Patch("a", 1, {{"priority", 7}}).status, 200);
    ASSERT_EQ(Patch("a", 2, {{"command", "false"}, {"labels", {{"team", "etl"}}}}).status, 200);
  }
};

TEST_F(VersionRoutesTest, ListedNewestFirstWithWhatChanged) {
  MakeThree();
  const json items = Get("/api/jobs/a/versions").body()["items"];
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0]["version"], 3);
  EXPECT_EQ(items[0]["actor"], "token/admin");
  const json expected = {
      {{"field", "command"}, {"before", "true"}, {"after", "false"}},
      {{"field", "labels"}, {"before", json::object()}, {"after", {{"team", "etl"}}}}};
  EXPECT_EQ(items[0]["changes"], expected);
  EXPECT_EQ(items[1]["changes"].size(), 1u);
  EXPECT_EQ(items[1]["changes"][0]["field"], "priority");
  EXPECT_TRUE(items[2]["changes"].is_null());
}

TEST_F(VersionRoutesTest, PagesGoOnWithTheirChanges) {
  MakeThree();
  const json first = Get("/api/jobs/a/versions?page_size=1").body();
  ASSERT_EQ(first["items"].size(), 1u);
  EXPECT_EQ(first["items"][0]["changes"].size(), 2u);
  const std::string token = first["next_page_token"];
  const json second = Get("/api/jobs/a/versions?page_size=2&page_token=" + token).body();
  ASSERT_EQ(second["items"].size(), 2u);
  EXPECT_EQ(second["items"][0]["version"], 2);
  EXPECT_EQ(second["items"][0]["changes"].size(), 1u);
  EXPECT_TRUE(second["next_page_token"].is_null());
  EXPECT_EQ(Get("/api/jobs/b/versions").code(), "not_found");
}

TEST_F(VersionRoutesTest, AFieldThatIsSetOrRemovedIsAChange) {
  Create({{"job_id", "a"}});
  const json limits = {{"pids", 9}, {"enforce", "required"}};
  ASSERT_EQ(Patch("a", 1, {{"limits", {{"pids", 9}}}}).status, 200);
  ASSERT_EQ(Patch("a", 2, {{"limits", nullptr}}).status, 200);
  const json items = Get("/api/jobs/a/versions").body()["items"];
  EXPECT_EQ(items[0]["changes"],
            (json{{{"field", "limits"}, {"before", limits}, {"after", nullptr}}}));
  EXPECT_EQ(items[1]["changes"],
            (json{{{"field", "limits"}, {"before", nullptr}, {"after", limits}}}));
}

TEST_F(VersionRoutesTest, OneIsComparedWithTheOneBeforeOrWithAnother) {
  MakeThree();
  const json third = Get("/api/jobs/a/versions/3").body();
  EXPECT_EQ(third["job_id"], "a");
  EXPECT_EQ(third["definition"]["command"], "false");
  EXPECT_FALSE(third["definition"].contains("version"));
  EXPECT_EQ(third["changes"].size(), 2u);
  EXPECT_EQ(Get("/api/jobs/a/versions/3?against=1").body()["changes"].size(), 3u);
  EXPECT_TRUE(Get("/api/jobs/a/versions/3?against=3").body()["changes"].empty());
  EXPECT_TRUE(Get("/api/jobs/a/versions/1").body()["changes"].is_null());
  for (const char* missing : {"4", "0", "-1", "x", "99999999999999999999", "3?against=9"}) {
    EXPECT_EQ(Get(std::string("/api/jobs/a/versions/") + missing).code(), "not_found") << missing;
  }
  EXPECT_EQ(Get("/api/jobs/a/versions/3?against=x").pointer(), "?against");
}

TEST_F(VersionRoutesTest, RevertBringsTheDefinitionBackButNeitherStateNorOwner) {
  MakeThree();
  ASSERT_EQ(Patch("a", 3, {{"user_id", "ann"}, {"enabled", false}}).status, 200);
  const Answer reverted = Revert("a", 4, {{"version", 1}, {"reason", "too early"}});
  ASSERT_EQ(reverted.status, 200) << reverted.text;
  EXPECT_EQ(reverted.header("etag"), Tag(5));
  const json job = reverted.body();
  EXPECT_EQ(job["command"], "true");
  EXPECT_EQ(job["priority"], 0);
  EXPECT_TRUE(job["labels"].empty());
  EXPECT_EQ(job["user_id"], "ann");
  EXPECT_EQ(job["state"], "PAUSED");
  const json audit = Get("/api/audit?object_id=a").body()["items"][0];
  EXPECT_EQ(audit["action"], "job.revert");
  EXPECT_EQ(audit["reason"], "too early");
  EXPECT_EQ(Revert("a", 5, {{"version", 1}}).body()["version"], 5);  // nothing to change
}

TEST_F(VersionRoutesTest, RevertSaysWhatIsWrong) {
  MakeThree();
  EXPECT_EQ(Post("/api/jobs/a/revert", {{"version", 1}}).code(), "precondition_required");
  const Answer stale = Revert("a", 2, {{"version", 1}});
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.body()["current"]["version"], 3);
  EXPECT_EQ(Revert("a", 3, {{"version", 9}}).code(), "not_found");
  EXPECT_EQ(Revert("a", 3, json::object()).pointer(), "/version");
  EXPECT_EQ(Revert("a", 3, {{"version", "1"}}).pointer(), "/version");
  EXPECT_EQ(Revert("a", 3, {{"version", 1}, {"colour", "red"}}).pointer(), "/colour");
  EXPECT_EQ(Revert("b", 3, {{"version", 1}}).code(), "not_found");
  stores_.DamageDefinition(JobId("a"), 1, true);
  EXPECT_EQ(Revert("a", 3, {{"version", 1}}).code(), "conflict");
  const json listed = Get("/api/jobs/a/versions").body()["items"];
  EXPECT_FALSE(listed[2]["readable"]);
  EXPECT_TRUE(listed[1]["changes"].is_null());
  EXPECT_TRUE(Get("/api/jobs/a/versions/1").body()["definition"].is_null());
}

TEST_F(VersionRoutesTest, AJobThatCannotBeReadIsMendedByAnOlderVersion) {
  MakeThree();
  ASSERT_EQ(Post("/api/jobs/a/pause").status, 200);
  stores_.DamageDefinition(JobId("a"), 4, true);
  const Answer mended = Revert("a", 4, {{"version", 2}});
  ASSERT_EQ(mended.status, 200) << mended.text;
  EXPECT_EQ(mended.body()["priority"], 7);
  EXPECT_EQ(mended.body()["state"], "PAUSED");
}

}  // namespace
}  // namespace carillon::test
