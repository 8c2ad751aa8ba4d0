#include "common/wire/json/job/job_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/json_text.h"
#include "tests/unit/common/wire/wire_samples.h"

namespace carillon {
namespace {

using nlohmann::json;

const WallTime kNow = FromUnixMicros(1'700'000'000'000'000);  // 2023-11-14T22:13:20Z

json Minimal() { return {{"name", "n"}, {"command", "true"}}; }

json With(const std::string& field, json value) {
  json body = Minimal();
  body[field] = std::move(value);
  return body;
}

StoredJob Stored(JobDefinition definition) {
  StoredJob job{.job_id = JobId("j"),
                .version = 3,
                .definition = std::move(definition),
                .created = kNow - 2h,
                .updated = kNow - 1h};
  for (const ScheduleSpec& spec : job.definition.schedules) {
    job.schedules.push_back({ScheduleId(100 + job.schedules.size()), spec});
  }
  return job;
}

// Returns the JSON pointer at which parsing `body` fails; "ok" if it succeeds.
std::string FailsAt(const json& body) {
  const auto parsed = ParseJob(body);
  if (parsed.ok()) return "ok";
  EXPECT_EQ(parsed.code(), ErrorCode::kInvalid);
  return parsed.error().pointer;
}

TEST(ParseJobTest, MissingFieldsAreDefaults) {
  const auto parsed = ParseJob(Minimal());
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->job_id, "");
  EXPECT_EQ(parsed->definition, (JobDefinition{.name = "n", .command = "true"}));
}

TEST(ParseJobTest, ReadsTheFieldsOfTheInterface) {
  const auto parsed = ParseJobText(
      R"({"job_id":"nightly","name":"n","type":"shell","command":"c","cron_expression":"0 3 * * *",
          "time_zone":"Europe/Paris","timeout":60,"retry_count":2,"retry_interval":5,"priority":9,
          "enabled":false,"parameters":{"s":"x","i":7,"d":1.5,"b":true},"env":{"A":"1"},
          "user_id":"u","retry_intervals":[1,2],"on_lost":"hold","retry_backoff":"exponential",
          "misfire_policy":"all","misfire_grace":1,"catch_up_window":2,"catch_up_max":3,
          "overlap_policy":"skip","dst_gap":"skip","dst_repeat":"both","queue_timeout":4,
          "kill_grace":0,"labels":{"team":"etl"},"description":"d","routing":"least_loaded",
          "executor_selector":"zone=a"})");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message << parsed.error().pointer;
  EXPECT_EQ(parsed->job_id, "nightly");
  const JobDefinition& job = parsed->definition;
  ASSERT_EQ(job.schedules.size(), 1u);
  EXPECT_EQ(job.schedules[0], (ScheduleSpec{.kind = ScheduleKind::kCron,
                                            .cron_expression = "0 3 * * *",
                                            .time_zone = "Europe/Paris"}));
  EXPECT_EQ(job.timeout_s, 60);
  EXPECT_FALSE(job.enabled);
  EXPECT_EQ(job.parameters.at("s"), ParameterValue("x"));
  EXPECT_EQ(job.parameters.at("i"), ParameterValue(int64_t{7}));
  EXPECT_EQ(job.parameters.at("d"), ParameterValue(1.5));
  EXPECT_EQ(job.parameters.at("b"), ParameterValue(true));
  EXPECT_EQ(job.retry_intervals_s, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(job.on_lost, OnLost::kHold);
  EXPECT_EQ(job.dst_repeat, DstRepeat::kBoth);
  EXPECT_EQ(job.kill_grace_s, 0);
  EXPECT_EQ(job.routing, Routing::kLeastLoaded);
  EXPECT_EQ(job.executor_selector, "zone=a");
}

TEST(ParseJobTest, NamesTheOffendingField) {
  EXPECT_EQ(FailsAt(Minimal()), "ok");
  EXPECT_EQ(FailsAt(With("naem", "x")), "/naem");
  EXPECT_EQ(FailsAt(With("a/b~c", "x")), "/a~1b~0c");
  EXPECT_EQ(FailsAt(With("name", 5)), "/name");
  EXPECT_EQ(FailsAt(With("timeout", "60")), "/timeout");
  EXPECT_EQ(FailsAt(With("timeout", 1.5)), "/timeout");
  EXPECT_EQ(FailsAt(With("timeout", UINT64_MAX)), "/timeout");
  EXPECT_EQ(FailsAt(With("timeout", 0)), "/timeout");
  EXPECT_EQ(FailsAt(With("priority", int64_t{1} << 40)), "/priority");
  EXPECT_EQ(FailsAt(With("enabled", "yes")), "/enabled");
  EXPECT_EQ(FailsAt(With("type", "carrier-pigeon")), "/type");
  EXPECT_EQ(FailsAt(With("misfire_policy", "Latest")), "/misfire_policy");
  EXPECT_EQ(FailsAt(With("parameters", json::array())), "/parameters");
  EXPECT_EQ(FailsAt(With("parameters", {{"a", json::array()}})), "/parameters/a");
  EXPECT_EQ(FailsAt(With("parameters", {{"a", nullptr}})), "/parameters/a");
  EXPECT_EQ(FailsAt(With("env", {{"A", 1}})), "/env/A");
  EXPECT_EQ(FailsAt(With("retry_intervals", {1, "2"})), "/retry_intervals/1");
  EXPECT_EQ(FailsAt(With("notify", json::array())), "/notify");
  EXPECT_EQ(FailsAt(With("notify", {{"to", 1}})), "/notify/to");
  EXPECT_EQ(FailsAt(With("notify", {{"on", {"failed", "often"}}})), "/notify/on/1");
  EXPECT_EQ(FailsAt(With("notify", {{"on", {"late", "late"}}})), "/notify/on/1");
  EXPECT_EQ(FailsAt(With("notify", {{"late_after_s", 0}})), "/notify/late_after_s");
  EXPECT_EQ(FailsAt(With("notify", {{"mail_to", {"a@b", "x"}}})), "/notify/mail_to/1");
  EXPECT_EQ(FailsAt(With("job_id", "Has Spaces")), "/job_id");
  EXPECT_EQ(FailsAt(With("job_id", 7)), "/job_id");
  EXPECT_EQ(FailsAt(With("cron_expression", 7)), "/cron_expression");
  EXPECT_EQ(FailsAt(json::array()), "");
}

TEST(ParseJobTest, WhatNotifyDoesNotSayIsTheClusters) {
  EXPECT_EQ(ParseJob(With("notify", json::object()))->definition.notify, NotifyRules{});
  EXPECT_EQ(ParseJob(With("notify", {{"on", json::array()}}))->definition.notify,
            (NotifyRules{.on = std::vector<NoticeKind>{}}));
  const auto parsed = ParseJob(
      With("notify", {{"on", {"failed", "late"}}, {"late_after_s", 60}, {"mail_to", {"a@b"}}}));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->definition.notify,
            (NotifyRules{.on = std::vector{NoticeKind::kFailed, NoticeKind::kLate},
                         .late_after_s = 60,
                         .mail_to = {"a@b"}}));
  const auto again = DefinitionFromText(DefinitionToText(parsed->definition), {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, parsed->definition);
}

TEST(ParseJobTest, WholeNumbersMayBeWrittenWithAFraction) {
  const auto parsed = ParseJob(With("timeout", 60.0));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->definition.timeout_s, 60);
}

TEST(ParseJobTest, RefusesADurationTextWithTheUnitThatItWants) {
  for (const char* name : {"timeout", "kill_grace", "misfire_grace"}) {
    const auto parsed = ParseJob(With(name, "2h"));
    ASSERT_FALSE(parsed.ok()) << name;
    EXPECT_EQ(parsed.error().pointer, std::string("/") + name);
    EXPECT_NE(parsed.error().message.find("seconds"), std::string::npos) << parsed.error().message;
  }
  EXPECT_EQ(FailsAt(With("retry_intervals", json::array({"2h"}))), "/retry_intervals/0");
}

TEST(ParseJobTest, SuggestsAFieldForAMisspeltOne) {
  const auto parsed = ParseJob(With("timezone", "UTC"));
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().pointer, "/timezone");
  EXPECT_EQ(parsed.error().message, "unknown field 'timezone'; did you mean 'time_zone'?");
}

