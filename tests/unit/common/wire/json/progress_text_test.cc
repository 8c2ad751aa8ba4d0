#include "common/wire/json/progress_text.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

RunProgress ParsedProgress(std::string_view text) {
  const auto parsed = ParseProgress(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : RunProgress{};
}

TEST(ProgressTextTest, ReadsAPercentageAndAText) {
  EXPECT_EQ(ParsedProgress("42"), (RunProgress{42, ""}));
  EXPECT_EQ(ParsedProgress(" 42.9  row 4 of 9\n"), (RunProgress{42, "row 4 of 9"}));
  EXPECT_EQ(ParsedProgress("0\ttwo\nlines"), (RunProgress{0, "two\nlines"}));
  EXPECT_EQ(ParsedProgress("100 \xe4\xb8\xad"), (RunProgress{100, "\xe4\xb8\xad"}));
}

TEST(ProgressTextTest, ReadsJson) {
  EXPECT_EQ(ParsedProgress(R"({"percent": 42.9, "text": "a", "more": 1})"), (RunProgress{42, "a"}));
  EXPECT_EQ(ParsedProgress(R"({"text": "a"})"), (RunProgress{std::nullopt, "a"}));
  EXPECT_EQ(ParsedProgress(R"({"percent": 7, "text": null})"), (RunProgress{7, ""}));
}

TEST(ProgressTextTest, RefusesWhatIsNeither) {
  for (const char* text :
       {"", "  ", "text", "-1", "101", "nan", "42x", "1e1 x", "{", "[42]", "{}",
        R"({"percent": "42"})", R"({"percent": 101})", R"({"text": 1})", "42 \xff"}) {
    EXPECT_FALSE(ParseProgress(text).ok()) << text;
  }
  EXPECT_FALSE(ParseProgress(std::string_view("42 \0", 4)).ok());
}

TEST(ProgressTextTest, ReadsWhatItFormats) {
  for (const RunProgress& progress :
       {RunProgress{42, "a \"b\"\n"}, RunProgress{0, ""}, RunProgress{std::nullopt, "text"}}) {
    EXPECT_EQ(ParsedProgress(FormatProgress(progress)), progress);
  }
}

}  // namespace
}  // namespace carillon
