// What the firing loop does when the queue of run events was full.
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

}  // namespace
}  // namespace carillon::scheduler