TEST(ParseJobTest, NamesTheOffendingFieldOfASchedule) {
  const auto fails = [](json schedule) {
    return FailsAt(With("schedules", json::array({std::move(schedule)})));
  };
  EXPECT_EQ(fails({{"kind", "cron"}, {"cron_expression", "* * * * *"}}), "ok");
  EXPECT_EQ(fails({{"kind", "rate"}, {"every_ms", 500}}), "ok");
  EXPECT_EQ(fails({{"kind", "once"}, {"at", "2030-01-01T00:00:00+01:00"}}), "ok");
  EXPECT_EQ(fails({{"kind", "delay"}, {"every_ms", 500}}), "ok");
  EXPECT_EQ(fails({{"kind", "delay"}, {"every_ms", 500}, {"start_time", "2030-01-01T00:00:00Z"}}),
            "ok");
  EXPECT_EQ(fails({{"kind", "delay"}}), "/schedules/0/every_ms");
  EXPECT_EQ(fails({{"kind", "delay"}, {"every_ms", 0}}), "/schedules/0/every_ms");
  EXPECT_EQ(fails({{"kind", "delay"}, {"every_ms", 500}, {"jitter_s", 1}}),
            "/schedules/0/jitter_s");
  EXPECT_EQ(fails({{"kind", "delay"}, {"every_ms", 500}, {"end_time", "2030-01-01T00:00:00Z"}}),
            "/schedules/0/end_time");
  EXPECT_EQ(fails({{"kind", "after"}, {"job", "nightly"}}), "ok");
  EXPECT_EQ(fails({{"kind", "after"}, {"job", "nightly"}, {"on", "done"}}), "ok");
  EXPECT_EQ(fails({{"kind", "after"}}), "/schedules/0/job");
  EXPECT_EQ(fails({{"kind", "after"}, {"job", "No Id"}}), "/schedules/0/job");
  EXPECT_EQ(fails({{"kind", "after"}, {"job", "a"}, {"on", "never"}}), "/schedules/0/on");
  EXPECT_EQ(fails({{"kind", "after"}, {"job", "a"}, {"every_ms", 5}}), "/schedules/0/every_ms");
  EXPECT_EQ(fails({{"kind", "rate"}, {"every_ms", 500}, {"on", "done"}}), "/schedules/0/on");
  EXPECT_EQ(fails(5), "/schedules/0");
  EXPECT_EQ(fails(json::object()), "/schedules/0/kind");
  EXPECT_EQ(fails({{"kind", "manual"}}), "/schedules/0/kind");
  EXPECT_EQ(fails({{"kind", "cron"}}), "/schedules/0/cron_expression");
  EXPECT_EQ(fails({{"kind", "rate"}}), "/schedules/0/every_ms");
  EXPECT_EQ(fails({{"kind", "rate"}, {"every_ms", 0}}), "/schedules/0/every_ms");
  EXPECT_EQ(fails({{"kind", "rate"}, {"every_ms", INT64_MAX}}), "/schedules/0/every_ms");
  EXPECT_EQ(fails({{"kind", "rate"}, {"every_ms", 5}, {"at", "x"}}), "/schedules/0/at");
  EXPECT_EQ(fails({{"kind", "rate"}, {"every_ms", 5}, {"start_time", "x"}}),
            "/schedules/0/start_time");
  EXPECT_EQ(fails({{"kind", "once"}}), "/schedules/0/at");
  EXPECT_EQ(fails({{"kind", "once"}, {"at", 5}}), "/schedules/0/at");
  EXPECT_EQ(fails({{"kind", "cron"}, {"cron_expression", "* * * * *"}, {"time_zone", ""}}),
            "/schedules/0/time_zone");
  EXPECT_EQ(FailsAt(With("schedules", "x")), "/schedules");
}

