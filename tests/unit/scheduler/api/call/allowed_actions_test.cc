// Checks for every caller and resource that allowed_actions agrees with the routes' answers.
#include <fmt/core.h>

#include "scheduler/api/server/route_table.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

using scheduler::Owned;

class AllowedActionsTest : public PeopleEnv {
 protected:
  AllowedActionsTest() {
    AddUser("boss", "admin");
    AddUser("reader", "read_only");
    for (const char* name : {"owner", "by_space", "by_label", "other"}) AddUser(name, "user");
    for (const char* name : {"boss", "reader", "owner", "by_space", "by_label", "other"}) {
      bearers_[name] = SignIn(name).access_token;
    }
    Share("by_space", {{{"namespace", "payroll"}}});
    Share("by_label", {{{"namespace", "*"}, {"selector", "team = etl"}}});
    Share("reader", {{{"namespace", "payroll"}}});
    bearers_["token"] = As(bearers_["by_space"], "POST", "/api/tokens", R"({"name": "ci"})")
                            .body()
                            .value("token", "");
    jobs_ = {{"plain", Make({})},
             {"space", Make({{"namespace", "payroll"}})},
             {"label", Make({{"labels", {{"team", "etl"}}}})}};
  }

  void Share(const std::string& name, const json& shares) {
    const Answer set = Send("PATCH", "/api/users/user-" + name, json{{"shares", shares}}.dump(),
                            {{"If-Match", "*"}});
    EXPECT_EQ(set.status, 200) << set.text;
  }
  std::string Make(json changes) {
    changes["user_id"] = "user-owner";
    return Create(std::move(changes)).value("job_id", "");
  }

  // True if this caller may act on this object.
  static bool Reaches(const std::string& who, const std::string& what) {
    if (who == "boss" || who == "owner") return true;
    if (who == "by_space" || who == "token") return what == "space";
    return who == "by_label" && what == "label";
  }

  static std::string KindPath(Owned kind) {
    if (kind == Owned::kJob) return "/api/jobs/";
    return kind == Owned::kRun ? "/api/runs/" : "/api/dead-letters/";
  }

  // Returns the id of an object of this kind that belongs to this job. If requests change the
  // object, each call creates a new one.
  std::string IdOf(Owned kind, const std::string& job_id) {
    if (kind == Owned::kJob) return job_id;
    const std::string run = Execute(job_id);
    if (kind == Owned::kRun) return run;
    clock_.Advance(1ms);
    Finish(run, {.state = RunState::kFailed});
    return Get("/api/dead-letters").body()["items"][0]["id"];
  }

  // Calls each route, and returns the actions that the routes allow this caller.
  json Tried(const std::string& bearer, Owned kind, const std::string& job_id) {
    std::set<std::string> done;
    for (const scheduler::Route& route : scheduler::RouteTable()) {
      if (route.owned != kind) continue;
      std::string path(route.path);
      path.replace(path.find("{}"), 2, IdOf(kind, job_id));
      const std::string body = route.method == "DELETE" ? "" : "{}";
      const Answer answer = As(bearer, std::string(route.method), path, body);
      if (answer.status == 403) continue;
      std::string action(route.action.substr(route.action.find('.') + 1));
      if (action == "replace" || action == "patch") action = "edit";
      done.insert(action);
    }
    return json(done);
  }

  std::map<std::string, std::string> bearers_;
  std::map<std::string, std::string> jobs_;
};

TEST_F(AllowedActionsTest, SayWhatTheRoutesAnswer) {
  const std::map<Owned, json> all = {
      {Owned::kJob,
       {"backfill", "cancel", "delete", "edit", "execute", "pause", "resume", "revert"}},
      {Owned::kRun, {"cancel", "decide", "release", "retry", "skip"}},
      {Owned::kDeadLetter, {"discard", "retry"}}};
  for (const auto& [kind, actions] : all) {
    for (const auto& [what, job_id] : jobs_) {
      for (const auto& [who, bearer] : bearers_) {
        const std::string place = fmt::format("{} {} {}", KindPath(kind), what, who);
        const json shown = As(bearer, "GET", KindPath(kind) + IdOf(kind, job_id)).body();
        const json expected = Reaches(who, what) ? actions : json::array();
        // Of a run, the state counts as well: it waits.
        const bool waits = kind == Owned::kRun && Reaches(who, what);
        EXPECT_EQ(shown["allowed_actions"], waits ? json({"cancel", "execute"}) : expected)
            << place;
        EXPECT_EQ(Tried(bearer, kind, job_id), expected) << place;
      }
    }
  }
}

