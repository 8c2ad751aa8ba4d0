#include "scheduler/plan/sweep.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class SweepGoneTest : public test::RoomTest {
 protected:
  void Look(Sweep& sweep, const ChangedWork& work) {
    sweep.Nudge(work);
    while (sweep.Step(clock_.Steady()) == clock_.Steady()) {
    }
  }
  std::vector<RunKey> gone_;
};

TEST_F(SweepGoneTest, AChangedRunThatDoesNotWaitAnyMoreIsTold) {
  const StoredJob job = CreateNoop("job");
  const RunRow claimed = Execute(job);
  const RunRow waiting = Execute(job);
  Claim(claimed, 1);
  Sweep sweep({.clock = clock_,
               .store = faults_.firing,
               .cluster = cluster_,
               .segments = table_,
               .feed = feed_,
               .metrics = metrics_,
               .gone = [this](const RunKey& key) { gone_.push_back(key); }},
              {});
  Look(sweep, {job.job_no, waiting.segment, waiting.key});
  Look(sweep, {job.job_no, job.segment});
  EXPECT_TRUE(gone_.empty());
  Look(sweep, {job.job_no, claimed.segment, claimed.key});
  EXPECT_EQ(gone_, std::vector<RunKey>{claimed.key});
}

}  // namespace
}  // namespace carillon::scheduler
