// Invalid, hostile and unusual cron expressions: they must not cause a crash or a long search, and
// an accepted expression has exactly one meaning. tests/fuzz/cron_fuzz.cc runs the same checks.
#include <gtest/gtest.h>

#include <vector>

#include "tests/fuzz/cron_check.h"
#include "tests/unit/common/domain/cron/cron_reference.h"

namespace carillon::test::cron_mutation_test {
namespace {

std::string Mutated(std::string text, Rng& rng) {
  static const std::string kBytes = "0123456789*?,-/#LWC<> @lwMONjanFRI\t=";
  for (uint64_t edits = rng.Below(3) + rng.Below(2); edits > 0; --edits) {
    const size_t at = rng.Below(text.size() + 1);
    const char byte =
        rng.Chance(0.9) ? kBytes[rng.Below(kBytes.size())] : static_cast<char>(rng.Below(256));
    switch (rng.Below(4)) {
      case 0: text.insert(at, 1, byte); break;
      case 1: text.erase(std::min(at, text.size()), 1 + rng.Below(3)); break;
      case 2: text.insert(at, text.substr(0, rng.Below(text.size() + 1))); break;
      default:
        if (at < text.size()) text[at] = byte;
    }
    text.resize(std::min<size_t>(text.size(), 300));
  }
  return text;
}

TEST(CronMutationTest, EveryTextIsRefusedOrMeansOneThing) {
  size_t accepted = 0;
  for (uint64_t seed = 1; seed <= 6'000; ++seed) {
    Rng rng(seed);
    const std::string text = Mutated(RandomCronText(rng), rng);
    const CronCheck check = CheckCronText(text);
    EXPECT_EQ(check.complaint, "") << "seed " << seed << ": " << testing::PrintToString(text);
    accepted += check.accepted ? 1 : 0;
  }
  EXPECT_GT(accepted, 500u) << "the mutations are too wild to test what is accepted";
  EXPECT_LT(accepted, 5'500u) << "the mutations are too tame to test what is refused";
}

TEST(CronMutationTest, EveryPrefixOfAValidTextIsHandled) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    const std::string text = RandomCronText(rng);
    for (size_t length = 0; length <= text.size(); ++length) {
      EXPECT_EQ(CheckCronText(text.substr(0, length)).complaint, "") << text.substr(0, length);
    }
  }
}

}  // namespace
}  // namespace carillon::test::cron_mutation_test
