#include "common/base/time.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace carillon {
namespace {

TEST(TimeTest, FormatsWithSixDecimals) {
  EXPECT_EQ(FormatRfc3339(FromUnixMicros(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(FormatRfc3339(FromUnixMicros(1'772'330'400'000'001)), "2026-03-01T02:00:00.000001Z");
  EXPECT_EQ(FormatRfc3339(kNever), "");
}

TEST(TimeTest, ParsesWhatItFormats) {
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    const WallTime t = FromUnixMicros(static_cast<int64_t>(rng.Next() >> 8));
    ASSERT_EQ(*ParseRfc3339(FormatRfc3339(t)), t);
  }
}

TEST(TimeTest, ParsesOffsetsAndDecimals) {
  const WallTime t = FromUnixMicros(1'772'330'400'000'000);
  EXPECT_EQ(*ParseRfc3339("2026-03-01T02:00:00Z"), t);
  const auto late = ParseRfc3339("9999-12-31T23:59:59Z");
  EXPECT_EQ(late.code(), ErrorCode::kInvalid);
  EXPECT_NE(late.error().message.find("4253"), std::string::npos) << late.error().message;
  EXPECT_EQ(*ParseRfc3339("2026-03-01t04:30:00.5+02:30"), t + 500ms);
  EXPECT_EQ(*ParseRfc3339("2026-02-28T21:00:00-05:00"), t);
  EXPECT_EQ(*ParseRfc3339("2026-03-01T02:00:00.123456789Z"), t + 123456us);
}

TEST(TimeTest, RefusesWhatIsNotATime) {
  for (const char* text :
       {"", "2026-03-01", "2026-03-01T02:00:00", "2026-02-29T00:00:00Z", "2026-03-01T24:00:00Z",
        "2026-03-01T02:00:00.Z", "2026-03-01T02:00:00.1234567890Z", "2026-03-01T02:00:00+2:00",
        "2026-03-01T02:00:00Z ", "1969-12-31T23:59:59Z", "9999-01-01T00:00:00Z",
        "2026-03-01T02:00:00+24:00", "2026-3-01T02:00:00Z"}) {
    EXPECT_FALSE(ParseRfc3339(text).ok()) << text;
  }
}

}  // namespace
}  // namespace carillon
