// Simulated worlds on two stores at once: the twin in memory and MariaDB get the same calls in the same
// order, and must give the same answers. HISTORIES_SEEDS=10 sets the number of worlds,
// HISTORIES_FIRST_SEED=1 the first seed, and HISTORIES_TRACE=1 prints every call.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "common/base/log.h"
#include "tests/histories/twofold.h"
#include "tests/sim/world.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

Pairing::Tracer TracerOf(bool trace) {
  if (!trace) return {};
  return [](const std::string& call) { fmt::print(stderr, "  {}\n", call); };
}

class HistoriesTest : public ::testing::Test {
 protected:
  HistoriesTest() {
    log::SetLevel(log::Level::kError);
    // A batch is always tried unread first, so that each miss is seen.
    failpoint::Break("fast.memory");
  }
  ~HistoriesTest() override { failpoint::Reset(); }
};

TEST_F(HistoriesTest, BothStoresAnswerAlike) {
  const uint64_t first = FromEnvironment("HISTORIES_FIRST_SEED", 1);
  const bool in_full = std::getenv("CARILLON_TEST_LONG") != nullptr;
  const uint64_t count = FromEnvironment("HISTORIES_SEEDS", in_full ? 200 : 10);
  const bool trace = FromEnvironment("HISTORIES_TRACE", 0) != 0;
  uint64_t calls = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Twofold twofold(TracerOf(trace));
    const sim::Outcome outcome = sim::Simulate({.seed = seed,
                                                .chaos = 30s,
                                                .rest_max = 60s,
                                                .calendars = seed % 5 == 1,
                                                .delays = seed % 5 == 2,
                                                .dependents = seed % 5 == 3,
                                                .scripts = seed % 5 == 4,
                                                .workflows = seed % 5 == 0,
                                                .guest = &twofold});
    const auto& parting = twofold.pairing().parting();
    EXPECT_FALSE(parting.has_value())
        << fmt::format("seed {}, step {}, {}", seed, outcome.step,
                       parting ? Describe(*parting) : "");
    fmt::print("seed {} ({}): {} calls, {} runs\n", seed, outcome.kind, twofold.pairing().calls(),
               outcome.runs);
    calls += twofold.pairing().calls();
  }
  fmt::print("{} seeds: {} calls\n", count, calls);
  EXPECT_GT(calls, count * 1000);
}

}  // namespace
}  // namespace carillon::test
