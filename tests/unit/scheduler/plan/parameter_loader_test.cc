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
  // Parts that are offered together share it, but a bound one keeps its executor.
  PendingRun bound = part;
  bound.key.shard = 4;
  bound.extras = std::make_shared<const RunExtras>(RunExtras{.pinned_executor = ExecutorId("x")});
  PendingRun other = part;
  other.key.shard = 5;
  for (const PendingRun& one : {part, bound, other}) ASSERT_TRUE(wanted.Push(one).ok());
  loader.Step(clock.Steady());
  const auto three = feed.PopUpTo(1);
  ASSERT_EQ(three.at(0).size(), 3u);
  EXPECT_EQ(three[0][0].extras, three[0][2].extras);
  EXPECT_EQ(three[0][1].extras->pinned_executor, ExecutorId("x"));
  EXPECT_EQ(three[0][1].extras->request.parameters_json, R"({"a":1})");
}

TEST(ParameterLoaderTest, ARunWithRulesOfItsOwnWaitsForThem) {
  PendingRun run{.kind = RunKind::kWorkflow, .flags = run_flag::kRules};
  EXPECT_TRUE(NeedsExtras(run));
  EXPECT_EQ(RulesOf(run), "");
  const RunRow row{.kind = RunKind::kWorkflow, .flags = run_flag::kRules, .rules = "timeout=60"};
  EXPECT_EQ(RulesOf(ToPendingRun(row, Epoch(1))), "timeout=60");
}

}  // namespace
}  // namespace carillon::scheduler
