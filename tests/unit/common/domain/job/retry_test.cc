#include "common/domain/job/retry.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

TEST(RetryTest, CountIsTriesAfterTheFirst) {
  EXPECT_FALSE(HasRetryLeft({.retry_count = 0}, 1));
  EXPECT_TRUE(HasRetryLeft({.retry_count = 2}, 2));
  EXPECT_FALSE(HasRetryLeft({.retry_count = 2}, 3));
}

TEST(RetryTest, FixedDelayIsTheInterval) {
  EXPECT_EQ(RetryDelay({.interval = 7s}, 1, 1), 7s);
  EXPECT_EQ(RetryDelay({.interval = 7s}, 9, 1), 7s);
}

TEST(RetryTest, ListRepeatsItsLastEntry) {
  const RetryRules rules{.interval = 7s, .intervals = {1s, 5s}};
  EXPECT_EQ(RetryDelay(rules, 1, 1), 1s);
  EXPECT_EQ(RetryDelay(rules, 2, 1), 5s);
  EXPECT_EQ(RetryDelay(rules, 50, 1), 5s);
}

TEST(RetryTest, ExponentialDoublesWithJitterBelowAQuarterAndIsBounded) {
  const RetryRules rules{.interval = 8s, .backoff = RetryBackoff::kExponential};
  for (int attempt = 1; attempt <= 100; ++attempt) {
    const Duration full =
        attempt > 20 ? Duration(24h) : std::min<Duration>(8s * (int64_t{1} << (attempt - 1)), 24h);
    const Duration delay = RetryDelay(rules, attempt, 42);
    EXPECT_LE(delay, full) << attempt;
    EXPECT_GE(delay, full - full / 4) << attempt;
    EXPECT_EQ(delay, RetryDelay(rules, attempt, 42)) << "the same on every member";
  }
}

}  // namespace
}  // namespace carillon
