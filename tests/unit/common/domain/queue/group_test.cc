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
  const auto decide = DecideStartInGroup;
  EXPECT_EQ(decide({}), GroupVerdict::kStart);
  EXPECT_EQ(decide({.named = true, .free = true}), GroupVerdict::kStart);
  EXPECT_EQ(decide({.named = true}), GroupVerdict::kQueue);
  EXPECT_EQ(decide({.named = true, .free = true, .queued_before = true}), GroupVerdict::kQueue);
  EXPECT_EQ(decide({.named = true, .has_slot = true, .queued_before = true}), GroupVerdict::kStart);
  EXPECT_EQ(decide({.named = true, .has_slot = true, .too_many = true}), GroupVerdict::kQueue);
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

TEST(GroupTest, AReservedSlotIsAwaitedIfItIsCoolSoonAndGivenBackIfNot) {
  GroupFacts facts{.named = true, .has_slot = true, .warm = 1us};
  EXPECT_EQ(DecideStartInGroup(facts), GroupVerdict::kTooEarly);
  facts.warm = kGroupLead;
  EXPECT_EQ(DecideStartInGroup(facts), GroupVerdict::kTooEarly);
  facts.warm = kGroupLead + 1us;
  EXPECT_EQ(DecideStartInGroup(facts), GroupVerdict::kQueue);
  facts.warm = 1us;
  facts.too_many = true;
  EXPECT_EQ(DecideStartInGroup(facts), GroupVerdict::kQueue);
}

TEST(GroupTest, ARunIsDueALittleBeforeItsSlotIsCool) {
  const WallTime now = FromUnixMicros(1'000'000'000);
  EXPECT_EQ(CoolAt(10s, now - 4s, now), now + 6s);
  EXPECT_EQ(CoolAt(10s, now - 11s, now), now);
  EXPECT_EQ(CoolAt(10s, now + 2min, now), now);
  EXPECT_EQ(DueInGroup(now + 900ms, now), now + 800ms);
  EXPECT_EQ(DueInGroup(now + 50ms, now), now);
}

TEST(GroupTest, AfterALoweredLimitSeveralSlotsMustCoolBeforeTheNextStart) {
  EXPECT_EQ(CoolingBeforeStart({.limit = 2, .taken = 0, .cooling = 1}), 0);
  EXPECT_EQ(CoolingBeforeStart({.limit = 2, .taken = 1, .cooling = 1}), 0);
  EXPECT_EQ(CoolingBeforeStart({.limit = 1, .taken = 0, .cooling = 3}), 2);
  EXPECT_EQ(CoolingBeforeStart({.limit = 1, .taken = 1, .cooling = 3}), 3);  // the run must end
  EXPECT_EQ(CoolingBeforeStart({.limit = 0, .taken = 0, .cooling = 2}), 2);  // nothing starts
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
