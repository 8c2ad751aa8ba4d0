// Invalid and hostile filters and parameters of triggers: they must not cause a crash, and an
// accepted one has exactly one meaning. tests/fuzz/event_fuzz.cc runs the same checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "tests/fuzz/event_check.h"

namespace carillon::test {
namespace {

struct MutatedTexts {
  std::vector<std::string> samples;
  std::vector<std::string> pieces;

  std::string Next(Rng& rng) const {
    std::string text = samples[rng.Below(samples.size())];
    for (uint64_t edits = rng.Below(3) + rng.Below(2); edits > 0; --edits) {
      const size_t at = rng.Below(text.size() + 1);
      switch (rng.Below(3)) {
        case 0: text.insert(at, pieces[rng.Below(pieces.size())]); break;
        case 1: text.erase(at, 1 + rng.Below(6)); break;
        default: text.insert(at, text.substr(0, rng.Below(text.size() + 1)));
      }
      text.resize(std::min<size_t>(text.size(), 1'100));
    }
    return text;
  }
};

const MutatedTexts kEventFilters{
    .samples = {"data.n > 5 and not data.ok or type != 't'", "(data.r >= -1) == data.ok",
                "data.text == \"a b\" or data.gone == null", "data.list != null and data.n == 7",
                "not (data.digits == '7' and 1e3 < data.n)"},
    .pieces = {" and ", " or ",    " not ", "(", ")",         "==",      "!=",
               "<",     "null",    "true",  "'", "\"",        "id",      "data.n",
               "data",  "data.ok", "\\",    ".", "-",         " ",       "\t",
               "1e9",   "\xff",    "'7'",   "=", "data.list", "subject", "event.id"}};
const MutatedTexts kEventValues{
    .samples = {"{{event.data.n}}", "a {{event.data.text}} b", "{{{{event.id}}}} {{event.source}}",
                "{{fire_date - 1d | %Y}}/{{event.data.list}}", "{{ event.data.gone }}", "plain"},
    .pieces = {"{{",
               "}}",
               "{{{{",
               "}}}}",
               "{",
               "}",
               "event.",
               "data.",
               "data.text",
               "fire_date",
               "fire_time.local",
               " - 1M",
               "|",
               "%F",
               " ",
               ".",
               "params.x",
               "secrets.K",
               "\xff",
               "é",
               "{{event.data.text}}",
               "{{fire_time}}"}};

TEST(EventMutationTest, EveryFilterIsRefusedOrMeansOneThing) {
  size_t accepted = 0;
  for (uint64_t seed = 1; seed <= 10'000; ++seed) {
    Rng rng(seed);
    const std::string text = kEventFilters.Next(rng);
    const EventCheck check = CheckEventFilterText(text);
    ASSERT_EQ(check.complaint, "") << "seed " << seed << ": " << testing::PrintToString(text);
    accepted += check.accepted ? 1 : 0;
  }
  EXPECT_GT(accepted, 1'000u) << "the mutations are too wild to test what is accepted";
  EXPECT_LT(accepted, 9'000u) << "the mutations are too tame to test what is refused";
}

TEST(EventMutationTest, EveryParameterIsRefusedWhenItIsWrittenOrRendered) {
  size_t accepted = 0;
  for (uint64_t seed = 1; seed <= 10'000; ++seed) {
    Rng rng(seed);
    const std::string text = kEventValues.Next(rng);
    const EventCheck check = CheckEventParameterText(text);
    ASSERT_EQ(check.complaint, "") << "seed " << seed << ": " << testing::PrintToString(text);
    accepted += check.accepted ? 1 : 0;
  }
  EXPECT_GT(accepted, 1'000u) << "the mutations are too wild to test what is accepted";
  EXPECT_LT(accepted, 9'000u) << "the mutations are too tame to test what is refused";
}

}  // namespace
}  // namespace carillon::test
