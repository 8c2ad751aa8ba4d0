#include "common/wire/json/job/share_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace carillon {
namespace {

using nlohmann::json;

std::string PointerOf(const json& body) {
  const auto shares = SharesFromJson(body);
  return shares.ok() ? "fine" : shares.error().pointer;
}

TEST(ShareJsonTest, IsReadAsItWasWritten) {
  const std::vector<Share> shares = {{"payroll"}, {"*", "team = \"a b\""}};
  const json body = {{{"namespace", "payroll"}},
                     {{"namespace", "*"}, {"selector", "team = \"a b\""}}};
  EXPECT_EQ(SharesToJson(shares), body);
  EXPECT_EQ(*SharesFromJson(body), shares);
  EXPECT_EQ(*SharesFromText(SharesToText(shares)), shares);
  EXPECT_EQ(SharesToText({}), "[]");
}

TEST(ShareJsonTest, PointsAtWhatIsWrong) {
  EXPECT_EQ(PointerOf("payroll"), "/shares");
  EXPECT_EQ(PointerOf({"payroll"}), "/shares/0");
  EXPECT_EQ(PointerOf({{{"namespace", 1}}}), "/shares/0/namespace");
  EXPECT_EQ(PointerOf({{{"namespace", "a"}, {"labels", "x"}}}), "/shares/0/labels");
  EXPECT_EQ(PointerOf({{{"selector", "a = b"}}}), "/shares/0/namespace");
  EXPECT_EQ(PointerOf({{{"namespace", "a"}}, {{"namespace", "*"}}}), "/shares/1/selector");
  EXPECT_EQ(PointerOf({{{"namespace", "a"}, {"selector", ""}}}), "/shares/0/selector")
      << "of a variable that was not set";
}

TEST(ShareJsonTest, WhatIsStoredIsReadUnderTheRulesOfBeforeToo) {
  EXPECT_EQ(SharesFromText(R"([{"namespace": "Of Before"}])")->front().name_space, "Of Before");
  for (const char* bad : {"", "{}", "[1]", R"([{"namespace": 1}])"}) {
    ASSERT_FALSE(SharesFromText(bad).ok()) << bad;
    EXPECT_EQ(SharesFromText(bad).code(), ErrorCode::kCorrupt) << bad;
  }
}

}  // namespace
}  // namespace carillon
