#include "common/domain/trace.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const RunKey kKey{FromUnixMicros(1'772'323'200'000'000), ScheduleId(0x2a), 7};

TEST(TraceTest, AParentIsTakenAsTheStandardHasIt) {
  const std::string parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(TraceIdOfParent(parent), kTrace);
  for (const char* bad : {"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
                          "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                          "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                          "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                          "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                          "00-4bf92f3577b34da6a3ce929d0e0e4736+00f067aa0ba902b7-01",
                          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x"}) {
    EXPECT_EQ(TraceIdOfParent(bad), std::nullopt) << bad;
  }
}

TEST(TraceTest, ARunThatNobodyMadeHasItsOwn) {
  const std::string own = TraceIdOf(kKey);
  EXPECT_EQ(own, "064beb26c36000000000000002a00007");
  EXPECT_TRUE(IsTraceId(own));
  RunKey other = kKey;
  other.shard = 8;
  EXPECT_NE(TraceIdOf(other), own);
  EXPECT_EQ(TraceIdOf(kKey, ""), own);
  EXPECT_EQ(TraceIdOf(kKey, kTrace), kTrace);
}

TEST(TraceTest, EachAttemptIsAParentOfItsOwn) {
  const std::string first = TraceParentOf(kTrace, kKey, 1);
  EXPECT_EQ(TraceIdOfParent(first), kTrace);
  EXPECT_NE(TraceParentOf(kTrace, kKey, 2), first);
  EXPECT_EQ(TraceParentOf(kTrace, kKey, 1), first);
}

}  // namespace
}  // namespace carillon
