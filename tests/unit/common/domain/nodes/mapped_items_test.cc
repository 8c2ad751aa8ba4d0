#include "common/domain/nodes/mapped_items.h"

#include <gtest/gtest.h>

#include <string>

#include "common/domain/run/outputs.h"

namespace carillon::test {
namespace {

using Items = std::vector<ParameterValue>;

TEST(MappedItemsTest, AnItemKeepsItsType) {
  EXPECT_EQ(*ItemsOf(std::string(R"( ["a", 1, -2.5, true, false, 1e2] )")),
            (Items{std::string("a"), int64_t{1}, -2.5, true, false, 100.0}));
  EXPECT_EQ(*ItemsOf(std::string("[]")), Items{});
  EXPECT_EQ(*ItemsOf(std::string("[ ]")), Items{});
}

TEST(MappedItemsTest, TextsAreUnescaped) {
  EXPECT_EQ(*ItemsOf(std::string(R"(["a\"b\\c\/\b\f\n\r\t", "é", "\ud83d\ude00", "é"])")),
            (Items{std::string("a\"b\\c/\b\f\n\r\t"), std::string("é"), std::string("😀"),
                   std::string("é")}));
}

TEST(MappedItemsTest, ListsAndObjectsStayAsTheyAreWritten) {
  EXPECT_EQ(*ItemsOf(std::string(R"([{"a": [1, null], "b": "]"}, [ "x" ], {}])")),
            (Items{std::string(R"({"a": [1, null], "b": "]"})"), std::string(R"([ "x" ])"),
                   std::string("{}")}));
}

TEST(MappedItemsTest, ALongNumberLosesNoDigits) {
  EXPECT_EQ(*ItemsOf(std::string("[9223372036854775807, 12345678901234567890, 1e999]")),
            (Items{int64_t{9223372036854775807}, std::string("12345678901234567890"),
                   std::string("1e999")}));
}

TEST(MappedItemsTest, AllElseIsRefused) {
  for (const std::string text : {"",
                                 " ",
                                 "null",
                                 "{}",
                                 "\"a\"",
                                 "a,b",
                                 "[",
                                 "[1",
                                 "[1,",
                                 "[1,]",
                                 "[,1]",
                                 "[1 2]",
                                 "[1]]",
                                 "[1] 2",
                                 "[null]",
                                 "[nul]",
                                 "[01]",
                                 "[+1]",
                                 "[1.]",
                                 "[.5]",
                                 "[1e]",
                                 "[--1]",
                                 "[0x1]",
                                 "[NaN]",
                                 "[Infinity]",
                                 "['a']",
                                 "[\"a]",
                                 "[\"\\x\"]",
                                 "[\"\\u12\"]",
                                 "[\"\\ud800\"]",
                                 "[\"\\udc00\"]",
                                 "[\"\\ud800\\u0041\"]",
                                 "[\"\n\"]",
                                 "[{]",
                                 "[{\"a\"}]",
                                 "[{\"a\":}]",
                                 "[{a:1}]",
                                 "[{\"a\":1,}]",
                                 "[[1,]]",
                                 "[[}]",
                                 "[\"\\u0000\"]",
                                 "[\"\xff\"]",
                                 "[\"{{secrets.KEY}}\"]",

                                 "[true1]"}) {
    const auto items = ItemsOf(text);
    ASSERT_FALSE(items.ok()) << text;
    EXPECT_EQ(items.code(), ErrorCode::kInvalid) << text;
  }
  EXPECT_FALSE(ItemsOf(int64_t{1}).ok());
  EXPECT_FALSE(ItemsOf(std::string(40, '[') + std::string(40, ']')).ok()) << "nested too deep";
}

TEST(MappedItemsTest, AListHasAThousandItems) {
  std::string list = "[0";
  for (size_t i = 1; i < kMappedItemsMax; ++i) list += ",0";
  EXPECT_EQ(ItemsOf(list + "]")->size(), kMappedItemsMax);
  EXPECT_EQ(ItemsOf(list + ",0]").code(), ErrorCode::kInvalid);
}

TEST(MappedItemsTest, CollectedOutputsAreAListAgain) {
  EXPECT_EQ(*CollectedOf({}), "[]");
  const auto list = CollectedOf({"12", std::nullopt, "a \"b\"\n", ""});
  EXPECT_EQ(*list, R"(["12",null,"a \"b\"\u000a",""])");
  EXPECT_EQ(*ItemsOf(*CollectedOf({"12", "é\t"})), (Items{std::string("12"), std::string("é\t")}));
}

TEST(MappedItemsTest, CollectedOutputsFitWithTheirName) {
  const size_t room = kOutputsBytesMax - kOutputNameBytesMax - 4;  // brackets and quotes
  const auto list = CollectedOf({std::string(room, 'a')});
  ASSERT_TRUE(list.ok());
  EXPECT_TRUE(CheckOutputs({{std::string(kOutputNameBytesMax, 'n'), *list}}).ok());
  const auto longer = CollectedOf({std::string(room + 1, 'a')});
  EXPECT_EQ(longer.code(), ErrorCode::kInvalid);
  EXPECT_NE(longer.error().message.find(std::to_string(room + 5)), std::string::npos);
}

}  // namespace
}  // namespace carillon::test
