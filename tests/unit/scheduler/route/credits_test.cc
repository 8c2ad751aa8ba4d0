// The credits of executors: which runs they hold, and how many more they may be sent.
#include "tests/unit/scheduler/route/router_fixture.h"

namespace carillon::scheduler {
namespace {

TEST_F(RouterTest, SlotClassesAreCountedApart) {
  const auto a = Add("a", 0);
  EXPECT_FALSE(Pick({}).has_value());
  EXPECT_EQ(Pick({.slots = SlotClass::kLight}), a);
}

TEST_F(RouterTest, CreditsFollowARunFromPublishingToItsEnd) {
  const auto a = Add("a", 3);
  credits_.Published(a, kProcess);
  EXPECT_EQ(credits_.Available(a, kProcess), 2);
  Charge charge;
  credits_.Claimed(a, kProcess, charge, 1ms, kStart);
  EXPECT_EQ(credits_.Available(a, kProcess), 2);
  credits_.Ended(a, kProcess, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 3);
}

TEST_F(RouterTest, ReportThatKnowsARunIsNotChargedForItTwice) {
  const auto a = Add("a", 3);
  credits_.Published(a, kProcess);
  Charge charge;
  credits_.Claimed(a, kProcess, charge, 1ms, kStart);
  Add("a", 2);  // the report counts the claimed run
  credits_.MentionClaimed(a, kProcess, Mention::kHolding, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 2);
  credits_.Ended(a, kProcess, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 3);
}

TEST_F(RouterTest, ClaimUnderWayAtAReportIsChargedOnce) {
  const auto a = Add("a", 1);
  credits_.Published(a, kProcess);
  Add("a", 1);  // the claim is in transit, so the report counts its slot as free
  Charge charge;
  credits_.MentionPublished(a, Mention::kClaiming, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 0);
  credits_.Claimed(a, kProcess, charge, 1ms, kStart);
  EXPECT_EQ(credits_.Available(a, kProcess), 0);
  Add("a", 1);  // the answer and this report crossed
  credits_.MentionClaimed(a, kProcess, Mention::kClaiming, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 0);
  credits_.Ended(a, kProcess, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 1);
}

TEST_F(RouterTest, ReportThatIsHeardBeforeTheClaimChargesItToo) {
  const auto a = Add("a", 1);
  credits_.Published(a, kProcess);
  Add("a", 0);
  Charge charge;
  credits_.MentionPublished(a, Mention::kHolding, charge);
  credits_.Claimed(a, kProcess, charge, 1ms, kStart);
  EXPECT_EQ(credits_.Available(a, kProcess), 0);
  credits_.Ended(a, kProcess, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 1);
}

TEST_F(RouterTest, ResultUnderWayAtAReportFreesItsSlotOnce) {
  const auto a = Add("a", 1);
  credits_.Published(a, kProcess);
  Charge charge;
  credits_.Claimed(a, kProcess, charge, 1ms, kStart);
  Add("a", 1);  // the run has ended on the executor
  credits_.MentionClaimed(a, kProcess, Mention::kEnded, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 1);
  credits_.Ended(a, kProcess, charge);
  EXPECT_EQ(credits_.Available(a, kProcess), 1);
  Add("a", 0);  // this report is older than the end, which the member already knows
  credits_.MentionOver(a, kProcess, Mention::kHolding);
  EXPECT_EQ(credits_.Available(a, kProcess), 1);
}

TEST_F(RouterTest, PublishedTasksStayChargedAcrossReports) {
  const auto a = Add("a", 3);
  credits_.Published(a, kProcess);
  Add("a", 3);
  EXPECT_EQ(credits_.Available(a, kProcess), 2);
  credits_.Returned(a, kProcess);
  EXPECT_EQ(credits_.Available(a, kProcess), 3);
}

TEST_F(RouterTest, ShortRunsEarnPrefetchLongOnesDoNot) {
  const auto a = Add("a", 4);
  // 1,000 claims a second of 10 ms each: ten are in transit at any moment.
  for (int i = 0; i < 1000; ++i) {
    credits_.Published(a, kProcess);
    Charge charge;
    credits_.Claimed(a, kProcess, charge, 10ms, kStart + Duration(1ms) * (i + 1));
    credits_.Ended(a, kProcess, charge);
  }
  credits_.Published(a, kProcess);
  Charge charge;
  credits_.Claimed(a, kProcess, charge, 10ms, kStart + 1100ms);
  credits_.Ended(a, kProcess, charge);
  EXPECT_GE(credits_.Available(a, kProcess), 4 + 5);
  EXPECT_LE(credits_.Available(a, kProcess), 4 + 100);
  const auto b = Add("b", 4);
  credits_.Published(b, kProcess);
  Charge first;
  credits_.Claimed(b, kProcess, first, 10ms, kStart);
  credits_.Published(b, kProcess);
  Charge second;
  credits_.Claimed(b, kProcess, second, 10ms, kStart + 60s);
  EXPECT_EQ(credits_.Available(b, kProcess), 2);
}

// 100 processes a second. Each is claimed 10 ms after it was published and runs for 5 ms, but the
// member learns of its end 60 ms after the claim.
TEST_F(RouterTest, ProcessesWhoseEndIsHeardOfLateEarnPrefetchForThatToo) {
  const auto of_a_second = [this](ExecutorCredits::Index index, SlotClass slots, Duration idle) {
    for (int i = 0; i <= 100; ++i) {
      credits_.Published(index, slots);
      Charge charge;
      credits_.Claimed(index, slots, charge, 10ms, kStart + 10ms * i);
      credits_.OnEnd(index, slots, idle);
      credits_.Ended(index, slots, charge);
    }
    return credits_.Available(index, slots) - 4;
  };
  const int on_its_way = of_a_second(Add("a", 4), kProcess, 0ms);
  EXPECT_NEAR(on_its_way, 2, 1) << "100/s for 10 ms, twice";
  EXPECT_NEAR(of_a_second(Add("b", 4), kProcess, 55ms), 13, 1) << "100/s for 65 ms, twice";
  EXPECT_NEAR(of_a_second(Add("c", 4), kProcess, 1h), 22, 1) << "bounded: 10 ms and the longest";
  EXPECT_NEAR(of_a_second(Add("d", 4), kProcess, -1s), 2, 1) << "the host's clock was set";
  const auto light = Add("e", 4);
  EXPECT_EQ(of_a_second(light, SlotClass::kLight, 55ms) -
                of_a_second(Add("f", 4), SlotClass::kLight, 0ms),
            0)
      << "its slot at the executor is not free meanwhile";
}

TEST_F(RouterTest, TasksThatWaitAtTheExecutorEarnNoMore) {
  const auto a = Add("a", 4);
  for (int i = 0; i <= 100; ++i) {
    credits_.Published(a, kProcess);
    Charge charge;
    credits_.Claimed(a, kProcess, charge, 3s, kStart + 10ms * i);
    credits_.Ended(a, kProcess, charge);
  }
  EXPECT_LE(credits_.Available(a, kProcess), 4 + 20);
}

TEST_F(RouterTest, InProcessRunsEarnNoPrefetchForProcesses) {
  const auto a = Add("a", 4);
  for (int i = 0; i <= 1000; ++i) {
    credits_.Published(a, SlotClass::kLight);
    Charge charge;
    credits_.Claimed(a, SlotClass::kLight, charge, 10ms, kStart + 1ms * i);
    credits_.Ended(a, SlotClass::kLight, charge);
  }
  EXPECT_EQ(credits_.Available(a, kProcess), 4);
}

TEST_F(RouterTest, UpdateTellsWhenPublishedTasksShouldGoElsewhere) {
  Add("a", 4);
  EXPECT_FALSE(credits_.Update({.id = ExecutorId("a"),
                                .incarnation = Incarnation("i"),
                                .usable = true,
                                .free_slots = 3,
                                .heartbeats = ++beats_}));
  EXPECT_TRUE(credits_.Update({.id = ExecutorId("a"),
                               .incarnation = Incarnation("j"),
                               .usable = true,
                               .heartbeats = ++beats_}));
  EXPECT_TRUE(credits_.Update({.id = ExecutorId("a"),
                               .incarnation = Incarnation("j"),
                               .usable = false,
                               .heartbeats = ++beats_}));
}

}  // namespace
}  // namespace carillon::scheduler