TEST_F(AllowedActionsTest, OfWhatIsNoJobsSayWhatTheRoutesAnswer) {
  AddExecutor("executor-1");
  const Answer secret = As(bearers_["owner"], "POST", "/api/secrets",
                           R"({"name": "owners", "value": "a long enough value"})");
  ASSERT_EQ(secret.status, 201) << secret.text;
  EXPECT_EQ(secret.body()["allowed_actions"], json({"delete", "edit"}));
  struct Thing {
    std::string list;
    std::string id;  // the name of the field with the id
    std::string value;
    json actions;
    bool owners;
  };
  const Answer token = As(bearers_["owner"], "POST", "/api/tokens", R"({"name": "his"})");
  const std::vector<Thing> things = {
      {"executors", "executor_id", "executor-1", {"disable", "drain", "edit", "enable"}, false},
      {"users", "user_id", "user-other", {"delete", "edit"}, false},
      {"secrets", "name", "owners", {"delete", "edit"}, true},
      {"tokens", "token_id", token.body()["token_id"], {"delete"}, true}};
  for (const Thing& thing : things) {
    const std::string list = "/api/" + thing.list;
    for (const auto& [who, bearer] : bearers_) {
      const std::string place = thing.list + " " + who;
      const bool may = who == "boss" || (thing.owners && who == "owner");
      const json expected = may ? thing.actions : json::array();
      const Answer listed = As(bearer, "GET", list);
      EXPECT_FALSE(may && listed.status == 403) << place;
      for (const json& item : listed.body().value("items", json::array())) {
        if (item[thing.id] != thing.value) continue;
        EXPECT_EQ(item["allowed_actions"], expected) << place;
      }
      if (thing.list != "tokens" && listed.status == 200) {
        EXPECT_EQ(As(bearer, "GET", list + "/" + thing.value).body()["allowed_actions"], expected)
            << place;
      }
      for (const scheduler::Route& route : scheduler::RouteTable()) {
        if (route.path.find(list + "/{}") != 0 || route.action.empty()) continue;
        std::string path(route.path);
        path.replace(path.find("{}"), 2, thing.value);
        if (may && route.method == "DELETE") continue;  // the next caller needs the object
        const int status =
            As(bearer, std::string(route.method), path, route.method == "DELETE" ? "" : "{}")
                .status;
        EXPECT_EQ(status != 403, may) << place << " " << route.action << " " << status;
      }
    }
  }
  EXPECT_EQ(As(bearers_["owner"], "DELETE", "/api/secrets/owners", "", {{"If-Match", "*"}}).status,
            204);
}

TEST_F(AllowedActionsTest, AreTheSameInTheListOfJobs) {
  for (const auto& [who, bearer] : bearers_) {
    for (const char* query : {"", "?selector=!none"}) {
      const json list = As(bearer, "GET", std::string("/api/jobs") + query).body()["items"];
      ASSERT_EQ(list.size(), jobs_.size());
      for (const json& job : list) {
        const json alone =
            As(bearer, "GET", "/api/jobs/" + job.value("job_id", "")).body()["allowed_actions"];
        EXPECT_EQ(job["allowed_actions"], alone) << who << " " << job["job_id"];
      }
    }
  }
}

TEST_F(AllowedActionsTest, WhatWasReadMayBeSentBack) {
  const json job = Get("/api/jobs/" + jobs_["plain"]).body();
  const HttpHeaders any = {{"If-Match", "*"}};
  const Answer put = Send("PUT", "/api/jobs/" + jobs_["plain"], job.dump(), any);
  EXPECT_EQ(put.status, 200) << put.text;
  EXPECT_EQ(put.body()["version"], 1);
  const Answer patched = Send("PATCH", "/api/jobs/" + jobs_["plain"], job.dump(), any);
  EXPECT_EQ(patched.status, 200) << patched.text;
}

// The runs of a deleted job still have an owner.
TEST_F(AllowedActionsTest, OfADeletedJobsRunsStayItsOwners) {
  const std::map<std::string, bool> reach = {
      {"boss", true}, {"owner", true}, {"by_space", true}, {"by_label", false}, {"other", false}};
  const std::string run = Execute(jobs_["space"]);
  clock_.Advance(1ms);
  Finish(run, {.state = RunState::kFailed});
  ASSERT_EQ(Send("DELETE", "/api/jobs/" + jobs_["space"], "", {{"If-Match", "*"}}).status, 204);
  const std::string letter = Get("/api/dead-letters").body()["items"][0]["id"];
  for (const auto& [who, may] : reach) {
    // It has ended, and cannot be run again.
    EXPECT_EQ(As(bearers_[who], "GET", "/api/runs/" + run).body()["allowed_actions"],
              json::array());
    const int status = As(bearers_[who], "POST", "/api/runs/" + run + "/cancel", "{}").status;
    EXPECT_EQ(status == 403, !may) << who << " " << status;
  }
  EXPECT_EQ(As(bearers_["other"], "DELETE", "/api/dead-letters/" + letter).status, 403);
  EXPECT_EQ(As(bearers_["owner"], "DELETE", "/api/dead-letters/" + letter).status, 204);
  EXPECT_EQ(As(bearers_["other"], "POST", "/api/jobs/" + jobs_["space"] + "/pause", "{}").status,
            404);
}

}  // namespace
}  // namespace carillon::test
