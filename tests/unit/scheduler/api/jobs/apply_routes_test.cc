// POST /api/apply: jobs of a list are created, changed, kept, deleted or refused.
#include <map>
#include <utility>

#include "scheduler/api/jobs/job_applier.h"
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class ApplyTest : public PeopleEnv {
 protected:
  Answer Apply(const std::vector<json>& list, const std::string& query = "",
               HttpHeaders headers = {}) {
    return Send("POST", "/api/apply" + (query.empty() ? "" : "?" + query), json(list).dump(),
                std::move(headers));
  }
  json Applied(const std::vector<json>& list, const std::string& query = "") {
    const Answer answer = Apply(list, query);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
  // The results of all items, such as "created updated".
  static std::string Results(const json& applied) {
    std::string results;
    for (const json& item : applied["items"]) {
      results += (results.empty() ? "" : " ") + item.value("result", "none");
    }
    return results;
  }
  static std::string CodeOf(const json& item) {
    return item["error"].is_object() ? item["error"].value("code", "") : "none";
  }
  static std::string PointerOf(const json& item) {
    const json& errors = item["error"]["errors"];
    return errors.empty() ? "none" : errors[0].value("pointer", "none");
  }
  size_t Jobs() { return Get("/api/jobs").body()["items"].size(); }
};

TEST_F(ApplyTest, TwiceIsTheSameAsOnce) {
  const std::vector<json> list = {
      JobBody({{"job_id", "a"}, {"cron_expression", "H 3 * * *"}}),
      JobBody({{"name", "By name"}, {"cron_expression", "H/15 * * * *"}}),
      JobBody({{"job_id", "b"}, {"enabled", false}, {"labels", {{"team", "x"}}}})};
  const json first = Applied(list);
  EXPECT_EQ(Results(first), "created created created");
  EXPECT_EQ(first["counts"]["created"], 3);
  EXPECT_FALSE(first["dry_run"]);
  EXPECT_TRUE(first["prune_complete"].is_null());
  EXPECT_EQ(first["items"][0]["job_id"], "a");
  EXPECT_EQ(first["items"][0]["version"], 1);
  const std::string made = first["items"][1]["job_id"];
  const json second = Applied(list);
  EXPECT_EQ(Results(second), "unchanged unchanged unchanged");
  EXPECT_EQ(second["items"][1]["job_id"], made);
  for (const json& item : second["items"]) {
    EXPECT_EQ(item["version"], 1);
    EXPECT_TRUE(item["changes"].empty());
  }
  EXPECT_EQ(Jobs(), 3u);
}

TEST_F(ApplyTest, ADelayIsRefusedBecauseApplyingAgainWouldMoveIt) {
  const json applied = Applied({JobBody({{"job_id", "a"},
                                         {"cron_expression", nullptr},
                                         {"schedules", {{{"kind", "once"}, {"in_s", 3600}}}}})});
  EXPECT_EQ(PointerOf(applied["items"][0]), "/0/schedules/0/in_s");
  EXPECT_EQ(applied["items"][0]["error"]["errors"][0]["detail"],
            "in_s is relative; write `at` in files");
}

TEST_F(ApplyTest, ChangesAreNamedByTheirPath) {
  Create({{"job_id", "a"}, {"env", {{"MODE", "slow"}, {"OLD", "1"}}}});
  const json applied = Applied({JobBody({{"job_id", "a"},
                                         {"env", {{"MODE", "fast"}, {"NEW", "2"}}},
                                         {"cron_expression", "0 4 * * *"},
                                         {"priority", 7}})});
  const json expected = {
      {{"path", "/env/MODE"}, {"from", "slow"}, {"to", "fast"}},
      {{"path", "/env/OLD"}, {"from", "1"}, {"to", nullptr}},
      {{"path", "/env/NEW"}, {"from", nullptr}, {"to", "2"}},
      {{"path", "/priority"}, {"from", 0}, {"to", 7}},
      {{"path", "/schedules/0/cron_expression"}, {"from", "0 3 * * *"}, {"to", "0 4 * * *"}}};
  EXPECT_EQ(applied["items"][0]["result"], "updated");
  EXPECT_EQ(applied["items"][0]["version"], 2);
  EXPECT_EQ(applied["items"][0]["changes"], expected);
}

TEST_F(ApplyTest, ADryRunSaysTheSameAndDoesNothing) {
  Create({{"job_id", "a"}, {"labels", {{"team", "x"}}}});
  Create({{"job_id", "b"}, {"labels", {{"team", "x"}}}});
  const std::vector<json> list = {
      JobBody({{"job_id", "a"}, {"priority", 3}, {"labels", {{"team", "x"}}}}),
      JobBody({{"job_id", "c"}}), JobBody({{"name", "New"}})};
  const size_t before = nudges();
  const json dry = Applied(list, "dry_run=true&prune=true&selector=team%3Dx");
  EXPECT_EQ(Results(dry), "updated created created pruned");
  EXPECT_TRUE(dry["dry_run"]);
  EXPECT_EQ(dry["items"][0]["version"], 1);
  EXPECT_TRUE(dry["items"][1]["version"].is_null());
  EXPECT_TRUE(dry["items"][2]["job_id"].is_null());
  EXPECT_TRUE(dry["items"][3]["index"].is_null());
  EXPECT_EQ(Jobs(), 2u);
  EXPECT_EQ(Get("/api/jobs/a").body()["version"], 1);
  EXPECT_EQ(nudges(), before);
  EXPECT_EQ(Results(Applied(list, "prune=true&selector=team%3Dx")), Results(dry));
  EXPECT_EQ(Get("/api/jobs/b").status, 404);
}

TEST_F(ApplyTest, OneBadItemDoesNotStopTheOthers) {
  Create({{"job_id", "was"}});
  Create({{"job_id", "p"}, {"name", "Twice"}});
  Create({{"job_id", "q"}, {"name", "Twice"}});
  const std::string was = Get("/api/jobs/was").header("etag");
  ASSERT_EQ(Send("DELETE", "/api/jobs/was", "", {{"If-Match", was}}).status, 204);
  const json applied =
      Applied({JobBody({{"job_id", "a"}, {"colour", "red"}}),
               JobBody({{"job_id", "b"}, {"cron_expression", "61 * * * *"}}), "text",
               JobBody({{"job_id", "Not An Id"}}), JobBody({{"job_id", "was"}}),
               JobBody({{"name", "Twice"}}), JobBody({{"job_id", "c"}, {"version", "x"}}),
               JobBody({{"job_id", "d"}, {"version", 4}}),
               JobBody({{"job_id", "p"}, {"name", "One"}, {"version", 9}}), json{{"job_id", "e"}},
               JobBody({{"job_id", 7}}), JobBody({{"job_id", "good"}})});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"invalid", "/0/colour"},  {"invalid", "/1/cron_expression"}, {"invalid", "/2"},
      {"invalid", "/3/job_id"},  {"exists", "/4/job_id"},           {"ambiguous_name", "/5/name"},
      {"invalid", "/6/version"}, {"stale_version", "/7/version"},   {"stale_version", "/8/version"},
      {"invalid", "/9/name"},    {"invalid", "/10/job_id"}};
  for (size_t i = 0; i < expected.size(); ++i) {
    const json& item = applied["items"][i];
    EXPECT_EQ(item["result"], "error") << item;
    EXPECT_EQ(CodeOf(item), expected[i].first) << item;
    EXPECT_EQ(PointerOf(item), expected[i].second) << item;
    EXPECT_EQ(item["error"]["trace_id"], applied["items"][0]["error"]["trace_id"]);
  }
  EXPECT_EQ(applied["items"][11]["result"], "created");
  EXPECT_EQ(applied["counts"]["error"], 11);
  EXPECT_EQ(Jobs(), 3u);
}

