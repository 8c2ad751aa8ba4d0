// Runs that wait for runs of other jobs, as they are planned.
#include <gtest/gtest.h>

#include "scheduler/plan/segment_planner.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class AwaitingPlanTest : public test::RoomTest {
 protected:
  void Plan(size_t backlog) {
    SegmentPlanner planner({.clock = clock_,
                            .store = faults_.firing,
                            .calendars = calendars_,
                            .cluster = cluster_,
                            .segments = table_,
                            .fences = fences_,
                            .feed = feed_,
                            .metrics = metrics_,
                            .settings = settings_,
                            .backlog = [backlog] { return backlog; },
                            .busy = [] { return false; }},
                           {.backlog_max = 100});
    for (int i = 0; i < 100; ++i) {
      if (planner.Step(clock_.Steady()) > clock_.Steady()) return;
    }
    FAIL() << "the planner does not come to rest";
  }
};

TEST_F(AwaitingPlanTest, TheyAreStoredButNotFed) {
  CreateRate("up", 1h);
  JobDefinition job;
  job.type = JobType::kNoop;
  job.schedules = {{.kind = ScheduleKind::kRate, .every = 1s, .start = clock_.Wall()}};
  job.waits_for = {{.job = JobId("up"), .window = {.day = 0}}};
  job.wait_limit_s = 60;
  CreateJob("job", job);
  // Also while memory is half full, when the sweep is told of what is left out.
  for (const size_t backlog : {0, 60}) {
    Plan(backlog);
    EXPECT_TRUE(feed_.PopUpTo(1000).empty());
    EXPECT_FALSE(feed_.TakeDropped().has_value());
    clock_.Advance(30s);
    SampleClock();
    table_.Proved(table_.View()->FenceFor(table_.View()->Segments()), clock_.Steady());
  }
  const auto waiting = stores_.upstream.ScanAwaiting(table_.View()->Segments(), clock_.Wall() + 1h,
                                                     std::nullopt, 1'000);
  EXPECT_GE(waiting->runs.size(), 30u);
}

}  // namespace
}  // namespace carillon::scheduler
