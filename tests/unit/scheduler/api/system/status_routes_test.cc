// The routes for executors, status, configuration and previews.
#include <thread>

#include "tests/unit/common/adapters/http/raw_socket.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using SystemRoutesTest = ApiEnv;

// The store is updated every few seconds; newer heartbeats of the same process take precedence.
TEST_F(SystemRoutesTest, ExecutorsAreShownAsLastHeard) {
  ExecutorRecord heard = AddExecutor("executor-1");
  heard.running = 3;
  heard.state = ExecutorState::kUnhealthy;
  heard.load.cpu = 0.5;
  heard.slots = 3;
  heard.config_version = 7;
  heard.tasks_behind = 4;
  heard.checks = {{"user", HostCheckState::kPartly, "It is root.", "Use another one."}};
  heard.features = Features{Feature::kSecrets, Feature::kScriptSh};
  heard.last_heartbeat += 1s;
  status_.linked = {heard};
  for (const json& shown :
       {Get("/api/executors/executor-1").body(), Get("/api/executors").body()["items"][0]}) {
    EXPECT_EQ(shown["running"], 3);
    EXPECT_EQ(shown["state"], "UNHEALTHY");
    EXPECT_EQ(shown["load"]["cpu"], 0.5);
    EXPECT_EQ(shown["slots"], 3);
    EXPECT_EQ(shown["config_version"], 7);
    EXPECT_EQ(shown["tasks_behind"], 4);
    EXPECT_EQ(shown["features"], (json{"secrets", "script:sh"}));
    if (shown.contains("report")) {
      EXPECT_EQ(shown["report"], (json{{{"name", "user"},
                                        {"state", "partly"},
                                        {"detail", "It is root."},
                                        {"cure", "Use another one."}}}));
    }
    EXPECT_EQ(shown["last_heartbeat_time"], FormatRfc3339(heard.last_heartbeat));
  }
  status_.linked[0].last_heartbeat -= 2s;
  EXPECT_EQ(Get("/api/executors/executor-1").body()["running"], 0) << "older than the store's";
  status_.linked = {heard};
  status_.linked[0].incarnation = Incarnation("another");
  EXPECT_EQ(Get("/api/executors/executor-1").body()["running"], 0) << "another process";
}

TEST_F(SystemRoutesTest, HandlersAreListedWithTheExecutorsThatTakeRuns) {
  for (const char* id : {"executor-1", "executor-2", "executor-3"}) {
    ExecutorRecord heard = AddExecutor(id);
    heard.handlers = {{"billing/close_day", {.slots = 4, .free = 3}}};
    heard.last_heartbeat += 1s;
    status_.linked.push_back(heard);
  }
  EXPECT_EQ(Post("/api/executors/executor-3/disable").status, 200);
  status_.linked[2].enabled = false;
  EXPECT_EQ(Get("/api/handlers").body()["items"],
            (json{{{"name", "billing/close_day"},
                   {"executors", {"executor-1", "executor-2"}},
                   {"slots", 8},
                   {"free", 6}}}));
}

TEST_F(SystemRoutesTest, ExecutorsAreShownAndSwitched) {
  AddExecutor("executor-1");
  const json list = Get("/api/executors").body();
  ASSERT_EQ(list["items"].size(), 1u);
  json shown = Get("/api/executors/executor-1").body();
  EXPECT_EQ(shown["report"], json::array()) << "by id only";
  shown.erase("report");
  EXPECT_EQ(shown, list["items"][0]);
  EXPECT_EQ(shown["executor_id"], "executor-1");
  EXPECT_EQ(shown["state"], "ONLINE");
  EXPECT_EQ(shown["enabled"], true);
  EXPECT_EQ(Post("/api/executors/executor-1/disable").body()["enabled"], false);
  EXPECT_EQ(Post("/api/executors/executor-1/drain").body()["draining"], true);
  const json enabled = Post("/api/executors/executor-1/enable").body();
  EXPECT_EQ(enabled["enabled"], true);
  EXPECT_EQ(enabled["draining"], false);
  EXPECT_GE(executor_nudges_, 3u);
  EXPECT_EQ(Get("/api/executors/nobody").code(), "not_found");
  EXPECT_EQ(Get("/api/executors/NO").code(), "not_found");
  EXPECT_EQ(Post("/api/executors/nobody/drain").status, 404);
}

