// Runs simulated worlds. SIM_SEEDS=1000 sets their number, SIM_FIRST_SEED=1 the first seed, and
// SIM_TRACE=1 prints every event.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "common/base/log.h"
#include "tests/sim/world.h"
#include "tests/support/failpoint_on.h"

namespace carillon::sim {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::stoull(text);
}

std::string Describe(const Outcome& outcome) {
  if (!outcome.violation) return fmt::format("seed {} ({}): clean", outcome.seed, outcome.kind);
  return fmt::format(
      "seed {} ({}), step {}: {}: {}\nagain: SIM_SEEDS=1 SIM_FIRST_SEED={} "
      "SIM_TRACE=1 sim --gtest_filter=SimTest.SeedsAreClean",
      outcome.seed, outcome.kind, outcome.step, outcome.violation->promise, outcome.violation->text,
      outcome.seed);
}

class SimTest : public ::testing::Test {
 protected:
  SimTest() {
    failpoint::Reset();
    // SIM_BREAK reproduces a seed of broken_test.cc.
    const char* rule = std::getenv("SIM_BREAK");
    if (rule != nullptr) failpoint::Break(rule);
    const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
    log::Configure({.level = trace ? log::Level::kDebug : log::Level::kOff});
  }
  ~SimTest() override { failpoint::Reset(); }
};

TEST_F(SimTest, SeedsAreClean) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100);
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t runs = 0, starts = 0, losses = 0, admissions = 0, faults = 0, bad = 0;
  uint64_t steps = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome = Simulate({.seed = seed, .trace = trace});
    runs += outcome.runs;
    starts += outcome.starts;
    losses += outcome.losses;
    admissions += outcome.admissions;
    faults += outcome.faults;
    steps += outcome.step;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
    if (outcome.violation && ++bad >= FromEnvironment("SIM_VIOLATIONS_MAX", 5)) break;
  }
  fmt::print(
      "{} seeds: {} steps, {} runs, {} processes, {} lost attempts, {} admissions, {} "
      "faults\n",
      count, steps, runs, starts, losses, admissions, faults);
  // Worlds in which nothing happens would prove nothing.
  EXPECT_GT(starts, count * 10);
  EXPECT_GT(admissions, count / 2);
}

// Leases are renewed with a proof from the store or from the session, and without the bus. So no
// process may end because one of the three hangs, no matter how long.
TEST_F(SimTest, OneDependencyThatHangsKillsNothing) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t faults = 0, starts = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome = Simulate({.seed = seed, .hangs = true, .trace = trace});
    faults += outcome.faults;
    starts += outcome.starts;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} hangs, {} processes\n", count, faults, starts);
  EXPECT_GE(faults, count);
}

// A session proves only segments held under the current generation of the assignment. So a member
// that waits for the store must still notice a new generation.
TEST_F(SimTest, AssignmentThatChangesWhileTheStoreHangsKillsNothing) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t faults = 0, starts = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome = Simulate({.seed = seed, .hangs = true, .moves = true, .trace = trace});
    faults += outcome.faults;
    starts += outcome.starts;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} hangs and assignments, {} processes\n", count, faults, starts);
  EXPECT_GE(faults, 2 * count);
}

// A delay schedule fires after the end of its last run: once, whatever the end was, and never
// sooner than it says.
TEST_F(SimTest, DelaySchedulesFireAfterTheirLastRunHasEnded) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t delays = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome = Simulate({.seed = seed, .delays = true, .trace = trace});
    delays += outcome.delays;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} fires after an end\n", count, delays);
  EXPECT_GT(delays, count * 10);
}

// Each end of a job that counts starts one run of the jobs that wait for it, with its fire, and
// nothing else does.
TEST_F(SimTest, DependentsStartOnceAfterEachEnd) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t started = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome = Simulate({.seed = seed, .dependents = true, .trace = trace});
    started += outcome.dependents;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} runs of dependents\n", count, started);
  EXPECT_GT(started, count * 5);
}

// A script runs only on an executor that has its interpreter, and only chosen failures are retried.
TEST_F(SimTest, ScriptsRunWhereTheyCan) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t scripts = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome = Simulate({.seed = seed, .scripts = true, .trace = trace});
    scripts += outcome.scripts;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} scripts\n", count, scripts);
  EXPECT_GT(scripts, count * 10);
}

// Each node of a workflow starts when the rules say so, and each workflow run ends as its
// nodes did.
TEST_F(SimTest, WorkflowsFollowTheirGraphs) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t nodes = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome = Simulate({.seed = seed, .workflows = true, .trace = trace});
    nodes += outcome.nodes;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} nodes\n", count, nodes);
  EXPECT_GT(nodes, count * 10);
}

// The same where some nodes are workflows, too.
TEST_F(SimTest, NestedWorkflowsFollowTheirGraphs) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t nodes = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome =
        Simulate({.seed = seed, .workflows = true, .nested = true, .trace = trace});
    nodes += outcome.nodes;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} nodes\n", count, nodes);
  EXPECT_GT(nodes, count * 10);
}

// A backfill leaves a workflow run alone while the process of one of its nodes may still run.
TEST_F(SimTest, BackfillsStartNothingBesideLostNodes) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t nodes = 0, losses = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome =
        Simulate({.seed = seed, .workflows = true, .lost_nodes = true, .trace = trace});
    nodes += outcome.nodes;
    losses += outcome.losses;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} nodes, {} lost attempts\n", count, nodes, losses);
  EXPECT_GT(nodes, count);
  EXPECT_GT(losses, count / 2);
}

// A version of a calendar takes effect a minute after it was written, so these worlds last longer.
TEST_F(SimTest, EditedCalendarsAreObeyed) {
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t count = FromEnvironment("SIM_SEEDS", 100) / 5 + 1;
  const bool trace = FromEnvironment("SIM_TRACE", 0) != 0;
  size_t runs = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome =
        Simulate({.seed = seed, .chaos = 240s, .calendars = true, .trace = trace});
    runs += outcome.runs;
    EXPECT_FALSE(outcome.violation.has_value()) << Describe(outcome);
  }
  fmt::print("{} seeds: {} runs\n", count, runs);
  EXPECT_GT(runs, count * 10);
}

TEST_F(SimTest, SameSeedReplaysTheSameSteps) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Outcome first = Simulate({.seed = seed});
    const Outcome second = Simulate({.seed = seed});
    EXPECT_EQ(first.step, second.step);
    EXPECT_EQ(first.fingerprint, second.fingerprint);
    EXPECT_EQ(first.runs, second.runs);
  }
}

}  // namespace
}  // namespace carillon::sim
