#include "common/domain/run/completion.h"

#include <gtest/gtest.h>

#include "tests/support/failpoint_on.h"

namespace carillon {
namespace {

const WallTime kFire = FromUnixMicros(1'772'323'200'000'000);

RunCompletion EndedAt(WallTime ended) {
  return {.key = {kFire, ScheduleId(7)}, .job_no = JobNo(5), .ended = ended};
}

TEST(CompletionTest, TheNextFireCountsFromTheEnd) {
  const DelayWait wait{.every = 10s, .awaited = kFire};
  EXPECT_EQ(DecideNextFire(wait, EndedAt(kFire + 3s), kFire + 60s), kFire + 13s);
}

TEST(CompletionTest, ItIsLaterThanTheLastFire) {
  const DelayWait wait{.every = 1s, .awaited = kFire};
  EXPECT_EQ(DecideNextFire(wait, EndedAt(kFire - 1h), kFire), kFire + 1us);
}

TEST(CompletionTest, NoEndIsInTheFuture) {
  const DelayWait wait{.every = 10s, .awaited = kFire};
  EXPECT_EQ(DecideNextFire(wait, EndedAt(kFire + 5h), kFire + 2s), kFire + 12s);
}

TEST(CompletionTest, OnlyTheAwaitedRunCounts) {
  const DelayWait nothing{.every = 10s};
  EXPECT_FALSE(DecideNextFire(nothing, EndedAt(kFire), kFire));
  const DelayWait later{.every = 10s, .awaited = kFire + 30s};
  EXPECT_FALSE(DecideNextFire(later, EndedAt(kFire), kFire));
  failpoint::Break("delay.any_end");
  EXPECT_TRUE(DecideNextFire(later, EndedAt(kFire), kFire));
  failpoint::Reset();
}

TEST(CompletionTest, AnEndIsNotBeforeTheClaim) {
  RunRow row{.key = {kFire, ScheduleId(7)}, .claimed = kFire + 1s};
  EXPECT_EQ(EndOf(row, kFire - 5h), kFire + 1s);
  EXPECT_EQ(EndOf(row, kFire + 2s), kFire + 2s);
  EXPECT_FALSE(IsAwaited(row));
  row.flags = run_flag::kHasRequest;
  EXPECT_FALSE(IsAwaited(row));
  row.flags |= run_flag::kDelay;
  EXPECT_TRUE(IsAwaited(row));
}

TEST(CompletionTest, AScheduleThatWaitsForNothingFiresNow) {
  EXPECT_EQ(FireAfterLoss({.every = 10s, .awaited = kFire}, kFire + 5s), kFire + 5s);
  EXPECT_EQ(FireAfterLoss({.every = 10s, .awaited = kFire}, kFire - 5s), kFire + 1us);
}

}  // namespace
}  // namespace carillon