TEST_F(SystemRoutesTest, LabelsArePatchedOfTheVersionThatWasRead) {
  AddExecutor("executor-1");
  const std::string path = "/api/executors/executor-1";
  const std::string tag = Get(path).header("etag");
  const Answer patched = Send("PATCH", path, R"({"labels":{"zone":"a"}})", {{"If-Match", tag}});
  ASSERT_EQ(patched.status, 200) << patched.text;
  EXPECT_EQ(patched.body()["labels"], json({{"zone", "a"}}));
  const Answer stale = Send("PATCH", path, R"({"labels":{}})", {{"If-Match", tag}});
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.code(), "stale_version");
  json current = Get(path).body();
  current.erase("report");
  EXPECT_EQ(stale.body()["current"], current);
  const Answer missing = Send("PATCH", path, R"({"labels":{}})");
  EXPECT_EQ(missing.status, 428);
  EXPECT_EQ(missing.code(), "precondition_required");
  EXPECT_EQ(Get(path).body()["labels"], json({{"zone", "a"}}));
  const HttpHeaders any = {{"If-Match", "*"}};
  EXPECT_EQ(Send("PATCH", path, R"({"slots":5})", any).pointer(), "/slots");
  EXPECT_EQ(Send("PATCH", path, R"({})", any).pointer(), "/labels");
  EXPECT_EQ(Send("PATCH", path, R"({"labels":[1]})", any).pointer(), "/labels");
  EXPECT_EQ(Send("PATCH", path, R"({"labels":{}})", {{"If-Match", stale.header("etag")}}).status,
            200);
}

TEST_F(SystemRoutesTest, ExecutorsAreSortedByIdOrHeartbeat) {
  for (const auto& [id, beat] :
       std::map<std::string, int>{{"a", 2}, {"b", 3}, {"c", 2}, {"d", 1}}) {
    ExecutorRecord record = AddExecutor(id);
    record.last_heartbeat = clock_.Wall() + beat * 1s;
    ASSERT_TRUE(stores_.executors.UpdateExecutors({record}).ok());
  }
  const auto ids = [&](const std::string& query) {
    std::string found;
    std::string token;
    do {
      const json page = Get("/api/executors?page_size=3&" + query + token).body();
      for (const json& item : page["items"]) found += item.value("executor_id", "");
      token = page["next_page_token"].is_null()
                  ? ""
                  : "&page_token=" + page.value("next_page_token", "");
    } while (!token.empty());
    return found;
  };
  EXPECT_EQ(ids(""), "abcd");
  EXPECT_EQ(ids("sort=executor_id"), "abcd");
  EXPECT_EQ(ids("sort=-executor_id"), "dcba");
  EXPECT_EQ(ids("sort=last_heartbeat_time"), "dacb");
  EXPECT_EQ(ids("sort=-last_heartbeat_time"), "bcad");
  EXPECT_EQ(Get("/api/executors?sort=host").pointer(), "?sort");
}

