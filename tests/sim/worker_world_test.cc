// Worlds of workers are clean, and each broken rule is noticed in one of them.
#include "tests/sim/worker_world.h"

#include <gtest/gtest.h>

#include "tests/support/failpoint_on.h"

namespace carillon::sim {
namespace {

constexpr uint64_t kSeeds = 200;

TEST(WorkerWorldTest, SeedsAreClean) {
  WorkerOutcome all;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const WorkerOutcome outcome = SimulateWorkers(seed);
    ASSERT_FALSE(outcome.violation) << "seed " << seed << ": " << *outcome.violation;
    all.calls += outcome.calls;
    all.breaks += outcome.breaks;
    all.crashes += outcome.crashes;
    all.silent += outcome.silent;
  }
  EXPECT_GT(all.calls, 5000);
  EXPECT_GT(all.breaks, 5000);
  EXPECT_GT(all.crashes, 1000);
  EXPECT_GT(all.silent, 30);
}

class BrokenWorkerRuleTest : public ::testing::TestWithParam<const char*> {
 protected:
  BrokenWorkerRuleTest() { failpoint::Break(GetParam()); }
  ~BrokenWorkerRuleTest() override { failpoint::Reset(); }
};

TEST_P(BrokenWorkerRuleTest, IsNoticed) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (SimulateWorkers(seed).violation) return;
  }
  FAIL() << "nothing was noticed";
}

INSTANTIATE_TEST_SUITE_P(All, BrokenWorkerRuleTest,
                         ::testing::Values("worker.record", "worker.session", "worker.instance",
                                           "worker.away"));

}  // namespace
}  // namespace carillon::sim
