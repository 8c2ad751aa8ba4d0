#include "common/domain/run/outputs.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "tests/fuzz/outputs_check.h"

namespace carillon {
namespace {

std::string Refusal(std::string_view text) {
  const auto outputs = ParseOutputs(text);
  if (outputs.ok()) return "accepted";
  EXPECT_EQ(outputs.code(), ErrorCode::kInvalid);
  return outputs.error().message;
}

TEST(OutputsTest, LinesBecomeValuesAndTheLastOneCounts) {
  EXPECT_EQ(*ParseOutputs(""), Outputs{});
  EXPECT_EQ(*ParseOutputs("\n\n"), Outputs{});
  EXPECT_EQ(*ParseOutputs("rows=12\nfile=a=b c\nrows=13"),
            (Outputs{{"rows", "13"}, {"file", "a=b c"}}));
  EXPECT_EQ(*ParseOutputs("_A9=\nb=<<END\n"), (Outputs{{"_A9", ""}, {"b", "<<END"}}));
  EXPECT_EQ(*ParseOutputs("a= x \n"), (Outputs{{"a", " x "}}));
}

TEST(OutputsTest, ValueOfSeveralLinesEndsAtItsWord) {
  EXPECT_EQ(*ParseOutputs("a<<END\none\n\n b=2\nEND\nb=3"),
            (Outputs{{"a", "one\n\n b=2"}, {"b", "3"}}));
  EXPECT_EQ(*ParseOutputs("a<<X\nX"), (Outputs{{"a", ""}}));
  EXPECT_EQ(*ParseOutputs("a<<X\n\n\nX\n"), (Outputs{{"a", "\n"}}));
  EXPECT_EQ(*ParseOutputs("a<<X\n XX\nX\n"), (Outputs{{"a", " XX"}}));
}

TEST(OutputsTest, LinesMayEndWithCrLf) {
  EXPECT_EQ(*ParseOutputs("a=1\r\n\r\nb= x\ry\r\r\n"), (Outputs{{"a", "1"}, {"b", " x\ry\r"}}));
  EXPECT_EQ(*ParseOutputs("a=1\r"), (Outputs{{"a", "1"}})) << "the last line";
  EXPECT_EQ(*ParseOutputs("a<<END\r\none\r\ntwo\r\nEND\r\nb=2\r\n"),
            (Outputs{{"a", "one\ntwo"}, {"b", "2"}}));
  EXPECT_EQ(*ParseOutputs("a<<END\none\r\nEND\n"), (Outputs{{"a", "one\r"}}))
      << "the text of a value in a file with other line ends is its own";
}

TEST(OutputsTest, RefusalNamesTheLineAndNoText) {
  EXPECT_EQ(Refusal("a=1\n\nsecret"), "line 3 is not NAME=value");
  EXPECT_EQ(Refusal("9a=1"), "line 1 is not NAME=value");
  EXPECT_EQ(Refusal("a b=1"), "line 1 is not NAME=value");
  EXPECT_EQ(Refusal("=1"), "line 1 is not NAME=value");
  EXPECT_EQ(Refusal(std::string(65, 'a') + "=1"), "line 1 is not NAME=value");
  EXPECT_EQ(Refusal("a=1\nb<<\nx\n"), "line 2 is not NAME<<WORD");
  EXPECT_EQ(Refusal("a=1\nb<<END\nx\nEND2\n"), "the value that begins in line 2 does not end");
  EXPECT_EQ(Refusal("a=\xff"), "not UTF-8");
  EXPECT_EQ(Refusal(std::string_view("a=\0", 3)), "a NUL character");
}

TEST(OutputsTest, LimitsAreExact) {
  EXPECT_TRUE(ParseOutputs("a=" + std::string(kOutputsBytesMax - 2, 'x')).ok());
  EXPECT_EQ(Refusal("a=" + std::string(kOutputsBytesMax - 1, 'x')), "more than 16384 bytes");
  EXPECT_TRUE(ParseOutputs(std::string(64, 'a') + "=1").ok());
  std::string text;
  for (size_t i = 0; i < kOutputsMax; ++i) text += "n" + std::to_string(i) + "=\n";
  EXPECT_EQ(ParseOutputs(text + "n0=again\n")->size(), kOutputsMax);
  EXPECT_EQ(Refusal(text + "more=\n"), "more than 64 names");
}

TEST(OutputsTest, OwnLinesAreReadBack) {
  for (const std::string value : {"", "x", "a=b", "<<END", "one\ntwo", "\n", "END\nEND2", "a\n",
                                  "\n\nEND\n", "\r\n", "\r", "x\r", "a\r\nb\r", "ä\n中"}) {
    EXPECT_EQ(*ParseOutputs(FormatOutput("n", value)), (Outputs{{"n", value}})) << value;
  }
}

TEST(OutputsTest, CheckKnowsTheSameLimits) {
  EXPECT_TRUE(CheckOutputs({{"a", "1"}}).ok());
  EXPECT_FALSE(CheckOutputs({{"a-b", "1"}}).ok());
  EXPECT_FALSE(CheckOutputs({{"a", "\xff"}}).ok());
  EXPECT_FALSE(CheckOutputs({{"a", std::string(1, '\0')}}).ok());
  EXPECT_TRUE(CheckOutputs({{"a", std::string(kOutputsBytesMax - 1, 'x')}}).ok());
  EXPECT_FALSE(CheckOutputs({{"a", std::string(kOutputsBytesMax, 'x')}}).ok());
}

TEST(OutputsMutationTest, AnyTextIsReadOrRefused) {
  const std::string good = "rows=12\nreport<<END\none\ntwo=2\nEND\nlast=\xc3\xa4\n";
  constexpr std::string_view kPieces[] = {"=", "<<", "\n", "END", "\xc3", "a", "\0", "\r"};
  Rng rng(27);
  size_t accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (uint64_t n = rng.Below(4); n > 0; --n) {
      text.replace(rng.Below(text.size()), rng.Below(3), kPieces[rng.Below(8)]);
    }
    const test::OutputsCheck check = test::CheckOutputsText(text);
    ASSERT_EQ(check.complaint, "") << text;
    accepted += check.accepted ? 1 : 0;
  }
  EXPECT_GT(accepted, 1000u);
}

}  // namespace
}  // namespace carillon
