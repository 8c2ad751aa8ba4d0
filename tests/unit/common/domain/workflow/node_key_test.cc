#include "common/domain/workflow/node_key.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

const WallTime kFire = FromUnixMicros(1'772'323'200'000'000);

TEST(NodeKeyTest, ComesBackFromARunId) {
  for (const NodePlace& place :
       {NodePlace{0, 0}, NodePlace{0, 499}, NodePlace{1, 0}, NodePlace{123'456'789, 1023},
        NodePlace{kWorkflowRunNoMax - 1, kNodePositionsMax - 1}}) {
    const auto key = NodeKey(kFire, place);
    ASSERT_TRUE(key.ok());
    EXPECT_EQ(key->fire, kFire);
    EXPECT_EQ(key->shard, 0u);
    const auto decoded = DecodeRunId(EncodeRunId(*key));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(NodePlaceOf(*decoded), place);
  }
}

TEST(NodeKeyTest, LimitsAreChecked) {
  EXPECT_EQ(NodeKey(kFire, {kWorkflowRunNoMax, 0}).code(), ErrorCode::kExhausted);
  EXPECT_EQ(NodeKey(kFire, {0, kNodePositionsMax}).code(), ErrorCode::kExhausted);
  EXPECT_EQ(NodeKey(kFire, {UINT64_MAX, 0}).code(), ErrorCode::kExhausted);
  EXPECT_EQ(NodeKeysOf(kFire, kWorkflowRunNoMax).code(), ErrorCode::kExhausted);
}

TEST(NodeKeyTest, OtherRunsAreNoNodes) {
  EXPECT_FALSE(NodePlaceOf({kFire, ScheduleId(7)}));
  EXPECT_FALSE(NodePlaceOf({kFire, ScheduleId(kFirstNodeSchedule - 1)}));
  EXPECT_FALSE(NodePlaceOf({kFire, ScheduleId(kFirstNodeSchedule), 1}));
  EXPECT_FALSE(NodePlaceOf({kFire, ScheduleId(2 * kFirstNodeSchedule)}));
}

TEST(NodeKeyTest, TheNodesOfARunAreARangeOfKeys) {
  const auto range = NodeKeysOf(kFire, 5);
  ASSERT_TRUE(range.ok());
  EXPECT_LE(range->first, *NodeKey(kFire, {5, 0}));
  EXPECT_GE(range->last, *NodeKey(kFire, {5, 1023}));
  EXPECT_LT(range->last, *NodeKey(kFire, {6, 0}));
  EXPECT_GT(range->first, *NodeKey(kFire, {4, 1023}));
}

}  // namespace
}  // namespace carillon::test
