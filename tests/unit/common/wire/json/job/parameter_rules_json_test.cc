#include "common/wire/json/job/parameter_rules_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

using nlohmann::json;

json WithRules(json rules) {
  return {{"name", "n"}, {"command", "true"}, {"parameter_rules", std::move(rules)}};
}

StoredJob JobOf(JobDefinition definition) {
  return {.job_id = JobId("j"), .version = 3, .definition = std::move(definition)};
}

std::string RulesFailAt(const json& rules) {
  const auto parsed = ParseJob(WithRules(rules));
  return parsed.ok() ? "ok" : parsed.error().pointer;
}

TEST(ParameterRulesJsonTest, ParameterRulesAreReadAndWritten) {
  const json rules = {{"mode", {{"type", "string"}, {"choices", {"fast", "slow"}}}},
                      {"rows", {{"type", "integer"}, {"required", true}}},
                      {"free", json::object()}};
  const auto parsed = ParseJob(WithRules(rules));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const json shown = JobToJson(JobOf(parsed->definition), WallTime{})["parameter_rules"];
  EXPECT_EQ(shown["mode"], (json{{"type", "string"},
                                 {"description", ""},
                                 {"choices", {"fast", "slow"}},
                                 {"required", false}}));
  EXPECT_EQ(shown["rows"]["required"], true);
  EXPECT_EQ(shown["free"]["type"], "string");
  const json wrong = {{"/parameter_rules", "x"},
                      {"/parameter_rules/m", {{"m", 1}}},
                      {"/parameter_rules/m/type", {{"m", {{"type", "date"}}}}},
                      {"/parameter_rules/m/choices", {{"m", {{"choices", "a"}}}}},
                      {"/parameter_rules/m/choices/0", {{"m", {{"choices", {nullptr}}}}}},
                      {"/parameter_rules/m/required", {{"m", {{"required", 1}}}}},
                      {"/parameter_rules/m/description", {{"m", {{"description", 1}}}}},
                      {"/parameter_rules/m/choice", {{"m", {{"choice", 1}}}}}};
  for (const auto& [pointer, value] : wrong.items()) {
    EXPECT_EQ(RulesFailAt(value), pointer);
  }
}

TEST(ParameterRulesJsonTest, APatchChangesOneRule) {
  const auto parsed =
      ParseJob(WithRules({{"a", {{"type", "integer"}}}, {"b", {{"type", "number"}}}}));
  ASSERT_TRUE(parsed.ok());
  const auto patched =
      PatchJob(JobOf(parsed->definition),
               {{"parameter_rules", {{"a", {{"required", true}}}, {"b", nullptr}}}});
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  const auto& rules = patched->definition.parameter_rules;
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules.at("a"), (ParameterRule{.type = ParameterType::kInteger, .required = true}));
}

}  // namespace
}  // namespace carillon
