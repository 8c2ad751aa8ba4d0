#include "common/domain/selector.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

using Labels = std::map<std::string, std::string>;

const Labels kHost{{"zone", "a"}, {"disk", "ssd"}, {"note", "two words"}, {"empty", ""}};

TEST(SelectorTest, Matches) {
  const std::vector<std::pair<std::string, bool>> rows = {
      {"", true},
      {"  ", true},
      {"zone=a", true},
      {"zone == a", true},
      {"zone=b", false},
      {"rack=a", false},
      {"zone!=b", true},
      {"zone!=a", false},
      {"rack!=a", true},
      {"zone", true},
      {"empty", true},
      {"rack", false},
      {"!rack", true},
      {"! zone", false},
      {"zone in (a)", true},
      {"zone in (b, a ,c)", true},
      {"zone in (b)", false},
      {"rack in (b)", false},
      {"zone notin (b,c)", true},
      {"zone notin (b,a)", false},
      {"rack notin (b)", true},
      {"zone=a,disk=ssd", true},
      {" zone = a , disk notin (hdd) , !spare ", true},
      {"zone=a,disk=hdd", false},
      {"note = \"two words\"", true},
      {"\"note\"=\"two words\"", true},
      {"empty=\"\"", true},
      {"zone=\"a\"", true},
      {"in=in", false},
      {"kubernetes.io/arch!=arm64", true},
  };
  for (const auto& [text, matches] : rows) {
    const auto selector = Selector::Parse(text);
    ASSERT_TRUE(selector.ok()) << text << ": " << selector.error().message;
    EXPECT_EQ(selector->Matches(kHost), matches) << text;
  }
  EXPECT_FALSE(Selector::Nothing().Matches(kHost));
  EXPECT_FALSE(Selector::Nothing().Matches({}));
}

TEST(SelectorTest, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"zone=", "at character 6: expected a value"},
      {"=a", "at character 1: expected a label name"},
      {",", "at character 1: expected a label name"},
      {"zone=a,", "at character 8: expected a condition after ,"},
      {"zone=a disk=b", "at character 8: expected , between two conditions"},
      {"zone in a", "at character 9: expected ( before the values"},
      {"zone in ()", "at character 10: expected a value"},
      {"zone in (a b)", "at character 12: expected , or ) after a value"},
      {"zone in (a", "at character 11: expected , or ) after a value"},
      {"zone like a", "at character 11: expected =, !=, in or notin before this"},
      {"zone ! a", "at character 8: expected = after !"},
      {"zone=\"a", "at character 6: unclosed quotation mark"},
      {"zone=a\nb", "at character 7: expected , between two conditions"},
      {"!", "at character 2: expected a label name"},
      {"zone(a)", "at character 5: expected =, !=, in or notin"},
  };
  for (const auto& [text, message] : rows) {
    const auto selector = Selector::Parse(text);
    ASSERT_FALSE(selector.ok()) << text;
    EXPECT_EQ(selector.code(), ErrorCode::kInvalid);
    EXPECT_EQ(selector.error().message, message) << text;
  }
}

TEST(SelectorTest, IsBounded) {
  std::string many = "a";
  for (int i = 0; i < 31; ++i) many += ",a";
  EXPECT_TRUE(Selector::Parse(many).ok());
  EXPECT_FALSE(Selector::Parse(many + ",a").ok());
  EXPECT_TRUE(Selector::Parse(std::string(1000, 'a')).ok());
  EXPECT_FALSE(Selector::Parse(std::string(1001, 'a')).ok());
}

}  // namespace
}  // namespace carillon::test
