#include "common/domain/queue/overlap.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace carillon {
namespace {

RunKey Key(int64_t fire) { return {.fire = FromUnixMicros(fire), .schedule_id = ScheduleId(1)}; }

std::vector<RunKey> Keys(int64_t count) {
  std::vector<RunKey> keys;
  for (int64_t i = 1; i <= count; ++i) keys.push_back(Key(i));
  return keys;
}

SlotVerdict Decide(OverlapPolicy policy, const SlotFacts& facts) {
  return DecideSlot({.policy = policy, .max_running = 2, .queue_max = 3}, facts);
}

constexpr std::array kPolicies = {
    OverlapPolicy::kAllow,    OverlapPolicy::kSkip,           OverlapPolicy::kQueueOne,
    OverlapPolicy::kQueueAll, OverlapPolicy::kCancelPrevious, OverlapPolicy::kTerminatePrevious};

TEST(OverlapTest, ARunStartsWhileASlotIsFreeOrItHasOne) {
  for (const OverlapPolicy policy : kPolicies) {
    EXPECT_EQ(Decide(policy, {.taken = 1}), SlotVerdict::kStart) << Name(policy);
    EXPECT_EQ(Decide(policy, {.has_slot = true, .taken = 1, .queued = 3, .queued_before = true}),
              SlotVerdict::kStart)
        << Name(policy);
  }
}

TEST(OverlapTest, WithoutASlotThePolicyDecides) {
  const std::map<OverlapPolicy, SlotVerdict> expected = {
      {OverlapPolicy::kAllow, SlotVerdict::kStart},
      {OverlapPolicy::kSkip, SlotVerdict::kSkip},
      {OverlapPolicy::kQueueOne, SlotVerdict::kQueue},
      {OverlapPolicy::kQueueAll, SlotVerdict::kQueue},
      {OverlapPolicy::kCancelPrevious, SlotVerdict::kQueue},
      {OverlapPolicy::kTerminatePrevious, SlotVerdict::kQueue}};
  for (const auto& [policy, verdict] : expected) {
    EXPECT_EQ(Decide(policy, {.taken = 2}), verdict) << Name(policy);
    EXPECT_EQ(Decide(policy, {.taken = 5}), verdict) << Name(policy);  // after an edit of the limit
  }
}

TEST(OverlapTest, ASlotFromBeforeTheLimitWasLoweredIsNotEnough) {
  for (const OverlapPolicy policy : kPolicies) {
    const SlotVerdict waits = TakesSlots(policy) ? SlotVerdict::kQueue : SlotVerdict::kStart;
    EXPECT_EQ(Decide(policy, {.has_slot = true, .taken = 3, .ahead = 2}), waits) << Name(policy);
    EXPECT_EQ(Decide(policy, {.has_slot = true, .taken = 3, .ahead = 1}), SlotVerdict::kStart)
        << Name(policy);
  }
}

TEST(OverlapTest, QueuesHaveALimit) {
  EXPECT_EQ(Decide(OverlapPolicy::kQueueOne, {.taken = 2, .queued = 1}), SlotVerdict::kSkip);
  EXPECT_EQ(Decide(OverlapPolicy::kQueueAll, {.taken = 2, .queued = 2}), SlotVerdict::kQueue);
  EXPECT_EQ(Decide(OverlapPolicy::kQueueAll, {.taken = 2, .queued = 3}), SlotVerdict::kSkipFull);
}

TEST(OverlapTest, AFreeSlotIsForTheRunThatIsQueuedBefore) {
  const SlotFacts behind{.taken = 1, .queued = 1, .queued_before = true};
  EXPECT_EQ(Decide(OverlapPolicy::kQueueAll, behind), SlotVerdict::kQueue);
  EXPECT_EQ(Decide(OverlapPolicy::kSkip, behind), SlotVerdict::kSkip);
  const SlotFacts before{.taken = 1, .queued = 1};
  EXPECT_EQ(Decide(OverlapPolicy::kQueueAll, before), SlotVerdict::kStart);
}

TEST(OverlapTest, AsManyAreAdmittedAsSlotsAreFreeInTheirOrder) {
  const OverlapRules rules{.policy = OverlapPolicy::kQueueAll, .max_running = 3};
  const Admission two = DecideAdmission(rules, Keys(4), 1);
  EXPECT_EQ(two.admitted, Keys(2));
  EXPECT_TRUE(two.replaced.empty());
  EXPECT_FALSE(two.holders);
  EXPECT_TRUE(DecideAdmission(rules, Keys(4), 3).admitted.empty());
  EXPECT_TRUE(DecideAdmission(rules, Keys(4), 7).admitted.empty());
  EXPECT_EQ(DecideAdmission(rules, Keys(1), 0).admitted, Keys(1));
  EXPECT_TRUE(DecideAdmission(rules, {}, 0).admitted.empty());
}

TEST(OverlapTest, AnEditThatAllowsOverlapAdmitsAll) {
  EXPECT_EQ(DecideAdmission({.policy = OverlapPolicy::kAllow}, Keys(4), 9).admitted, Keys(4));
}

TEST(OverlapTest, OfRunsThatReplaceThePreviousOneOnlyTheNewestStays) {
  const OverlapRules cancels{.policy = OverlapPolicy::kCancelPrevious};
  const Admission waits = DecideAdmission(cancels, Keys(3), 1);
  EXPECT_TRUE(waits.admitted.empty());
  EXPECT_EQ(waits.replaced, Keys(2));
  EXPECT_EQ(waits.holders, CancelMode::kGraceful);
  const Admission starts = DecideAdmission(cancels, Keys(3), 0);
  EXPECT_EQ(starts.admitted, std::vector<RunKey>{Key(3)});
  EXPECT_EQ(starts.replaced, Keys(2));
  EXPECT_FALSE(starts.holders);
  const OverlapRules kills{.policy = OverlapPolicy::kTerminatePrevious};
  EXPECT_EQ(DecideAdmission(kills, Keys(1), 1).holders, CancelMode::kKill);
}

TEST(OverlapTest, ARunThatNeverStartedIsSkippedNotCancelled) {
  RunRow row{.attempt = 1, .due = FromUnixMicros(1)};
  EXPECT_EQ(DecideMakeRoom(row, Key(9)), MakeRoom::kSkip);
  row.attempt = 2;
  EXPECT_EQ(DecideMakeRoom(row, Key(9)), MakeRoom::kCancel);
  row = {.key = Key(5), .state = RunState::kRunning};
  EXPECT_EQ(DecideMakeRoom(row, Key(4)), MakeRoom::kKeep);
  EXPECT_EQ(DecideMakeRoom(row, Key(9)), MakeRoom::kCancel);
}

TEST(OverlapTest, DueTimesThatAreNoTimesAreLaterThanAllTimes) {
  for (const WallTime due : {kNever, kQueued, kBlocked, kAwaiting, kTimesEnd}) {
    EXPECT_FALSE(IsTime(due));
    EXPECT_EQ(IsUnreleased(due), due == kBlocked || due == kAwaiting);
  }
  EXPECT_TRUE(IsTime(kTimesEnd - 1us));
  EXPECT_EQ((std::set<WallTime>{kNever, kQueued, kBlocked, kAwaiting}.size()), 4u);
}

}  // namespace
}  // namespace carillon