TEST_F(SystemRoutesTest, ExecutorsAreFilteredByStateTextAndLabels) {
  for (const auto& [id, labels] : std::map<std::string, std::map<std::string, std::string>>{
           {"db-1", {{"zone", "a"}, {"disk", "ssd"}}}, {"db-2", {{"zone", "b"}}}, {"web", {}}}) {
    ExecutorRecord record = AddExecutor(id);
    record.host = id + ".Example";
    record.state = id == "db-2" ? ExecutorState::kLost : ExecutorState::kOnline;
    ASSERT_TRUE(stores_.executors.RegisterExecutor(record).ok());
    ASSERT_TRUE(stores_.executors.SetExecutorLabels({.id = record.id, .labels = labels}).ok());
  }
  const auto ids = [&](const std::string& query) {
    const json page = Get("/api/executors?" + query).body();
    std::string found;
    for (const json& item : page["items"]) found += item.value("executor_id", "") + " ";
    EXPECT_EQ(page["total"], page["items"].size()) << query;
    return found;
  };
  EXPECT_EQ(ids("state=LOST"), "db-2 ");
  EXPECT_EQ(ids("state=LOST&state=ONLINE"), "db-1 db-2 web ");
  EXPECT_EQ(ids("q=DB-"), "db-1 db-2 ");
  EXPECT_EQ(ids("q=web.example"), "web ");
  EXPECT_EQ(ids("label=zone:a&label=zone:b"), "db-1 db-2 ");
  EXPECT_EQ(ids("label=zone:a&label=disk:hdd"), "");
  EXPECT_EQ(ids("label=zone:b&q=db&state=LOST"), "db-2 ");
  EXPECT_EQ(ids("label=zone:b&state=ONLINE"), "");
  const json page = Get("/api/executors?q=db&page_size=1").body();
  EXPECT_EQ(page["total"], 2);
  const std::string token = page.value("next_page_token", "");
  EXPECT_EQ(Get("/api/executors?q=db&page_token=" + token).body()["items"][0]["executor_id"],
            "db-2");
  EXPECT_EQ(Get("/api/executors?page_token=" + token).pointer(), "?page_token");
  EXPECT_EQ(Get("/api/executors?state=online").pointer(), "?state");
  EXPECT_EQ(Get("/api/executors?label=zone").pointer(), "?label");
  EXPECT_EQ(Get("/api/executors?q=" + std::string(1001, 'a')).pointer(), "?q");
}

TEST_F(SystemRoutesTest, StatusHasItsShape) {
  AddExecutor("executor-1");
  Execute(Create().value("job_id", ""));
  const json status = Get("/api/system/status").body();
  EXPECT_EQ(status["leader"], "scheduler-1");
  EXPECT_EQ(status["members"][0]["id"], "scheduler-1");
  EXPECT_EQ(status["members"][0]["address"], "127.0.0.1:8640");
  EXPECT_EQ(status["members"][0]["clock_offset_ms"], 1.5);
  EXPECT_EQ(status["members"][0]["version"], "0.1.0-test");
  EXPECT_EQ(status["members"][0]["paused"], false);
  EXPECT_EQ(status["segments"].size(), 64u);
  EXPECT_EQ(status["segments"][5]["segment"], 5);
  EXPECT_TRUE(status["segments"][5]["owner"].is_null());
  EXPECT_EQ(status["executors"]["ONLINE"], 1);
  EXPECT_EQ(status["runs_pending"], 1);
  EXPECT_EQ(status["runs_running"], 0);
  EXPECT_EQ(status["oldest_overdue_ms"], 250.0);
  EXPECT_EQ(status["late_ms"], json({{"p50", 2.0}, {"p99", 7.0}}));
  EXPECT_EQ(status["version"], "0.1.0-test");
}

TEST_F(SystemRoutesTest, StatusSaysThatLoadIsShed) {
  EXPECT_TRUE(Get("/api/system/status").body()["overload"].is_null());
  status_.overload = Overload{.level = {.late = 10s, .below = 20},
                              .since = ParseRfc3339("2026-03-01T00:00:00Z").value(),
                              .shed = 7};
  EXPECT_EQ(
      Get("/api/system/status").body()["overload"],
      json({{"late_s", 10}, {"below", 20}, {"since", "2026-03-01T00:00:00.000000Z"}, {"shed", 7}}));
}

