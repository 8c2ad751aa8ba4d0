// Simulated worlds on two stores at once: the twin in memory and MariaDB get the same calls in the
// same order, and must give the same answers. HISTORIES_SEEDS=10 sets the number of worlds,
// HISTORIES_FIRST_SEED=1 the first seed, and HISTORIES_TRACE=1 prints every call.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
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

  enum class Users { kOfTheWorld, kExplorers };

  // Runs one world on both stores.
  static sim::Outcome Run(uint64_t seed, Users users, Twofold& twofold) {
    const bool explored = users == Users::kExplorers;
    return sim::Simulate({.seed = seed,
                          .chaos = 30s,
                          .rest_max = 60s,
                          .calendars = seed % 5 == 1,
                          .delays = seed % 5 == 2,
                          .dependents = seed % 5 == 3,
                          .scripts = seed % 5 == 4,
                          .workflows = seed % 5 == 0 || explored,
                          .waits = seed % 3 == 0 && !explored,
                          .guest = &twofold});
  }

  static Twofold::Options OptionsOf(uint64_t seed, Users users) {
    return {.explores = users == Users::kExplorers ? std::optional(seed) : std::nullopt};
  }

  static void ExpectEqualAnswers(Users users) {
    const uint64_t first = FromEnvironment("HISTORIES_FIRST_SEED", 1);
    const bool in_full = std::getenv("CARILLON_TEST_LONG") != nullptr;
    const uint64_t count = FromEnvironment("HISTORIES_SEEDS", in_full ? 200 : 10);
    const bool trace = FromEnvironment("HISTORIES_TRACE", 0) != 0;
    uint64_t calls = 0;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      Twofold twofold(OptionsOf(seed, users), TracerOf(trace));
      const sim::Outcome outcome = Run(seed, users, twofold);
      const auto& parting = twofold.pairing().parting();
      EXPECT_FALSE(parting.has_value()) << fmt::format("seed {}, step {}, {}", seed, outcome.step,
                                                       parting ? Describe(*parting) : "");
      fmt::print("seed {} ({}): {} calls, {} runs\n", seed, outcome.kind, twofold.pairing().calls(),
                 outcome.runs);
      calls += twofold.pairing().calls();
    }
    fmt::print("{} seeds: {} calls\n", count, calls);
    EXPECT_GT(calls, count * 500);
  }

  // Lets the twin decide wrongly. Some world of an explorer must notice it, and by this field.
  static void ExpectNoticed(const std::string& wrong, const std::string& field, uint64_t count) {
    failpoint::Break(wrong);
    for (uint64_t seed = 1; seed <= count; ++seed) {
      Twofold twofold(OptionsOf(seed, Users::kExplorers), {});
      const sim::Outcome outcome = Run(seed, Users::kExplorers, twofold);
      const auto& parting = twofold.pairing().parting();
      if (!parting || !Names(*parting, field)) continue;
      fmt::print("{}: seed {}, step {}, {}\n", wrong, seed, outcome.step, Describe(*parting));
      return;
    }
    FAIL() << field << " does not differ in " << count << " worlds";
  }

 private:
  static bool Names(const Parting& parting, const std::string& field) {
    return std::ranges::any_of(parting.differences,
                               [&](const Difference& one) { return one.field == field; });
  }
};

TEST_F(HistoriesTest, BothStoresAnswerAlike) { ExpectEqualAnswers(Users::kOfTheWorld); }

TEST_F(HistoriesTest, BothStoresAnswerExplorersAlike) { ExpectEqualAnswers(Users::kExplorers); }

// Answers alone would not show that one store reads what the other one writes unread.
TEST_F(HistoriesTest, ABatchThatIsReadForItsKindsIsNoticed) {
  ExpectNoticed("twin.plain", "batches written unread", 20);
}

}  // namespace
}  // namespace carillon::test
