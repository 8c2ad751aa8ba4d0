#include <gtest/gtest.h>

#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

const std::string kBad = "\xEF\xBF\xBD";

TEST(ToValidUtf8Test, ValidTextIsUntouched) {
  const std::string text = std::string("a\0b", 3) + "é钟🔔\xF4\x8F\xBF\xBF";
  EXPECT_EQ(ToValidUtf8(text), text);
}

// The examples of the Unicode standard, tables 3-8 to 3-11.
TEST(ToValidUtf8Test, EachMaximalSubpartBecomesOneReplacement) {
  EXPECT_EQ(ToValidUtf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            kBad + kBad + kBad + kBad + kBad + kBad + kBad + kBad + "A");
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            kBad + kBad + kBad + kBad + kBad + kBad + kBad + kBad + "A");
  EXPECT_EQ(ToValidUtf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            kBad + kBad + kBad + kBad + kBad + "A" + kBad + kBad + "B");
  EXPECT_EQ(ToValidUtf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), kBad + kBad + kBad + kBad + "A");
}

TEST(ToValidUtf8Test, CharacterCutAtTheEndIsOneReplacement) {
  EXPECT_EQ(ToValidUtf8("a\xF0\x9F\x94"), "a" + kBad);
  EXPECT_EQ(ToValidUtf8("a\xE9"), "a" + kBad);
  EXPECT_EQ(ToValidUtf8(""), "");
}

}  // namespace
}  // namespace carillon
