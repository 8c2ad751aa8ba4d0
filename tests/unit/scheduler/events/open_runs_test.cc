#include "scheduler/events/open_runs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/manual_clock.h"

namespace carillon::test {
namespace {

class CountingEvents final : public EventStore {
 public:
  Result<std::vector<EventEffect>> Accept(const NewEvents& /*batch*/, WallTime /*now*/) override {
    return std::vector<EventEffect>();
  }
  Status Refuse(const RefusedEvent& /*event*/, WallTime /*now*/) override { return {}; }
  Result<std::shared_ptr<const TriggerSet>> ReadTriggers(const std::string& /*space*/) override {
    return std::shared_ptr<const TriggerSet>();
  }
  Result<EventPage> ListEvents(const EventListFilter& /*filter*/) override { return EventPage(); }
  Result<int64_t> CountOpenEventRuns(int64_t limit) override {
    ++counts;
    if (!open) return {ErrorCode::kUnavailable, "away"};
    return std::min(*open, limit);
  }
  Result<WallTime> BeginTopic(const std::string& /*topic*/, WallTime now) override { return now; }

  std::optional<int64_t> open = 0;
  int counts = 0;
};

class OpenEventRunsTest : public testing::Test {
 protected:
  CountingEvents store_;
  ManualClock clock_;
  scheduler::OpenEventRuns runs_{store_, clock_};
};

TEST_F(OpenEventRunsTest, AreCountedAfterAStartAndNotMoreOftenThanEachFiveSeconds) {
  EXPECT_FALSE(runs_.TooMany());
  EXPECT_EQ(store_.counts, 1) << "others may have started some";
  clock_.Advance(1h);
  EXPECT_FALSE(runs_.TooMany());
  EXPECT_EQ(store_.counts, 1) << "nothing was started";
  for (int i = 0; i < 10; ++i) {
    runs_.NoteStarted();
    EXPECT_FALSE(runs_.TooMany());
    clock_.Advance(1s);
  }
  EXPECT_EQ(store_.counts, 3);
}

TEST_F(OpenEventRunsTest, AreTooManyUntilACountSaysOtherwise) {
  store_.open = kOpenEventRunsMax;
  EXPECT_FALSE(runs_.TooMany());
  store_.open = kOpenEventRunsMax + 1;
  runs_.NoteStarted();
  clock_.Advance(scheduler::OpenEventRuns::kCountEvery);
  EXPECT_TRUE(runs_.TooMany());
  store_.open = 5;
  EXPECT_TRUE(runs_.TooMany());
  clock_.Advance(scheduler::OpenEventRuns::kCountEvery);
  EXPECT_FALSE(runs_.TooMany());
}

TEST_F(OpenEventRunsTest, StayAsTheyWereWhileTheyCannotBeCounted) {
  store_.open = kOpenEventRunsMax + 1;
  EXPECT_TRUE(runs_.TooMany());
  store_.open.reset();
  clock_.Advance(scheduler::OpenEventRuns::kCountEvery);
  EXPECT_TRUE(runs_.TooMany());
  store_.open = 0;
  clock_.Advance(scheduler::OpenEventRuns::kCountEvery);
  EXPECT_FALSE(runs_.TooMany());
  store_.open.reset();
  runs_.NoteStarted();
  clock_.Advance(scheduler::OpenEventRuns::kCountEvery);
  EXPECT_FALSE(runs_.TooMany());
  store_.open = kOpenEventRunsMax + 1;
  clock_.Advance(scheduler::OpenEventRuns::kCountEvery);
  EXPECT_TRUE(runs_.TooMany()) << "the count that failed is made up for";
}

}  // namespace
}  // namespace carillon::test
