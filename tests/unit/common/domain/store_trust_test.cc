#include "common/domain/store_trust.h"

#include <gtest/gtest.h>

#include <vector>

namespace carillon {
namespace {

constexpr WallTime kLater = FromUnixMicros(1'772'323'200'000'000);
const StoreTrust kTrusted{.store_id = "s", .server_id = "v", .mark = 100};

TEST(StoreTrustTest, JudgesWhatAnswers) {
  struct Case {
    StoreIdentity seen;
    std::optional<StoreDoubt> doubt;
  };
  const std::vector<Case> cases = {
      {{"s", "v", 64, 100}, std::nullopt},
      {{"s", "v", 64, 101}, std::nullopt},
      {{"s", "v", 64, UINT64_MAX}, std::nullopt},
      {{"s", "v", 64, 99}, StoreDoubt::kHistoryLost},
      {{"s", "v", 64, 0}, StoreDoubt::kHistoryLost},
      {{"s", "w", 64, 100}, StoreDoubt::kOtherServer},
      {{"s", "w", 64, 900}, StoreDoubt::kOtherServer},
      {{"s", "w", 64, 99}, StoreDoubt::kHistoryLost},
      {{"t", "v", 64, 100}, StoreDoubt::kOtherStore},
      {{"t", "w", 64, 0}, StoreDoubt::kOtherStore},
      {{"", "", 0, 0}, StoreDoubt::kOtherStore},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(Judge(kTrusted, one.seen), one.doubt)
        << one.seen.store_id << one.seen.server_id << one.seen.mark;
    if (!one.doubt) continue;
    EXPECT_FALSE(Describe(*one.doubt, kTrusted, one.seen).empty());
  }
}

TEST(StoreTrustTest, WhatWasLostIsNamed) {
  const StoreIdentity seen{"s", "w", 64, 42};
  const std::string text = Describe(StoreDoubt::kHistoryLost, kTrusted, seen);
  EXPECT_NE(text.find("42"), std::string::npos) << text;
  EXPECT_NE(text.find("100"), std::string::npos) << text;
  EXPECT_NE(text.find("a different server"), std::string::npos) << text;
}

// A crash of the server may revert the last mark that was read, but not the mark before it.
TEST(StoreTrustTest, ReadingAMarkVouchesForTheOneBeforeIt) {
  EXPECT_EQ(After(kTrusted, {"s", "v", 64, 100}).mark, 100u);
  EXPECT_EQ(After(kTrusted, {"s", "v", 64, 101}).mark, 100u);
  EXPECT_EQ(After(kTrusted, {"s", "v", 64, 105}).mark, 104u);
  EXPECT_EQ(After({"s", "v", 0}, {"s", "v", 64, 0}).mark, 0u);
  // After such a crash the last mark is missing, and the store is not held.
  EXPECT_EQ(Judge(After(kTrusted, {"s", "v", 64, 105}), {"s", "v", 64, 104}), std::nullopt);
}

TEST(StoreTrustTest, TheLaterAcceptanceCountsThenTheHigherMark) {
  StoreTrust accepted{"t", "w", 3, kLater};
  EXPECT_EQ(Newer(kTrusted, accepted), accepted);
  EXPECT_EQ(Newer(accepted, kTrusted), accepted);
  StoreTrust further = accepted;
  further.mark = 9;
  EXPECT_EQ(Newer(accepted, further), further);
  EXPECT_EQ(Newer(further, accepted), further);
  StoreTrust again = accepted;
  again.accepted += 1us;
  again.mark = 1;
  EXPECT_EQ(Newer(further, again), again);
}

// The coordinator lost its data, and a member that knew no store trusted another one.
TEST(StoreTrustTest, RecordOfSomebodyWhoKnewLessDoesNotCount) {
  EXPECT_EQ(Newer(kTrusted, {"t", "v", 900}), kTrusted);
  EXPECT_EQ(Newer(kTrusted, {"s", "w", 900}), kTrusted);
  EXPECT_EQ(Newer(kTrusted, {"s", "v", 7}), kTrusted);
}

}  // namespace
}  // namespace carillon
