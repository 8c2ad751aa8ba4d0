#include "common/base/overload_levels.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "tests/fuzz/overload_levels_check.h"

namespace carillon {
namespace {

using Levels = std::vector<OverloadLevel>;

TEST(OverloadLevelsTest, ReadsPairsInAscendingOrder) {
  EXPECT_EQ(ParseOverloadLevels(""), Levels{});
  EXPECT_EQ(ParseOverloadLevels(" "), Levels{});
  EXPECT_EQ(ParseOverloadLevels("10:20"), (Levels{{10s, 20}}));
  EXPECT_EQ(ParseOverloadLevels("10:20, 60 : 60,3600:100"),
            (Levels{{10s, 20}, {60s, 60}, {3600s, 100}}));
}

TEST(OverloadLevelsTest, RefusesEverythingElse) {
  for (const std::string_view text : {"10",
                                      ":",
                                      "10:",
                                      ":20",
                                      "10:20,",
                                      ",10:20",
                                      "10:20;60:60",
                                      "4:20",
                                      "3601:20",
                                      "10:0",
                                      "10:101",
                                      "-10:20",
                                      "+10:20",
                                      "10:20:30",
                                      "10.5:20",
                                      "60:60,10:20",
                                      "10:20,60:20",
                                      "10:20,10:60",
                                      "5:1,6:2,7:3,8:4",
                                      "10:20\n",
                                      "10=20",
                                      "99999999999:20"}) {
    EXPECT_EQ(ParseOverloadLevels(text), std::nullopt) << text;
  }
}

TEST(OverloadLevelsTest, HoldsItsRulesForAnyText) {
  constexpr std::string_view kLetters = "0123456789:, -";
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (uint64_t length = rng.Below(20); length > 0; --length) {
      text += kLetters[rng.Below(kLetters.size())];
    }
    ASSERT_EQ(test::CheckOverloadLevels(text), "") << text;
  }
}

}  // namespace
}  // namespace carillon
