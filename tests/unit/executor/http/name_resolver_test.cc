#include "executor/http/name_resolver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "tests/support/manual_clock.h"
#include "tests/unit/executor/http/held_lookup.h"

namespace carillon::executor::name_resolver_test {
namespace {

// Lookups read the time on their threads.
class LockedClock final : public Clock {
 public:
  WallTime Wall() const override {
    const std::lock_guard lock(mu_);
    return clock_.Wall();
  }
  SteadyTime Steady() const override {
    const std::lock_guard lock(mu_);
    return clock_.Steady();
  }
  void Advance(Duration by) {
    const std::lock_guard lock(mu_);
    clock_.Advance(by);
  }

 private:
  mutable std::mutex mu_;
  test::ManualClock clock_;
};

class NameResolverTest : public testing::Test {
 protected:
  ~NameResolverTest() override { lookup_->Release(); }

  void Ask(const std::string& host, const std::string& job = "job") {
    resolver_->Ask(host, JobId(job), clock_.Steady() + 10s);
  }
  // The next `count` answers.
  std::vector<NameResolver::Answer> Await(size_t count) {
    std::vector<NameResolver::Answer> answers;
    while (true) {
      const int before = woken_;
      for (NameResolver::Answer& answer : resolver_->Take()) answers.push_back(std::move(answer));
      if (answers.size() >= count) return answers;
      woken_.wait(before);
    }
  }

  LockedClock clock_;
  std::atomic<int> woken_ = 0;
  const std::shared_ptr<HeldLookup> lookup_ =
      std::make_shared<HeldLookup>(std::map<std::string, std::vector<std::string>>{
          {"a", {"192.0.2.1", "2001:db8::1"}}, {"b", {"192.0.2.2"}}});
  std::unique_ptr<NameResolver> resolver_ = std::make_unique<NameResolver>(lookup_, clock_, [this] {
    ++woken_;
    woken_.notify_all();
  });
};

TEST_F(NameResolverTest, AnswersAreKeptForAWhile) {
  Ask("a");
  const auto first = Await(1);
  EXPECT_EQ(first[0].host, "a");
  EXPECT_EQ(*first[0].addresses, (std::vector<std::string>{"192.0.2.1", "2001:db8::1"}));
  clock_.Advance(NameResolver::kKeptFor - 1ms);
  Ask("a");
  EXPECT_TRUE(Await(1)[0].addresses.ok());
  EXPECT_EQ(lookup_->AskedFor("a"), 1u);
  clock_.Advance(1ms);
  Ask("a");
  EXPECT_TRUE(Await(1)[0].addresses.ok());
  EXPECT_EQ(lookup_->AskedFor("a"), 2u);
}

TEST_F(NameResolverTest, AFailureIsToldAndNotKept) {
  Ask("nobody");
  EXPECT_EQ(Await(1)[0].addresses.code(), ErrorCode::kNotFound);
  Ask("nobody");
  EXPECT_EQ(Await(1)[0].addresses.code(), ErrorCode::kNotFound);
  EXPECT_EQ(lookup_->AskedFor("nobody"), 2u);
}

TEST_F(NameResolverTest, ANameIsLookedUpOnceAtATime) {
  Ask("silent-1");
  lookup_->AwaitAsked(1);
  Ask("silent-1");
  Ask("silent-1", "other");
  Ask("b");
  EXPECT_EQ(Await(1)[0].host, "b");
  EXPECT_EQ(lookup_->AskedFor("silent-1"), 1u);
}

TEST_F(NameResolverTest, OneJobDoesNotHoldUpTheNamesOfOthers) {
  for (size_t i = 0; i < NameResolver::kLookupsMax * 2; ++i) Ask(fmt::format("silent-{}", i));
  lookup_->AwaitAsked(NameResolver::kJobLookupsMax);
  Ask("a");
  Ask("b", "other");
  EXPECT_EQ(Await(1)[0].host, "b");
  EXPECT_EQ(lookup_->Asked(), NameResolver::kJobLookupsMax + 1);
  lookup_->Release();
  EXPECT_EQ(Await(NameResolver::kLookupsMax * 2 + 1).size(), NameResolver::kLookupsMax * 2 + 1);
}

TEST_F(NameResolverTest, ManyJobsDoNotHoldUpTheNamesOfOthers) {
  constexpr size_t kJobs = 100;
  for (size_t i = 0; i < kJobs * NameResolver::kJobLookupsMax; ++i) {
    Ask(fmt::format("silent-{}", i), fmt::format("job-{}", i % kJobs));
  }
  lookup_->AwaitAsked(kJobs);
  Ask("b", "other");
  EXPECT_EQ(Await(1)[0].host, "b");
  EXPECT_LT(lookup_->Asked(), NameResolver::kLookupsMax);
}

TEST_F(NameResolverTest, WhatNobodyWaitsForAnyMoreIsNotLookedUp) {
  for (size_t i = 0; i < NameResolver::kJobLookupsMax; ++i) Ask(fmt::format("silent-{}", i));
  lookup_->AwaitAsked(NameResolver::kJobLookupsMax);
  Ask("a");
  clock_.Advance(10s);
  lookup_->Release();
  Await(NameResolver::kJobLookupsMax);
  Ask("b");
  EXPECT_EQ(Await(1)[0].host, "b");
  EXPECT_EQ(lookup_->AskedFor("a"), 0u);
}

TEST_F(NameResolverTest, ItsEndDoesNotWaitForALookup) {
  Ask("silent-1");
  lookup_->AwaitAsked(1);
  resolver_.reset();  // would hang
}

}  // namespace
}  // namespace carillon::executor::name_resolver_test