TEST_F(SystemRoutesTest, StatusSaysThatDeadLettersAreNotPublished) {
  const auto told = [this] { return Get("/api/system/status").body()["unpublished_letters"]; };
  config_ = config::Load({.flags = {{"dead_letters.topic", "letters", "--set"}}}).value();
  Serve("");
  const std::string job_id = Create().value("job_id", "");
  Finish(Execute(job_id), {.state = RunState::kFailed, .reason = "exit_code"});
  clock_.Advance(1h);
  const uint64_t first = *stores_.letters.BeginPublishing(clock_.Wall());
  const WallTime since = clock_.Wall();
  Finish(Execute(job_id), {.state = RunState::kFailed, .reason = "exit_code"});
  clock_.Advance(59s);
  EXPECT_TRUE(told().is_null()) << "the leader may be about to publish it";
  clock_.Advance(1s);
  EXPECT_EQ(told(), (json{{"count", 1}, {"since", FormatRfc3339(since)}}))
      << "the one from before the first call does not wait";
  const LettersToPublish page = *stores_.letters.ScanUnpublished(first, 10);
  ASSERT_EQ(page.letters.size(), 1u);
  EXPECT_TRUE(stores_.letters.MarkPublished({page.letters[0].letter.id}).ok());
  EXPECT_TRUE(told().is_null());
}

TEST_F(SystemRoutesTest, StatusIsToldWithoutTheLettersThatCannotBeCounted) {
  config_ = config::Load({.flags = {{"dead_letters.topic", "letters", "--set"}}}).value();
  Serve("");
  faults_.plan.ArmAlways("GetBacklog", Fault::kUnavailable);
  const json status = Get("/api/system/status").body();
  EXPECT_TRUE(status["store_reachable"].get<bool>());
  EXPECT_EQ(status["segments"].size(), 64u);
  EXPECT_EQ(status["runs_pending"], 0);
  EXPECT_TRUE(status["unpublished_letters"].is_null());
}

TEST_F(SystemRoutesTest, StatusSaysNothingOfLettersWithoutATopic) {
  const std::string job_id = Create().value("job_id", "");
  ASSERT_TRUE(stores_.letters.BeginPublishing(clock_.Wall()).ok());
  Finish(Execute(job_id), {.state = RunState::kFailed, .reason = "exit_code"});
  clock_.Advance(1h);
  EXPECT_TRUE(Get("/api/system/status").body()["unpublished_letters"].is_null());
}

TEST_F(SystemRoutesTest, StatusNamesTheJobsThatAreNotPlanned) {
  EXPECT_EQ(Get("/api/system/status").body()["unplanned_jobs"], json::array());
  status_.unplanned = {{JobId("eastern"), "Eastern", ParseRfc3339("2026-03-01T00:00:00Z").value()}};
  EXPECT_EQ(Get("/api/system/status").body()["unplanned_jobs"],
            json::array({{{"job_id", "eastern"},
                          {"job_name", "Eastern"},
                          {"fire_time", "2026-03-01T00:00:00.000000Z"}}}));
}

TEST_F(SystemRoutesTest, StatusTellsHowFarReadersAreBehind) {
  const json unknown = {{"tasks", nullptr}, {"results", nullptr}, {"logs", nullptr}};
  EXPECT_EQ(Get("/api/system/status").body()["lag"], unknown);
  using enum BusHealth::Contact;
  status_.topics = {{"carillon.results", {kAnswers, 12}}, {"carillon.logs", {kSilent}}};
  for (const auto& [id, behind] : {std::pair("a", 3), std::pair("b", 5), std::pair("lost", 900)}) {
    status_.linked.push_back({.id = ExecutorId(id), .tasks_behind = behind});
  }
  status_.linked.back().state = ExecutorState::kLost;
  status_.linked.push_back({.id = ExecutorId("older")});
  EXPECT_EQ(Get("/api/system/status").body()["lag"],
            json({{"tasks", 5}, {"results", 12}, {"logs", nullptr}}));
}

