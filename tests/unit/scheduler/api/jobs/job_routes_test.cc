// /api/jobs over real HTTP: forms of answers, errors, versions.
#include <thread>

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using JobRoutesTest = ApiEnv;

TEST_F(JobRoutesTest, IdOfTheConsolesFormIsRefused) {
  const Answer refused = Post("/api/jobs", JobBody({{"job_id", "new"}}));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.pointer(), "/job_id");
  EXPECT_EQ(Create({{"name", "new"}})["job_id"].get<std::string>().substr(0, 4), "new-");
}

TEST_F(JobRoutesTest, CreatesAJobWithDefaultsAndShowsIt) {
  const Answer created = Post("/api/jobs", JobBody());
  ASSERT_EQ(created.status, 201) << created.text;
  const json job = created.body();
  EXPECT_EQ(created.header("location"), "/api/jobs/" + job.value("job_id", ""));
  EXPECT_EQ(created.header("etag"), "\"v1\"");
  EXPECT_EQ(job["version"], 1);
  EXPECT_EQ(job["state"], "ENABLED");
  EXPECT_EQ(job["type"], "shell");
  EXPECT_EQ(job["timeout"], 3600);
  EXPECT_EQ(job["time_zone"], "UTC");
  EXPECT_EQ(job["user_id"], "admin");
  EXPECT_EQ(job["next_fire_time"], "2026-03-01T03:00:00.000000Z");
  EXPECT_TRUE(job.value("job_id", "").starts_with("nightly-"));
  EXPECT_EQ(nudges(), 1u);
  const Answer read = Get("/api/jobs/" + job.value("job_id", ""));
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body(), job);
  EXPECT_EQ(read.header("etag"), "\"v1\"");
}

TEST_F(JobRoutesTest, KeepsAGivenIdAndRefusesItTwice) {
  EXPECT_EQ(Create({{"job_id", "mine"}})["job_id"], "mine");
  const Answer again = Post("/api/jobs", JobBody({{"job_id", "mine"}}));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.code(), "exists");
  EXPECT_EQ(again.pointer(), "/job_id");
}

TEST_F(JobRoutesTest, ADelayIsStoredAsATime) {
  const json delayed = {{{"kind", "once"}, {"in_s", 3600}}};
  const auto at = [](const json& job) { return job["schedules"][0]["at"]; };
  const json created =
      Create({{"job_id", "j"}, {"cron_expression", nullptr}, {"schedules", delayed}});
  EXPECT_EQ(at(created), "2026-03-01T01:00:00.000000Z");
  EXPECT_FALSE(created["schedules"][0].contains("in_s"));
  clock_.Advance(10min);
  const Answer patched =
      Send("PATCH", "/api/jobs/j", json{{"schedules", delayed}}.dump(), {{"If-Match", "\"v1\""}});
  ASSERT_EQ(patched.status, 200) << patched.text;
  EXPECT_EQ(at(patched.body()), "2026-03-01T01:10:00.000000Z");
  clock_.Advance(10min);
  const Answer put = Send("PUT", "/api/jobs/j",
                          JobBody({{"cron_expression", nullptr}, {"schedules", delayed}}).dump(),
                          {{"If-Match", "\"v2\""}});
  ASSERT_EQ(put.status, 200) << put.text;
  EXPECT_EQ(at(put.body()), "2026-03-01T01:20:00.000000Z");
  const Answer both = Post(
      "/api/jobs",
      JobBody(
          {{"cron_expression", nullptr},
           {"schedules", {{{"kind", "once"}, {"in_s", 3600}, {"at", "2026-03-01T01:00:00Z"}}}}}));
  EXPECT_EQ(both.status, 422);
  EXPECT_EQ(both.code(), "contradiction");
  EXPECT_EQ(both.pointer(), "/schedules/0/in_s");
}

