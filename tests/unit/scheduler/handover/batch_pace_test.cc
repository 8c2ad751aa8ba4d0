#include "scheduler/handover/batch_pace.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

class BatchPaceTest : public ::testing::Test {
 protected:
  BatchPaceTest() { pace_.Began(now_, 1, 1); }
  // The interval after a batch of `items` that began `passed` after the one before.
  Duration After(Duration passed, size_t items, int members) {
    now_ += passed;
    pace_.Began(now_, items, members);
    return pace_.next() - now_;
  }

  BatchPace pace_{5ms};
  SteadyTime now_{1h};
};

TEST_F(BatchPaceTest, TheFirstBatchBeginsAtOnce) { EXPECT_LE(BatchPace(5ms).next(), now_); }

TEST_F(BatchPaceTest, OneMemberKeepsItsInterval) {
  EXPECT_EQ(After(5ms, 1, 1), 5ms);
  EXPECT_EQ(After(5ms, 4000, 1), 5ms);
}

TEST_F(BatchPaceTest, MembersUnderLoadTakeTheIntervalsOfEachOther) {
  EXPECT_EQ(After(5ms, 2, 2), 10ms);   // 400 a second each
  EXPECT_EQ(After(10ms, 4, 2), 10ms);  // the same rate, after the longer interval
  EXPECT_EQ(After(15ms, 20, 3), 15ms);
  EXPECT_EQ(After(5ms, 100, 9), 20ms);  // not longer than four
}

TEST_F(BatchPaceTest, SomeItemsWaitForTheBaseIntervalOnly) {
  EXPECT_EQ(After(5ms, 20, 3), 15ms);
  EXPECT_EQ(pace_.soonest(), now_ + 5ms);
}

TEST_F(BatchPaceTest, MembersWithoutLoadStayQuick) {
  EXPECT_EQ(After(10ms, 2, 2), 5ms);  // 200 a second each
  EXPECT_EQ(After(1s, 100, 4), 5ms);  // a burst after a rest: 400 in the last second
}

// Two batches may begin with no time between them, if they are full.
TEST_F(BatchPaceTest, NoTimeBetweenBatchesCountsAsTheBaseInterval) {
  EXPECT_EQ(After(5ms, 1, 2), 5ms);
  EXPECT_EQ(After(0ms, 1, 2), 5ms);
  EXPECT_EQ(After(0ms, 256, 2), 10ms);
}

}  // namespace
}  // namespace carillon::scheduler