// Expects a status without the store: values that are not known are null.
void ExpectWithoutStore(const json& status) {
  EXPECT_EQ(status["store_reachable"], false);
  EXPECT_TRUE(status["unknown_since"].is_string());
  EXPECT_EQ(status["leader"], "scheduler-1");
  EXPECT_TRUE(status["members"][0]["owned_segments"].is_null());
  for (const char* name :
       {"segments", "runs_pending", "runs_running", "oldest_overdue_ms", "unplanned_jobs"}) {
    EXPECT_TRUE(status[name].is_null()) << name;
  }
  // Only executors with a link to this member are counted.
  EXPECT_EQ(status["executors"]["UNHEALTHY"], 1);
}

TEST_F(SystemRoutesTest, StatusStillSaysWhatIsKnownWhileTheStoreIsAway) {
  AddExecutor("executor-1");
  const json before = Get("/api/system/status").body();
  EXPECT_EQ(before["store_reachable"], true);
  EXPECT_TRUE(before["unknown_since"].is_null());
  EXPECT_EQ(before["members"][0]["owned_segments"], 0);
  EXPECT_EQ(before["executors"]["UNHEALTHY"], 0);
  faults_.plan.Arm("CountOpenRuns", Fault::kUnavailable);
  faults_.plan.Arm("FindToken", Fault::kUnavailable);
  const Answer answer = Get("/api/system/status");
  ASSERT_EQ(answer.status, 200);
  ExpectWithoutStore(answer.body());
}

TEST_F(SystemRoutesTest, StatusDoesNotWaitBehindRequestsThatHang) {
  Hang hang(faults_.plan, "ListJobs");
  constexpr int kWorkers = 8;
  std::vector<std::unique_ptr<RawSocket>> waiting;
  for (int i = 0; i < kWorkers + 4; ++i) {
    waiting.push_back(std::make_unique<RawSocket>(server_->port()));
    ASSERT_TRUE(waiting.back()->Send("GET /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                                     token_ + "\r\n\r\n"));
  }
  ASSERT_TRUE(hang.Await(kWorkers));
  EXPECT_EQ(Get("/api/system/status").body()["store_reachable"], true);
  hang.Release();
  for (const auto& socket : waiting) EXPECT_NE(socket->ReadAnswer(), "");
}

class HangingStoreTest : public ApiEnv {
 protected:
  HangingStoreTest() : ApiEnv(100ms) {}
  // Waits until the status shows the store as reachable, because on a busy machine even a healthy
  // store may answer late.
  bool AwaitReachable() {
    const SteadyTime deadline = server_clock_.Steady() + 120s;
    while (server_clock_.Steady() < deadline) {
      if (Get("/api/system/status").body()["store_reachable"] == true) return true;
    }
    return false;
  }
};

TEST_F(HangingStoreTest, StatusDoesNotWaitForIt) {
  ASSERT_TRUE(AwaitReachable());
  Hang hang(faults_.plan, "CountOpenRuns");
  std::vector<std::thread> readers;
  for (size_t i = 0; i < 6; ++i) {
    readers.emplace_back([&] {
      HttpClient client;
      ExpectWithoutStore(SendOn(client, "GET", "/api/system/status", "", Authorized()).body());
    });
  }
  for (std::thread& reader : readers) reader.join();
  hang.Release();
  EXPECT_TRUE(AwaitReachable());
}

TEST_F(HangingStoreTest, AStrangerGetsAnAnswerFromIt) {
  Hang hang(faults_.plan, "FindToken");
  for (int i = 0; i < 12; ++i) {
    const Answer stranger = SendOn(client_, "GET", "/api/jobs", "",
                                   {{"Authorization", "Bearer other" + std::to_string(i)}});
    EXPECT_EQ(stranger.code(), "unavailable");
  }
}

TEST_F(SystemRoutesTest, TheAuditSaysWhoDidWhatAndWhy) {
  AddExecutor("executor-1");
  const std::string job_id = Create().value("job_id", "");
  const std::string run_id = Execute(job_id);
  Post("/api/jobs/" + job_id + "/pause", {{"reason", "moving house"}});
  Post("/api/jobs/" + job_id + "/resume", {{"reason", "moved"}});
  Post("/api/runs/" + run_id + "/cancel", {{"reason", "wrong day"}});
  Post("/api/executors/executor-1/disable", {{"reason", "disk"}});
  Post("/api/executors/nobody/disable", {{"reason", "not done"}});
  Post("/api/schedules/preview", {{"cron_expression", "* * * * *"}});
  const json all = Get("/api/audit").body()["items"];
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0]["action"], "executor.disable");
  EXPECT_EQ(all[0]["object_id"], "executor-1");
  EXPECT_EQ(all[0]["reason"], "disk");
  EXPECT_EQ(all[0]["actor"], "token/admin");
  EXPECT_EQ(all[0]["trace_id"].get<std::string>().size(), 32u);
  EXPECT_EQ(all[1]["object_id"], run_id);
  EXPECT_EQ(all[1]["reason"], "wrong day");
  EXPECT_EQ(all[5]["action"], "job.create");
  EXPECT_EQ(all[5]["object_id"], job_id);
  EXPECT_TRUE(all[5]["reason"].is_null());
  const json page = Get("/api/audit?page_size=1&object_id=" + job_id).body();
  EXPECT_EQ(page["items"][0]["reason"], "moved");
  const json rest =
      Get("/api/audit?object_id=" + job_id + "&page_token=" + page.value("next_page_token", ""))
          .body()["items"];
  ASSERT_EQ(rest.size(), 3u);
  EXPECT_EQ(rest[0]["reason"], "moving house");
  const json oldest = Get("/api/audit?sort=time&page_size=4").body();
  EXPECT_EQ(oldest["items"][0], all[5]);
  const json newer =
      Get("/api/audit?sort=time&page_token=" + oldest.value("next_page_token", "")).body()["items"];
  EXPECT_EQ(newer, (json{all[1], all[0]}));
  EXPECT_EQ(Get("/api/audit?sort=-time").body()["items"], all);
  EXPECT_EQ(Get("/api/audit?sort=actor").pointer(), "?sort");
}