TEST_F(ApplyTest, DocumentsThatCannotBeToldApartAreRefused) {
  const json applied =
      Applied({JobBody({{"job_id", "a"}, {"name", "N"}}), JobBody({{"name", "N"}}),
               JobBody({{"job_id", "b"}}), JobBody({{"job_id", "b"}, {"name", "Other"}})});
  EXPECT_EQ(Results(applied), "created error created error");
  EXPECT_EQ(CodeOf(applied["items"][1]), "duplicate");
  EXPECT_EQ(PointerOf(applied["items"][3]), "/3/job_id");
  const json dry =
      Applied({JobBody({{"job_id", "x"}}), JobBody({{"job_id", "x"}})}, "dry_run=true");
  EXPECT_EQ(Results(dry), "created error");
}

TEST_F(ApplyTest, WhatAGetShowedIsTakenAndItsVersionIsAPrecondition) {
  Create({{"job_id", "a"}});
  json shown = Get("/api/jobs/a").body();
  EXPECT_EQ(Results(Applied({shown})), "unchanged");
  shown["priority"] = 5;
  EXPECT_EQ(Results(Applied({shown})), "updated");
  shown["priority"] = 6;
  const json stale = Applied({shown});
  EXPECT_EQ(CodeOf(stale["items"][0]), "stale_version");
  EXPECT_FALSE(stale["items"][0]["error"].contains("current"));
  EXPECT_EQ(Get("/api/jobs/a").body()["priority"], 5);
}