TEST(ParseJobTest, ScheduleWithoutAZoneTakesTheJobs) {
  json body = With("schedules", {{{"kind", "cron"}, {"cron_expression", "* * * * *"}}});
  body["time_zone"] = "Asia/Shanghai";
  const auto parsed = ParseJob(body);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->definition.schedules[0].time_zone, "Asia/Shanghai");
}

TEST(ParseJobTest, CronExpressionBesideSchedulesMustAgree) {
  json body = With("schedules", {{{"kind", "cron"}, {"cron_expression", "* * * * *"}}});
  body["cron_expression"] = "* * * * *";
  EXPECT_EQ(FailsAt(body), "ok");
  body["cron_expression"] = nullptr;
  EXPECT_EQ(FailsAt(body), "ok");
  const auto contradicts = [&body] {
    const auto parsed = ParseJob(body);
    return parsed.code() == ErrorCode::kConflict && parsed.error().pointer == "/cron_expression";
  };
  body["cron_expression"] = "0 * * * *";
  EXPECT_TRUE(contradicts());
  body["cron_expression"] = "* * * * *";
  body["time_zone"] = "Europe/Paris";
  body["schedules"][0]["time_zone"] = "UTC";
  EXPECT_TRUE(contradicts());
}

TEST(ParseJobTest, AnEmptyListBesideACronExpressionSaysNothing) {
  json body = With("schedules", json::array());
  body["cron_expression"] = "* * * * *";
  const auto parsed = ParseJob(body);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->definition.schedules.size(), 1u);
}

