#include "common/domain/condition/condition.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/base/rng.h"

namespace carillon::test {
namespace {

Truth Answer(std::string_view text, const ConditionFacts& facts) {
  const auto condition = Condition::Parse(text);
  EXPECT_TRUE(condition.ok()) << text << ": " << condition.error().message;
  return condition.ok() ? condition->Evaluate(facts) : Truth::kNotComputable;
}

std::string Refusal(std::string_view text) {
  const auto condition = Condition::Parse(text);
  if (condition.ok()) return "accepted";
  EXPECT_EQ(condition.code(), ErrorCode::kInvalid);
  return condition.error().message;
}

const Outputs kOutputs{{"n", "7"},     {"big", "9007199254740993"}, {"real", "2.5e1"},
                       {"ok", "true"}, {"text", "it's \"x\""},      {"empty", ""}};
const ConditionFacts kFailed{.state = RunState::kFailed, .exit_code = 3, .outputs = &kOutputs};
const ConditionFacts kLost{.state = RunState::kLost};

TEST(ConditionTest, AnswersTrueOrFalse) {
  const std::vector<std::pair<std::string, bool>> rows{
      {"true", true},
      {"not true", false},
      {"exit_code == 3", true},
      {"3 != exit_code", false},
      {"exit_code<=2", false},
      {"exit_code >= 2.5", true},
      {"state == \"FAILED\"", true},
      {"'TIMED_OUT' != state", true},
      {"outputs.n > 5", true},
      {"outputs.n == 7.0", true},
      {"outputs.n == '7'", true},
      {"outputs.n == \"7.0\"", false},
      {"outputs.big > 9007199254740992", true},
      {"outputs.real == 25", true},
      {"outputs.n < outputs.real", true},
      {"outputs.n == outputs.real", false},
      {"outputs.ok", true},
      {"outputs.ok == false", false},
      {"not outputs.ok", false},
      {"outputs.text == 'it\\'s \"x\"'", true},
      {"outputs.empty == \"\"", true},
      {"outputs.empty != null", true},
      {"outputs.gone == null", true},
      {"null != exit_code", true},
      {"-1 < 1e2", true},
      {"'a' == 'a'", true},
      {"(exit_code) == (3)", true},
      {"(exit_code == 3) == outputs.ok", true},
      // not binds most, or least.
      {"not false or true", true},
      {"not (false or true)", false},
      {"true or false and false", true},
      {"(true or false) and false", false},
      {"not exit_code == 1", true},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(Answer(text, kFailed), expected ? Truth::kTrue : Truth::kFalse) << text;
  }
}

TEST(ConditionTest, AMissingValueIsNeverFalse) {
  for (const std::string text :
       {"outputs.gone == 'x'", "outputs.gone != 'x'", "not outputs.gone == 'x'", "outputs.gone",
        "outputs.gone > 1", "outputs.text > 1", "outputs.text == true", "outputs.text",
        "outputs.empty == 0", "outputs.gone == outputs.gone", "outputs.gone == 1 and true",
        "outputs.gone == 1 or false", "outputs.n == 7 and outputs.gone == 1",
        "outputs.text < outputs.n"}) {
    EXPECT_EQ(Answer(text, kFailed), Truth::kNotComputable) << text;
  }
  EXPECT_EQ(Answer("exit_code == 0", kLost), Truth::kNotComputable);
  EXPECT_EQ(Answer("outputs.n == 0", kLost), Truth::kNotComputable);
}

TEST(ConditionTest, AnOperandThatDecidesIsEnough) {
  for (const std::string missing : {"outputs.gone == 1", "not outputs.gone > 1"}) {
    EXPECT_EQ(Answer("false and " + missing, kFailed), Truth::kFalse);
    EXPECT_EQ(Answer(missing + " and false", kFailed), Truth::kFalse);
    EXPECT_EQ(Answer("true or " + missing, kFailed), Truth::kTrue);
    EXPECT_EQ(Answer(missing + " or true", kFailed), Truth::kTrue);
  }
  EXPECT_EQ(Answer("outputs.gone != null and outputs.gone > 1", kFailed), Truth::kFalse);
}

TEST(ConditionTest, ARefusalNamesTheCharacter) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", "at character 1: expected a condition"},
      {"  ", "at character 3: expected a condition"},
      {"exit_code", "at character 1: expected a condition; this is exit_code"},
      {"(3)", "at character 1: expected a condition; this is a number"},
      {"true and 'x'", "at character 10: expected a condition; this is a text"},
      {"not null", "at character 5: expected a condition; this is null"},
      {"exit_code ==", "at character 13: expected a value"},
      {"exit_code = 3", "at character 11: expected and, or, or the end of the condition"},
      {"exit_code == 3 4", "at character 16: expected and, or, or the end of the condition"},
      {"1 < exit_code < 3", "at character 15: comparisons cannot be chained; join two by and"},
      {"exit_code == '3'", "at character 11: exit_code is compared with a text"},
      {"(true", "at character 1: this parenthesis is not closed"},
      {"outputs.x == 'a", "at character 14: this quotation mark is not closed"},
      {"outputs.x == 'a\\", "at character 14: this quotation mark is not closed"},
      {"outputs.x == 'a\\n'", "at character 17: only a quotation mark or \\ may follow \\"},
      {"exit_code == 3x", "at character 14: this is not a number"},
      {"outputs.x < 'a'", "at character 11: a text is compared by == or != only"},
      {"outputs.x < true", "at character 11: true or false is compared by == or != only"},
      {"exit_code < null", "at character 11: null is compared by == or != only"},
      {"state == null", "at character 7: only exit_code and outputs can be null"},
      {"null == null", "at character 6: only exit_code and outputs can be null"},
      {"state < 'FAILED'", "at character 7: state is compared by == or != only"},
      {"state == outputs.x",
       "at character 7: state is compared with a text such as \"FAILED\" only"},
      {"state == 'failed'",
       "at character 10: 'failed' is not one of COMPLETED, FAILED, TIMED_OUT, CANCELLED, LOST, "
       "SKIPPED; did you mean 'FAILED'?"},
      {"\xff", "is not valid UTF-8"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(Refusal(text), expected) << text;
  EXPECT_NE(Refusal("exitcode == 3").find("did you mean 'exit_code'?"), std::string::npos);
  EXPECT_NE(Refusal("outputs.1 == 3").find("unknown name 'outputs.1'"), std::string::npos);
  EXPECT_NE(Refusal("outputs.a.b == 3").find("unknown name"), std::string::npos);
}

TEST(ConditionTest, LengthAndDepthAreLimited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '(') + "true" + std::string(depth, ')');
  };
  EXPECT_EQ(Refusal(nested(32)), "accepted");
  EXPECT_EQ(Refusal(nested(33)), "at character 33: nested deeper than 32");
  std::string nots = "true";
  for (int i = 0; i < 40; ++i) nots = "not " + nots;
  EXPECT_NE(Refusal(nots).find("nested deeper"), std::string::npos);
  EXPECT_EQ(Refusal("true" + std::string(996, ' ')), "accepted");
  EXPECT_EQ(Refusal("true" + std::string(997, ' ')), "has 1001 bytes; at most 1000 are allowed");
  std::string flat = "true";
  while (flat.size() < 900) flat += " and true";
  EXPECT_EQ(Refusal(flat), "accepted");
}