TEST_F(SystemRoutesTest, TheAuditIsFilteredByPersonActionAndTime) {
  Create();
  const std::string job_id = Create().value("job_id", "");
  Post("/api/jobs/" + job_id + "/pause", {{"reason", "moving house"}});
  const json all = Get("/api/audit").body()["items"];
  ASSERT_EQ(all.size(), 3u);
  const auto items = [&](const std::string& query) {
    return Get("/api/audit?" + query).body()["items"];
  };
  EXPECT_EQ(items("actor=token/admin"), all);
  EXPECT_EQ(items("actor=token"), all);
  EXPECT_EQ(items("actor=admin"), json::array());
  EXPECT_EQ(items("action=job.pause"), (json{all[0]}));
  EXPECT_EQ(items("action=job.pause&action=job.create"), all);
  EXPECT_EQ(items("action=job.pause&object_id=" + job_id + "&actor=token"), (json{all[0]}));
  const std::string at = all[0].value("time", "");
  EXPECT_EQ(items("since=" + at), all);  // the clock does not move here
  EXPECT_EQ(items("until=" + at), json::array());
  const json page = Get("/api/audit?action=job.create&page_size=1").body();
  EXPECT_EQ(page["total"], 2);
  const std::string token = page.value("next_page_token", "");
  EXPECT_EQ(items("action=job.create&page_size=1&page_token=" + token), (json{all[2]}));
  EXPECT_EQ(Get("/api/audit?action=job.pause&page_token=" + token).pointer(), "?page_token");
  EXPECT_EQ(Get("/api/audit?action=Job").pointer(), "?action");
  EXPECT_EQ(Get("/api/audit?since=monday").pointer(), "?since");
  EXPECT_EQ(Get("/api/audit?actor=" + std::string(1001, 'a')).pointer(), "?actor");
}

