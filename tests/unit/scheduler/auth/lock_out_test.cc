#include "scheduler/auth/lock_out.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace carillon::scheduler {
namespace {

class LockOutTest : public ::testing::Test {
 protected:
  std::optional<Duration> Try(const std::string& account, const std::string& address = "1.1.1.1") {
    return lock_out_.Admit(account, address, clock_.Steady());
  }
  void Fail(int times, const std::string& account, const std::string& address = "1.1.1.1") {
    for (int i = 0; i < times; ++i) EXPECT_EQ(Try(account, address), std::nullopt) << i;
  }
  test::ManualClock clock_;
  LockOut lock_out_;
};

TEST_F(LockOutTest, FiveFailuresOfAnAccountMakeItWaitTwiceAsLongEachTime) {
  Fail(5, "anna");
  EXPECT_EQ(Try("anna"), LockOut::kFirstWait);
  EXPECT_EQ(Try("bert"), std::nullopt);
  clock_.Advance(LockOut::kFirstWait - 1us);
  EXPECT_EQ(Try("anna", "2.2.2.2"), 1us);
  clock_.Advance(1us);
  Fail(1, "anna");
  EXPECT_EQ(Try("anna"), 2 * LockOut::kFirstWait);
  clock_.Advance(2 * LockOut::kFirstWait);
  Fail(1, "anna");
  EXPECT_EQ(Try("anna"), 4 * LockOut::kFirstWait);
}

TEST_F(LockOutTest, WhoIsForgivenGoesOnAndTheAddressDoesNot) {
  lock_out_.Succeeded("anna", "2.2.2.2", clock_.Steady());
  Fail(5, "anna", "2.2.2.2");
  Fail(5, "anna");
  Fail(5, "bert");
  lock_out_.Forgive("anna");
  EXPECT_EQ(Try("anna", "2.2.2.2"), std::nullopt);
  EXPECT_EQ(Try("anna"), std::nullopt);
  EXPECT_EQ(Try("bert"), LockOut::kFirstWait);
  Fail(4, "carl");
  Fail(5, "dora");
  EXPECT_EQ(Try("emil"), LockOut::kFirstWait);
  lock_out_.Forgive("emil");
  EXPECT_EQ(Try("emil"), LockOut::kFirstWait);
}

TEST_F(LockOutTest, NobodyWaitsForGood) {
  Fail(4, "anna");
  for (int i = 0; i < 60; ++i) {
    Fail(1, "anna", std::to_string(i));
    const auto wait = Try("anna", "other");
    ASSERT_TRUE(wait.has_value());
    EXPECT_LE(*wait, LockOut::kWaitMax);
    clock_.Advance(*wait);
  }
  clock_.Advance(LockOut::kForgotten);
  Fail(5, "anna");
}

TEST_F(LockOutTest, StrangersElsewhereDoNotKeepOutWhoSignedInHereLately) {
  Fail(1, "anna");
  lock_out_.Succeeded("anna", "1.1.1.1", clock_.Steady());
  Fail(5, "anna", "6.6.6.6");
  EXPECT_EQ(Try("anna", "6.6.6.6"), LockOut::kFirstWait);
  EXPECT_EQ(Try("anna", "2.2.2.2"), LockOut::kFirstWait);
  EXPECT_EQ(Try("anna", "1.1.1.1"), std::nullopt);
  // A success from one address says nothing about attempts from another.
  lock_out_.Succeeded("anna", "1.1.1.1", clock_.Steady());
  EXPECT_EQ(Try("anna", "6.6.6.6"), LockOut::kFirstWait);
}

TEST_F(LockOutTest, WhereOneSignedInGuessingIsAsSlowAsElsewhere) {
  Fail(1, "anna");
  lock_out_.Succeeded("anna", "1.1.1.1", clock_.Steady());
  Fail(5, "anna");
  EXPECT_EQ(Try("anna"), LockOut::kFirstWait);
  EXPECT_EQ(Try("anna", "2.2.2.2"), std::nullopt);
}

TEST_F(LockOutTest, AnAddressIsFamiliarForTwoWeeks) {
  Fail(1, "anna");
  lock_out_.Succeeded("anna", "1.1.1.1", clock_.Steady());
  clock_.Advance(LockOut::kFamiliar);
  Fail(5, "anna", "6.6.6.6");
  EXPECT_EQ(Try("anna", "1.1.1.1"), LockOut::kFirstWait);
}

TEST_F(LockOutTest, ARefusedAttemptIsNotCounted) {
  Fail(5, "anna");
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Try("anna").has_value());
  clock_.Advance(LockOut::kFirstWait);
  Fail(1, "anna");
}

TEST_F(LockOutTest, TwentyFailuresOfAnAddressStopItWhateverTheAccount) {
  for (int i = 0; i < LockOut::kAddressFailures; ++i) Fail(1, "account" + std::to_string(i));
  EXPECT_EQ(Try("anna"), LockOut::kFirstWait);
  EXPECT_EQ(Try("anna", "2.2.2.2"), std::nullopt);
}

TEST_F(LockOutTest, SuccessClearsTheAccountAndIsNoFailureOfTheAddress) {
  for (int i = 0; i < 100; ++i) {
    Fail(1, "anna");
    lock_out_.Succeeded("anna", "1.1.1.1", clock_.Steady());
  }
  Fail(4, "anna");
  Fail(1, "anna");
  EXPECT_TRUE(Try("anna").has_value());
}

TEST_F(LockOutTest, WhatWasNotLookedAtIsTakenBack) {
  for (int i = 0; i < 100; ++i) {
    Fail(1, "anna");
    lock_out_.Withdraw("anna", "1.1.1.1", clock_.Steady());
  }
  Fail(5, "anna");
  lock_out_.Withdraw("anna", "1.1.1.1", clock_.Steady());
  EXPECT_EQ(Try("anna"), std::nullopt);
}

TEST_F(LockOutTest, ManyAccountsDoNotGrowItWithoutBound) {
  Fail(5, "anna", "a");
  clock_.Advance(1us);
  for (size_t i = 0; i < LockOut::kTrackedMax; ++i) {
    EXPECT_EQ(Try("x" + std::to_string(i), "y" + std::to_string(i)), std::nullopt);
  }
  // The oldest entry was evicted.
  EXPECT_EQ(Try("anna", "a"), std::nullopt);
}

TEST(FailureBudgetTest, TellsABurstThenAFewAndHowManyItPassedOver) {
  FailureBudget budget;
  test::ManualClock clock;
  int64_t passed_over = -1;
  for (int i = 0; i < FailureBudget::kBurst; ++i) {
    EXPECT_TRUE(budget.Take(clock.Steady(), passed_over));
    EXPECT_EQ(passed_over, 0);
  }
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(budget.Take(clock.Steady(), passed_over));
  clock.Advance(FailureBudget::kRefill);
  EXPECT_TRUE(budget.Take(clock.Steady(), passed_over));
  EXPECT_EQ(passed_over, 7);
  EXPECT_FALSE(budget.Take(clock.Steady(), passed_over));
  clock.Advance(1h);
  for (int i = 0; i < FailureBudget::kBurst; ++i) {
    EXPECT_TRUE(budget.Take(clock.Steady(), passed_over));
  }
  EXPECT_FALSE(budget.Take(clock.Steady(), passed_over));
}

}  // namespace
}  // namespace carillon::scheduler
