// Limits, user and working directory of a job as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"

namespace carillon::isolation_json {
namespace {

using nlohmann::json;

StoredJob Stored(JobDefinition definition) {
  return {.job_id = JobId("j"), .version = 3, .definition = std::move(definition)};
}

json Shown(JobDefinition definition) {
  return JobToJson(Stored(std::move(definition)), WallTime{});
}

std::string FailsAt(const json& limits) {
  const auto parsed = ParseJob({{"name", "n"}, {"command", "true"}, {"limits", limits}});
  return parsed.ok() ? "ok" : parsed.error().pointer;
}

TEST(IsolationJsonTest, TheyAreReadShownAndPatched) {
  const json limits = {{"memory_mb", 64}, {"cpu", 0.5}, {"enforce", "best_effort"}};
  const auto parsed = ParseJob({{"name", "n"},
                                {"command", "true"},
                                {"limits", limits},
                                {"run_as", "alice"},
                                {"working_directory", "~/app"},
                                {"output_encoding", "Shift_JIS"}});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(Shown(parsed->definition)["limits"], limits);
  EXPECT_EQ(Shown(parsed->definition)["run_as"], "alice");
  EXPECT_EQ(Shown(parsed->definition)["working_directory"], "~/app");
  EXPECT_EQ(Shown(parsed->definition)["output_encoding"], "Shift_JIS") << "as it was written";
  EXPECT_EQ(DefinitionFromText(DefinitionToText(parsed->definition), JobId("j")).value(),
            parsed->definition);
  const auto changed =
      PatchJob(Stored(parsed->definition), {{"limits", {{"cpu", nullptr}, {"pids", 9}}}});
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(Shown(changed->definition)["limits"],
            (json{{"memory_mb", 64}, {"pids", 9}, {"enforce", "best_effort"}}));
}

TEST(IsolationJsonTest, AJobWithoutThemHasNoneOfTheFields) {
  const json plain = Shown({.name = "n", .command = "true"});
  EXPECT_FALSE(plain.contains("limits"));
  EXPECT_FALSE(plain.contains("run_as"));
  EXPECT_FALSE(plain.contains("working_directory"));
  EXPECT_FALSE(plain.contains("output_encoding"));
  const auto added = PatchJob(Stored({.name = "n", .command = "true"}),
                              {{"limits", {{"pids", 9}}}, {"run_as", "alice"}});
  ASSERT_TRUE(added.ok()) << added.error().message;
  EXPECT_EQ(added->definition.limits->pids, 9);
  EXPECT_EQ(added->definition.run_as, "alice");
}

TEST(IsolationJsonTest, LimitsOfNothingAreNone) {
  const JobDefinition job{.name = "n", .command = "true", .limits = Limits{.pids = 9}};
  for (const json& patch : {json{{"limits", nullptr}}, json{{"limits", {{"pids", nullptr}}}},
                            json{{"limits", {{"pids", 0}}}}}) {
    const auto removed = PatchJob(Stored(job), patch);
    ASSERT_TRUE(removed.ok()) << removed.error().message;
    EXPECT_FALSE(removed->definition.limits) << patch;
  }
}

TEST(IsolationJsonTest, MistakesNameTheirPlace) {
  EXPECT_EQ(FailsAt({{"pids", 9}}), "ok");
  EXPECT_EQ(FailsAt(nullptr), "ok");
  EXPECT_EQ(FailsAt("none"), "/limits");
  EXPECT_EQ(FailsAt({{"pid", 9}}), "/limits/pid");
  EXPECT_EQ(FailsAt({{"pids", "9"}}), "/limits/pids");
  EXPECT_EQ(FailsAt({{"cpu", "1"}}), "/limits/cpu");
  EXPECT_EQ(FailsAt({{"cpu", 2000}}), "/limits/cpu");
  EXPECT_EQ(FailsAt({{"pids", 9}, {"enforce", "maybe"}}), "/limits/enforce");
}

}  // namespace
}  // namespace carillon::isolation_json
