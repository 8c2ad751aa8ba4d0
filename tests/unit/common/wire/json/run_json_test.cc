#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

using nlohmann::json;

const WallTime kFire = FromUnixMicros(1'700'000'000'000'000);

RunDetail CompletedRun() {
  RunDetail run;
  run.row = {.key = {.fire = kFire, .schedule_id = ScheduleId(9), .shard = 1},
             .kind = RunKind::kRate,
             .state = RunState::kCompleted,
             .attempt = 2,
             .priority = 5,
             .def_version = 4,
             .executor = ExecutorId("executor-1"),
             .claimed = kFire + 3s};
  run.job_id = JobId("j");
  run.job_name = "nightly";
  run.planned = kFire - 20s;
  run.result = {.exit_code = 0, .started = kFire + 4s, .ended = kFire + 5s, .output = "hi\xFF\n"};
  run.attempts = {{.attempt = 1,
                   .state = RunState::kFailed,
                   .executor = ExecutorId("executor-2"),
                   .claimed = kFire + 1s,
                   .result = {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 3}}};
  return run;
}

TEST(RunToJsonTest, HasTheShapeOfTheInterface) {
  const json body = RunToJson(CompletedRun(), true);
  EXPECT_EQ(body["run_id"], EncodeRunId(CompletedRun().row.key));
  EXPECT_EQ(body["job_id"], "j");
  EXPECT_EQ(body["job_name"], "nightly");
  EXPECT_EQ(body["schedule_id"], 9);
  EXPECT_EQ(body["kind"], "rate");
  EXPECT_EQ(body["fire_time"], "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(body["shard"], 1);
  EXPECT_EQ(body["state"], "COMPLETED");
  EXPECT_TRUE(body["reason"].is_null());
  EXPECT_EQ(body["attempt"], 2);
  EXPECT_EQ(body["executor_id"], "executor-1");
  EXPECT_EQ(body["planned_at"], "2023-11-14T22:13:00.000000Z");
  EXPECT_EQ(body["claimed_at"], "2023-11-14T22:13:23.000000Z");
  EXPECT_EQ(body["started_at"], "2023-11-14T22:13:24.000000Z");
  EXPECT_EQ(body["ended_at"], "2023-11-14T22:13:25.000000Z");
  EXPECT_EQ(body["exit_code"], 0);
  EXPECT_EQ(body["output"], "hi\xEF\xBF\xBD\n");
  EXPECT_EQ(body["output_truncated"], false);
  EXPECT_TRUE(body["error"].is_null());
}

TEST(RunToJsonTest, AttemptsAreListedOnlyWhenAskedFor) {
  EXPECT_FALSE(RunToJson(CompletedRun(), false).contains("attempts"));
}

TEST(RunToJsonTest, ProgressAndCheckpointAreShownWithTheAttempts) {
  RunDetail run = CompletedRun();
  EXPECT_TRUE(RunToJson(run, true)["progress"].is_null());
  EXPECT_TRUE(RunToJson(run, true)["checkpoint"].is_null());
  const WallTime at = FromUnixMicros(1'772'323'200'000'000);
  run.saved.progress = {.percent = 42, .text = "half"};
  run.saved.progress_at = at;
  run.saved.checkpoint = {.size = 3, .attempt = 2, .at = at};
  EXPECT_EQ(RunToJson(run, true)["progress"],
            (json{{"percent", 42}, {"text", "half"}, {"at", FormatRfc3339(at)}}));
  EXPECT_EQ(RunToJson(run, true)["checkpoint"],
            (json{{"size", 3}, {"attempt", 2}, {"saved_at", FormatRfc3339(at)}}));
  run.saved.progress->percent.reset();
  EXPECT_TRUE(RunToJson(run, true)["progress"]["percent"].is_null());
  EXPECT_FALSE(RunToJson(run, false).contains("progress"));
}

TEST(RunToJsonTest, OutputsAreShownWithTheAttempts) {
  RunDetail run = CompletedRun();
  EXPECT_EQ(RunToJson(run, true)["outputs"], json::object());
  run.result.outputs = {{"rows", "12"}, {"text", "a\nb"}};
  EXPECT_EQ(RunToJson(run, true)["outputs"], (json{{"rows", "12"}, {"text", "a\nb"}}));
  EXPECT_FALSE(RunToJson(run, false).contains("outputs"));
}

TEST(RunToJsonTest, LimitsThatWereNotEnforcedAreShownWithTheRunAndItsAttempts) {
  RunDetail run = CompletedRun();
  EXPECT_EQ(RunToJson(run, true)["limits_not_enforced"], json::array());
  run.result.limits_not_enforced = {"cpu"};
  const json body = RunToJson(run, true);
  EXPECT_EQ(body["limits_not_enforced"], json::array({"cpu"}));
  EXPECT_EQ(body["attempts"][1]["limits_not_enforced"], json::array({"cpu"}));
  EXPECT_EQ(body["attempts"][0]["limits_not_enforced"], json::array());
}

TEST(RunToJsonTest, LastAttemptIsInTheList) {
  const json attempts = RunToJson(CompletedRun(), true)["attempts"];
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0]["state"], "FAILED");
  EXPECT_EQ(attempts[0]["exit_code"], 3);
  EXPECT_EQ(attempts[1]["attempt"], 2);
  EXPECT_EQ(attempts[1]["state"], "COMPLETED");
  EXPECT_EQ(attempts[1]["executor_id"], "executor-1");
}

TEST(RunToJsonTest, AttemptThatNobodyClaimedIsNotInTheList) {
  RunDetail run = CompletedRun();
  run.row.state = RunState::kPending;
  EXPECT_EQ(RunToJson(run, true)["attempts"].size(), 1u);
  run.row.state = RunState::kCancelled;  // cancelled while it waited for its second attempt
  run.row.claimed = run.attempts[0].claimed;
  EXPECT_EQ(RunToJson(run, true)["attempts"].size(), 1u);
  run.row.claimed = WallTime{};
  run.attempts.clear();
  EXPECT_EQ(RunToJson(run, true)["attempts"], json::array());
}

TEST(RunToJsonTest, WhatHasNotHappenedIsNull) {
  RunDetail run;
  run.row = {.key = {.fire = kFire, .schedule_id = ScheduleId(9)}};
  const json body = RunToJson(run, true);
  for (const char* name : {"claimed_at", "started_at", "ended_at", "exit_code", "executor_id",
                           "reason", "error", "due_at"}) {
    EXPECT_TRUE(body[name].is_null()) << name;
  }
  EXPECT_EQ(body["output"], "");
}

TEST(RunToJsonTest, AnEndedRunStillSaysWhenItWasDue) {
  RunDetail run = CompletedRun();
  run.row.due = kFire + 40min;
  EXPECT_EQ(RunToJson(run, false)["due_at"], FormatRfc3339(kFire + 40min));
}

TEST(RunToJsonTest, UnreadableParametersAreNone) {
  RunDetail run = CompletedRun();
  run.parameters_json = R"({"day":"monday"})";
  EXPECT_EQ(RunToJson(run, false)["parameters"]["day"], "monday");
  run.parameters_json = "[";
  EXPECT_EQ(RunToJson(run, false)["parameters"], json::object());
}

TEST(RunToJsonTest, TheEventThatStartedItIsShownApartFromItsParameters) {
  RunDetail run = CompletedRun();
  EXPECT_FALSE(RunToJson(run, true).contains("event"));
  run.parameters_json =
      R"({"n":3,"$event":{"id":"42","source":"shop","type":"order.paid","subject":""}})";
  for (const bool with_attempts : {false, true}) {
    const json body = RunToJson(run, with_attempts);
    EXPECT_EQ(body["parameters"], (json{{"n", 3}}));
    EXPECT_EQ(body["event"],
              (json{{"id", "42"}, {"source", "shop"}, {"type", "order.paid"}, {"subject", ""}}));
  }
  run.parameters_json = R"({"note":"$event"})";
  EXPECT_FALSE(RunToJson(run, true).contains("event"));
  run.parameters_json = R"({"$event":)";
  EXPECT_FALSE(RunToJson(run, true).contains("event"));
}

TEST(GapToJsonTest, HasTheShapeOfTheInterface) {
  const json body = GapToJson({.schedule_id = ScheduleId(9),
                               .job_id = JobId("j"),
                               .range = {.from = kFire, .to = kFire + 1min, .count = 2}});
  EXPECT_EQ(body, (json{{"schedule_id", 9},
                        {"job_id", "j"},
                        {"from", "2023-11-14T22:13:20.000000Z"},
                        {"to", "2023-11-14T22:14:20.000000Z"},
                        {"count", 2},
                        {"reason", "misfire"}}));
}

TEST(ExecutorToJsonTest, HasTheShapeOfTheInterface) {
  const json body = ExecutorToJson({.id = ExecutorId("e"),
                                    .host = "h",
                                    .ops_port = 1,
                                    .state = ExecutorState::kUnhealthy,
                                    .enabled = false,
                                    .draining = true,
                                    .labels = {{"zone", "a"}},
                                    .slots = 8,
                                    .running = 3,
                                    .load = {.cpu = 0.5},
                                    .last_heartbeat = kFire,
                                    .registered = kFire,
                                    .version = "0.1.0",
                                    .config_version = 7,
                                    .tasks_behind = 12,
                                    .features = Features{Feature::kSecrets, Feature::kScriptSh},
                                    .handlers = {{"app/a", {.slots = 4, .free = 3}}},
                                    .breaker = BreakerView{.half_open = true, .pause = 60s}});
  EXPECT_EQ(body, (json{{"executor_id", "e"},
                        {"host", "h"},
                        {"port", 1},
                        {"state", "UNHEALTHY"},
                        {"enabled", false},
                        {"draining", true},
                        {"labels", {{"zone", "a"}}},
                        {"slots", 8},
                        {"running", 3},
                        {"load", {{"cpu", 0.5}, {"memory", 0.0}, {"disk", 0.0}, {"io", 0.0}}},
                        {"last_heartbeat_time", "2023-11-14T22:13:20.000000Z"},
                        {"register_time", "2023-11-14T22:13:20.000000Z"},
                        {"version", "0.1.0"},
                        {"config_version", 7},
                        {"tasks_behind", 12},
                        {"handlers", json::array({{{"name", "app/a"}, {"slots", 4}, {"free", 3}}})},
                        {"features", {"secrets", "script:sh"}},
                        {"breaker", {{"state", "half_open"}, {"pause_s", 60}}}}));
  EXPECT_TRUE(ExecutorToJson({})["tasks_behind"].is_null()) << "not known";
  EXPECT_TRUE(ExecutorToJson({})["features"].is_null()) << "not known";
}

}  // namespace
}  // namespace carillon
