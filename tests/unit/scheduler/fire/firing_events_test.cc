// What the firing loop does when the queue of run events was full, and when nobody has room for
// long.
#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

class FiringEventsTest : public FiringLoopTest {
 protected:
  // More than the queue holds.
  void LoseEvents() {
    for (int i = 0; i < 65; ++i) Tell(RunEvent::What::kClaimed, {.schedule_id = ScheduleId(1)});
  }
};

TEST_F(FiringEventsTest, LostEventsAreMadeUpForByTheLeases) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 1);
  Step();
  Tasks();
  Tell(RunEvent::What::kClaimed, run.key);
  Step();
  LoseEvents();
  Step(6s);
  Step(3s);  // settled, then forgotten
  Beat("x1", 1);
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

// Most runs are short: when an end is lost, its run was claimed a moment ago.
TEST_F(FiringEventsTest, LostEndOfARunThatWasClaimedJustNowIsMadeUpForToo) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 1);
  Step();
  Tasks();
  Tell(RunEvent::What::kClaimed, run.key);
  Step();
  LoseEvents();
  Step(100ms);
  Step(6s);
  Step(3s);  // settled, then forgotten
  Beat("x1", 1);
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

// A run started by a person never grows too old; those behind it do, for as long as nobody is
// there.
TEST_F(FiringEventsTest, WhatWentAwayBehindARunThatWaitsIsNotKept) {
  JobDefinition job;
  job.queue_timeout_s = 1;
  const StoredJob hasty = Shell("hasty", job);
  const PendingRun patient = Pending(Shell("patient"), -1h);
  Feed({patient});
  size_t skipped = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<PendingRun> runs;
    for (int i = 0; i < 500; ++i) runs.push_back(Pending(hasty, -2s));
    Feed(runs);
    Step(200ms);
    skipped += Skips().size();
  }
  EXPECT_GT(skipped, 15'000u);
  EXPECT_LE(loop_->lane_entries(), 6'000u);
  Beat("x1", 1);
  Step();
  const auto tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].key, patient.key);
}

}  // namespace
}  // namespace carillon::scheduler
