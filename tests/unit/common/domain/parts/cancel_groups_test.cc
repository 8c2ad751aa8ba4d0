#include "common/domain/parts/cancel_groups.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

using Groups = std::vector<std::vector<RunKey>>;

RunKey OwnAt(int64_t second) {
  return {FromUnixMicros(1'772'323'200'000'000 + second * 1'000'000), ScheduleId(7), 0};
}

void AddFire(int64_t second, uint32_t open_parts, std::vector<RunKey>& open) {
  for (uint32_t shard = 0; shard <= open_parts; ++shard) {
    open.push_back(OwnAt(second));
    open.back().shard = shard;
  }
}

TEST(CancelGroups, FewRunsAreOneGroup) {
  EXPECT_TRUE(GroupsToCancel({}, {}).empty());
  std::vector<RunKey> open;
  AddFire(3, 400, open);
  AddFire(1, 0, open);
  AddFire(2, 500, open);
  EXPECT_EQ(GroupsToCancel(open, {}), (Groups{{OwnAt(1), OwnAt(2), OwnAt(3)}}));
}

TEST(CancelGroups, AFireIsNotDividedAndTheLatestComesFirst) {
  std::vector<RunKey> open;
  AddFire(1, 1'000, open);
  AddFire(2, 600, open);
  AddFire(3, 398, open);
  AddFire(4, 600, open);  // with its own run, 601 rows
  EXPECT_EQ(GroupsToCancel(open, {}), (Groups{{OwnAt(3), OwnAt(4)}, {OwnAt(2)}, {OwnAt(1)}}));
}

// A run of a backfill waits for those of today.
TEST(CancelGroups, WhatWaitsComesFirst) {
  std::vector<RunKey> open;
  AddFire(1, 0, open);
  AddFire(2, 0, open);
  AddFire(3, 600, open);
  AddFire(4, 999, open);
  EXPECT_EQ(GroupsToCancel(open, {OwnAt(1), OwnAt(3)}),
            (Groups{{OwnAt(1), OwnAt(3)}, {OwnAt(4)}, {OwnAt(2)}}));
  EXPECT_EQ(GroupsToCancel(open, {OwnAt(1)}),
            (Groups{{OwnAt(1)}, {OwnAt(4)}, {OwnAt(2), OwnAt(3)}}));
}

TEST(CancelGroups, ManyPlainRunsAreDivided) {
  std::vector<RunKey> open;
  for (int64_t second = 0; second < 2'500; ++second) AddFire(second, 0, open);
  const Groups groups = GroupsToCancel(open, {});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].size(), kCancelledRowsPerTransaction);
  EXPECT_EQ(groups[0].back(), OwnAt(2'499));
  EXPECT_EQ(groups[2].size(), 500u);
  EXPECT_EQ(groups[2].front(), OwnAt(0));
}

}  // namespace
}  // namespace carillon
