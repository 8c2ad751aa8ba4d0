// Runs simulated worlds. SIM_SEEDS=1000 sets their number, SIM_FIRST_SEED=1 the first seed, and
// SIM_TRACE=1 prints every event.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

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

// Worlds of one kind, and the events without which a world would prove nothing.
struct Worlds {
  const char* name;
  WorldOptions options;
  uint64_t share = 5;  // a world for each so many seeds
  struct Least {
    const char* what;
    size_t Outcome::*count;
    double per_world;
  };
  std::vector<Least> least;
};

const Worlds kWorlds[] = {
    {.name = "SeedsAreClean",
     .options = {},
     .share = 1,
     .least = {{"processes", &Outcome::starts, 10}, {"admissions", &Outcome::admissions, 0.5}}},
    // Leases are renewed with a proof from the store or from the session, and without the bus. So
    // no process may end because one of the three hangs, no matter how long.
    {.name = "OneDependencyThatHangsKillsNothing",
     .options = {.hangs = true},
     .least = {{"hangs", &Outcome::faults, 1}}},
    // A session proves only segments held under the current generation of the assignment. So a
    // member that waits for the store must still notice a new generation.
    {.name = "AssignmentThatChangesWhileTheStoreHangsKillsNothing",
     .options = {.hangs = true, .moves = true},
     .least = {{"hangs and assignments", &Outcome::faults, 2}}},
    // Executors that hold nothing beat seldom. Nobody takes them for lost, no other process gets
    // their name, and no lease ends.
    {.name = "QuietExecutorsAreNotTakenForLost",
     .options = {.hangs = true, .quiet = true, .twin = true},
     .least = {{"hangs", &Outcome::faults, 1}}},
    // The same with faults of all kinds.
    {.name = "QuietFleetsAreClean",
     .options = {.quiet = true},
     .least = {{"processes", &Outcome::starts, 10}}},
    // A delay schedule fires after the end of its last run: once, whatever the end was, and never
    // sooner than it says.
    {.name = "DelaySchedulesFireAfterTheirLastRunHasEnded",
     .options = {.delays = true},
     .least = {{"fires after an end", &Outcome::delays, 10}}},
    // Each end of a job that counts starts one run of the jobs that wait for it, with its fire, and
    // nothing else does.
    {.name = "DependentsStartOnceAfterEachEnd",
     .options = {.dependents = true},
     .least = {{"runs of dependents", &Outcome::dependents, 5}}},
    // A script runs only on an executor that has its interpreter, and only chosen failures
    // are retried.
    {.name = "ScriptsRunWhereTheyCan",
     .options = {.scripts = true},
     .least = {{"scripts", &Outcome::scripts, 10}}},
    // Each node of a workflow starts when the rules say so, and each workflow run ends as its
    // nodes did.
    {.name = "WorkflowsFollowTheirGraphs",
     .options = {.workflows = true},
     .least = {{"nodes", &Outcome::nodes, 10}}},
    // The same where some nodes are workflows, too.
    {.name = "NestedWorkflowsFollowTheirGraphs",
     .options = {.workflows = true, .nested = true},
     .least = {{"nodes", &Outcome::nodes, 10}}},
    // Approvals and waits end once, by those who may decide or at their time. Finally nodes come
    // last, whatever happens to the others.
    {.name = "NodesWaitForPeopleAndTimes",
     .options = {.workflows = true, .approvals = true, .finally = true},
     .share = 20,
     .least = {{"opened nodes", &Outcome::opened, 5},
               {"decisions", &Outcome::decided, 1},
               {"finally nodes", &Outcome::finally, 5}}},
    // A backfill leaves a workflow run alone while the process of one of its nodes may still run.
    {.name = "BackfillsStartNothingBesideLostNodes",
     .options = {.workflows = true, .lost_nodes = true},
     .least = {{"nodes", &Outcome::nodes, 1}, {"lost attempts", &Outcome::losses, 0.5}}},
    // A fire that is done in parts has all of them or none, and ends as they do.
    {.name = "FiresInPartsAreWhole",
     .options = {.parts = true},
     .least = {{"fires in parts", &Outcome::in_parts, 5},
               {"broadcasts", &Outcome::broadcasts, 0.5}}},
    // The same for jobs that start after others, each once after a fire, however many parts it had.
    {.name = "DependentsStartOnceAfterFiresInParts",
     .options = {.dependents = true, .parts = true},
     .share = 10,
     .least = {{"fires in parts", &Outcome::in_parts, 5},
               {"runs of dependents", &Outcome::dependents, 2}}},
    // Each dead letter that still exists reaches its topic, whoever leads, and whatever was lost.
    {.name = "DeadLettersReachTheirTopic",
     .options = {.letters = true},
     .least = {{"dead letters", &Outcome::letters, 2}, {"faults", &Outcome::faults, 5}}},
    // A job is paused when so many of its runs have failed in a row, and never otherwise.
    {.name = "JobsWhoseRunsFailAreSoonPaused",
     .options = {.streaks = true},
     .share = 10,
     .least = {{"pauses after failures", &Outcome::pauses, 1}}},
    // A run that waits for runs of other jobs starts when they have come, or a person says so, and
    // fails when its limit is over.
    {.name = "WaitsAreMetOrReleased",
     .options = {.waits = true},
     .least = {{"waits that were met", &Outcome::waits, 5},
               {"waits in vain", &Outcome::expired, 0.1}}},
    // An event starts one run of each trigger that it matches, whoever sends it, however often.
    {.name = "EventsStartOnce",
     .options = {.events = true},
     .share = 10,
     .least = {{"runs of events", &Outcome::events, 10}}},
    // A version of a calendar takes effect a minute after it was written, so these worlds
    // last longer.
    {.name = "EditedCalendarsAreObeyed",
     .options = {.chaos = 240s, .calendars = true},
     .least = {{"runs", &Outcome::runs, 10}}},
};