TEST_F(JobRoutesTest, GeneratedIdsAreValidForAnyName) {
  for (const char* name : {"日本語", "---", "A/B c", "x"}) {
    const json job = Create({{"name", name}});
    EXPECT_TRUE(ValidateJobId(job.value("job_id", "")).ok()) << job["job_id"];
  }
  EXPECT_TRUE(ValidateJobId(Create({{"name", std::string(200, 'n')}}).value("job_id", "")).ok());
}

std::set<std::string> PointersOf(const Answer& refused) {
  std::set<std::string> pointers;
  const json wrong = refused.body()["errors"];
  for (const json& one : wrong) pointers.insert(one.value("pointer", ""));
  return pointers;
}

TEST_F(JobRoutesTest, RefusesWhatIsWrongWithItsPointer) {
  const std::vector<std::pair<json, std::string>> cases = {
      {{{"colour", 1}}, "/colour"},
      {{{"name", ""}}, "/name"},
      {{{"name", 5}}, "/name"},
      {{{"name", "  "}}, "/name"},
      {{{"user_id", "a\nb"}}, "/user_id"},
      {{{"command", ""}}, "/command"},
      {{{"timeout", 0}}, "/timeout"},
      {{{"timeout", 1.5}}, "/timeout"},
      {{{"timeout", 1e30}}, "/timeout"},
      {{{"priority", 101}}, "/priority"},
      {{{"type", "magic"}}, "/type"},
      {{{"job_id", "Not An Id"}}, "/job_id"},
      {{{"cron_expression", "61 * * * *"}}, "/cron_expression"},
      {{{"time_zone", "Mars/Olympus"}}, "/time_zone"},
      {{{"command", std::string("a\0b", 3)}}, "/command"},
      {{{"env", {{"A=B", "1"}}}}, "/env/A=B"},
  };
  for (const auto& [change, pointer] : cases) {
    const Answer refused = Post("/api/jobs", JobBody(change));
    EXPECT_EQ(refused.status, 400) << change;
    EXPECT_EQ(refused.code(), "invalid") << change;
    EXPECT_EQ(refused.pointer(), pointer) << change;
  }
  const Answer all = Post("/api/jobs", JobBody({{"cron_expression", "61 * * * *"},
                                                {"executor_selector", "zone ="},
                                                {"timeout", "soon"},
                                                {"colour", "red"},
                                                {"labels", {{"", "x"}}}}));
  EXPECT_EQ(PointersOf(all), (std::set<std::string>{"/cron_expression", "/executor_selector",
                                                    "/timeout", "/colour", "/labels/"}))
      << all.text;
  // Fields that depend on an invalid field are not checked. Two forms of the same value that
  // contradict each other are a further error.
  const Answer noop = Post("/api/jobs", {{"name", "x"}, {"type", 7}, {"timeout", "soon"}});
  EXPECT_EQ(PointersOf(noop), (std::set<std::string>{"/type", "/timeout"})) << noop.text;
  const Answer disagree = Post(
      "/api/jobs", JobBody({{"cron_expression", "0 1 * * *"},
                            {"schedules", {{{"kind", "cron"}, {"cron_expression", "0 2 * * *"}}}},
                            {"colour", "red"}}));
  EXPECT_EQ(PointersOf(disagree), (std::set<std::string>{"/cron_expression", "/colour"}))
      << disagree.text;
  json many = JobBody();
  for (int i = 0; i < 1000; ++i) many["x" + std::to_string(i)] = i;
  EXPECT_EQ(Post("/api/jobs", many).body()["errors"].size(), 20u);
  const Answer huge =
      Send("POST", "/api/jobs",
           R"({"name":"x","command":"true","parameters":{"n":99999999999999999999}})");
  EXPECT_EQ(huge.status, 400);
  EXPECT_EQ(huge.pointer(), "/parameters/n");
  EXPECT_EQ(nudges(), 0u);
}

