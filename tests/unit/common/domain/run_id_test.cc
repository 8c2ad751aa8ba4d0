#include "common/domain/run_id.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace carillon {
namespace {

RunKey RandomKey(Rng& rng) {
  return {FromUnixMicros(static_cast<int64_t>(rng.Next() >> 8)), ScheduleId(rng.Next() >> 12),
          static_cast<uint32_t>(rng.Next() >> 44)};
}

TEST(RunIdTest, ConvertsBackAndSortsLikeItsKey) {
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const RunKey a = RandomKey(rng);
    const RunKey b = RandomKey(rng);
    const std::string text = EncodeRunId(a);
    ASSERT_EQ(text.size(), 26u);
    ASSERT_EQ(*DecodeRunId(text), a);
    ASSERT_EQ(a < b, text < EncodeRunId(b));
  }
}

TEST(RunIdTest, KnownValue) {
  // 1 µs, schedule 1, shard 1: bits 72, 20 and 0.
  EXPECT_EQ(EncodeRunId({FromUnixMicros(1), ScheduleId(1), 1}), "00000000000400000000010001");
}

TEST(RunIdTest, RefusesWhatIsNotARunId) {
  for (const char* text :
       {"", "0", "0000000000000000000000000", "000000000000000000000000000",
        "0000000000000000000000000U", "80000000000000000000000000", "0000000000000000000000000-"}) {
    EXPECT_EQ(DecodeRunId(text).ok(), false) << text;
  }
  EXPECT_TRUE(DecodeRunId("7zzzzzzzzzzzzzzzzzzzzzzzzz").ok());
  EXPECT_EQ(DecodeRunId("0\xff" + std::string(24, '0')).code(), ErrorCode::kInvalid);
  EXPECT_EQ(DecodeRunId("a run").error().message, "not a run id: 'a run'");
}

TEST(RunIdTest, ClaimTokenConvertsBack) {
  const ClaimToken token{0x0123456789abcdefull, 0xfedcba9876543210ull};
  EXPECT_EQ(FormatClaimToken(token), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(*ParseClaimToken(FormatClaimToken(token)), token);
  EXPECT_EQ(FormatClaimToken({0, 1}), "00000000000000000000000000000001");
  EXPECT_FALSE(ParseClaimToken("0123456789abcdeffedcba987654321").ok());
  EXPECT_FALSE(ParseClaimToken("0123456789abcdeffedcba987654321x").ok());
}

}  // namespace
}  // namespace carillon
