#include "executor/queue/local_queue.h"

#include <gtest/gtest.h>

namespace carillon::executor::local_queue_test {
namespace {

SteadyTime At(Duration d) { return SteadyTime(d); }

TEST(LocalQueueTest, HighPriorityFirstThenOldest) {
  LocalQueue<int> queue({.capacity = 10, .bytes_max = 1000});
  ASSERT_TRUE(queue.Push(1, {.priority = 0, .arrived = At(0s), .expires = At(9s)}).ok());
  ASSERT_TRUE(queue.Push(2, {.priority = 50, .arrived = At(1ms), .expires = At(9s)}).ok());
  ASSERT_TRUE(queue.Push(3, {.priority = 50, .arrived = At(2ms), .expires = At(9s)}).ok());
  EXPECT_EQ(queue.Pop(), 2);
  EXPECT_EQ(queue.Pop(), 3);
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(LocalQueueTest, FullOfBytesUntilSomeLeave) {
  LocalQueue<int> queue({.capacity = 10, .bytes_max = 1000});
  ASSERT_TRUE(queue.Push(1, {.arrived = At(0s), .expires = At(1s), .bytes = 600}).ok());
  EXPECT_EQ(queue.Push(2, {.arrived = At(0s), .expires = At(9s), .bytes = 401}).code(),
            ErrorCode::kExhausted);
  ASSERT_TRUE(queue.Push(3, {.arrived = At(0s), .expires = At(9s), .bytes = 400}).ok());
  EXPECT_EQ(queue.bytes_room(), 0u);
  EXPECT_EQ(queue.PopExpired(At(1s)), std::vector<int>{1});
  EXPECT_EQ(queue.bytes_room(), 600u);
  EXPECT_EQ(queue.Pop(), 3);
  EXPECT_EQ(queue.bytes_room(), 1000u);
}

TEST(LocalQueueTest, WaitingCountsLikePriority) {
  LocalQueue<int> queue({.capacity = 10, .bytes_max = 1000});
  ASSERT_TRUE(queue.Push(1, {.priority = 0, .arrived = At(0s), .expires = At(99s)}).ok());
  ASSERT_TRUE(queue.Push(2, {.priority = 9, .arrived = At(1s), .expires = At(99s)}).ok());
  ASSERT_TRUE(queue.Push(3, {.priority = 11, .arrived = At(1s), .expires = At(99s)}).ok());
  EXPECT_EQ(queue.Pop(), 3);
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), 2);
}

TEST(LocalQueueTest, RefusesAboveItsCapacity) {
  LocalQueue<int> queue({.capacity = 1, .bytes_max = 1000});
  ASSERT_TRUE(queue.Push(1, {}).ok());
  EXPECT_EQ(queue.Push(2, {}).code(), ErrorCode::kExhausted);
  EXPECT_EQ(queue.size(), 1u);
}

TEST(LocalQueueTest, HandsBackWhatWaitedTooLong) {
  LocalQueue<int> queue({.capacity = 10, .bytes_max = 1000});
  ASSERT_TRUE(queue.Push(1, {.arrived = At(0s), .expires = At(5s)}).ok());
  ASSERT_TRUE(queue.Push(2, {.arrived = At(1s), .expires = At(6s)}).ok());
  EXPECT_EQ(queue.NextExpiry(), At(5s));
  EXPECT_TRUE(queue.PopExpired(At(5s) - 1us).empty());
  EXPECT_EQ(queue.PopExpired(At(5s)), std::vector<int>{1});
  queue.Remove(2);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(queue.NextExpiry(), SteadyTime::max());
}

}  // namespace
}  // namespace carillon::executor::local_queue_test