// A job that a client reads, changes in one place and sends back.
class ParseReplacementTest : public ::testing::Test {
 protected:
  ParseReplacementTest() {
    job_.definition = {.name = "n", .command = "true", .time_zone = "Asia/Tokyo"};
    job_.definition.schedules = {Cron("0 3 * * *", "Asia/Tokyo")};
  }
  static ScheduleSpec Cron(const std::string& expression, const std::string& zone) {
    return {.kind = ScheduleKind::kCron, .cron_expression = expression, .time_zone = zone};
  }
  // Replaces the job with the answer of GET and `changes`.
  Result<ParsedJob> Put(const json& changes) const {
    json body = JobToJson(Stored(job_.definition), kNow);
    for (const auto& [name, value] : changes.items()) body[name] = value;
    return ParseReplacement(job_, body);
  }
  std::vector<ScheduleSpec> Schedules(const json& changes) const {
    const auto parsed = Put(changes);
    EXPECT_TRUE(parsed.ok()) << parsed.error().pointer << parsed.error().message;
    return parsed.ok() ? parsed->definition.schedules : std::vector<ScheduleSpec>{};
  }
  using Specs = std::vector<ScheduleSpec>;
  StoredJob job_;
};

TEST_F(ParseReplacementTest, NothingChanged) {
  EXPECT_EQ(Put(json::object())->definition, job_.definition);
}

TEST_F(ParseReplacementTest, TheShortViewThatWasChangedCounts) {
  EXPECT_EQ(Schedules({{"cron_expression", "0 4 * * *"}}), Specs{Cron("0 4 * * *", "Asia/Tokyo")});
  EXPECT_EQ(Schedules({{"time_zone", "Europe/Paris"}}), Specs{Cron("0 3 * * *", "Europe/Paris")});
  EXPECT_EQ(Schedules({{"cron_expression", "0 4 * * *"}, {"time_zone", "Europe/Paris"}}),
            Specs{Cron("0 4 * * *", "Europe/Paris")});
  EXPECT_EQ(Schedules({{"cron_expression", nullptr}}), Specs{});
}

