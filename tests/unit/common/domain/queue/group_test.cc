#include "common/domain/queue/group.h"

#include <gtest/gtest.h>

#include "common/domain/job/job.h"

namespace carillon {
namespace {

RunKey KeyOf(int64_t second) { return {FromUnixMicros(second * 1'000'000), ScheduleId(1), 0}; }

RunRow RowOf(int64_t second, int priority) {
  return {.key = KeyOf(second), .job_no = JobNo(1), .segment = SegmentId(0), .priority = priority};
}

TEST(GroupTest, NamesAreShortAndPlain) {
  EXPECT_TRUE(IsGroupName("db"));
  EXPECT_TRUE(IsGroupName("0-a_b"));
  EXPECT_TRUE(IsGroupName(std::string(63, 'a')));
  EXPECT_FALSE(IsGroupName(""));
  EXPECT_FALSE(IsGroupName("-db"));
  EXPECT_FALSE(IsGroupName("Db"));
  EXPECT_FALSE(IsGroupName("d b"));
  EXPECT_FALSE(IsGroupName(std::string(64, 'a')));
}

TEST(GroupTest, ThePriorityGoesBeforeTheFire) {
  EXPECT_LT(PlaceInGroup(RowOf(9, 50)), PlaceInGroup(RowOf(1, 49)));
  EXPECT_LT(PlaceInGroup(RowOf(1, 50)), PlaceInGroup(RowOf(2, 50)));
}

TEST(GroupTest, RunsOfBackfillsGiveWayToAllOthers) {
  RunRow background = RowOf(1, 100);
  background.flags = run_flag::kBackground;
  EXPECT_LT(PlaceInGroup(RowOf(2, 0)), PlaceInGroup(background));
}

TEST(GroupTest, AClaimNeedsAFreeSlotAndNobodyBeforeIt) {
  EXPECT_TRUE(MayStartInGroup({}));
  EXPECT_TRUE(MayStartInGroup({.named = true, .free = true}));
  EXPECT_FALSE(MayStartInGroup({.named = true}));
  EXPECT_FALSE(MayStartInGroup({.named = true, .free = true, .queued_before = true}));
  EXPECT_TRUE(MayStartInGroup({.named = true, .has_slot = true, .queued_before = true}));
  EXPECT_FALSE(MayStartInGroup({.named = true, .has_slot = true, .too_many = true}));
}

TEST(GroupTest, ASlotIsGivenAgainAfterItsTime) {
  const WallTime given = FromUnixMicros(1'000'000'000);
  EXPECT_FALSE(IsCool(10s, given, given));
  EXPECT_FALSE(IsCool(10s, given, given + 10s - 1us));
  EXPECT_TRUE(IsCool(10s, given, given + 10s));
  EXPECT_TRUE(IsCool(10s, FromUnixMicros(0), given));  // never given
  EXPECT_TRUE(IsCool(0s, given, given));
  EXPECT_TRUE(IsCool(0s, given, given - 1s));
}

TEST(GroupTest, ASlotThatWasGivenLongAfterNowIsCool) {
  const WallTime now = FromUnixMicros(10'000'000'000);
  EXPECT_FALSE(IsCool(1s, now + kGroupClockAhead, now));
  EXPECT_TRUE(IsCool(1s, now + kGroupClockAhead + 1us, now));
}

TEST(GroupTest, AnAdmittedRunWhoseSlotIsNotCoolAnyMoreWaits) {
  EXPECT_FALSE(MayStartInGroup({.named = true, .has_slot = true, .warm = true}));
}

TEST(GroupTest, NothingIsFreeWhileMoreRunThanALoweredLimitAllows) {
  EXPECT_EQ(FreeInGroup(3, 1), 2);
  EXPECT_EQ(FreeInGroup(1, 3), 0);
  EXPECT_EQ(FreeInGroup(0, 0), 0);
}

TEST(GroupTest, AnOwnerAdmitsItsRunsAmongTheFirst) {
  const SegmentId ours(1);
  const SegmentId theirs(2);
  const std::vector<GroupWait> queue = {{{.rank = 50, .key = KeyOf(1)}, theirs},
                                        {{.rank = 50, .key = KeyOf(2)}, ours},
                                        {{.rank = 60, .key = KeyOf(1)}, ours}};
  EXPECT_EQ(DecideGroupAdmission(queue, {ours}, 1), std::vector<RunKey>{});
  EXPECT_EQ(DecideGroupAdmission(queue, {ours}, 2), std::vector<RunKey>{KeyOf(2)});
  EXPECT_EQ(DecideGroupAdmission(queue, {ours}, 9), (std::vector<RunKey>{KeyOf(2), KeyOf(1)}));
  EXPECT_EQ(DecideGroupAdmission(queue, {ours, theirs}, 1), std::vector<RunKey>{KeyOf(1)});
  EXPECT_EQ(DecideGroupAdmission(queue, {ours}, -1), std::vector<RunKey>{});
}

}  // namespace
}  // namespace carillon
