#include "common/base/loops/loop.h"

#include <gtest/gtest.h>

#include <thread>

#include "common/base/loops/bounded_queue.h"
#include "tests/support/manual_clock.h"

namespace carillon {
namespace {

// Reads a queue as the real consumers do: few items in a Step, and another Step at once if there
// may be more.
class Consumer final : public Stepper {
 public:
  explicit Consumer(BoundedQueue<int>& queue) : queue_(queue) {}

  SteadyTime Step(SteadyTime now) override {
    const std::vector<int> taken = queue_.PopUpTo(kPerStep);
    if (taken.empty()) return now + 1h;
    std::lock_guard lock(mu_);
    ++steps_that_found_;
    taken_ += taken.size();
    changed_.notify_all();
    return taken.size() == kPerStep ? now : now + 1h;
  }
  void WaitFor(size_t count) {
    std::unique_lock lock(mu_);
    changed_.wait(lock, [&] { return taken_ >= count; });
  }
  size_t steps_that_found() {
    std::lock_guard lock(mu_);
    return steps_that_found_;
  }

 private:
  static constexpr size_t kPerStep = 7;
  BoundedQueue<int>& queue_;
  std::mutex mu_;
  std::condition_variable changed_;
  size_t taken_ = 0;
  size_t steps_that_found_ = 0;
};

// A lost wake-up would be noticed only after the loop's longest wait, by a Step without a request.
TEST(LoopTest, EachItemOfAQuietQueueWakesItsConsumer) {
  const test::ManualClock clock;
  BoundedQueue<int> queue("numbers", 10);
  Consumer consumer(queue);
  LoopRunner runner("consumer", clock, consumer);
  std::atomic<size_t> wakes{0};
  queue.OnPush([&] {
    ++wakes;
    runner.Wake();
  });
  for (size_t i = 1; i <= 20; ++i) {
    ASSERT_TRUE(queue.Push(1).ok());
    consumer.WaitFor(i);
  }
  EXPECT_EQ(consumer.steps_that_found(), wakes.load());
}

TEST(LoopTest, ManyProducersLoseNoItemAndRingLessOftenThanTheyPush) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  constexpr size_t kItems = 3;  // per round
  const test::ManualClock clock;
  BoundedQueue<int> queue("numbers", kThreads * kRounds * kItems);
  Consumer consumer(queue);
  LoopRunner runner("consumer", clock, consumer);
  std::atomic<size_t> wakes{0};
  queue.OnPush([&] {
    ++wakes;
    runner.Wake();
  });
  std::vector<std::thread> producers;
  for (int thread = 0; thread < kThreads; ++thread) {
    producers.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        std::vector<int> two{1, 2};
        queue.PushFrom(two);
        ASSERT_TRUE(queue.Push(3).ok());
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  consumer.WaitFor(kThreads * kRounds * kItems);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_LT(wakes.load(), static_cast<size_t>(kThreads * kRounds * 2));
}

}  // namespace
}  // namespace carillon
