#include "common/domain/refresh_family.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr WallTime kT0 = FromUnixMicros(1'800'000'000'000'000);

std::string Replaced(const std::vector<LaterRefresh>& later, WallTime now = kT0) {
  const auto lost = LostAnswer(later, now);
  return lost ? lost->token_hash : "theft";
}

TEST(RefreshFamilyTest, WhatNobodyHasPresentedIsReplacedForTenSeconds) {
  const std::vector<LaterRefresh> later = {{"b", kT0}};
  EXPECT_EQ(Replaced(later), "b");
  EXPECT_EQ(Replaced(later, kT0 + kLostAnswerMax), "b");
  EXPECT_EQ(Replaced(later, kT0 + kLostAnswerMax + microseconds(1)), "theft");
  // The successor was created by a member whose clock is ahead.
  EXPECT_EQ(Replaced(later, kT0 - seconds(3)), "b");
}

TEST(RefreshFamilyTest, SeveralAnswersMayBeLostButAllWithinTheTenSecondsOfTheFirst) {
  std::vector<LaterRefresh> later = {{"c", kT0 + seconds(6)},
                                     {"b", kT0, RefreshUse::kReplaced},
                                     {"d", kT0 + seconds(3), RefreshUse::kReplaced}};
  EXPECT_EQ(Replaced(later, kT0 + seconds(9)), "c");
  EXPECT_EQ(Replaced(later, kT0 + seconds(11)), "theft");
}

TEST(RefreshFamilyTest, ASuccessorThatWasPresentedTellsOfATheft) {
  EXPECT_EQ(Replaced({{"b", kT0, RefreshUse::kPresented}}), "theft");
  EXPECT_EQ(Replaced({{"b", kT0, RefreshUse::kPresented}, {"c", kT0}}), "theft");
  EXPECT_EQ(Replaced({{"c", kT0}, {"b", kT0, RefreshUse::kPresented}}), "theft");
}

TEST(RefreshFamilyTest, WithoutAnUnusedSuccessorNothingWasLost) {
  EXPECT_EQ(Replaced({}), "theft");
  EXPECT_EQ(Replaced({{"b", kT0, RefreshUse::kReplaced}}), "theft");
}

TEST(RefreshFamilyTest, TokensAreMadeOneAfterTheOther) {
  EXPECT_EQ(CreatedAfter(kT0, kT0 + seconds(1)), kT0 + seconds(1));
  EXPECT_EQ(CreatedAfter(kT0, kT0), kT0 + microseconds(1));
  EXPECT_EQ(CreatedAfter(kT0, kT0 - seconds(5)), kT0 + microseconds(1));
}

}  // namespace
}  // namespace carillon