TEST_F(SystemRoutesTest, AReplayIsNoSecondDeedAndAnAuditThatFailsUndoesNothing) {
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  Post("/api/jobs", JobBody(), key);
  Post("/api/jobs", JobBody(), key);
  EXPECT_EQ(Get("/api/audit").body()["items"].size(), 1u);
  faults_.plan.Arm("RecordAudit", Fault::kUnavailable);
  EXPECT_EQ(Post("/api/jobs", JobBody()).status, 201);
}

TEST_F(SystemRoutesTest, PreviewShowsFiresInTheirZone) {
  const Answer answer = Post("/api/schedules/preview", {{"cron_expression", "30 2 * * *"},
                                                        {"time_zone", "Europe/Paris"},
                                                        {"n", 3},
                                                        {"after", "2026-10-23T12:00:00Z"}});
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json preview = answer.body();
  EXPECT_EQ(preview["valid"], true);
  ASSERT_EQ(preview["items"].size(), 3u);
  EXPECT_EQ(preview["items"][0]["local_time"], "2026-10-24T02:30:00.000000+02:00");
  // 25 October: 02:30 occurs twice; the first one fires.
  EXPECT_EQ(preview["items"][1]["fire_time"], "2026-10-25T00:30:00.000000Z");
  EXPECT_EQ(preview["items"][1]["dst"], "repeated");
  EXPECT_EQ(preview["items"][2]["local_time"], "2026-10-26T02:30:00.000000+01:00");
  ASSERT_EQ(preview["explanations"].size(), 1u);
  EXPECT_FALSE(preview["explanations"][0].get<std::string>().empty());
}

TEST_F(SystemRoutesTest, PreviewMergesSeveralSchedules) {
  const json preview =
      Post("/api/schedules/preview",
           {{"schedules",
             {{{"kind", "cron"}, {"cron_expression", "0 * * * *"}, {"time_zone", "UTC"}},
              {{"kind", "once"}, {"at", "2026-03-01T00:30:00Z"}},
              {{"kind", "rate"}, {"every_ms", 2'400'000}, {"start_time", "2026-03-01T00:10:00Z"}}}},
            {"n", 4}})
          .body();
  ASSERT_EQ(preview["items"].size(), 4u) << preview;
  std::vector<int> order;
  for (const json& item : preview["items"]) order.push_back(item["schedule"].get<int>());
  EXPECT_EQ(order, (std::vector<int>{2, 1, 2, 0}));
}

TEST_F(SystemRoutesTest, PreviewOfABadExpressionSaysWhere) {
  const Answer bad = Post("/api/schedules/preview", {{"cron_expression", "61 * * * *"}});
  EXPECT_EQ(bad.status, 200);
  EXPECT_EQ(bad.body()["valid"], false);
  EXPECT_EQ(bad.body()["errors"][0]["pointer"], "/cron_expression");
  EXPECT_EQ(bad.body()["items"].size(), 0u);
  EXPECT_EQ(Post("/api/schedules/preview", {{"cron_expression", "@reboot"}}).body()["valid"],
            false);
  EXPECT_EQ(Post("/api/schedules/preview", {{"n", 3}}).pointer(), "/cron_expression");
  EXPECT_EQ(Post("/api/schedules/preview", {{"cron_expression", "* * * * *"}, {"n", 0}}).pointer(),
            "/n");
  EXPECT_EQ(
      Post("/api/schedules/preview", {{"cron_expression", "* * * * *"}, {"after", "x"}}).pointer(),
      "/after");
  EXPECT_EQ(Post("/api/schedules/preview", {{"cron", "* * * * *"}}).pointer(), "/cron");
}

TEST_F(SystemRoutesTest, PreviewsFarAwayAreStillAnswered) {
  for (const char* after : {"2299-12-31T23:00:00Z", "4000-01-01T00:00:00Z"}) {
    const Answer answer =
        Post("/api/schedules/preview",
             {{"cron_expression", "30 2 * * *"}, {"time_zone", "Europe/Paris"}, {"after", after}});
    EXPECT_EQ(answer.status, 200) << answer.text;
  }
}

}  // namespace
}  // namespace carillon::test
