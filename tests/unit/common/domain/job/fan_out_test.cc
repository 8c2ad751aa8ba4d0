// Jobs whose fires have parts.
#include <gtest/gtest.h>

#include "common/domain/job/job_types.h"

namespace carillon::fan_out_test {
namespace {

JobDefinition Sharded(Shards shards = {.total = 8}) {
  return {.name = "a", .command = "true", .shards = shards};
}
JobDefinition Everywhere(int64_t wait_s = 60) {
  return {.name = "a", .command = "true", .broadcast = Broadcast{.wait_s = wait_s}};
}

// The JSON pointer of what is wrong; "" = nothing.
std::string PointerOf(const JobDefinition& job) {
  const Status status = ValidateFanOut(job);
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(status.error().message.empty());
  return status.error().pointer;
}

TEST(FanOutTest, JobsWithEitherFieldFanOut) {
  EXPECT_FALSE(FansOut({}));
  EXPECT_TRUE(FansOut(Sharded()));
  EXPECT_TRUE(FansOut(Everywhere()));
  EXPECT_TRUE(NeedsOf(Sharded()).Has(Feature::kShards));
  EXPECT_TRUE(NeedsOf(Everywhere()).Has(Feature::kShards));
  EXPECT_FALSE(NeedsOf({.command = "true"}).Has(Feature::kShards));
}

TEST(FanOutTest, NumbersHaveBounds) {
  EXPECT_EQ(PointerOf({}), "");
  for (const int64_t total : {1, 1'000}) EXPECT_EQ(PointerOf(Sharded({.total = total})), "");
  for (const int64_t total : {-1, 0, 1'001}) {
    EXPECT_EQ(PointerOf(Sharded({.total = total})), "/shards/total");
    EXPECT_EQ(PointerOf(Sharded({.alive = true, .max = total})), "/shards/max");
  }
  for (const int64_t most : {1, 1'000}) {
    EXPECT_EQ(PointerOf(Sharded({.alive = true, .max = most})), "");
  }
  for (const int64_t wait : {0, 604'800}) EXPECT_EQ(PointerOf(Everywhere(wait)), "");
  for (const int64_t wait : {-1, 604'801}) {
    EXPECT_EQ(PointerOf(Everywhere(wait)), "/broadcast/wait_s");
  }
}

TEST(FanOutTest, WhatCannotBeCombinedIsRefused) {
  JobDefinition both = Sharded();
  both.broadcast.emplace();
  EXPECT_EQ(PointerOf(both), "/broadcast");
  for (JobDefinition job : {Sharded(), Everywhere()}) {
    for (const auto policy : {OverlapPolicy::kCancelPrevious, OverlapPolicy::kTerminatePrevious}) {
      job.overlap_policy = policy;
      EXPECT_EQ(PointerOf(job), "/overlap_policy");
    }
    for (const auto policy : {OverlapPolicy::kAllow, OverlapPolicy::kSkip, OverlapPolicy::kQueueOne,
                              OverlapPolicy::kQueueAll}) {
      job.overlap_policy = policy;
      EXPECT_EQ(PointerOf(job), "");
    }
    job.type = JobType::kWorkflow;
    EXPECT_EQ(PointerOf(job), job.shards ? "/shards" : "/broadcast");
  }
}

TEST(FanOutTest, ABroadcastChoosesItsHosts) {
  JobDefinition job = Everywhere();
  job.executor_selector = "zone=a";
  EXPECT_EQ(PointerOf(job), "");
  job.routing = Routing::kRandom;
  EXPECT_EQ(PointerOf(job), "/routing");
  job = Everywhere();
  job.executor_id = "host-1";
  EXPECT_EQ(PointerOf(job), "/executor_id");
  job = Sharded();
  job.executor_id = "host-1";
  job.routing = Routing::kRandom;
  EXPECT_EQ(PointerOf(job), "");
}

}  // namespace
}  // namespace carillon::fan_out_test
