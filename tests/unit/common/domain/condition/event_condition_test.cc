#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/domain/condition/condition.h"
#include "tests/unit/common/domain/event/event_samples.h"

namespace carillon::test {
namespace {

struct NamedSample {
  std::string name;  // in the condition
  std::optional<ConditionValue> value;
};

const std::vector<NamedSample>& ValueSamples() {
  static const std::vector<NamedSample> kSamples{{"data.absent", std::nullopt},
                                                 {"data.yes", true},
                                                 {"data.no", false},
                                                 {"data.five", Whole(5)},
                                                 {"data.five_real", Real(5)},
                                                 {"data.more", Real(7.5)},
                                                 {"data.big", Whole(9'007'199'254'740'993)},
                                                 {"data.digits", TextValue("5")},
                                                 {"data.word", TextValue("x")},
                                                 {"data.truth", TextValue("true")},
                                                 {"data.empty", TextValue("")},
                                                 {"data.list", ConditionTree{"[5]"}},
                                                 {"data.list.0", Whole(5)},
                                                 {"data.object", ConditionTree{"{}"}},
                                                 {"data", ConditionTree{"{}"}},
                                                 {"id", TextValue("x")},
                                                 {"subject", std::nullopt}};
  return kSamples;
}

const TableOfValues& SampleValues() {
  static const TableOfValues kValues = [] {
    TableOfValues::Table table;
    for (const NamedSample& sample : ValueSamples()) {
      if (sample.value) table[sample.name] = *sample.value;
    }
    return TableOfValues(table);
  }();
  return kValues;
}

Truth EventAnswer(const std::string& text) {
  const auto condition = Condition::ParseForEvents(text);
  EXPECT_TRUE(condition.ok()) << text << ": " << condition.error().message;
  return condition.ok() ? condition->Evaluate(SampleValues()) : Truth::kNotComputable;
}

std::string EventRefusal(std::string_view text) {
  const auto condition = Condition::ParseForEvents(text);
  if (condition.ok()) return "accepted";
  EXPECT_EQ(condition.code(), ErrorCode::kInvalid);
  return condition.error().message;
}

Truth TruthNamed(bool truth) { return truth ? Truth::kTrue : Truth::kFalse; }

// The meaning of a comparison, written down a second time: by the types of both sides.
Truth ExpectedTruth(const std::string& op, const std::optional<ConditionValue>& left,
                    const std::optional<ConditionValue>& right) {
  if (!left || !right || left->index() != right->index()) return Truth::kNotComputable;
  const auto equality = [&](bool same) {
    if (op != "==" && op != "!=") return Truth::kNotComputable;
    return TruthNamed(same == (op == "=="));
  };
  if (const auto* truth = std::get_if<bool>(&*left)) {
    return equality(*truth == std::get<bool>(*right));
  }
  if (const auto* text = std::get_if<std::string>(&*left)) {
    return equality(*text == std::get<std::string>(*right));
  }
  if (std::holds_alternative<ConditionTree>(*left)) return Truth::kNotComputable;
  const auto wide = [](const ConditionValue& value) {
    const auto& number = std::get<ConditionNumber>(value);
    return number.is_whole ? static_cast<long double>(number.whole)
                           : static_cast<long double>(number.real);
  };
  const long double a = wide(*left);
  const long double b = wide(*right);
  if (op == "==") return TruthNamed(a == b);
  if (op == "!=") return TruthNamed(a != b);
  if (op == "<") return TruthNamed(a < b);
  if (op == "<=") return TruthNamed(a <= b);
  return TruthNamed(op == ">" ? a > b : a >= b);
}

const std::vector<std::string> kComparisons{"==", "!=", "<", "<=", ">", ">="};

TEST(EventConditionTest, EachValueIsComparedWithEachOtherByItsType) {
  for (const NamedSample& left : ValueSamples()) {
    for (const NamedSample& right : ValueSamples()) {
      for (const std::string& op : kComparisons) {
        std::string text = left.name;
        text.append(" ").append(op).append(" ").append(right.name);
        EXPECT_EQ(EventAnswer(text), ExpectedTruth(op, left.value, right.value)) << text;
      }
    }
  }
}

TEST(EventConditionTest, EachValueIsComparedWithLiterals) {
  const std::vector<NamedSample> literals{
      {"5", Whole(5)},         {"5.0", Real(5)},
      {"-1", Whole(-1)},       {"9007199254740992", Whole(1LL << 53)},
      {"'5'", TextValue("5")}, {"'x'", TextValue("x")},
      {"''", TextValue("")},   {"'true'", TextValue("true")},
      {"true", true},          {"false", false}};
  for (const NamedSample& sample : ValueSamples()) {
    for (const NamedSample& literal : literals) {
      const bool number = std::holds_alternative<ConditionNumber>(*literal.value);
      for (const std::string& op : kComparisons) {
        if (!number && op != "==" && op != "!=") continue;  // refused
        std::string text = sample.name + op + literal.name;
        EXPECT_EQ(EventAnswer(text), ExpectedTruth(op, sample.value, literal.value)) << text;
        text = literal.name + op + sample.name;
        EXPECT_EQ(EventAnswer(text), ExpectedTruth(op, literal.value, sample.value)) << text;
      }
    }
  }
}

TEST(EventConditionTest, EachValueIsNullOrNot) {
  for (const NamedSample& sample : ValueSamples()) {
    EXPECT_EQ(EventAnswer(sample.name + " == null"), TruthNamed(!sample.value)) << sample.name;
    EXPECT_EQ(EventAnswer("null != " + sample.name), TruthNamed(sample.value.has_value()))
        << sample.name;
  }
}

TEST(EventConditionTest, OnlyTrueAndFalseStandAlone) {
  for (const NamedSample& sample : ValueSamples()) {
    const bool* truth = sample.value ? std::get_if<bool>(&*sample.value) : nullptr;
    const Truth expected = truth == nullptr ? Truth::kNotComputable : TruthNamed(*truth);
    const Truth opposite = truth == nullptr ? Truth::kNotComputable : TruthNamed(!*truth);
    EXPECT_EQ(EventAnswer(sample.name), expected) << sample.name;
    EXPECT_EQ(EventAnswer("not " + sample.name), opposite) << sample.name;
    EXPECT_EQ(EventAnswer("false and " + sample.name), Truth::kFalse) << sample.name;
    EXPECT_EQ(EventAnswer(sample.name + " or true"), Truth::kTrue) << sample.name;
    EXPECT_EQ(EventAnswer(sample.name + " and true"), expected) << sample.name;
  }
}

// Outputs of runs are all texts, so there digits are a number.
TEST(EventConditionTest, ATextOfDigitsIsNoNumber) {
  EXPECT_EQ(EventAnswer("data.digits == 5"), Truth::kNotComputable);
  EXPECT_EQ(EventAnswer("data.digits > 4"), Truth::kNotComputable);
  EXPECT_EQ(EventAnswer("data.digits == '5'"), Truth::kTrue);
  EXPECT_EQ(EventAnswer("data.five == '5'"), Truth::kNotComputable);
  EXPECT_EQ(EventAnswer("data.truth == true"), Truth::kNotComputable);
  const Outputs outputs{{"digits", "5"}};
  EXPECT_EQ(Condition::Parse("outputs.digits > 4")
                ->Evaluate({.state = RunState::kCompleted, .outputs = &outputs}),
            Truth::kTrue);
}

TEST(EventConditionTest, ManyTextsLiveUntilTheAnswer) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "data.word == id and ";
  EXPECT_EQ(EventAnswer(text + "data.word == 'x'"), Truth::kTrue);
}

TEST(EventConditionTest, TheNamesOfOneLanguageAreUnknownInTheOther) {
  EXPECT_EQ(EventRefusal("dta.amount > 3"),
            "at character 1: unknown name 'dta.amount'; did you mean 'data'?; a value of the event "
            "is id, source, type, subject, data or data.NAME, and texts are written in quotation "
            "marks");
  EXPECT_NE(EventRefusal("event.data.n > 3").find("did you mean 'data.n'?"), std::string::npos);
  EXPECT_NE(EventRefusal("event.id == 'x'").find("did you mean 'id'?"), std::string::npos);
  EXPECT_NE(EventRefusal("sourc == 'x'").find("did you mean 'source'?"), std::string::npos);
  for (const std::string name : {"exit_code", "state", "outputs.n", "id.x", "event", "Data.n"}) {
    EXPECT_NE(EventRefusal(name + " == 'x'").find("unknown name '" + name + "'"), std::string::npos)
        << name;
  }
  for (const std::string name : {"id", "source", "type", "subject", "data", "data.n"}) {
    const auto of_runs = Condition::Parse(name + " == 'x'");
    ASSERT_FALSE(of_runs.ok()) << name;
    EXPECT_NE(of_runs.error().message.find("a name is exit_code, state or outputs.NAME"),
              std::string::npos);
  }
}

TEST(EventConditionTest, ARefusalSpeaksOfValuesOfTheEvent) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", "at character 1: expected a condition"},
      {"data.n =", "at character 8: expected and, or, or the end of the condition"},
      {"data.n < 'a'", "at character 8: a text is compared by == or != only"},
      {"data.n < null", "at character 8: null is compared by == or != only"},
      {"'a' == null", "at character 5: only a value of the event can be null"},
      {"(3)", "at character 1: expected a condition; this is a number"},
      {"data.",
       "at character 1: 'data.' is no name of a value of the event: it has at most 10 "
       "parts of letters, digits and _, with a dot between two of them, and 200 bytes"}};
  for (const auto& [text, expected] : rows) EXPECT_EQ(EventRefusal(text), expected) << text;
  EXPECT_EQ(EventRefusal(std::string(1001, ' ')), "has 1001 bytes; at most 1000 are allowed");
}

TEST(EventConditionTest, NamesHaveBounds) {
  for (const std::string name : {"id", "source", "type", "subject", "data", "data.a",
                                 "data.items.0", "data._A9.true", "data.a.b.c.d.e.f.g.h.i"}) {
    EXPECT_TRUE(IsEventName(name)) << name;
  }
  for (const std::string name :
       {"", ".", "data.", "data..a", "data.a.", ".data", "data.a-b", "data.a b", "datab", "id.a",
        "time", "ID", "data.a.b.c.d.e.f.g.h.i.j", "data.\xc3\xa4", "event.id"}) {
    EXPECT_FALSE(IsEventName(name)) << name;
  }
  const std::string longest = "data." + std::string(195, 'a');
  EXPECT_TRUE(IsEventName(longest));
  EXPECT_FALSE(IsEventName(longest + "a"));
}

}  // namespace
}  // namespace carillon::test