TEST(ConditionTest, KnowsWhatCanNeverHold) {
  struct Row {
    std::string text;
    bool completed, failed, skipped;
  };
  for (const Row& row : std::vector<Row>{
           {"true", true, true, true},
           {"false", false, false, false},
           {"state == 'FAILED'", false, true, false},
           {"exit_code == 3", false, true, false},
           {"exit_code == 0", true, true, false},
           {"exit_code == null", true, true, true},
           {"outputs.n > 3", true, true, false},
           {"outputs.n == null", true, true, true},
           {"outputs.n > 3 and false", false, false, false},
           {"outputs.n > 3 or state != 'SKIPPED'", true, true, false},
           {"not outputs.ok", true, true, false},
           {"exit_code != 0 and outputs.ok", false, true, false},
       }) {
    const auto condition = Condition::Parse(row.text);
    ASSERT_TRUE(condition.ok()) << row.text;
    EXPECT_EQ(condition->CanHold(RunState::kCompleted), row.completed) << row.text;
    EXPECT_EQ(condition->CanHold(RunState::kFailed), row.failed) << row.text;
    EXPECT_EQ(condition->CanHold(RunState::kSkipped), row.skipped) << row.text;
  }
}

// ---- random conditions -------------------------------------------------------------------------

struct Grown {
  std::string text;
  std::optional<bool> value;
};

Grown Leaf(Rng& rng) {
  static const std::vector<Grown> kLeaves{
      {"true", true},
      {"false", false},
      {"exit_code == 3", true},
      {"exit_code < 3", false},
      {"state == 'FAILED'", true},
      {"outputs.n >= 7", true},
      {"outputs.gone == 7", std::nullopt},
      {"outputs.text", std::nullopt},
      {"outputs.ok", true},
      {"outputs.gone == null", true},
      {"outputs.n == null", false},
  };
  return kLeaves[rng.Below(kLeaves.size())];
}

// Fully parenthesised; its value by the three-valued tables.
Grown Grow(Rng& rng, int depth) {
  if (depth == 0 || rng.Chance(0.2)) return Leaf(rng);
  const Grown left = Grow(rng, depth - 1);
  if (rng.Chance(0.3)) {
    return {"not (" + left.text + ")", left.value ? std::optional(!*left.value) : std::nullopt};
  }
  const Grown right = Grow(rng, depth - 1);
  const bool is_and = rng.Chance(0.5);
  Grown both{"(" + left.text + ")" + (is_and ? " and " : " or ") + "(" + right.text + ")", {}};
  const auto has = [&](std::optional<bool> value) {
    return left.value == value || right.value == value;
  };
  if (has(!is_and)) {
    both.value = !is_and;
  } else if (!has(std::nullopt)) {
    both.value = is_and;
  }
  return both;
}

TEST(ConditionTest, RandomConditionsMeanWhatTheTablesSay) {
  size_t checked = 0;
  for (uint64_t seed = 1; seed <= 5'000; ++seed) {
    Rng rng(seed);
    const Grown grown = Grow(rng, 4);
    if (grown.text.size() > kConditionBytesMax) continue;
    ++checked;
    Truth expected = Truth::kNotComputable;
    if (grown.value) expected = *grown.value ? Truth::kTrue : Truth::kFalse;
    ASSERT_EQ(Answer(grown.text, kFailed), expected) << "seed " << seed << ": " << grown.text;
  }
  EXPECT_GT(checked, 4'000u);
}

}  // namespace
}  // namespace carillon::test
