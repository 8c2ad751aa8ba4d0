#include "common/yaml/yaml.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/base/rng.h"

namespace carillon {
namespace {

using nlohmann::json;

TEST(YamlTest, PlainScalarsHaveTypesQuotedOnesAreText) {
  const auto document = ReadYaml(
      "a: 1\nb: '1'\nc: true\nd: \"true\"\ne: 1.5\nf: null\ng: ~\nh:\ni: yes\nj: 2026-03-01\n"
      "k: -7\nl: 0x1F\nm: .inf\nn: 1e3\no: [1, two]\n");
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(*document, (json{{"a", 1},
                             {"b", "1"},
                             {"c", true},
                             {"d", "true"},
                             {"e", 1.5},
                             {"f", nullptr},
                             {"g", nullptr},
                             {"h", nullptr},
                             {"i", "yes"},
                             {"j", "2026-03-01"},
                             {"k", -7},
                             {"l", "0x1F"},
                             {"m", ".inf"},
                             {"n", 1000.0},
                             {"o", {1, "two"}}}));
}

TEST(YamlTest, RefusesWhatHasNoOneMeaning) {
  EXPECT_EQ(ReadYaml("a: 1\na: 2\n").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ReadYaml("a: &x 1\nb: *x\n").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ReadYaml("a: 1\n---\nb: 2\n").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ReadYaml("a: [1\n").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ReadYaml("[1]: 2\n").code(), ErrorCode::kInvalid);
  EXPECT_EQ(ReadYaml(std::string(10'000, '[')).code(), ErrorCode::kInvalid);
}

TEST(YamlTest, ValueThatNeedsQuotesIsShownWithThem) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"name: a\ncron_expression: */5 * * * *\n", "quote it: '*/5 * * * *'"},
      {"name: a\ncron_expression: * * * * *\n", "quote it: '* * * * *'"},
      {"schedules:\n- cron_expression: */5 * * * *  # often\n", "quote it: '*/5 * * * *'"},
      {"list:\n  - * * * * *\n", "quote it: '* * * * *'"},
      {"name: a\ncron_expression: @daily\n", "quote it: '@daily'"},
      {"- name: b\n- {name: a, cron_expression: */5 * * * *, enabled: false}\n",
       "quote it: '*/5 * * * *'"},
      {"a:\n- {name: a, cron_expression: * * * * *}\n", "quote it: '* * * * *'"},
      {"name: a\ncommand: `date`\n", "quote it: '`date`'"},
      {"name: a\ncommand: @it's\n", "quote it: '@it''s'"},
      {"name: a\n{cron_expression: */5 * * * *}\n", ""},
      {"name: a\ncommand: !important\n", "!important is a tag of YAML"}};
  for (const auto& [text, hint] : rows) {
    const auto one = ReadYaml(text);
    const auto all = ReadYamlDocuments(text, "job.yaml");
    ASSERT_FALSE(one.ok()) << text;
    ASSERT_FALSE(all.ok()) << text;
    EXPECT_NE(one.error().message.find(hint), std::string::npos) << one.error().message;
    EXPECT_NE(all.error().message.find(hint), std::string::npos) << all.error().message;
    EXPECT_NE(all.error().message.find("job.yaml:2: "), std::string::npos) << all.error().message;
  }
  EXPECT_EQ(*ReadYaml("a: !!str 1.10\n"), (json{{"a", "1.10"}}));
}

TEST(YamlTest, StarsInTextAreNoAliases) {
  const auto document = ReadYaml("cron: '* * * * *'\nscript: |\n  rm -f -- *tmp\n  ls *x\n");
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ((*document)["script"], "rm -f -- *tmp\nls *x\n");
}

TEST(YamlTest, WritesForPeople) {
  EXPECT_EQ(WriteYaml({{"command", "set -e\nmake all\n"},
                       {"cron_expression", "0 3 * * *"},
                       {"env", json::object()},
                       {"name", "Nightly build"},
                       {"enabled", true},
                       {"flag", "yes"},
                       {"schedules", {{{"kind", "rate"}, {"every_ms", 5}}, {{"kind", "once"}}}}}),
            "command: |\n"
            "  set -e\n"
            "  make all\n"
            "cron_expression: \"0 3 * * *\"\n"
            "enabled: true\n"
            "env: {}\n"
            "flag: \"yes\"\n"
            "name: Nightly build\n"
            "schedules:\n"
            "  - every_ms: 5\n"
            "    kind: rate\n"
            "  - kind: once\n");
}

json RandomDocument(Rng& rng, int depth) {
  constexpr std::string_view kPieces[] = {"a",  "b: ", "- ", "# ", "\n",   " ",  "\n  ", "'",
                                          "\"", "\\",  "|",  "*x", "\t",   "é",  "1",    ".5",
                                          "~",  "{",   "&y", "%",  "null", "no", "---",  "\x7f"};
  const auto text = [&] {
    std::string made;
    for (size_t n = rng.Below(6); n > 0; --n) made += kPieces[rng.Below(24)];
    return made;
  };
  switch (rng.Below(depth > 0 ? 8 : 6)) {
    case 0: return nullptr;
    case 1: return rng.Chance(0.5);
    case 2: return static_cast<int64_t>(rng.Next());
    case 3: return static_cast<double>(rng.Below(1'000'000)) / 64;
    case 6: {
      json list = json::array();
      for (size_t n = rng.Below(4); n > 0; --n) list.push_back(RandomDocument(rng, depth - 1));
      return list;
    }
    case 7: {
      json object = json::object();
      for (size_t n = rng.Below(4); n > 0; --n) object[text()] = RandomDocument(rng, depth - 1);
      return object;
    }
    default: return text();
  }
}

TEST(YamlTest, ReadsBackWhatItWrites) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Rng rng(seed);
    const json document = RandomDocument(rng, 3);
    const std::string text = WriteYaml(document);
    const auto read = ReadYaml(text);
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.error().message << "\n" << text;
    ASSERT_EQ(*read, document) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace carillon