TEST_F(ParseReplacementTest, TheListThatWasChangedCounts) {
  EXPECT_EQ(Schedules({{"schedules", json::array()}}), Specs{});
  EXPECT_EQ(Schedules({{"schedules", {{{"kind", "cron"}, {"cron_expression", "0 5 * * *"}}}}}),
            Specs{Cron("0 5 * * *", "Asia/Tokyo")});
  EXPECT_EQ(Schedules({{"schedules", {{{"kind", "rate"}, {"every_ms", 1000}}}},
                       {"cron_expression", nullptr}})
                .size(),
            1u);
}

TEST_F(ParseReplacementTest, AZoneMovesOnlyTheSchedulesThatWereInTheOldOne) {
  job_.definition.schedules.push_back(Cron("0 5 * * *", "UTC"));
  EXPECT_EQ(Schedules({{"time_zone", "Europe/Paris"}}),
            (Specs{Cron("0 3 * * *", "Europe/Paris"), Cron("0 5 * * *", "UTC")}));
  // A single expression replaces both schedules.
  EXPECT_EQ(Schedules({{"cron_expression", "0 6 * * *"}}), Specs{Cron("0 6 * * *", "Asia/Tokyo")});
}

TEST_F(ParseReplacementTest, BothChangedHaveToAgree) {
  const json list = {{{"kind", "cron"}, {"cron_expression", "0 5 * * *"}}};
  EXPECT_EQ(Schedules({{"schedules", list}, {"cron_expression", "0 5 * * *"}}),
            Specs{Cron("0 5 * * *", "Asia/Tokyo")});
  const auto contradiction = Put({{"schedules", list}, {"cron_expression", "0 6 * * *"}});
  EXPECT_EQ(contradiction.code(), ErrorCode::kConflict);
  EXPECT_EQ(contradiction.error().pointer, "/cron_expression");
  EXPECT_EQ(Put({{"schedules", json::array()}, {"cron_expression", "0 6 * * *"}}).code(),
            ErrorCode::kConflict);
}

TEST_F(ParseReplacementTest, APointerIsIntoTheViewThatWasWritten) {
  EXPECT_EQ(Put({{"cron_expression", "61 * * * *"}}).error().pointer, "/cron_expression");
}

TEST(ParseJobTest, WhatAGetShowsCanBePut) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const StoredJob stored = Stored(test::RandomJob(rng));
    const std::string shown = JsonToText(JobToJson(stored, kNow));
    const auto parsed = ParseJobText(shown);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ' ' << parsed.error().pointer << ": "
                             << parsed.error().message << '\n'
                             << shown;
    EXPECT_EQ(parsed->definition, stored.definition) << "seed " << seed;
    EXPECT_EQ(parsed->job_id, "j");
  }
}

TEST(DefinitionTextTest, IsLossless) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const JobDefinition job = test::RandomJob(rng);
    const auto read = DefinitionFromText(DefinitionToText(job), {});
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.error().message;
    EXPECT_EQ(*read, job) << "seed " << seed;
  }
}

TEST(DefinitionTextTest, UnreadableTextIsCorrupt) {
  EXPECT_EQ(DefinitionFromText("", {}).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(DefinitionFromText("[1]", {}).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(DefinitionFromText("{\"timeout\":\"x\"}", {}).code(), ErrorCode::kCorrupt);
}

TEST(DefinitionTextTest, FieldsOfALaterVersionAreSkipped) {
  const auto read = DefinitionFromText(R"({"name":"n","of_the_future":[1]})", {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->name, "n");
}

TEST(JobToJsonTest, ShowsIdentityStateAndNextFire) {
  JobDefinition definition{.name = "n", .command = "true"};
  definition.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "0 3 * * *"}};
  const json body = JobToJson(Stored(definition), kNow);
  EXPECT_EQ(body["job_id"], "j");
  EXPECT_EQ(body["version"], 3);
  EXPECT_EQ(body["state"], "ENABLED");
  EXPECT_EQ(body["cron_expression"], "0 3 * * *");
  EXPECT_EQ(body["next_fire_time"], "2023-11-15T03:00:00.000000Z");
  EXPECT_EQ(body["create_time"], "2023-11-14T20:13:20.000000Z");
  EXPECT_EQ(body["update_time"], "2023-11-14T21:13:20.000000Z");
  EXPECT_EQ(body["schedules"][0]["kind"], "cron");
  EXPECT_EQ(body["schedules"][0]["schedule_id"], 100);
  EXPECT_EQ(body["parameters"], json::object());
}

TEST(JobToJsonTest, PausedJobHasNoNextFire) {
  StoredJob job = Stored({.name = "n", .command = "true", .enabled = false});
  job.pause_reason = "maintenance";
  job.definition.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "* * * * *"}};
  const json body = JobToJson(job, kNow);
  EXPECT_EQ(body["state"], "PAUSED");
  EXPECT_EQ(body["pause_reason"], "maintenance");
  EXPECT_TRUE(body["next_fire_time"].is_null());
}

