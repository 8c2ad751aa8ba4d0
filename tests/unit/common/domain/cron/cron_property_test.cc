// Compares CronPattern with a simple evaluation of the same expression.
#include <gtest/gtest.h>

#include "tests/unit/common/domain/cron/cron_reference.h"

namespace carillon::test {
namespace {

constexpr int64_t kFirstDay = 19'700;  // 2023-12-09
constexpr int64_t kDays = 1'200;       // includes a leap day and three ends of a year

CronExpression Parsed(const std::string& text) {
  const auto expression = ParseCron(text);
  EXPECT_TRUE(expression.ok()) << text << ": " << expression.error().message;
  return *expression;
}

// The first match in [from, until), found by trying every day and every second of a matching day.
std::optional<int64_t> ReferenceNext(const CronExpression& e, int64_t from, int64_t until) {
  for (int64_t day = from / kDaySeconds; day * kDaySeconds < until; ++day) {
    if (!DayMatches(e, ReferenceDay(day))) continue;
    for (int second = 0; second < kDaySeconds; ++second) {
      const int64_t at = day * kDaySeconds + second;
      if (at >= until) return std::nullopt;
      if (at >= from && TimeMatches(e, second)) return at;
    }
  }
  return std::nullopt;
}

TEST(CronPropertyTest, NextIsTheLeastMatchingLocalTime) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const std::string text = RandomCronText(rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    const CronExpression expression = Parsed(text);
    const CronPattern pattern(expression);
    const int64_t until = (kFirstDay + kDays) * kDaySeconds;
    int64_t from = kFirstDay * kDaySeconds + static_cast<int64_t>(rng.Below(kDaySeconds * 400));
    for (int i = 0; i < 6; ++i) {
      const auto found = pattern.Next(from, until);
      ASSERT_EQ(found, ReferenceNext(expression, from, until)) << from;
      if (!found) break;
      EXPECT_TRUE(pattern.Matches(*found));
      EXPECT_EQ(pattern.Next(*found, until), found) << "asking again from the answer";
      from = *found + 1 + static_cast<int64_t>(rng.Below(2) * rng.Below(kDaySeconds * 20));
    }
  }
}

TEST(CronPropertyTest, CountIsTheNumberOfMembers) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed * 7919);
    const std::string text = RandomCronText(rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    const CronPattern pattern(Parsed(text));
    const int64_t from =
        kFirstDay * kDaySeconds + static_cast<int64_t>(rng.Below(kDaySeconds * 400));
    const int64_t until = from + static_cast<int64_t>(rng.Below(kDaySeconds * 40));
    int64_t members = 0;
    int64_t at = from;
    for (; members < 20'000; ++members) {
      const auto found = pattern.Next(at, until);
      if (!found) break;
      at = *found + 1;
    }
    const int64_t end = members < 20'000 ? until : at;
    EXPECT_EQ(pattern.Count(from, end), members);
    // The counts of the two parts of a span must add up to the count of the span.
    const int64_t cut =
        from + static_cast<int64_t>(rng.Below(static_cast<uint64_t>(end - from + 1)));
    EXPECT_EQ(pattern.Count(from, cut) + pattern.Count(cut, end), members);
  }
}

TEST(CronPropertyTest, EveryDayOfFourHundredYearsMatchesTheReference) {
  for (const char* text : {"0 0 L * *", "0 0 15W,LW * *", "0 0 1W,31W * *", "0 0 * * 5#5,1L",
                           "0 0 29 2 *", "0 0 L-3W,L-30 * 0#1", "0 0 */28 * 1"}) {
    const CronExpression expression = Parsed(text);
    const CronPattern pattern(expression);
    for (int64_t day = 0; day < 120'500; ++day) {  // to the end of 2299
      ASSERT_EQ(pattern.Matches(day * kDaySeconds), DayMatches(expression, ReferenceDay(day)))
          << text << " on day " << day;
    }
  }
}

TEST(CronPropertyTest, ItsOwnSpellingGivesTheSameExpression) {
  for (uint64_t seed = 1; seed <= 3'000; ++seed) {
    Rng rng(seed);
    const std::string text = RandomCronText(rng);
    const CronExpression expression = Parsed(text);
    const std::string spelled = FormatCron(expression);
    const auto again = ParseCron(spelled);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << text << " -> " << spelled;
    EXPECT_EQ(*again, expression) << "seed " << seed << ": " << text << " -> " << spelled;
  }
}

}  // namespace
}  // namespace carillon::test
