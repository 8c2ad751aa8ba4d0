#include "executor/warden/attempts/attempt_table.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

HeldAttempt Held(uint64_t schedule, uint64_t token = 1) {
  HeldAttempt held;
  held.key.schedule_id = ScheduleId(schedule);
  held.token = {.high = 1, .low = token};
  return held;
}

TEST(AttemptTableTest, FindsAnAttemptUnderItsTokenOnly) {
  AttemptTable table;
  AttemptEntry& entry = table.Insert(Held(1, 7), AttemptStage::kPrepared);
  EXPECT_EQ(table.Find(NameOf(Held(1, 8))), &entry);
  EXPECT_EQ(table.FindHeld(Held(1, 7)), &entry);
  EXPECT_EQ(table.FindHeld(Held(1, 8)), nullptr);
}

// If the warden died between two records of one commit, the journal may contain the start of an
// attempt and also its end.
TEST(AttemptTableTest, EndCountsMoreThanTheStartBesideIt) {
  AttemptTable table;
  table.AddEnded({.attempt = Held(1), .record = 5});
  EXPECT_FALSE(table.AddLeftOver({.attempt = Held(1), .record = 4}));
  EXPECT_EQ(table.Find(NameOf(Held(1)))->stage, AttemptStage::kEnded);
  EXPECT_TRUE(table.AddLeftOver({.attempt = Held(2), .record = 6}));
  EXPECT_FALSE(table.AddLeftOver({.attempt = Held(2), .record = 7}));
  EXPECT_EQ(table.Find(NameOf(Held(2)))->start_record, 6u);
}

TEST(AttemptTableTest, RemembersTheTokenOfAForgottenAttempt) {
  AttemptTable table;
  table.Insert(Held(1, 7), AttemptStage::kEnded);
  EXPECT_EQ(table.ForgottenToken(NameOf(Held(1))), std::nullopt);
  table.Forget(Held(1, 7));
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.ForgottenToken(NameOf(Held(1))), Held(1, 7).token);
}

// The caller reads the names from the back, so the oldest record comes first.
TEST(AttemptTableTest, NamesNeighboursOnDiskTogether) {
  AttemptTable table;
  for (const uint64_t number : {2, 3, 1}) {
    table.AddEnded({.attempt = Held(number), .record = number});
  }
  const std::vector<AttemptName> names = table.Names();
  ASSERT_EQ(names.size(), 3u);
  for (uint64_t number = 1; number <= 3; ++number) {
    EXPECT_EQ(names[3 - number], NameOf(Held(number)));
  }
}

}  // namespace
}  // namespace carillon::executor
