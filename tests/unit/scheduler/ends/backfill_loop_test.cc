#include "scheduler/ends/backfill_loop.h"

#include <gtest/gtest.h>

#include "scheduler/fire/ready_heap.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class BackfillLoopTest : public test::RoomTest {
 protected:
  // A job that fires every minute, with a backfill of the last three fires.
  StoredJob CreateWithBackfill(const std::string& id, int64_t concurrency = 1) {
    const WallTime now = clock_.Wall();
    JobDefinition definition;
    definition.type = JobType::kNoop;
    definition.schedules = {{.kind = ScheduleKind::kRate, .every = 60s, .start = now - 3min}};
    const StoredJob job = CreateJob(id, definition);
    const auto made =
        stores_.backfills.CreateBackfill({.job_id = job.job_id,
                                          .schedule_id = job.schedules.at(0).schedule_id,
                                          .from = now - 3min,
                                          .to = now,
                                          .concurrency = concurrency},
                                         {}, {.now = now});
    EXPECT_TRUE(made.ok());
    return job;
  }
  std::vector<PendingRun> Fed() {
    std::vector<PendingRun> all;
    for (auto& batch : feed_.PopUpTo(100)) all.insert(all.end(), batch.begin(), batch.end());
    return all;
  }
  SteadyTime Step() {
    SampleClock();
    return loop_.Step(clock_.Steady());
  }
  void Complete(const PendingRun& run, uint64_t token) {
    Claim(Row(run.key), token);
    ResultReport report{.key = run.key,
                        .segment = run.segment,
                        .job_no = run.job_no,
                        .attempt = run.attempt,
                        .token = {1, token},
                        .executor = ExecutorId("x1")};
    report.result = {.state = RunState::kCompleted, .ended = clock_.Wall()};
    ASSERT_TRUE(
        stores_.firing.ApplyResults({report}, table_.View()->FenceFor({run.segment}), clock_.Wall())
            .ok());
  }

  BackfillLoop loop_{{.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                      .store = stores_.backfills,
                      .feed = feed_},
                     14 * 24h};
};

TEST_F(BackfillLoopTest, CreatesTheNextRunAsSoonAsOneEnds) {
  const StoredJob job = CreateWithBackfill("job");
  EXPECT_EQ(Step(), clock_.Steady() + OwnerScan::kEvery);
  const auto first = Fed();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].kind, RunKind::kBackfill);
  EXPECT_EQ(first[0].flags, kBackfillFlags);
  EXPECT_TRUE(loop_.IsBackfilled(first[0].key));
  clock_.Advance(100ms);
  Step();
  EXPECT_TRUE(Fed().empty());
  Complete(first[0], 1);
  EXPECT_FALSE(loop_.Ended({JobNo(999)}));
  EXPECT_TRUE(loop_.Ended({job.job_no}));
  clock_.Advance(100ms);
  Step();
  EXPECT_EQ(Fed().size(), 1u);
  EXPECT_EQ(metrics_.counter("carillon_fires_total", "backfill").value(), 2u);
}

TEST_F(BackfillLoopTest, WithoutANudgeItLooksEverySecond) {
  CreateWithBackfill("job");
  Step();
  Complete(Fed().at(0), 1);
  clock_.Advance(500ms);
  Step();
  EXPECT_TRUE(Fed().empty());
  clock_.Advance(500ms);
  Step();
  EXPECT_EQ(Fed().size(), 1u);
}

TEST_F(BackfillLoopTest, CreatesNothingWhileTheClusterIsPaused) {
  CreateWithBackfill("job", 3);
  Pause();
  Step();
  EXPECT_TRUE(Fed().empty());
  Pause(false);
  clock_.Advance(1s);
  Step();
  EXPECT_EQ(Fed().size(), 3u);
}

TEST_F(BackfillLoopTest, FiresOfDaysThatAreNotKeptAnyMoreAreNotRun) {
  CreateWithBackfill("job", 3);
  const Duration into_the_day = clock_.Wall().time_since_epoch() % Duration(24h);
  loop_.SetRetention(24h);
  clock_.Advance(2 * 24h - into_the_day);
  Step();
  EXPECT_TRUE(Fed().empty());
  const auto all = stores_.backfills.ListBackfills({});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->at(0).state, BackfillState::kCompleted);
  EXPECT_EQ(all->at(0).counts, (BackfillCounts{.existing = 3}));
}

TEST_F(BackfillLoopTest, AnotherOwnersBackfillsAreLeftAlone) {
  CreateWithBackfill("job");
  TakeAll("m2");
  Step();
  EXPECT_TRUE(Fed().empty());
  EXPECT_EQ(owned(), test::kSegments - 1);
}

TEST(ReadyHeapTest, BackgroundRunsGoBehindAllOthers) {
  ReadyHeap heap(1s);
  const WallTime now = FromUnixMicros(1'772'323'200'000'000);
  const auto push = [&](uint64_t id, WallTime due, int priority, uint32_t flags) {
    PendingRun run;
    run.key = {due, ScheduleId(id), 0};
    run.due = due;
    run.priority = priority;
    run.flags = flags;
    heap.Push(run, 0);
  };
  push(1, now - 1h, 100, run_flag::kBackground);
  push(2, now, 0, 0);
  push(3, now - 1h, 50, run_flag::kBackground);
  push(4, now - 25h, 0, run_flag::kBackground);
  std::vector<uint64_t> order;
  for (; !heap.empty(); heap.Pop()) order.push_back(heap.Top().key.schedule_id.value());
  EXPECT_EQ(order, (std::vector<uint64_t>{4, 2, 1, 3}));
}

}  // namespace
}  // namespace carillon::scheduler