TEST_F(ApplyTest, PausedAndOwnedStaysWhereTheDocumentSaysNothing) {
  Create({{"job_id", "a"}, {"user_id", "ann"}});
  ASSERT_EQ(Post("/api/jobs/a/pause", {{"reason", "moving"}}).status, 200);
  EXPECT_EQ(Results(Applied({JobBody({{"job_id", "a"}})})), "unchanged");
  EXPECT_EQ(Get("/api/jobs/a").body()["state"], "PAUSED");
  EXPECT_EQ(Get("/api/jobs/a").body()["user_id"], "ann");
  const json resumed = Applied({JobBody({{"job_id", "a"}, {"enabled", true}})});
  EXPECT_EQ(resumed["items"][0]["changes"][0]["path"], "/enabled");
  EXPECT_EQ(Get("/api/jobs/a").body()["state"], "ENABLED");
}

TEST_F(ApplyTest, PruneDeletesWhatTheSelectorMatchesAndTheListHasNot) {
  for (const char* id : {"a", "b", "c"}) Create({{"job_id", id}, {"labels", {{"team", "x"}}}});
  Create({{"job_id", "other"}, {"labels", {{"team", "y"}}}});
  const std::vector<json> keep = {JobBody({{"job_id", "a"}, {"labels", {{"team", "x"}}}})};
  const json applied = Applied(keep, "prune=true&selector=team%3Dx");
  EXPECT_EQ(Results(applied), "unchanged pruned pruned");
  EXPECT_EQ(applied["items"][1]["job_id"], "b");
  EXPECT_EQ(applied["items"][1]["name"], "Nightly");
  EXPECT_TRUE(applied["prune_complete"]);
  EXPECT_EQ(Jobs(), 2u);
  EXPECT_EQ(Get("/api/audit?object_id=b").body()["items"][0]["action"], "job.prune");
  EXPECT_EQ(Results(Applied({}, "prune=true&selector=team%3Dy")), "pruned");
}

TEST_F(ApplyTest, NothingIsPrunedBesideAnError) {
  Create({{"job_id", "a"}, {"labels", {{"team", "x"}}}});
  const json applied =
      Applied({JobBody({{"job_id", "b"}, {"colour", "red"}})}, "prune=true&selector=team%3Dx");
  EXPECT_EQ(Results(applied), "error");
  EXPECT_FALSE(applied["prune_complete"]);
  EXPECT_EQ(Get("/api/jobs/a").status, 200);
}

TEST_F(ApplyTest, WhatTheRequestItselfGetsWrong) {
  const std::vector<json> list = {JobBody()};
  EXPECT_EQ(Apply(list, "prune=true").pointer(), "?selector");
  EXPECT_EQ(Apply(list, "prune=true&selector=").pointer(), "?selector");
  EXPECT_EQ(Apply(list, "prune=true&selector=%20").pointer(), "?selector");
  EXPECT_EQ(Apply(list, "prune=true&selector=a%20in").pointer(), "?selector");
  EXPECT_EQ(Apply(list, "selector=a").pointer(), "?selector");
  EXPECT_EQ(Apply(list, "dry_run=1").pointer(), "?dry_run");
  EXPECT_EQ(Apply(list, "colour=red").pointer(), "?colour");
  EXPECT_EQ(Send("POST", "/api/apply", "{}").status, 400);
  EXPECT_EQ(Send("POST", "/api/apply", "[").status, 400);
  EXPECT_EQ(Apply(std::vector<json>(scheduler::kApplyItemsMax + 1, JobBody())).status, 400);
  EXPECT_EQ(Jobs(), 0u);
  EXPECT_TRUE(Applied({})["items"].empty());
}

