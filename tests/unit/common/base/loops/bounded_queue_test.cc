#include "common/base/loops/bounded_queue.h"

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
  EXPECT_EQ(wakes, 1) << "a refused item wakes nobody";
  EXPECT_EQ(queue.PopUpTo(1), std::vector<int>{1});
  EXPECT_TRUE(queue.Push(3).ok());
  EXPECT_EQ(queue.PopUpTo(10), (std::vector<int>{2, 3}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(BoundedQueueTest, TheFirstPushAfterEachPopWakesTheConsumer) {
  BoundedQueue<int> queue("numbers", 10);
  EXPECT_TRUE(queue.Push(0).ok());
  int wakes = 0;
  queue.OnPush([&] { ++wakes; });
  EXPECT_TRUE(queue.Push(1).ok());
  EXPECT_EQ(wakes, 1) << "what came before there was anybody to wake does not count as told";
  EXPECT_TRUE(queue.Push(2).ok());
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(queue.PopUpTo(1), std::vector<int>{0});
  EXPECT_TRUE(queue.Push(3).ok());
  EXPECT_EQ(wakes, 2) << "the consumer may wait again although it left items behind";
  EXPECT_EQ(queue.PopUpTo(10).size(), 3u);
  EXPECT_TRUE(queue.PopUpTo(10).empty());
  EXPECT_TRUE(queue.Push(4).ok());
  EXPECT_EQ(wakes, 3);
}

TEST(BoundedQueueTest, AFullBatchWakesTheConsumerOnceMore) {
  BoundedQueue<int> queue("numbers", 10);
  int wakes = 0;
  queue.OnPush([&] { ++wakes; }, 3);
  std::vector<int> two{1, 2};
  queue.PushFrom(two);
  EXPECT_EQ(wakes, 1);
  std::vector<int> more{3, 4};
  queue.PushFrom(more);
  EXPECT_EQ(wakes, 2);
  EXPECT_TRUE(queue.Push(5).ok());
  EXPECT_EQ(wakes, 2);
}

TEST(BoundedQueueTest, TakesOfManyWhatThereIsRoomFor) {
  BoundedQueue<int> queue("numbers", 3);
  int wakes = 0;
  queue.OnPush([&] { ++wakes; });
  std::vector<int> items{1, 2, 3, 4};
  queue.PushFrom(items);
  EXPECT_EQ(items, std::vector<int>{4});
  EXPECT_EQ(queue.PopUpTo(10), (std::vector<int>{1, 2, 3}));
  queue.PushFrom(items);
  EXPECT_TRUE(items.empty());
  queue.PushFrom(items);
  EXPECT_EQ(wakes, 2) << "nothing wakes nobody";
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
