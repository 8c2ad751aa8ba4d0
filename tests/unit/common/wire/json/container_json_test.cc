// Jobs of type container as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"

namespace carillon::container_json {
namespace {

using nlohmann::json;

StoredJob Stored(JobDefinition definition) {
  return {.job_id = JobId("j"), .version = 3, .definition = std::move(definition)};
}

TEST(ContainerJsonTest, AContainerIsReadAndShown) {
  const json container = {{"image", "alpine:3.20"}, {"command", {"sh", "-c"}}, {"args", {"date"}},
                          {"network", "none"},      {"read_only", true},       {"user", "1000"},
                          {"pull", "never"}};
  const auto parsed = ParseJob({{"name", "n"}, {"type", "container"}, {"container", container}});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(JobToJson(Stored(parsed->definition), WallTime{})["container"], container);
  EXPECT_EQ(DefinitionFromText(DefinitionToText(parsed->definition), JobId("j")).value(),
            parsed->definition);
  const auto changed =
      PatchJob(Stored(parsed->definition), {{"container", {{"image", "busybox"}}}});
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(changed->definition.container->image, "busybox");
  EXPECT_EQ(changed->definition.container->pull, ContainerPull::kNotAtAll);
  EXPECT_FALSE(
      JobToJson(Stored({.name = "n", .command = "true"}), WallTime{}).contains("container"));
}

TEST(ContainerJsonTest, MistakesNameTheirPlace) {
  const auto fails_at = [](const json& container) {
    const auto parsed = ParseJob({{"name", "n"}, {"type", "container"}, {"container", container}});
    return parsed.ok() ? "ok" : parsed.error().pointer;
  };
  EXPECT_EQ(fails_at({{"image", "a"}}), "ok");
  EXPECT_EQ(fails_at(json::array()), "/container");
  EXPECT_EQ(fails_at(nullptr), "/container");
  EXPECT_EQ(fails_at(json::object()), "/container/image");
  EXPECT_EQ(fails_at({{"image", "a"}, {"network", "host"}}), "/container/network");
  EXPECT_EQ(fails_at({{"image", "a"}, {"pull", 1}}), "/container/pull");
  EXPECT_EQ(fails_at({{"image", "a"}, {"args", "x"}}), "/container/args");
  EXPECT_EQ(fails_at({{"image", "a"}, {"privileged", true}}), "/container/privileged");
}

}  // namespace
}  // namespace carillon::container_json