TEST_F(ApplyTest, AKeyIsOfOneBodyAndOneQuery) {
  const std::vector<json> list = {JobBody({{"name", "By name"}})};
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  const Answer dry = Apply(list, "dry_run=true", key);
  EXPECT_EQ(dry.status, 200);
  EXPECT_EQ(Apply(list, "dry_run=true", key).header("idempotent-replayed"), "true");
  EXPECT_EQ(Apply(list, "", key).code(), "idempotency_mismatch");
  EXPECT_EQ(Jobs(), 0u);
}

TEST_F(ApplyTest, NobodyTouchesWhatIsAnothers) {
  AddUser("ann", "user");
  AddUser("bob", "user");
  AddUser("rita", "read_only");
  const SignedIn ann = SignIn("ann");
  const SignedIn bob = SignIn("bob");
  const json labels = {{"team", "x"}};
  ASSERT_EQ(
      As(ann.access_token, "POST", "/api/apply",
         json::array({JobBody({{"job_id", "a"}, {"name", "Hers"}, {"labels", labels}})}).dump())
          .status,
      200);
  EXPECT_EQ(Get("/api/jobs/a").body()["user_id"], ann.user_id);
  const std::vector<json> list = {JobBody({{"job_id", "a"}, {"name", "Mine"}}),
                                  JobBody({{"name", "Hers"}}),
                                  JobBody({{"job_id", "b"}, {"user_id", ann.user_id}}),
                                  JobBody({{"job_id", "c"}, {"labels", labels}})};
  const Answer answer = As(bob.access_token, "POST", "/api/apply", json(list).dump());
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json items = answer.body()["items"];
  for (const size_t i : {0, 1, 2}) {
    EXPECT_EQ(CodeOf(items[i]), "not_owner") << items[i];
    EXPECT_EQ(items[i]["error"]["status"], 403);
  }
  EXPECT_EQ(PointerOf(items[2]), "/2/user_id");
  EXPECT_EQ(items[3]["result"], "created");
  EXPECT_EQ(Get("/api/jobs/a").body()["name"], "Hers");
  const Answer pruned =
      As(bob.access_token, "POST", "/api/apply?prune=true&selector=team%3Dx", "[]");
  EXPECT_EQ(Results(pruned.body()), "pruned");
  EXPECT_EQ(pruned.body()["items"][0]["job_id"], "c");
  EXPECT_EQ(Get("/api/jobs/a").status, 200);
  EXPECT_EQ(As(SignIn("rita").access_token, "POST", "/api/apply", "[]").code(), "forbidden");
}

TEST_F(ApplyTest, TheAuditTellsEachFieldButNoEnvironment) {
  Applied({JobBody({{"job_id", "a"}, {"env", {{"PASSWORD", "hunter2"}}}})});
  Applied({JobBody(
      {{"job_id", "a"}, {"env", {{"PASSWORD", "hunter3"}}}, {"command", std::string(5000, 'x')}})});
  Applied({JobBody({{"job_id", "a"}})}, "dry_run=true");
  const json audit = Get("/api/audit?object_id=a").body()["items"];
  ASSERT_EQ(audit.size(), 2u);
  EXPECT_EQ(audit[0]["action"], "job.apply");
  const json& changes = audit[0]["changes"];
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0]["path"], "/command");
  EXPECT_LT(changes[0]["to"].get<std::string>().size(), 250u);
  EXPECT_EQ(changes[1], json({{"path", "/env/PASSWORD"}, {"from", "***"}, {"to", "***"}}));
  EXPECT_EQ(audit.dump().find("hunter"), std::string::npos);
}

TEST_F(ApplyTest, EveryEditOfAJobTellsItsChangesToTheAudit) {
  Create({{"job_id", "a"}});
  const auto newest = [&] { return Get("/api/audit?object_id=a").body()["items"][0]; };
  EXPECT_EQ(newest()["action"], "job.create");
  EXPECT_TRUE(newest()["changes"][0]["from"].is_null());
  const HttpHeaders any = {{"If-Match", "*"}};
  Send("PATCH", "/api/jobs/a", R"({"priority": 4})", any);
  const json expected = {{"path", "/priority"}, {"from", 0}, {"to", 4}};
  EXPECT_EQ(newest()["changes"], json::array({expected}));
  Send("PUT", "/api/jobs/a", JobBody({{"timeout", 9}}).dump(), any);
  EXPECT_EQ(newest()["changes"].size(), 2u);
  Send("POST", "/api/jobs/a/revert", R"({"version": 1})", any);
  EXPECT_EQ(newest()["action"], "job.revert");
  EXPECT_EQ(newest()["changes"][0]["path"], "/timeout");
  Post("/api/jobs/a/pause");
  EXPECT_TRUE(newest()["changes"].is_null());
}