std::string Describe(const Outcome& outcome, const char* name) {
  return fmt::format(
      "seed {} ({}), step {}: {}: {}\nagain: SIM_SEEDS=1 SIM_FIRST_SEED={} SIM_TRACE=1 "
      "sim --gtest_filter='*/{}'",
      outcome.seed, outcome.kind, outcome.step, outcome.violation->promise, outcome.violation->text,
      outcome.seed, name);
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

class WorldsTest : public SimTest, public ::testing::WithParamInterface<Worlds> {};

TEST_P(WorldsTest, Hold) {
  const Worlds& worlds = GetParam();
  const uint64_t first = FromEnvironment("SIM_FIRST_SEED", 1);
  const uint64_t seeds = FromEnvironment("SIM_SEEDS", 100);
  const uint64_t count = worlds.share == 1 ? seeds : seeds / worlds.share + 1;
  const uint64_t bad_max = FromEnvironment("SIM_VIOLATIONS_MAX", 5);
  std::vector<size_t> counts(worlds.least.size());
  uint64_t steps = 0, bad = 0;
  for (uint64_t seed = first; seed < first + count && bad < bad_max; ++seed) {
    WorldOptions options = worlds.options;
    options.seed = seed;
    options.trace = FromEnvironment("SIM_TRACE", 0) != 0;
    const Outcome outcome = Simulate(options);
    steps += outcome.step;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += outcome.*worlds.least[i].count;
    if (!outcome.violation) continue;
    ++bad;
    ADD_FAILURE() << Describe(outcome, worlds.name);
  }
  fmt::print("{} worlds: {} steps", count, steps);
  for (size_t i = 0; i < counts.size(); ++i) {
    fmt::print(", {} {}", counts[i], worlds.least[i].what);
    EXPECT_GE(static_cast<double>(counts[i]),
              worlds.least[i].per_world * static_cast<double>(count))
        << worlds.least[i].what;
  }
  fmt::print("\n");
}

INSTANTIATE_TEST_SUITE_P(Sim, WorldsTest, ::testing::ValuesIn(kWorlds),
                         [](const auto& param) { return std::string(param.param.name); });

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
