#include "common/domain/results/resource_usage.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

TEST(ResourceUsageTest, ItsTextComesBack) {
  const ResourceUsage usage{1'500'000, 24 << 20, 0, INT64_MAX};
  EXPECT_EQ(UsageToText(usage), "1500000,25165824,0,9223372036854775807");
  EXPECT_EQ(UsageFromText(UsageToText(usage)), usage);
}

TEST(ResourceUsageTest, OtherTextsAreNone) {
  for (const char* text : {"", "1", "1,2,3", "1,2,3,", "1,2,3,4,5", "1,2,3,-4", "1,2,3,x",
                           "1;2;3;4", " 1,2,3,4", "1,2,3,99999999999999999999"}) {
    EXPECT_FALSE(UsageFromText(text)) << text;
  }
}

}  // namespace
}  // namespace carillon
