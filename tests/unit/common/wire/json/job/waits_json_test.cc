// The JSON of `waits_for` and `wait_limit_s`.
#include "common/wire/json/job/waits_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::waits_json_test {
namespace {

using nlohmann::json;

json Entry() { return {{"job", "load"}, {"window", {{"day", 0}}}}; }

// The pointer of what is wrong in a list with this entry; "ok" = nothing.
std::string Fails(const json& entry) {
  std::vector<UpstreamWait> waits;
  const Status read = ReadWaits(json::array({entry}), "/waits_for", waits);
  return read.ok() ? "ok" : read.error().pointer;
}

std::string FailsWith(const char* field, const json& value) {
  json entry = Entry();
  entry[field] = value;
  return Fails(entry);
}

json Body() {
  return {{"name", "a"},
          {"command", "true"},
          {"waits_for", json::array({Entry()})},
          {"wait_limit_s", 3'600}};
}

TEST(WaitsJsonTest, IsReadAsItWasWritten) {
  const std::vector<UpstreamWait> waits = {{.job = JobId("load"), .window = {.day = -31}},
                                           {.job = JobId("load"),
                                            .in = JobId("nightly"),
                                            .on = AfterOutcome::kDone,
                                            .window = {.back_s = 7'200, .ahead_s = 60},
                                            .which = WaitWhich::kAll}};
  std::vector<UpstreamWait> read = {{.job = JobId("other")}};
  ASSERT_TRUE(ReadWaits(WaitsToJson(waits), "", read).ok());
  EXPECT_EQ(read, waits);
  EXPECT_EQ(
      WaitsToJson(waits)[0],
      (json{{"job", "load"}, {"on", "success"}, {"window", {{"day", -31}}}, {"which", "last"}}));
}

TEST(WaitsJsonTest, OnlyTheJobAndTheWindowAreRequired) {
  std::vector<UpstreamWait> read;
  ASSERT_TRUE(ReadWaits(json::array({Entry()}), "", read).ok());
  EXPECT_EQ(read, (std::vector<UpstreamWait>{{.job = JobId("load"), .window = {.day = 0}}}));
  json entry = Entry();
  entry.erase("job");
  EXPECT_EQ(Fails(entry), "/waits_for/0/job");
  entry = Entry();
  entry.erase("window");
  EXPECT_EQ(Fails(entry), "/waits_for/0/window");
}

TEST(WaitsJsonTest, AMistakeIsPointedOut) {
  std::vector<UpstreamWait> read;
  EXPECT_EQ(ReadWaits(Entry(), "/waits_for", read).error().pointer, "/waits_for");
  EXPECT_EQ(Fails("load"), "/waits_for/0");
  for (const char* name : {"job", "in", "on", "which"}) {
    EXPECT_EQ(FailsWith(name, 3), std::string("/waits_for/0/") + name);
  }
  EXPECT_EQ(FailsWith("on", "sucess"), "/waits_for/0/on");
  EXPECT_EQ(FailsWith("which", "first"), "/waits_for/0/which");
  EXPECT_EQ(FailsWith("days", 1), "/waits_for/0/days");
  EXPECT_EQ(FailsWith("window", 0), "/waits_for/0/window");
  EXPECT_EQ(FailsWith("window", {{"day", "yesterday"}}), "/waits_for/0/window/day");
  EXPECT_EQ(FailsWith("window", {{"back_s", "2h"}}), "/waits_for/0/window/back_s");
  EXPECT_EQ(FailsWith("window", {{"ahead_s", 1.5}}), "/waits_for/0/window/ahead_s");
  EXPECT_EQ(FailsWith("window", {{"hours", 1}}), "/waits_for/0/window/hours");
}

TEST(WaitsJsonTest, DefinitionsNameThemOnlyIfTheyHaveThem) {
  JobDefinition job{.name = "a", .command = "true"};
  EXPECT_FALSE(DefinitionToJson(job).contains("waits_for"));
  EXPECT_FALSE(DefinitionToJson(job).contains("wait_limit_s"));
  job.waits_for = {{.job = JobId("load"), .window = {.day = 0}}};
  job.wait_limit_s = 60;
  EXPECT_EQ(DefinitionToJson(job)["waits_for"].size(), 1u);
  EXPECT_EQ(DefinitionToJson(job)["wait_limit_s"], 60);
}

TEST(WaitsJsonTest, ARequestIsCheckedAsAWhole) {
  json body = Body();
  const auto parsed = ParseJob(body);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->definition.wait_limit_s, 3'600);
  body["waits_for"][0]["window"]["day"] = 1;
  EXPECT_EQ(ParseJob(body).error().pointer, "/waits_for/0/window/day");
  body = Body();
  body["wait_limit_s"] = "1h";
  EXPECT_EQ(ParseJob(body).error().pointer, "/wait_limit_s");
  body.erase("wait_limit_s");
  EXPECT_EQ(ParseJob(body).error().pointer, "/wait_limit_s");
}

// A limit without waits is no second mistake of whoever misspelt the waits.
TEST(WaitsJsonTest, WhatCannotBeReadIsOneMistake) {
  json body = Body();
  body["waits_for"][0]["window"] = "day";
  Mistakes further;
  EXPECT_EQ(ParseJob(body, &further).error().pointer, "/waits_for/0/window");
  EXPECT_TRUE(further.empty());
  body = Body();
  body["waits_for"][0]["days"] = 1;
  EXPECT_EQ(ParseJob(body, &further).error().pointer, "/waits_for/0/days");
  EXPECT_TRUE(further.empty());
}

TEST(WaitsJsonTest, APatchThatEndsTheWaitsTakesTheirLimitBack) {
  const auto parsed = ParseJob(Body());
  ASSERT_TRUE(parsed.ok());
  const StoredJob job{.job_id = JobId("a"), .definition = parsed->definition};
  for (const json& none : {json(nullptr), json::array()}) {
    const auto patched = PatchJob(job, {{"waits_for", none}});
    ASSERT_TRUE(patched.ok()) << patched.error().message;
    EXPECT_FALSE(WaitsForOthers(patched->definition));
    EXPECT_EQ(patched->definition.wait_limit_s, 0);
    const auto limited = PatchJob(job, {{"waits_for", none}, {"wait_limit_s", 60}});
    ASSERT_FALSE(limited.ok());
    EXPECT_EQ(limited.error().pointer, "/wait_limit_s");
  }
  const auto longer = PatchJob(job, {{"wait_limit_s", 7'200}});
  ASSERT_TRUE(longer.ok()) << longer.error().message;
  EXPECT_EQ(longer->definition.wait_limit_s, 7'200);
  EXPECT_FALSE(PatchJob(job, {{"wait_limit_s", nullptr}}).ok());
}

}  // namespace
}  // namespace carillon::waits_json_test
