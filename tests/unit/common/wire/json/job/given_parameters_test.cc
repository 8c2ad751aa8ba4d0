#include "common/wire/json/job/given_parameters.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_json.h"
#include "common/wire/json/job/parameters_json.h"

namespace carillon {
namespace {

TEST(GivenParametersTest, ComeBackWithWhatIsKnownOfThem) {
  const RenderedParameters given{.values = {{"day", std::string("mon")}, {"n", int64_t{3}}},
                                 .untrusted = {"day"},
                                 .given_by = {"user-a", "user-b"}};
  const auto read = GivenFromText(GivenToText(given));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, given);
  EXPECT_EQ(GivenValues(GivenToText(given)), nlohmann::json({{"day", "mon"}, {"n", 3}}));
}

TEST(GivenParametersTest, NothingGivenNamesNobody) {
  EXPECT_EQ(GivenToText({.given_by = {"user-a"}}), "");
  EXPECT_EQ(WithGiver("", "user-a"), "");
  EXPECT_EQ(WithGiver("{}", "user-a"), "{}");
  EXPECT_EQ(WithGiver(R"({"v":1})", ""), R"({"v":1})");
  EXPECT_EQ(WithGiver(R"({"v":1})", "user-a"), R"({"$given_by":["user-a"],"v":1})");
}

TEST(GivenParametersTest, RulesOfTheJobAreForTheValues) {
  JobDefinition job;
  job.parameter_rules["v"] = {};
  EXPECT_TRUE(CheckParametersText(job, WithGiver(R"({"v":"x"})", "user-a")).ok());
}

TEST(GivenParametersTest, NobodyGivesTheNamesOfOthers) {
  for (const nlohmann::json& value : {nlohmann::json("user-b"), nlohmann::json({"user-b"})}) {
    const nlohmann::json asked = {
        {"name", "run"}, {"type", "noop"}, {"parameters", {{"$given_by", value}}}};
    EXPECT_FALSE(ParseJob(asked).ok()) << value;
  }
}

}  // namespace
}  // namespace carillon
