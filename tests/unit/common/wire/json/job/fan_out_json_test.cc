#include "common/wire/json/job/fan_out_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::fan_out_json_test {
namespace {

using nlohmann::json;

// What is wrong, as POINTER; "ok" = nothing.
std::string ShardsFail(const json& value) {
  std::optional<Shards> shards;
  const Status read = ReadShards(value, "/shards", shards);
  return read.ok() ? "ok" : read.error().pointer;
}
std::string BroadcastFails(const json& value) {
  std::optional<Broadcast> broadcast;
  const Status read = ReadBroadcast(value, "/broadcast", broadcast);
  return read.ok() ? "ok" : read.error().pointer;
}

TEST(FanOutJsonTest, IsReadAsItWasWritten) {
  for (const Shards& shards :
       {Shards{.total = 8}, Shards{.alive = true}, Shards{.alive = true, .max = 100},
        Shards{.total = 1'000}, Shards{.max = 20, .total_from = "{{params.n}}"}}) {
    std::optional<Shards> read;
    ASSERT_TRUE(ReadShards(ShardsToJson(shards), "/shards", read).ok());
    EXPECT_EQ(read, shards);
  }
  for (const int64_t wait : {0, 60, 604'800}) {
    std::optional<Broadcast> read;
    ASSERT_TRUE(ReadBroadcast(BroadcastToJson({.wait_s = wait}), "/broadcast", read).ok());
    EXPECT_EQ(read, Broadcast{.wait_s = wait});
  }
}

TEST(FanOutJsonTest, DefinitionsNameThemOnlyIfTheyHaveThem) {
  JobDefinition job{.name = "a", .command = "true"};
  EXPECT_FALSE(DefinitionToJson(job).contains("shards"));
  EXPECT_FALSE(DefinitionToJson(job).contains("broadcast"));
  job.shards = Shards{.total = 3};
  EXPECT_EQ(DefinitionToJson(job)["shards"], (json{{"total", 3}}));
  job.shards = Shards{.alive = true, .max = 5};
  EXPECT_EQ(DefinitionToJson(job)["shards"], (json{{"total", "alive"}, {"max", 5}}));
  job.shards = Shards{.max = 5, .total_from = "{{ params.n }}"};
  EXPECT_EQ(DefinitionToJson(job)["shards"], (json{{"total", "{{ params.n }}"}, {"max", 5}}));
  job.shards.reset();
  job.broadcast = Broadcast{};
  EXPECT_EQ(DefinitionToJson(job)["broadcast"], (json{{"wait_s", 60}}));
}

TEST(FanOutJsonTest, OmittedNumbersAreDefaults) {
  std::optional<Shards> shards;
  ASSERT_TRUE(ReadShards({{"total", "alive"}}, "", shards).ok());
  EXPECT_EQ(shards, (Shards{.alive = true, .max = 1'000}));
  ASSERT_TRUE(ReadShards({{"total", "{{params.n}}"}}, "", shards).ok());
  EXPECT_EQ(shards, (Shards{.max = 1'000, .total_from = "{{params.n}}"}));
  std::optional<Broadcast> broadcast;
  ASSERT_TRUE(ReadBroadcast(json::object(), "", broadcast).ok());
  EXPECT_EQ(broadcast, Broadcast{.wait_s = 60});
  ASSERT_TRUE(ReadShards(nullptr, "", shards).ok());
  ASSERT_TRUE(ReadBroadcast(nullptr, "", broadcast).ok());
  EXPECT_FALSE(shards || broadcast);
}

// In YAML, a name without a value is null. The nulls of a patch remove.
TEST(FanOutJsonTest, WhatMeansSomethingByBeingThereNeedsAValue) {
  const auto fails_at = [](const json& body) {
    const auto parsed = ParseJob(body);
    return parsed.ok() ? "ok" : parsed.error().pointer;
  };
  json body = {{"name", "a"}, {"command", "true"}, {"broadcast", nullptr}};
  EXPECT_EQ(fails_at(body), "/broadcast");
  EXPECT_NE(ParseJob(body).error().message.find("broadcast: {}"), std::string::npos);
  const StoredJob job{.job_id = JobId("a"),
                      .definition = {.name = "a", .command = "true", .broadcast = Broadcast{}}};
  const auto replaced = ParseReplacement(job, body);
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.error().pointer, "/broadcast");
  const auto patched = PatchJob(job, {{"broadcast", nullptr}, {"shards", nullptr}});
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  EXPECT_FALSE(FansOut(patched->definition));

  body["broadcast"] = json::object();
  EXPECT_EQ(fails_at(body), "ok");
  body.erase("broadcast");
  body["shards"] = nullptr;
  EXPECT_EQ(fails_at(body), "/shards");
  json request = {{"name", "a"}, {"type", "http"}, {"http", {{"url", "http://a/"}}}};
  request["http"]["poll"] = nullptr;
  EXPECT_EQ(fails_at(request), "/http/poll");
  request["http"]["poll"] = json::object();
  EXPECT_EQ(fails_at(request), "ok");
  request["http"] = "x";
  EXPECT_EQ(fails_at(request), "/http");
}

// A number has no limit, which the person has not given.
TEST(FanOutJsonTest, APatchThatFixesTheTotalTakesItsLimitBack) {
  for (const Shards& before : {Shards{.total = 4}, Shards{.alive = true, .max = 20},
                               Shards{.max = 20, .total_from = "{{params.n}}"}}) {
    JobDefinition definition{.name = "a", .command = "true", .shards = before};
    const StoredJob job{.job_id = JobId("a"), .definition = definition};
    const auto fixed = PatchJob(job, {{"shards", {{"total", 6}}}});
    ASSERT_TRUE(fixed.ok()) << fixed.error().message;
    EXPECT_EQ(fixed->definition.shards, Shards{.total = 6});
    const auto both = PatchJob(job, {{"shards", {{"total", 6}, {"max", 9}}}});
    ASSERT_FALSE(both.ok());
    EXPECT_EQ(both.error().pointer, "/shards/max");
  }
  const StoredJob alive{
      .job_id = JobId("a"),
      .definition = {.name = "a", .command = "true", .shards = Shards{.alive = true, .max = 20}}};
  const auto kept = PatchJob(alive, {{"shards", {{"total", "{{attempt}}"}}}});
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(kept->definition.shards->max, 20);
}

TEST(FanOutJsonTest, NamesTheOffendingField) {
  EXPECT_EQ(ShardsFail({{"total", 4}}), "ok");
  for (const json& wrong : {json(8), json("alive"), json::array()}) {
    EXPECT_EQ(ShardsFail(wrong), "/shards");
  }
  EXPECT_EQ(ShardsFail(json::object()), "/shards/total");
  EXPECT_EQ(ShardsFail({{"max", 4}}), "/shards/total");
  for (const json& total :
       {json("all"), json(""), json("8"), json("params.n"), json(1.5), json(nullptr), json(true)}) {
    EXPECT_EQ(ShardsFail({{"total", total}}), "/shards/total") << total;
  }
  EXPECT_EQ(ShardsFail({{"total", 4}, {"max", 4}}), "/shards/max");
  EXPECT_EQ(ShardsFail({{"total", "alive"}, {"max", "4"}}), "/shards/max");
  EXPECT_EQ(ShardsFail({{"total", "{{params.n}}"}, {"max", "4"}}), "/shards/max");
  EXPECT_EQ(ShardsFail({{"total", 4}, {"totl", 4}}), "/shards/totl");
  EXPECT_EQ(BroadcastFails(json::array()), "/broadcast");
  EXPECT_EQ(BroadcastFails({{"wait_s", "1h"}}), "/broadcast/wait_s");
  EXPECT_EQ(BroadcastFails({{"wait", 1}}), "/broadcast/wait");
}

}  // namespace
}  // namespace carillon::fan_out_json_test
