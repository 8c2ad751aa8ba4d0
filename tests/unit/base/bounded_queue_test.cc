#include "common/base/bounded_queue.h"

#include <gtest/gtest.h>

#include "common/base/backoff.h"

namespace carillon {
namespace {

TEST(BoundedQueueTest, KeepsOrderAndRefusesAboveItsLimit) {
  BoundedQueue<int> queue("numbers", 2);
  int wakes = 0;
  queue.OnPush([&] { ++wakes; });
  EXPECT_TRUE(queue.Push(1).ok());
  EXPECT_TRUE(queue.Push(2).ok());
  EXPECT_EQ(queue.Push(3).code(), ErrorCode::kExhausted);
  EXPECT_EQ(wakes, 2) << "a refused item wakes nobody";
  EXPECT_EQ(queue.PopUpTo(1), std::vector<int>{1});
  EXPECT_TRUE(queue.Push(3).ok());
  EXPECT_EQ(queue.PopUpTo(10), (std::vector<int>{2, 3}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(BackoffTest, GrowsToItsCeilingWithJitterAndResets) {
  Backoff backoff({.first = 100ms, .longest = 400ms});
  Rng rng(1);
  for (const Duration ceiling : {100ms, 200ms, 400ms, 400ms}) {
    const Duration wait = backoff.Next(rng);
    EXPECT_GT(wait, ceiling / 2);
    EXPECT_LE(wait, ceiling);
  }
  backoff.Reset();
  EXPECT_LE(backoff.Next(rng), 100ms);
}

}  // namespace
}  // namespace carillon