TEST_F(JobRoutesTest, RefusesWhatIsNotOneJsonDocument) {
  const std::string deep(100'000, '[');
  const std::vector<std::string> bodies = {"{",
                                           "[]",
                                           "null",
                                           "5",
                                           R"({"name":"x","name":"y"})",
                                           "\xff\xfe",
                                           "{\"name\":\"\xff\"}",
                                           R"({"name":"\ud800"})",
                                           deep,
                                           R"({"timeout":1e999})",
                                           R"({"name":"x"} x)",
                                           R"({"name":NaN})",
                                           "\xef\xbb\xbf{",
                                           "{\"name\":\"a\nb\"}"};
  for (const std::string& body : bodies) {
    const Answer refused = Send("POST", "/api/jobs", body);
    EXPECT_EQ(refused.status, 400) << body.substr(0, 40);
    EXPECT_EQ(refused.code(), "invalid") << body.substr(0, 40);
  }
  const Answer empty = SendOn(client_, "POST", "/api/jobs", "", Authorized());
  EXPECT_EQ(empty.status, 400);
}

TEST_F(JobRoutesTest, TakesJsonOnly) {
  const std::string body = JobBody().dump();
  const auto send = [&](HttpHeaders headers) {
    return SendOn(client_, "POST", "/api/jobs", body, Authorized(std::move(headers))).status;
  };
  EXPECT_EQ(send({{"Content-Type", "text/plain"}}), 415);
  EXPECT_EQ(send({{"Content-Type", "application/x-www-form-urlencoded"}}), 415);
  EXPECT_EQ(send({{"Content-Type", "application/json; charset=latin1"}}), 415);
  EXPECT_EQ(send({{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}}), 415);
  EXPECT_EQ(send({{"Content-Type", "Application/JSON; charset=UTF-8"}}), 201);
}

TEST_F(JobRoutesTest, PutNeedsTheVersionThatWasRead) {
  const json job = Create();
  const std::string path = "/api/jobs/" + job.value("job_id", "");
  const std::string body = JobBody({{"name", "Renamed"}}).dump();
  EXPECT_EQ(Send("PUT", path, body).code(), "precondition_required");
  EXPECT_EQ(Send("PUT", path, body, {{"If-Match", "17"}}).code(), "bad_if_match");
  const Answer changed = Send("PUT", path, body, {{"If-Match", "\"v1\""}});
  ASSERT_EQ(changed.status, 200) << changed.text;
  EXPECT_EQ(changed.header("etag"), "\"v2\"");
  EXPECT_EQ(changed.body()["name"], "Renamed");
  const Answer stale = Send("PUT", path, body, {{"If-Match", "\"v1\""}});
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.code(), "stale_version");
  EXPECT_EQ(stale.body()["current_version"], 2);
  EXPECT_EQ(stale.body()["current"]["name"], "Renamed");
  EXPECT_EQ(stale.header("etag"), "\"v2\"");
  EXPECT_EQ(Send("PUT", path, body, {{"If-Match", "*"}}).status, 200);
}

TEST_F(JobRoutesTest, IfMatchTakesListsAndNoWeakTags) {
  const std::string path = "/api/jobs/" + Create().value("job_id", "");
  const auto patch = [&](const std::string& tags, int priority) {
    return Send("PATCH", path, json({{"priority", priority}}).dump(), {{"If-Match", tags}});
  };
  EXPECT_EQ(patch("\"v7\", \"v1\"", 1).status, 200);
  EXPECT_EQ(patch("\"v2\",\"other, kind\"", 2).status, 200);
  for (const char* tags : {"W/\"v3\"", "\"abc\"", "\"v03\"", "\"v1\", \"v2\""}) {
    EXPECT_EQ(patch(tags, 3).code(), "stale_version") << tags;
  }
  for (const char* tags : {"v3", "\"v3", "\"v3\" \"v3\"", ",\"v3\""}) {
    EXPECT_EQ(patch(tags, 3).code(), "bad_if_match") << tags;
  }
  EXPECT_EQ(Get(path).body()["version"], 3);
  EXPECT_EQ(
      Send("PATCH", path, R"({"priority":4})", {{"If-Match", "\"v1\""}, {"If-Match", "\"v3\""}})
          .status,
      200);
}

TEST_F(JobRoutesTest, AnEditThatChangesNothingKeepsTheVersion) {
  const std::string path = "/api/jobs/" + Create().value("job_id", "");
  const size_t before = nudges();
  for (const char* patch : {"{}", R"({"priority":0})", R"({"labels":{"none":null}})"}) {
    const Answer same = Send("PATCH", path, patch, {{"If-Match", "\"v1\""}});
    EXPECT_EQ(same.status, 200) << patch;
    EXPECT_EQ(same.header("etag"), "\"v1\"") << patch;
  }
  EXPECT_EQ(Send("PUT", path, Get(path).text, {{"If-Match", "\"v1\""}}).header("etag"), "\"v1\"");
  EXPECT_EQ(nudges(), before);
}

TEST_F(JobRoutesTest, PutTakesBackWhatGetShowed) {
  const json job = Create({{"parameters", {{"who", "me"}, {"n", 3}}}, {"enabled", false}});
  const std::string path = "/api/jobs/" + job.value("job_id", "");
  const Answer put = Send("PUT", path, Get(path).text, {{"If-Match", "\"v1\""}});
  ASSERT_EQ(put.status, 200) << put.text;
  json after = put.body();
  json before = job;
  for (const char* moved : {"version", "update_time"}) {
    after.erase(moved);
    before.erase(moved);
  }
  EXPECT_EQ(after, before);
}

TEST_F(JobRoutesTest, WhatWasFetchedIsChangedAndPutBack) {
  const std::string path = "/api/jobs/" + Create().value("job_id", "");
  const auto put = [&](const json& changes) {
    const Answer fetched = Get(path);
    json body = fetched.body();
    body.update(changes);
    return Send("PUT", path, body.dump(), {{"If-Match", fetched.header("etag")}});
  };
  const Answer cron = put({{"cron_expression", "0 4 * * *"}});
  ASSERT_EQ(cron.status, 200) << cron.text;
  EXPECT_EQ(cron.body()["schedules"][0]["cron_expression"], "0 4 * * *");
  const Answer zone = put({{"time_zone", "Asia/Tokyo"}});
  ASSERT_EQ(zone.status, 200) << zone.text;
  EXPECT_EQ(zone.body()["next_fire_time"], "2026-03-01T19:00:00.000000Z");
  const Answer both = put({{"cron_expression", "0 5 * * *"},
                           {"schedules", {{{"kind", "cron"}, {"cron_expression", "0 6 * * *"}}}}});
  EXPECT_EQ(both.status, 422);
  EXPECT_EQ(both.code(), "contradiction");
  EXPECT_EQ(both.pointer(), "/cron_expression");
  const Answer none = put({{"schedules", json::array()}});
  ASSERT_EQ(none.status, 200) << none.text;
  EXPECT_TRUE(none.body()["next_fire_time"].is_null());
}

TEST_F(JobRoutesTest, APutCannotMoveAJobToAnotherId) {
  const json job = Create();
  const Answer refused = Send("PUT", "/api/jobs/" + job.value("job_id", ""),
                              JobBody({{"job_id", "other"}}).dump(), {{"If-Match", "\"v1\""}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.pointer(), "/job_id");
}

TEST_F(JobRoutesTest, PatchChangesOnlyWhatItNames) {
  const json job = Create({{"description", "old"}, {"priority", 5}});
  const std::string path = "/api/jobs/" + job.value("job_id", "");
  EXPECT_EQ(Send("PATCH", path, R"({"priority":6})").status, 428);
  const Answer patched =
      Send("PATCH", path, R"({"priority":6,"description":null})", {{"If-Match", "\"v1\""}});
  ASSERT_EQ(patched.status, 200) << patched.text;
  EXPECT_EQ(patched.body()["priority"], 6);
  EXPECT_EQ(patched.body()["description"], "");
  EXPECT_EQ(patched.body()["command"], "true");
  EXPECT_EQ(Send("PATCH", path, R"({"priority":7})", {{"If-Match", "\"v1\""}}).status, 412);
  EXPECT_EQ(Send("PATCH", path, R"([])", {{"If-Match", "\"v2\""}}).status, 400);
  const Answer unknown = Send("PATCH", path, R"({"colour":1})", {{"If-Match", "\"v2\""}});
  EXPECT_EQ(unknown.pointer(), "/colour");
  EXPECT_EQ(Send("PATCH", path, R"({"colour":null})", {{"If-Match", "\"v2\""}}).pointer(),
            "/colour");
}

TEST_F(JobRoutesTest, OfTwoRacingEditsOneIsRefused) {
  for (int round = 0; round < 10; ++round) {
    const std::string path = "/api/jobs/" + Create().value("job_id", "");
    std::atomic<int> stored{0};
    std::atomic<int> stale{0};
    std::vector<std::thread> editors;
    for (int i = 0; i < 4; ++i) {
      editors.emplace_back([&, i] {
        HttpClient client;
        const Answer answer =
            SendOn(client, "PUT", path, JobBody({{"priority", i + 1}}).dump(),
                   Authorized({{"If-Match", "\"v1\""}, {"Content-Type", "application/json"}}));
        if (answer.status == 200) ++stored;
        if (answer.status == 412) ++stale;
      });
    }
    for (std::thread& editor : editors) editor.join();
    EXPECT_EQ(stored, 1);
    EXPECT_EQ(stale, 3);
    EXPECT_EQ(Get(path).body()["version"], 2);
  }
}

TEST_F(JobRoutesTest, DeleteNeedsTheVersionAndIsFinal) {
  const std::string path = "/api/jobs/" + Create({{"job_id", "gone"}}).value("job_id", "");
  EXPECT_EQ(Send("DELETE", path).status, 428);
  EXPECT_EQ(Send("DELETE", path, "", {{"If-Match", "\"v9\""}}).status, 412);
  const Answer deleted = Send("DELETE", path, "", {{"If-Match", "\"v1\""}});
  EXPECT_EQ(deleted.status, 204);
  EXPECT_EQ(deleted.text, "");
  EXPECT_EQ(deleted.header("content-length"), "");
  EXPECT_EQ(Get(path).code(), "not_found");
  EXPECT_EQ(Send("DELETE", path, "", {{"If-Match", "\"v1\""}}).status, 404);
  const Answer gone = Post("/api/jobs", JobBody({{"job_id", "gone"}}));
  EXPECT_EQ(gone.code(), "exists");
  EXPECT_NE(gone.text.find("was deleted"), std::string::npos) << gone.text;
  Create({{"job_id", "here"}});
  const Answer here = Post("/api/jobs", JobBody({{"job_id", "here"}, {"name", "other"}}));
  EXPECT_EQ(here.code(), "exists");
  EXPECT_NE(here.text.find("Edit that job"), std::string::npos) << here.text;
}

TEST_F(JobRoutesTest, PauseAndResumeMoveStateAndVersion) {
  const std::string path = "/api/jobs/" + Create().value("job_id", "");
  const Answer paused = Post(path + "/pause", {{"reason", "maintenance"}});
  ASSERT_EQ(paused.status, 200) << paused.text;
  EXPECT_EQ(paused.body()["state"], "PAUSED");
  EXPECT_EQ(paused.body()["pause_reason"], "maintenance");
  EXPECT_TRUE(paused.body()["next_fire_time"].is_null());
  EXPECT_EQ(paused.header("etag"), "\"v2\"");
  EXPECT_EQ(Get(path + "/next").body()["items"].size(), 0u);
  const Answer again = Post(path + "/pause", {{"reason", "another"}});
  EXPECT_EQ(again.body()["pause_reason"], "another");
  EXPECT_EQ(again.header("etag"), "\"v3\"");
  for (const json& same : {json::object(), json{{"reason", "another"}}}) {
    EXPECT_EQ(Post(path + "/pause", same).header("etag"), "\"v3\"") << same;
  }
  // The request needs no body.
  const Answer resumed = Send("POST", path + "/resume");
  EXPECT_EQ(resumed.status, 200);
  EXPECT_EQ(resumed.body()["state"], "ENABLED");
  EXPECT_EQ(Post(path + "/pause", {{"why", "x"}}).pointer(), "/why");
  EXPECT_EQ(Post(path + "/pause", {{"reason", std::string(1001, 'x')}}).pointer(), "/reason");
  EXPECT_EQ(Post(path + "/pause", {{"reason", 5}}).pointer(), "/reason");
}

TEST_F(JobRoutesTest, NextListsFiresWithTheirOffsets) {
  const json job = Create({{"time_zone", "Europe/Paris"}, {"cron_expression", "30 2 * * *"}});
  const Answer next = Get("/api/jobs/" + job.value("job_id", "") + "/next?n=40");
  ASSERT_EQ(next.status, 200) << next.text;
  const json items = next.body()["items"];
  ASSERT_EQ(items.size(), 40u);
  EXPECT_EQ(items[0]["fire_time"], "2026-03-01T01:30:00.000000Z");
  EXPECT_EQ(items[0]["local_time"], "2026-03-01T02:30:00.000000+01:00");
  EXPECT_TRUE(items[0]["dst"].is_null());
  // 29 March: 02:30 does not exist, so the job fires right after the jump.
  EXPECT_EQ(items[28]["dst"], "moved_by_gap");
  EXPECT_EQ(items[28]["utc_offset"], "+02:00");
  EXPECT_EQ(Get("/api/jobs/" + job.value("job_id", "") + "/next?n=101").pointer(), "?n");
}

TEST_F(JobRoutesTest, NextTellsWhatAClockChangeTakesAway) {
  const json gap = Create({{"job_id", "gap"},
                           {"time_zone", "Europe/Paris"},
                           {"cron_expression", "30 2 * * *"},
                           {"dst_gap", "skip"}});
  EXPECT_TRUE(Get("/api/jobs/gap/next?n=28").body()["skipped"].empty());  // ends before that day
  const json skipped = Get("/api/jobs/gap/next?n=29").body()["skipped"];
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0]["dst"], "skipped_by_gap");
  EXPECT_EQ(skipped[0]["fire_time"], "2026-03-29T01:00:00.000000Z");
  const json preview = {{"cron_expression", "30 2 * * *"},
                        {"time_zone", "Europe/Paris"},
                        {"after", "2026-10-24T12:00:00Z"},
                        {"n", 2}};
  const json once = Post("/api/schedules/preview", preview).body();
  ASSERT_EQ(once["skipped"].size(), 1u);
  EXPECT_EQ(once["skipped"][0]["dst"], "not_repeated");
  EXPECT_EQ(once["skipped"][0]["fire_time"], "2026-10-25T01:30:00.000000Z");
  EXPECT_EQ(once["items"][0]["fire_time"], "2026-10-25T00:30:00.000000Z");
  // Both fires move to 03:00. The page ends between them, and none of them is lost.
  json schedules = json::array();
  for (const char* cron : {"15 2 * * *", "30 2 * * *"}) {
    schedules.push_back(
        {{"kind", "cron"}, {"cron_expression", cron}, {"time_zone", "Europe/Paris"}});
  }
  const json two = {{"schedules", schedules}, {"after", "2026-03-28T12:00:00Z"}, {"n", 1}};
  const json moved = Post("/api/schedules/preview", two).body();
  ASSERT_EQ(moved["items"].size(), 1u) << moved;
  EXPECT_EQ(moved["items"][0]["dst"], "moved_by_gap");
  EXPECT_TRUE(moved["skipped"].empty());
  json both = preview;
  both["dst_repeat"] = "both";
  EXPECT_TRUE(Post("/api/schedules/preview", both).body()["skipped"].empty());
}