TEST(JobToJsonTest, NextFireIsTheLeastOfAllStrictlyAfterNow) {
  JobDefinition definition{.name = "n", .command = "true"};
  definition.schedules = {{.kind = ScheduleKind::kOnce, .at = kNow},
                          {.kind = ScheduleKind::kOnce, .at = kNow + 90s},
                          {.kind = ScheduleKind::kCron, .cron_expression = "* * * * *"}};
  const json body = JobToJson(Stored(definition), kNow);
  EXPECT_EQ(body["next_fire_time"], "2023-11-14T22:14:00.000000Z");
  EXPECT_TRUE(body["cron_expression"].is_null());
}

class PatchJobTest : public ::testing::Test {
 protected:
  PatchJobTest() {
    definition_ = {.name = "n", .command = "true", .labels = {{"a", "1"}, {"b", "2"}}};
    definition_.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "0 3 * * *"}};
  }
  JobDefinition Patch(const json& patch) const {
    const auto patched = PatchJob(Stored(definition_), patch);
    EXPECT_TRUE(patched.ok()) << patched.error().pointer << patched.error().message;
    return patched.ok() ? patched->definition : JobDefinition{};
  }
  JobDefinition definition_;
};

TEST_F(PatchJobTest, KnowsEveryFieldThatAJobMayHave) {
  for (const std::string_view name : JobFieldNames()) {
    Mistakes mistakes;
    const auto patched = PatchJob(Stored(definition_), {{std::string(name), nullptr}}, &mistakes);
    const std::string message = patched.ok() ? "" : patched.error().message;
    EXPECT_EQ(message.find("unknown field"), std::string::npos) << name;
  }
}

TEST_F(PatchJobTest, ChangesOnlyWhatItNames) {
  JobDefinition expected = definition_;
  EXPECT_EQ(Patch(json::object()), expected);
  expected.timeout_s = 5;
  EXPECT_EQ(Patch({{"timeout", 5}}), expected);
}

TEST_F(PatchJobTest, NullRemovesAnEntryAndRestoresADefault) {
  EXPECT_EQ(Patch({{"labels", {{"a", nullptr}}}}).labels,
            (std::map<std::string, std::string>{{"b", "2"}}));
  definition_.priority = 7;
  EXPECT_EQ(Patch({{"priority", nullptr}}).priority, 0);
}

TEST_F(PatchJobTest, NewCronExpressionReplacesTheSchedule) {
  EXPECT_EQ(Patch({{"cron_expression", "0 4 * * *"}}).schedules[0].cron_expression, "0 4 * * *");
  EXPECT_TRUE(Patch({{"cron_expression", nullptr}}).schedules.empty());
  EXPECT_TRUE(Patch({{"schedules", nullptr}}).schedules.empty());
}

TEST_F(PatchJobTest, NewSchedulesReplaceTheCronExpression) {
  const JobDefinition patched = Patch({{"schedules", {{{"kind", "rate"}, {"every_ms", 1000}}}}});
  ASSERT_EQ(patched.schedules.size(), 1u);
  EXPECT_EQ(patched.schedules[0].kind, ScheduleKind::kRate);
}

