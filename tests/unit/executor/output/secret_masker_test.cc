#include "executor/output/secret_masker.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace carillon::executor {
namespace {

using Values = std::vector<std::string>;

std::string MaskedInPieces(const Values& values, const std::vector<std::string>& chunks) {
  SecretMasker masker(std::make_shared<const SecretPatterns>(values));
  std::string shown;
  for (const std::string& chunk : chunks) shown += masker.Feed(chunk);
  return shown + masker.End();
}
std::string Masked(const Values& values, const std::string& text) {
  return MaskedInPieces(values, {text});
}

TEST(SecretMaskerTest, ExampleOfTheHeader) {
  SecretMasker masker(std::make_shared<const SecretPatterns>(Values{"hunter22"}));
  EXPECT_EQ(masker.Feed("pass hun"), "pass ");
  EXPECT_EQ(masker.Feed("ter22!"), "***!");
  EXPECT_EQ(masker.End(), "");
}

TEST(SecretMaskerTest, ValuesAreFoundWhereverTheyStand) {
  const Values values{"hunter22", "s3cr3t-value"};
  EXPECT_EQ(Masked(values, "a hunter22 b s3cr3t-value\nhunter22"), "a *** b ***\n***");
  EXPECT_EQ(Masked(values, "mysql://u:hunter22@h"), "mysql://u:***@h");
  EXPECT_EQ(Masked(values, "nothing of it: hunter2, s3cr3t"), "nothing of it: hunter2, s3cr3t");
  EXPECT_EQ(Masked(values, "hunter22hunter22"), "***") << "how many there were is not said";
}

TEST(SecretMaskerTest, ValuesThatOverlapAreLeftOutWhole) {
  EXPECT_EQ(Masked({"abcdefgh", "efghijkl"}, "xabcdefghijklx"), "x***x");
  EXPECT_EQ(Masked({"abcdefgh", "bcde"}, "abcdefg bcde"), "a***fg ***");
  EXPECT_EQ(Masked({"aaaaaaaa"}, std::string(19, 'a')), "***");
}

TEST(SecretMaskerTest, EachLineOfAValueIsOneAndLineEndsStay) {
  const Values values{"-----BEGIN-----\n  c2VjcmV0\nab\n-----END-----\n"};
  EXPECT_EQ(Masked(values, values[0]), "***\n***\n***\n***\n");
  EXPECT_EQ(Masked(values, "> c2VjcmV0 <"), "> *** <");
  EXPECT_EQ(Masked(values, "tab ab"), "tab ab") << "too short to be looked for on its own";
}

TEST(SecretMaskerTest, WhatABrokenOffValueBeganWithIsShownAtTheEnd) {
  EXPECT_EQ(MaskedInPieces({"hunter22"}, {"x hunter", "2"}), "x hunter2");
}

TEST(SecretMaskerTest, AnythingThatIsNoBeginningIsShownAtOnce) {
  SecretMasker masker(std::make_shared<const SecretPatterns>(Values{"hunter22"}));
  EXPECT_EQ(masker.Feed("a line\n"), "a line\n");
  EXPECT_EQ(masker.Feed("hunted\n"), "hunted\n");
}

// Returns the expected text, computed from the whole text without an automaton.
std::string Expected(const Values& values, const std::string& text) {
  std::vector<std::string> patterns;
  const auto trimmed = [](std::string part) {
    part.erase(0, std::min(part.find_first_not_of(" \n"), part.size()));
    part.erase(part.find_last_not_of(" \n") + 1);
    return part;
  };
  for (const std::string& value : values) {
    patterns.push_back(trimmed(value));
    for (size_t from = 0; from <= value.size();) {
      const size_t end = std::min(value.find('\n', from), value.size());
      const std::string line = trimmed(value.substr(from, end - from));
      if (line.size() >= 4) patterns.push_back(line);
      from = end + 1;
    }
  }
  std::vector<bool> covered(text.size());
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) continue;
    for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1)) {
      std::fill_n(covered.begin() + static_cast<long>(at), pattern.size(), true);
    }
  }
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || !covered[i - 1] || text[i - 1] == '\n';
    if (!covered[i] || text[i] == '\n') {
      out += text[i];
    } else if (begins) {
      out += "***";
    }
  }
  return out;
}

std::string AnyText(Rng& rng, size_t size) {
  // Few letters, so that prefixes, overlaps and repetitions are frequent.
  constexpr std::string_view kLetters = "aab\n ";
  std::string text;
  for (size_t i = 0; i < size; ++i) text += kLetters[rng.Below(kLetters.size())];
  return text;
}

TEST(SecretMaskerTest, HowTheStreamIsCutDoesNotMatter) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    Values values;
    for (uint64_t i = 0; i < 1 + rng.Below(3); ++i) {
      values.push_back(AnyText(rng, 8 + rng.Below(6)));
    }
    std::string text;
    std::vector<std::string> chunks;
    for (uint64_t i = 0; i < 1 + rng.Below(8); ++i) {
      chunks.push_back(rng.Chance(0.3) ? values[rng.Below(values.size())]
                                       : AnyText(rng, rng.Below(20)));
      text += chunks.back();
    }
    const std::string expected = Expected(values, text);
    ASSERT_EQ(Masked(values, text), expected) << "seed " << seed;
    ASSERT_EQ(MaskedInPieces(values, chunks), expected) << "seed " << seed;
    std::vector<std::string> bytes;
    for (const char byte : text) bytes.emplace_back(1, byte);
    ASSERT_EQ(MaskedInPieces(values, bytes), expected) << "seed " << seed;
  }
}

// With quadratic time this test would take minutes.
TEST(SecretMaskerTest, LargeValuesTakeLinearTime) {
  const std::string same(64u << 10, 'a');
  SecretMasker masker(std::make_shared<const SecretPatterns>(Values{same, same.substr(1) + "b"}));
  std::string shown;
  for (int i = 0; i < 64; ++i) shown += masker.Feed(same.substr(0, 32u << 10));
  EXPECT_EQ(shown + masker.End(), "***");
}

}  // namespace
}  // namespace carillon::executor
