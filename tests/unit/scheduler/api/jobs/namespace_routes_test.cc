// Namespaces of jobs: as a field, as a filter, and as the scope in which names identify jobs.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class NamespacesTest : public PeopleEnv {
 protected:
  std::string Ids(const std::string& query) {
    std::string ids;
    const Answer answer = Get("/api/jobs?" + query);
    EXPECT_EQ(answer.status, 200) << answer.text;
    const json body = answer.body();
    for (const json& job : body["items"]) ids += job.value("job_id", "");
    return ids;
  }
  json Apply(const std::vector<json>& list, const std::string& query = "") {
    const Answer answer = Send("POST", "/api/apply" + query, json(list).dump());
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body()["items"];
  }
};

TEST_F(NamespacesTest, AJobIsInDefaultUnlessItSaysOtherwise) {
  EXPECT_EQ(Create({{"job_id", "a"}})["namespace"], "default");
  EXPECT_EQ(Create({{"job_id", "b"}, {"namespace", "payroll"}})["namespace"], "payroll");
  const Answer bad = Post("/api/jobs", JobBody({{"namespace", "Pay Roll"}}));
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.pointer(), "/namespace");
  const HttpHeaders any = {{"If-Match", "*"}};
  EXPECT_EQ(Send("PUT", "/api/jobs/b", JobBody().dump(), any).body()["namespace"], "payroll");
  EXPECT_EQ(
      Send("PUT", "/api/jobs/b", JobBody({{"namespace", "web"}}).dump(), any).body()["namespace"],
      "web");
  const json versions = Get("/api/jobs/b/versions").body()["items"];
  EXPECT_EQ(versions[0]["changes"],
            (json{{{"field", "namespace"}, {"before", "payroll"}, {"after", "web"}}}));
  EXPECT_EQ(Send("PATCH", "/api/jobs/b", R"({"namespace": null})", any).body()["namespace"],
            "default");
}

TEST_F(NamespacesTest, ListsAreFilteredByThem) {
  Create({{"job_id", "a"}, {"namespace", "payroll"}, {"labels", {{"x", "1"}}}});
  Create({{"job_id", "b"}});
  Create({{"job_id", "c"}, {"namespace", "web"}});
  Create({{"job_id", "d"}, {"namespace", "payroll"}});
  EXPECT_EQ(Ids("namespace=payroll"), "ad");
  EXPECT_EQ(Ids("namespace=payroll&namespace=web"), "acd");
  EXPECT_EQ(Ids("namespace=none"), "");
  EXPECT_EQ(Ids("namespace=payroll&selector=x"), "a");
  const Answer bad = Get("/api/jobs?namespace=A");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.pointer(), "?namespace");
  const Answer page = Get("/api/jobs?namespace=payroll&page_size=1");
  const std::string token = page.body().value("next_page_token", "");
  EXPECT_EQ(Ids("namespace=payroll&page_size=1&page_token=" + token), "d");
  EXPECT_EQ(Get("/api/jobs?namespace=web&page_size=1&page_token=" + token).status, 400);
}

TEST_F(NamespacesTest, ThoseInUseAreListedByName) {
  EXPECT_EQ(Get("/api/namespaces").body(),
            (json{{"items", json::array()}, {"next_page_token", nullptr}, {"total", 0}}));
  for (const char* name : {"web", "default", "payroll"}) Create({{"namespace", name}});
  const json expected = {
      {{"namespace", "default"}}, {{"namespace", "payroll"}}, {{"namespace", "web"}}};
  EXPECT_EQ(Get("/api/namespaces").body()["items"], expected);
  const json first = Get("/api/namespaces?page_size=2").body();
  EXPECT_EQ(first["items"].size(), 2u);
  const std::string token = first.value("next_page_token", "");
  const json rest = Get("/api/namespaces?page_size=2&page_token=" + token).body();
  EXPECT_EQ(rest["items"], (json{{{"namespace", "web"}}}));
  EXPECT_TRUE(rest["next_page_token"].is_null());
}

TEST_F(NamespacesTest, ANameIsAKeyWithinOne) {
  const json nightly = JobBody({{"name", "Nightly"}});
  const json payroll = JobBody({{"name", "Nightly"}, {"namespace", "payroll"}});
  const json made = Apply({nightly, payroll});
  EXPECT_EQ(made[0]["result"], "created");
  EXPECT_EQ(made[1]["result"], "created");
  EXPECT_NE(made[0]["job_id"], made[1]["job_id"]);
  const json again = Apply({payroll, nightly});
  EXPECT_EQ(again[0]["result"], "unchanged");
  EXPECT_EQ(again[0]["job_id"], made[1]["job_id"]);
  EXPECT_EQ(again[1]["job_id"], made[0]["job_id"]);
  // Documents without a namespace get the namespace of the request.
  const json named = Apply({nightly}, "?namespace=payroll");
  EXPECT_EQ(named[0]["result"], "unchanged");
  EXPECT_EQ(named[0]["job_id"], made[1]["job_id"]);
  EXPECT_EQ(Apply({nightly}, "?namespace=web")[0]["result"], "created");
  EXPECT_EQ(Ids("namespace=web").empty(), false);
}

TEST_F(NamespacesTest, WhatWasMovedSinceIsNotMadeASecondTime) {
  const json nightly = JobBody({{"name", "Nightly"}});
  const std::string id = Apply({nightly})[0]["job_id"];
  const HttpHeaders any = {{"If-Match", "*"}};
  ASSERT_EQ(Send("PATCH", "/api/jobs/" + id, R"({"namespace": "payroll"})", any).status, 200);
  for (const char* how : {"", "?dry_run=true"}) {
    const json again = Apply({nightly}, how)[0];
    EXPECT_EQ(again["result"], "error") << how;
    EXPECT_EQ(again["error"]["code"], "conflict") << how;
  }
  json there = nightly;
  there["namespace"] = "payroll";
  EXPECT_EQ(Apply({there})[0]["result"], "unchanged");
  // A document with another name is a new job. So is one with the same name after the first
  // job was deleted.
  EXPECT_EQ(Apply({JobBody({{"name", "Weekly"}})})[0]["result"], "created");
  ASSERT_EQ(Send("DELETE", "/api/jobs/" + id, "", any).status, 204);
  EXPECT_EQ(Apply({nightly})[0]["result"], "created");
}

TEST_F(NamespacesTest, ARevertLeavesAJobWhereItIs) {
  Create({{"job_id", "a"}, {"description", "first"}});
  const HttpHeaders any = {{"If-Match", "*"}};
  ASSERT_EQ(
      Send("PATCH", "/api/jobs/a", R"({"namespace": "payroll", "description": "x"})", any).status,
      200);
  const json back = Send("POST", "/api/jobs/a/revert", R"({"version": 1})", any).body();
  EXPECT_EQ(back["description"], "first");
  EXPECT_EQ(back["namespace"], "payroll");
}

TEST_F(NamespacesTest, AJobThatIsNamedByItsIdStaysUnlessSomethingSaysOtherwise) {
  Create({{"job_id", "a"}, {"namespace", "payroll"}});
  const json document = JobBody({{"job_id", "a"}});
  EXPECT_EQ(Apply({document})[0]["result"], "unchanged");
  const json moved = Apply({document}, "?namespace=web");
  EXPECT_EQ(moved[0]["changes"],
            (json{{{"path", "/namespace"}, {"from", "payroll"}, {"to", "web"}}}));
  EXPECT_EQ(Get("/api/jobs/a").body()["namespace"], "web");
}

}  // namespace
}  // namespace carillon::test