TEST_F(JobRoutesTest, UnknownAndImpossibleIdsAreNotFound) {
  for (const char* id :
       {"no-such-job", "NOPE", "..", "%2e%2e%2fetc%2fpasswd", "a%20b", "%E2%82%AC"}) {
    const Answer answer = Get(std::string("/api/jobs/") + id);
    EXPECT_EQ(answer.status, 404) << id;
    EXPECT_EQ(answer.code(), "not_found") << id;
  }
  EXPECT_EQ(Post("/api/jobs/no-such-job/execute").status, 404);
  EXPECT_EQ(Post("/api/jobs/no-such-job/cancel").status, 404);
  EXPECT_EQ(Post("/api/jobs/no-such-job/pause").status, 404);
  EXPECT_EQ(Get("/api/jobs/no-such-job/history").status, 404);
  EXPECT_EQ(Get("/api/jobs/no-such-job/next").status, 404);
}

TEST_F(JobRoutesTest, AConditionalGetSavesTheBody) {
  const std::string path = "/api/jobs/" + Create().value("job_id", "");
  const Answer same = Send("GET", path, "", {{"If-None-Match", "\"v1\""}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.text, "");
  EXPECT_EQ(Send("GET", path, "", {{"If-None-Match", "\"v2\""}}).status, 200);
}

TEST_F(JobRoutesTest, ParametersAreCheckedByTheRulesOfTheJob) {
  const json rules = {{"day", {{"choices", {"monday", "friday"}}, {"required", true}}},
                      {"rows", {{"type", "integer"}}}};
  Create({{"job_id", "j"},
          {"schedules", json::array()},
          {"cron_expression", nullptr},
          {"parameter_rules", rules}});
  const auto refused_at = [&](const json& parameters) {
    const Answer answer = Post("/api/jobs/j/execute", {{"parameters", parameters}});
    EXPECT_EQ(answer.status, 400) << answer.text;
    return answer.pointer();
  };
  EXPECT_EQ(refused_at(nullptr), "/parameters/day");
  EXPECT_EQ(refused_at({{"day", "sunday"}}), "/parameters/day");
  EXPECT_EQ(refused_at({{"day", "friday"}, {"rows", "7"}}), "/parameters/rows");
  EXPECT_EQ(Post("/api/jobs/j/execute", {{"parameters", {{"day", "friday"}, {"x", 1}}}}).status,
            202);
}

TEST_F(JobRoutesTest, ADefinitionThatContradictsItsRulesIsRefused) {
  const auto refused_at = [&](const json& fields) {
    const Answer answer = Post("/api/jobs", JobBody(fields));
    EXPECT_EQ(answer.status, 422) << answer.text;
    EXPECT_EQ(answer.code(), "contradiction");
    return answer.pointer();
  };
  EXPECT_EQ(refused_at({{"parameter_rules", {{"n", {{"type", "integer"}, {"choices", {"1"}}}}}}}),
            "/parameter_rules/n/choices/0");
  EXPECT_EQ(refused_at({{"parameter_rules", {{"n", {{"type", "integer"}}}}},
                        {"parameters", {{"n", "1"}}}}),
            "/parameters/n");
  // JobBody has a schedule, in the short form.
  EXPECT_EQ(refused_at({{"parameter_rules", {{"n", {{"required", true}}}}}}), "/parameters/n");
}

}  // namespace
}  // namespace carillon::test
