#include "common/adapters/http/http_target.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

TEST(HttpTargetTest, SplitsBeforeItDecodes) {
  const auto target = ParseHttpTarget("/a%2Fb/c+d//e?x=1&x=2&y=a+b%2B&&z=&=v&q=a=b#frag");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->segments, (std::vector<std::string>{"a/b", "c+d", "", "e"}));
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(target->query,
            (Pairs{{"x", "1"}, {"x", "2"}, {"y", "a b+"}, {"z", ""}, {"", "v"}, {"q", "a=b"}}));
}

TEST(HttpTargetTest, TheRootIsOneEmptySegment) {
  EXPECT_EQ(ParseHttpTarget("/")->segments, std::vector<std::string>{""});
  EXPECT_EQ(ParseHttpTarget("/?x")->query.size(), 1u);
}

TEST(HttpTargetTest, RefusesWhatCannotBeDecoded) {
  for (const char* bad : {"",
                          "*",
                          "http://x/",
                          "a",
                          "/%",
                          "/%4",
                          "/%4g",
                          "/%g4",
                          "/?x=%",
                          "/%00",
                          "/%0a",
                          "/%7f",
                          "/%80",
                          "/%c0%80",
                          "/%c1%bf",
                          "/%e0%9f%bf",
                          "/%ed%a0%80",
                          "/%f0%8f%bf%bf",
                          "/%f4%90%80%80",
                          "/%f5%80%80%80",
                          "/%c3",
                          "/%e2%82",
                          "/\xff",
                          "/?x=%0d%0a"}) {
    const auto target = ParseHttpTarget(bad);
    ASSERT_FALSE(target.ok()) << bad;
    EXPECT_EQ(target.code(), ErrorCode::kInvalid) << bad;
  }
}

TEST(HttpTargetTest, KeepsEveryValidCodePointLength) {
  const auto target = ParseHttpTarget("/%24%C2%A2%E2%82%AC%F0%90%8D%88%F4%8F%BF%BF");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->segments[0], "$\xc2\xa2\xe2\x82\xac\xf0\x90\x8d\x88\xf4\x8f\xbf\xbf");
}

TEST(HttpTargetTest, BoundsTheNumberOfParameters) {
  std::string target = "/?";
  for (size_t i = 0; i < kQueryParametersMax; ++i) target += "a&";
  EXPECT_TRUE(ParseHttpTarget(target).ok());
  EXPECT_FALSE(ParseHttpTarget(target + "b").ok());
}

TEST(HttpTargetTest, EncodingIsUndoneByDecoding) {
  std::string all;
  for (int c = 0x20; c < 0x7f; ++c) all += static_cast<char>(c);
  all += "\xc3\xa9";
  const auto target = ParseHttpTarget("/" + PercentEncode(all) + "?v=" + PercentEncode(all));
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->segments[0], all);
  EXPECT_EQ(target->query[0].second, all);
}

}  // namespace
}  // namespace carillon::test
