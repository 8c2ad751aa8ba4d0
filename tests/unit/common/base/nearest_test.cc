#include "common/base/nearest.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

const std::vector<std::string_view> kFields = {"name", "env", "time_zone", "timeout", "schedules"};

TEST(NearestTest, FindsTheNameWithTheFewestEdits) {
  EXPECT_EQ(Nearest("timezone", kFields), "time_zone");
  EXPECT_EQ(Nearest("time_out", kFields), "timeout");
  EXPECT_EQ(Nearest("schedule", kFields), "schedules");
}

TEST(NearestTest, SuggestsNothingForAnotherWord) {
  EXPECT_EQ(Nearest("foo", kFields), "");
  EXPECT_EQ(Nearest("", kFields), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'n'), kFields), "");
}

TEST(NearestTest, SaysItAsAQuestion) {
  EXPECT_EQ(DidYouMean("timezone", kFields), "; did you mean 'time_zone'?");
  EXPECT_EQ(DidYouMean("foo", kFields), "");
  EXPECT_EQ(DidYouMean("name", kFields), "") << "a name that is known is no suggestion";
}

}  // namespace
}  // namespace carillon
