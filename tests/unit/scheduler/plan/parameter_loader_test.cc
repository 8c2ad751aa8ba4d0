#include "scheduler/plan/parameter_loader.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

TEST(ParameterLoaderTest, FeedsTheRunBackWithItsParameters) {
  test::ManualClock clock;
  memory::MemoryStores stores(clock, {.segment_count = 1});
  Metrics metrics;
  JobDefinition job;
  job.name = "job";
  job.type = JobType::kNoop;
  ASSERT_TRUE(stores.jobs.CreateJob(JobId("job"), job, {.now = clock.Wall()}).ok());
  const auto run = stores.runs.ExecuteJob({.job_id = JobId("job"), .parameters_json = R"({"a":1})"},
                                          {.now = clock.Wall()});
  LoadQueue wanted("loads", 4);
  RunFeed feed("feed", 4);
  ParameterLoader loader(stores.firing, wanted, feed, metrics);
  ASSERT_TRUE(wanted.Push({.key = run->key, .kind = RunKind::kManual}).ok());
  loader.Step(clock.Steady());
  const auto fed = feed.PopUpTo(1);
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_FALSE(NeedsExtras(fed[0].at(0)));
  EXPECT_EQ(fed[0][0].extras->request.parameters_json, R"({"a":1})");
  // A part has the request of the own run of its fire.
  PendingRun part{.key = run->key, .kind = RunKind::kShard, .flags = run_flag::kHasRequest};
  part.key.shard = 3;
  ASSERT_TRUE(wanted.Push(part).ok());
  loader.Step(clock.Steady());
  const auto parts = feed.PopUpTo(1);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].at(0).key, part.key);
  EXPECT_EQ(parts[0][0].extras->request.parameters_json, R"({"a":1})");
}

}  // namespace
}  // namespace carillon::scheduler