TEST_F(ApplyTest, WhenTheStoreGoesAwayTheRestIsNotTried) {
  const std::vector<json> list = {JobBody({{"job_id", "a"}}), JobBody({{"job_id", "b"}}),
                                  JobBody({{"job_id", "c"}})};
  faults_.plan.Arm("CreateJobs", Fault::kUnavailable, 2);
  faults_.plan.Arm("CreateJob", Fault::kUnavailable);
  EXPECT_EQ(Apply(list).code(), "unavailable");
  EXPECT_EQ(Jobs(), 0u);
  faults_.plan.OnCall([&](const std::string& name) {
    if (name == "CreateJob") faults_.plan.Arm("CreateJob", Fault::kUnavailable);
  });
  const json away = Applied(list);
  faults_.plan.OnCall(nullptr);
  EXPECT_EQ(away["items"][0]["result"], "created");
  EXPECT_EQ(CodeOf(away["items"][1]), "unavailable");
  EXPECT_EQ(CodeOf(away["items"][2]), "not_tried");
  EXPECT_EQ(Jobs(), 1u);
  EXPECT_EQ(Results(Applied(list)), "unchanged created created");
}

TEST_F(ApplyTest, AListIsLookedUpAndStoredInPieces) {
  std::vector<json> list;
  for (int i = 0; i < 250; ++i) {
    list.push_back(JobBody({{i % 2 == 0 ? "name" : "job_id", "job-" + std::to_string(i)}}));
  }
  std::map<std::string, int> calls;
  faults_.plan.OnCall([&](const std::string& name) { ++calls[name]; });
  const json applied = Applied(list);
  EXPECT_EQ(applied["counts"]["created"], 250);
  EXPECT_EQ(calls["FindJobs"], 3);
  EXPECT_EQ(calls["CreateJobs"], 3);
  EXPECT_EQ(calls["RecordAudits"], 3);
  for (const char* one : {"CreateJob", "GetJob", "ListJobs", "RecordAudit"}) {
    EXPECT_EQ(calls[one], 0) << one;
  }
  calls.clear();
  EXPECT_EQ(Applied(list)["counts"]["unchanged"], 250);
  EXPECT_EQ(calls["FindJobs"], 3);
  EXPECT_EQ(calls["GetJob"] + calls["ListJobs"], 0);
  faults_.plan.OnCall(nullptr);
  for (const size_t i : {0u, 1u, 249u}) {
    const std::string id = applied["items"][i]["job_id"];
    EXPECT_EQ(applied["items"][i]["index"], i);
    EXPECT_EQ(applied["items"][i]["version"], 1);
    const json audit = Get("/api/audit?object_id=" + id).body()["items"];
    ASSERT_EQ(audit.size(), 1u);
    EXPECT_EQ(audit[0]["action"], "job.apply");
    EXPECT_EQ(audit[0]["changes"], applied["items"][i]["changes"]);
  }
}

// The store creates all jobs of a piece or none, but each item has its own answer.
TEST_F(ApplyTest, WhatIsRefusedKeepsNoOtherOfItsPieceBack) {
  Create({{"job_id", "gone"}});
  ASSERT_EQ(Send("DELETE", "/api/jobs/gone", "", {{"If-Match", "*"}}).status, 204);
  Create({{"job_id", "there"}});
  const json applied = Applied({JobBody({{"job_id", "a"}}), JobBody({{"job_id", "gone"}}),
                                JobBody({{"job_id", "there"}, {"priority", 3}}),
                                JobBody({{"job_id", "b"}, {"timeout", -1}}),
                                JobBody({{"name", "By name"}}), JobBody({{"job_id", "new"}})});
  EXPECT_EQ(Results(applied), "created error updated error created error");
  EXPECT_EQ(CodeOf(applied["items"][1]), "exists");
  EXPECT_EQ(PointerOf(applied["items"][1]), "/1/job_id");
  EXPECT_EQ(PointerOf(applied["items"][5]), "/5/job_id");
  EXPECT_EQ(applied["counts"]["created"], 2);
  EXPECT_EQ(Get("/api/audit?object_id=a").body()["items"].size(), 1u);
}

