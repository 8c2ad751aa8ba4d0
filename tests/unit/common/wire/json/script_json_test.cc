// Jobs of type script as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"

namespace carillon::script_json {
namespace {

using nlohmann::json;

StoredJob Stored(JobDefinition definition) {
  return {.job_id = JobId("j"), .version = 3, .definition = std::move(definition)};
}

json Shown(JobDefinition definition) {
  return JobToJson(Stored(std::move(definition)), WallTime{});
}

std::string FailsAt(const json& body) {
  const auto parsed = ParseJob(body);
  return parsed.ok() ? "ok" : parsed.error().pointer;
}

TEST(ScriptJsonTest, AScriptIsReadAndShown) {
  const json script = {{"interpreter", "python3"}, {"body", "print(1)\n"}, {"args", {"-v", "x"}}};
  const auto parsed = ParseJob({{"name", "n"}, {"type", "script"}, {"script", script}});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(Shown(parsed->definition)["script"], script);
  EXPECT_EQ(DefinitionFromText(DefinitionToText(parsed->definition), JobId("j")).value(),
            parsed->definition);
  const auto changed = PatchJob(Stored(parsed->definition), {{"script", {{"body", "print(2)"}}}});
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(changed->definition.script->body, "print(2)");
  EXPECT_EQ(changed->definition.script->args.size(), 2u);
  EXPECT_FALSE(Shown({.name = "n", .command = "true"}).contains("script"));
}

TEST(ScriptJsonTest, MistakesNameTheirPlace) {
  const auto fails_at = [](const json& script) {
    return FailsAt({{"name", "n"}, {"type", "script"}, {"script", script}});
  };
  const json good = {{"interpreter", "sh"}, {"body", "true"}};
  EXPECT_EQ(fails_at(good), "ok");
  EXPECT_EQ(fails_at(json::array()), "/script");
  EXPECT_EQ(fails_at(nullptr), "/script");
  EXPECT_EQ(fails_at({{"interpreter", "sh"}}), "/script/body");
  EXPECT_EQ(fails_at({{"body", "true"}}), "/script/interpreter");
  const auto with = [&](const char* field, const json& value) {
    json script = good;
    script[field] = value;
    return fails_at(script);
  };
  EXPECT_EQ(with("interpreter", "ruby"), "/script/interpreter");
  EXPECT_EQ(with("args", "a"), "/script/args");
  EXPECT_EQ(with("args", {"a", 1}), "/script/args/1");
  EXPECT_EQ(with("arg", json::array()), "/script/arg");
  EXPECT_EQ(FailsAt({{"name", "n"}, {"type", "script"}, {"command", "true"}, {"script", good}}),
            "/command");
}

}  // namespace
}  // namespace carillon::script_json
