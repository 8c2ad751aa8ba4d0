// Invalid and hostile conditions: they must not cause a crash, and an accepted one has exactly one
// meaning. tests/fuzz/condition_fuzz.cc runs the same checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "tests/fuzz/condition_check.h"

namespace carillon::test::condition_mutation_test {
namespace {

const std::vector<std::string>& Samples() {
  static const std::vector<std::string> kSamples{
      "exit_code == 3", "outputs.n > 5 and not outputs.ok or state != 'FAILED'",
      "(exit_code >= -1) == outputs.ok", "outputs.file == \"/srv/a b\" or outputs.gone == null",
      "not (outputs.e == '' and 1e3 < outputs.n)"};
  return kSamples;
}

std::string Mutated(std::string text, Rng& rng) {
  static const std::vector<std::string> kPieces{
      " and ", " or ", " not ", "(",  ")",         "==",    "!=",     "<",         ">=",
      "null",  "true", "'",     "\"", "exit_code", "state", "\\",     "outputs.n", "3",
      "-",     ".",    " ",     "\t", "1e9",       "\xff",  "'LOST'", "=",         "false"};
  for (uint64_t edits = rng.Below(3) + rng.Below(2); edits > 0; --edits) {
    const size_t at = rng.Below(text.size() + 1);
    switch (rng.Below(3)) {
      case 0: text.insert(at, kPieces[rng.Below(kPieces.size())]); break;
      case 1: text.erase(at, 1 + rng.Below(6)); break;
      default: text.insert(at, text.substr(0, rng.Below(text.size() + 1)));
    }
    text.resize(std::min<size_t>(text.size(), 1'100));
  }
  return text;
}

TEST(ConditionMutationTest, EveryTextIsRefusedOrMeansOneThing) {
  size_t accepted = 0;
  for (uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(seed);
    const std::string text = Mutated(Samples()[rng.Below(Samples().size())], rng);
    const ConditionCheck check = CheckConditionText(text);
    ASSERT_EQ(check.complaint, "") << "seed " << seed << ": " << testing::PrintToString(text);
    accepted += check.accepted ? 1 : 0;
  }
  EXPECT_GT(accepted, 2'000u) << "the mutations are too wild to test what is accepted";
  EXPECT_LT(accepted, 18'000u) << "the mutations are too tame to test what is refused";
}

TEST(ConditionMutationTest, EveryPrefixOfAValidTextIsHandled) {
  for (const std::string& text : Samples()) {
    for (size_t length = 0; length <= text.size(); ++length) {
      EXPECT_EQ(CheckConditionText(text.substr(0, length)).complaint, "");
    }
  }
}

}  // namespace
}  // namespace carillon::test::condition_mutation_test