TEST_F(ApplyTest, ALostReplyToAPieceIsLookedAt) {
  const std::vector<json> list = {JobBody({{"job_id", "a"}}), JobBody({{"name", "By name"}})};
  faults_.plan.Arm("CreateJobs", Fault::kTimeoutAfter);
  EXPECT_EQ(Results(Applied(list)), "created created");
  EXPECT_EQ(Jobs(), 2u);
  EXPECT_EQ(Get("/api/audit?object_id=a").body()["items"].size(), 1u);
  const std::vector<json> other = {JobBody({{"job_id", "b"}}), JobBody({{"name", "Other"}})};
  faults_.plan.Arm("CreateJobs", Fault::kTimeoutBefore);
  EXPECT_EQ(Results(Applied(other)), "created created");
  EXPECT_EQ(Jobs(), 4u);
}

TEST_F(ApplyTest, APieceOfWhichNothingIsKnownSaysSo) {
  faults_.plan.Arm("FindJobs", Fault::kUnavailable, 2);
  faults_.plan.Arm("CreateJobs", Fault::kTimeoutAfter);
  const std::vector<json> list = {JobBody({{"job_id", "z"}, {"timeout", -1}}),
                                  JobBody({{"job_id", "a"}}), JobBody({{"name", "By name"}})};
  EXPECT_EQ(Apply(list).code(), "outcome_unknown");
  EXPECT_EQ(Results(Applied(list)), "error unchanged unchanged");
}

TEST_F(ApplyTest, APieceThatCannotBeLookedUpIsAskedForOneByOne) {
  const std::vector<json> list = {JobBody({{"job_id", "a"}}), JobBody({{"name", "By name"}})};
  faults_.plan.Arm("FindJobs", Fault::kUnavailable, 2);
  EXPECT_EQ(Results(Applied(list)), "created created");
  EXPECT_EQ(Results(Applied(list)), "unchanged unchanged");
}

TEST_F(ApplyTest, AnAuditThatCannotBeWrittenTogetherIsWrittenOneByOne) {
  faults_.plan.Arm("RecordAudits", Fault::kUnavailable);
  Applied({JobBody({{"job_id", "a"}}), JobBody({{"job_id", "b"}})});
  for (const char* id : {"a", "b"}) {
    EXPECT_EQ(Get(std::string("/api/audit?object_id=") + id).body()["items"].size(), 1u);
  }
}

TEST_F(ApplyTest, WhatChangedSinceThePieceWasLookedUpIsReadAgain) {
  Create({{"job_id", "a"}});
  Create({{"job_id", "b"}});
  bool moved = false;
  faults_.plan.OnCall([&](const std::string& name) {
    if (name != "ReplaceJob" || std::exchange(moved, true)) return;
    const JobDefinition theirs{.name = "theirs", .command = "false"};
    ASSERT_TRUE(stores_.jobs.ReplaceJob(JobId("a"), 1, theirs, {.now = clock_.Wall()}).ok());
  });
  const json applied = Applied(
      {JobBody({{"job_id", "a"}, {"priority", 3}}), JobBody({{"job_id", "b"}, {"priority", 3}})});
  faults_.plan.OnCall(nullptr);
  EXPECT_EQ(Results(applied), "updated updated");
  EXPECT_EQ(applied["items"][0]["version"], 3);
  EXPECT_EQ(Get("/api/jobs/a").body()["command"], "true");
}

TEST_F(ApplyTest, ARenameEarlierInTheListCounts) {
  Create({{"job_id", "a"}, {"name", "Old"}});
  const json applied = Applied({JobBody({{"job_id", "a"}, {"name", "New"}}),
                                JobBody({{"name", "Old"}}), JobBody({{"job_id", "c"}})});
  EXPECT_EQ(Results(applied), "updated created created");
  EXPECT_NE(applied["items"][1]["job_id"], "a");
}

