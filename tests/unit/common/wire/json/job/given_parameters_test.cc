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

TEST(GivenParametersTest, TheEventStaysWithTheRunAlsoWithoutParameters) {
  const EventOrigin event{.id = "42", .source = "shop", .type = "order.paid"};
  const RenderedParameters bare{.event = event};
  const std::string text = GivenToText(bare);
  EXPECT_EQ(text, R"({"$event":{"id":"42","source":"shop","subject":"","type":"order.paid"}})");
  EXPECT_EQ(GivenFromText(text).value(), bare);
  EXPECT_EQ(GivenValues(text), nlohmann::json::object());

  const RenderedParameters full{.values = {{"day", std::string("mon")}},
                                .untrusted = {"day"},
                                .given_by = {"user-a"},
                                .time_zone = "Asia/Tokyo",
                                .event = EventOrigin{"1", "a/b", "t", "o-7"}};
  EXPECT_EQ(GivenFromText(GivenToText(full)).value(), full);
  EXPECT_EQ(GivenValues(GivenToText(full)), nlohmann::json({{"day", "mon"}}));
}

TEST(GivenParametersTest, ItemsStayInTheirOrderAndAreNoParameters) {
  const RenderedParameters given{
      .values = {{"day", std::string("mon")}},
      .untrusted = {"file"},
      .items = {std::string("b.csv"), int64_t{3}, true, 0.5, std::string("[1,2]")}};
  const std::string text = GivenToText(given);
  EXPECT_EQ(GivenFromText(text).value(), given);
  EXPECT_EQ(GivenValues(text), nlohmann::json({{"day", "mon"}}));
  const RenderedParameters bare{.items = {std::string("a")}};
  EXPECT_EQ(GivenToText(bare), R"({"$items":["a"]})");
  EXPECT_EQ(GivenFromText(GivenToText(bare)).value(), bare);
  EXPECT_FALSE(GivenFromText(R"({"$items":"a"})").ok());
}

TEST(GivenParametersTest, WhateverIsAddedLaterKeepsTheEvent) {
  const EventOrigin event{.id = "42", .source = "shop", .type = "order.paid"};
  for (const RenderedParameters& given :
       {RenderedParameters{.event = event},
        RenderedParameters{.values = {{"n", int64_t{1}}}, .untrusted = {"n"}, .event = event}}) {
    const std::string text = GivenToText(given);
    RenderedParameters with = given;
    with.time_zone = "Asia/Tokyo";
    EXPECT_EQ(GivenFromText(WithZone(text, "Asia/Tokyo").value()).value(), with);
    with = given;
    with.values["day"] = std::string("mon");
    EXPECT_EQ(
        GivenFromText(WithScheduleParameters(text, {{"day", std::string("mon")}}).value()).value(),
        with);
    with = given;
    with.given_by = {"user-a"};
    EXPECT_EQ(GivenFromText(WithGiver(text, "user-a")).value(), with);
  }
}

TEST(GivenParametersTest, RulesOfTheJobAreForTheValues) {
  JobDefinition job;
  job.parameter_rules["v"] = {};
  EXPECT_TRUE(CheckParametersText(job, WithGiver(R"({"v":"x"})", "user-a")).ok());
}

TEST(GivenParametersTest, NobodyGivesTheNamesOfOthers) {
  for (const char* name : {kGivers, kUntrustedNames, kKeptZone, kStartedByEvent, kItems}) {
    for (const nlohmann::json& value :
         {nlohmann::json("user-b"), nlohmann::json({"user-b"}), nlohmann::json({{"id", "1"}})}) {
      const nlohmann::json asked = {
          {"name", "run"}, {"type", "noop"}, {"parameters", {{name, value}}}};
      EXPECT_FALSE(ParseJob(asked).ok()) << name << value;
    }
  }
}

}  // namespace
}  // namespace carillon
