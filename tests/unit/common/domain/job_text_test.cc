#include "common/domain/job_text.h"

#include <gtest/gtest.h>

#include "common/domain/line_ends.h"

namespace carillon {
namespace {

TEST(JobTextTest, BlankIsWhatNobodySees) {
  for (const char* blank :
       {"", " ", "\u00a0\u2003", "\u200b", "\u3000", "\ufeff \u2060", "\u3164"}) {
    EXPECT_TRUE(IsBlank(blank)) << blank;
  }
  for (const char* text : {"a", " .", "\u200bü", "\u6bcf\u65e5", "\U0001F514", "\u05d0"}) {
    EXPECT_FALSE(IsBlank(text)) << text;
  }
}

TEST(JobTextTest, OnlyOverridesOfTheDirectionAreFound) {
  for (const char* text : {"a\u202eb", "\u2066a", "a\u2069"}) {
    EXPECT_TRUE(HasDirectionOverride(text)) << text;
  }
  // Direction marks are allowed, and so is right-to-left text.
  for (const char* text : {"", "a", "\u05d0\u200f!", "\u200ea", "\u2065\u202f"}) {
    EXPECT_FALSE(HasDirectionOverride(text)) << text;
  }
}

TEST(JobTextTest, LineEndsOfWindowsBecomeThoseOfUnix) {
  EXPECT_EQ(WithUnixLines(""), "");
  EXPECT_EQ(WithUnixLines("a\nb"), "a\nb");
  EXPECT_EQ(WithUnixLines("a\r\n\r\nb\rc\r\r\nd\r"), "a\n\nb\rc\nd");
  EXPECT_EQ(WithUnixLines("\r\n"), "\n");
  EXPECT_EQ(WithoutByteOrderMark("\xEF\xBB\xBFls"), "ls");
  EXPECT_EQ(WithoutByteOrderMark("ls \xEF\xBB\xBF"), "ls \xEF\xBB\xBF");
}

}  // namespace
}  // namespace carillon