TEST_F(ApplyTest, TwoWhoApplyTheSameNameAtOnceMakeOneJob) {
  const std::vector<json> list = {JobBody({{"name", "By name"}})};
  const JobId id = scheduler::Identifiers::JobIdForKey("By name", "apply By name");
  JobDefinition theirs{.name = "By name", .command = "false"};
  faults_.plan.OnCall([&](const std::string& name) {
    if (name != "CreateJob" || stores_.jobs.GetJob(id).ok()) return;
    ASSERT_TRUE(stores_.jobs.CreateJob(id, theirs, {.now = clock_.Wall()}).ok());
  });
  EXPECT_EQ(CodeOf(Applied(list)["items"][0]), "conflict");
  faults_.plan.OnCall(nullptr);
  EXPECT_EQ(Jobs(), 1u);
  EXPECT_EQ(Results(Applied(list)), "updated");
  EXPECT_EQ(Get("/api/jobs/" + id.value()).body()["command"], "true");
}

TEST_F(ApplyTest, ANameWhoseJobWasDeletedGetsAnotherId) {
  const std::vector<json> list = {JobBody({{"name", "By name"}})};
  const std::string first = Applied(list)["items"][0]["job_id"];
  ASSERT_EQ(Send("DELETE", "/api/jobs/" + first, "", {{"If-Match", "*"}}).status, 204);
  const json again = Applied(list);
  EXPECT_EQ(Results(again), "created");
  EXPECT_NE(again["items"][0]["job_id"], first);
}

TEST_F(ApplyTest, AJobThatCannotBeReadIsMended) {
  Create({{"job_id", "a"}});
  stores_.DamageDefinition(JobId("a"), 1, true);
  ASSERT_NE(Get("/api/jobs/a").body().value("problem", ""), "");
  const std::vector<json> list = {JobBody({{"job_id", "a"}})};
  EXPECT_EQ(Results(Applied(list, "dry_run=true")), "updated");
  EXPECT_EQ(Results(Applied(list)), "updated");
  EXPECT_EQ(Get("/api/jobs/a").body()["command"], "true");
  EXPECT_EQ(Results(Applied(list)), "unchanged");
}

TEST_F(ApplyTest, ALostReplyOfADeleteInAPruneIsLookedAt) {
  for (const char* id : {"a", "b", "c"}) Create({{"job_id", id}, {"labels", {{"team", "x"}}}});
  faults_.plan.Arm("DeleteJob", Fault::kTimeoutAfter);
  EXPECT_EQ(Results(Applied({}, "prune=true&selector=team")), "pruned pruned pruned");
  for (const char* id : {"d", "e"}) Create({{"job_id", id}, {"labels", {{"team", "x"}}}});
  faults_.plan.Arm("DeleteJob", Fault::kTimeoutBefore);
  const json away = Applied({JobBody({{"job_id", "fresh"}})}, "prune=true&selector=team");
  EXPECT_EQ(Results(away), "created error");
  EXPECT_EQ(CodeOf(away["items"][1]), "outcome_unknown");
  EXPECT_EQ(away["items"][1]["job_id"], "d");
  EXPECT_FALSE(away["prune_complete"]);
  EXPECT_EQ(Get("/api/jobs/e").status, 200);
  faults_.plan.Arm("ListJobs", Fault::kUnavailable);
  EXPECT_EQ(Apply({}, "prune=true&selector=team").code(), "unavailable");
  EXPECT_EQ(Get("/api/jobs/e").status, 200);
}

TEST_F(ApplyTest, ASelectedListGoesOnPastWhatIsNotSelected) {
  for (int i = 0; i < 6; ++i) {
    Create({{"job_id", "j" + std::to_string(i)}, {"labels", {{"odd", i % 2 == 0 ? "no" : "yes"}}}});
  }
  const json first = Get("/api/jobs?selector=odd%3Dyes&page_size=2").body();
  ASSERT_EQ(first["items"].size(), 2u);
  EXPECT_EQ(first["items"][1]["job_id"], "j3");
  const json rest = Get("/api/jobs?selector=odd%3Dyes&page_size=2&page_token=" +
                        first["next_page_token"].get<std::string>())
                        .body();
  ASSERT_EQ(rest["items"].size(), 1u);
  EXPECT_EQ(rest["items"][0]["job_id"], "j5");
  EXPECT_TRUE(rest["next_page_token"].is_null());
  EXPECT_TRUE(Get("/api/jobs?selector=none").body()["items"].empty());
  EXPECT_EQ(Get("/api/jobs?selector=odd%3D").pointer(), "?selector");
}

}  // namespace
}  // namespace carillon::test
