#include "scheduler/route/router.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

constexpr SteadyTime kStart{1000s};
constexpr auto kProcess = SlotClass::kProcess;

class RouterTest : public ::testing::Test {
 protected:
  CreditBook::Index Add(const std::string& id, int free, bool usable = true) {
    credits_.Update({.id = ExecutorId(id),
                     .incarnation = Incarnation("i"),
                     .usable = usable,
                     .free_slots = free,
                     .free_light_slots = 10,
                     .heartbeats = ++beats_});
    return credits_.Find(ExecutorId(id));
  }
  CreditBook credits_{100};
  Router router_{FindRoutePolicy("round_robin")};
  uint64_t beats_ = 0;
};

TEST_F(RouterTest, RoundRobinTakesTurnsAmongThoseWithRoom) {
  const auto a = Add("a", 2);
  Add("b", 0);
  const auto c = Add("c", 1);
  EXPECT_EQ(router_.Pick(credits_, {}), a);
  credits_.Published(a, kProcess);
  EXPECT_EQ(router_.Pick(credits_, {}), c);
  credits_.Published(c, kProcess);
  EXPECT_EQ(router_.Pick(credits_, {}), a);
  credits_.Published(a, kProcess);
  EXPECT_FALSE(router_.Pick(credits_, {}).has_value());
}

TEST_F(RouterTest, BookDoesNotGrowAsExecutorsComeAndGo) {
  for (int i = 0; i < 1000; ++i) {
    const std::string id = "e" + std::to_string(i);
    Add(id, 4);
    credits_.Forget(ExecutorId(id));
    credits_.RemoveForgotten();
    EXPECT_EQ(credits_.Find(ExecutorId(id)), CreditBook::kNone);
  }
  EXPECT_EQ(credits_.size(), 1u);
  EXPECT_FALSE(router_.Pick(credits_, {}).has_value());
}

TEST_F(RouterTest, IndexOfAForgottenExecutorIsGivenAwayWhenItsLastRunIsOver) {
  const auto a = Add("a", 4);
  credits_.Published(a, kProcess);
  credits_.Published(a, kProcess);
  credits_.Claimed(a, kProcess, 1ms, kStart);
  credits_.Forget(ExecutorId("a"));
  credits_.Forget(ExecutorId("a"));
  EXPECT_FALSE(router_.Pick(credits_, {}).has_value());
  credits_.Returned(a, kProcess);
  credits_.RemoveForgotten();
  EXPECT_NE(Add("b", 1), a);
  credits_.Ended(a, kProcess, credits_.heartbeats(a));
  EXPECT_EQ(credits_.Find(ExecutorId("a")), a);
  credits_.RemoveForgotten();
  EXPECT_EQ(credits_.Find(ExecutorId("a")), CreditBook::kNone);
  EXPECT_EQ(Add("c", 3), a);
  EXPECT_EQ(credits_.Available(a, kProcess), 3);
  EXPECT_EQ(credits_.size(), 2u);
}

TEST_F(RouterTest, ForgottenExecutorThatRegistersAgainKeepsItsIndex) {
  const auto a = Add("a", 4);
  credits_.Published(a, kProcess);
  credits_.Forget(ExecutorId("a"));
  EXPECT_EQ(Add("a", 4), a);
  credits_.RemoveForgotten();
  credits_.Returned(a, kProcess);
  credits_.RemoveForgotten();
  EXPECT_EQ(credits_.Find(ExecutorId("a")), a);
  EXPECT_EQ(router_.Pick(credits_, {}), a);
}

TEST_F(RouterTest, UnusableExecutorHasNoCredit) {
  Add("a", 5, false);
  EXPECT_FALSE(router_.Pick(credits_, {}).has_value());
  EXPECT_FALSE(router_.Pick(credits_, {.pinned = ExecutorId("a")}).has_value());
}

TEST_F(RouterTest, PinnedRunGoesToItsExecutorOnly) {
  Add("a", 5);
  const auto b = Add("b", 1);
  EXPECT_EQ(router_.Pick(credits_, {.pinned = ExecutorId("b")}), b);
  credits_.Published(b, kProcess);
  EXPECT_FALSE(router_.Pick(credits_, {.pinned = ExecutorId("b")}).has_value());
  EXPECT_FALSE(router_.Pick(credits_, {.pinned = ExecutorId("nobody")}).has_value());
}

TEST_F(RouterTest, AvoidsTheOneThatTimedOutUnlessItIsTheOnlyOne) {
  const auto a = Add("a", 5);
  EXPECT_EQ(router_.Pick(credits_, {.avoid = a}), a);
  const auto b = Add("b", 5);
  EXPECT_EQ(router_.Pick(credits_, {.avoid = a}), b);
  EXPECT_EQ(router_.Pick(credits_, {.avoid = a}), b);
}

TEST_F(RouterTest, SlotClassesAreCountedApart) {
  const auto a = Add("a", 0);
  EXPECT_FALSE(router_.Pick(credits_, {}).has_value());
  EXPECT_EQ(router_.Pick(credits_, {.slots = SlotClass::kLight}), a);
}

TEST_F(RouterTest, CreditsFollowARunFromPublishingToItsEnd) {
  const auto a = Add("a", 3);
  credits_.Published(a, kProcess);
  EXPECT_EQ(credits_.Available(a, kProcess), 2);
  credits_.Claimed(a, kProcess, 1ms, kStart);
  EXPECT_EQ(credits_.Available(a, kProcess), 2);
  credits_.Ended(a, kProcess, credits_.heartbeats(a));
  EXPECT_EQ(credits_.Available(a, kProcess), 3);
}

TEST_F(RouterTest, ReportThatKnowsARunIsNotChargedForItTwice) {
  const auto a = Add("a", 3);
  credits_.Published(a, kProcess);
  credits_.Claimed(a, kProcess, 1ms, kStart);
  const uint64_t at_claim = credits_.heartbeats(a);
  Add("a", 2);  // the claimed run is in it
  EXPECT_EQ(credits_.Available(a, kProcess), 2);
  credits_.Ended(a, kProcess, at_claim);
  EXPECT_EQ(credits_.Available(a, kProcess), 3);
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
  // 1,000 claims in a second, 10 ms each: ten are on their way at any moment.
  for (int i = 0; i < 1000; ++i) {
    credits_.Published(a, kProcess);
    credits_.Claimed(a, kProcess, 10ms, kStart + Duration(1ms) * (i + 1));
    credits_.Ended(a, kProcess, credits_.heartbeats(a));
  }
  credits_.Published(a, kProcess);
  credits_.Claimed(a, kProcess, 10ms, kStart + 2100ms);
  credits_.Ended(a, kProcess, credits_.heartbeats(a));
  EXPECT_GE(credits_.Available(a, kProcess), 4 + 5);
  EXPECT_LE(credits_.Available(a, kProcess), 4 + 100);
  const auto b = Add("b", 4);
  credits_.Published(b, kProcess);
  credits_.Claimed(b, kProcess, 10ms, kStart);
  credits_.Published(b, kProcess);
  credits_.Claimed(b, kProcess, 10ms, kStart + 60s);
  EXPECT_EQ(credits_.Available(b, kProcess), 2);
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

TEST_F(RouterTest, UnknownPolicyIsNone) { EXPECT_EQ(FindRoutePolicy("fastest"), nullptr); }

}  // namespace
}  // namespace carillon::scheduler