TEST_F(PatchJobTest, NewZoneMovesTheSchedulesThatWereInTheOldOne) {
  definition_.schedules.push_back(
      {.kind = ScheduleKind::kCron, .cron_expression = "0 5 * * *", .time_zone = "Asia/Shanghai"});
  const JobDefinition patched = Patch({{"time_zone", "Europe/Paris"}});
  EXPECT_EQ(patched.time_zone, "Europe/Paris");
  EXPECT_EQ(patched.schedules[0].time_zone, "Europe/Paris");
  EXPECT_EQ(patched.schedules[1].time_zone, "Asia/Shanghai");
  definition_ = patched;
  EXPECT_EQ(Patch({{"time_zone", nullptr}}).schedules[0].time_zone, "UTC");
}

TEST_F(PatchJobTest, SaysAllThatIsWrongWithIt) {
  Mistakes further;
  const auto refused = PatchJob(
      Stored(definition_), {{"colour", "red"}, {"timeout", "soon"}, {"size", nullptr}}, &further);
  ASSERT_FALSE(refused.ok());
  std::vector<std::string> pointers{refused.error().pointer};
  for (const Error& one : further) pointers.push_back(one.pointer);
  EXPECT_EQ(pointers, (std::vector<std::string>{"/colour", "/size", "/timeout"}));
}

TEST_F(PatchJobTest, RefusesWhatAPutWouldRefuse) {
  const StoredJob job = Stored(definition_);
  EXPECT_EQ(PatchJob(job, {{"nope", 1}}).error().pointer, "/nope");
  EXPECT_EQ(PatchJob(job, {{"nope", nullptr}}).error().pointer, "/nope");
  EXPECT_EQ(PatchJob(job, {{"timeout", 0}}).error().pointer, "/timeout");
  EXPECT_EQ(PatchJob(job, {{"name", nullptr}}).error().pointer, "/name");
  EXPECT_EQ(PatchJob(job, json::array()).code(), ErrorCode::kInvalid);
}

TEST(ParseJsonTextTest, RefusesWhatAParserWouldLetThrough) {
  EXPECT_EQ(ParseJsonText(R"({"a":1,"a":2})").error().pointer, "/a");
  EXPECT_EQ(ParseJsonText(R"({"x":[0,{"a":1,"b":{},"a":2}]})").error().pointer, "/x/1/a");
  EXPECT_EQ(ParseJsonText("").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ParseJsonText("{} x").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ParseJsonText("\"\xFF\"").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ParseJsonText("1e999").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ParseJsonText("NaN").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ParseJsonText(std::string(kJsonBytesMax + 1, ' ')).code(), ErrorCode::kExhausted);
}

TEST(ParseJsonTextTest, BoundsDepth) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseJsonText(nested(kJsonDepthMax)).ok());
  EXPECT_EQ(ParseJsonText(nested(kJsonDepthMax + 1)).code(), ErrorCode::kInvalid);
  EXPECT_EQ(ParseJsonText(std::string(500'000, '[')).code(), ErrorCode::kInvalid);
}

TEST(ParseJsonTextTest, BoundsTheNumberOfValues) {
  const auto array_of = [](size_t values, const std::string& value) {
    std::string text = "[";
    for (size_t i = 0; i < values; ++i) text += (i == 0 ? "" : ",") + value;
    return text + "]";
  };
  for (const char* value : {"0", "[]", "{}", "\"\"", "null"}) {
    EXPECT_TRUE(ParseJsonText(array_of(kJsonValuesMax - 1, value)).ok()) << value;
    EXPECT_EQ(ParseJsonText(array_of(kJsonValuesMax, value)).code(), ErrorCode::kInvalid) << value;
  }
}

TEST(ParseJsonTextTest, ReadsWhatItWrites) {
  const std::string text = R"({"a":[1,-2,1.5,true,null,"x"],"b":{"c":{"d":[]}},"e":[[1],[2]]})";
  const auto document = ParseJsonText(text);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(JsonToText(*document), text);
}

}  // namespace
}  // namespace carillon
