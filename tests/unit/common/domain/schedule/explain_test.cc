#include "common/domain/schedule/explain.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "common/domain/schedule/schedule.h"
#include "tests/unit/common/domain/cron/cron_reference.h"

namespace carillon::test {
namespace {

TEST(ExplainTest, CronReadsAsOneSentence) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"* * * * *", "Every minute, UTC"},
      {"* * * * * *", "Every second, UTC"},
      {"*/10 * * * * *", "Every 10 seconds, UTC"},
      {"*/15 * * * *", "Every 15 minutes, UTC"},
      {"0 * * * *", "At minute 00 of every hour, UTC"},
      {"15,45 * * * *", "At minute 15 and 45 of every hour, UTC"},
      {"*/7 * * * *", "At every 7th minute from 00 to 59 of every hour, UTC"},
      {"@daily", "At 00:00 every day, UTC"},
      {"30 2 * * 1-5", "At 02:30 on Monday to Friday, UTC"},
      {"15 30 2 * * *", "At 02:30:15 every day, UTC"},
      {"0 6,18 * * *", "At 06:00 and 18:00 every day, UTC"},
      {"*/15 9-17 * * MON-FRI", "Every 15 minutes of hour 09 to 17 on Monday to Friday, UTC"},
      {"5 9-17/2 * * *", "At minute 05 of every 2nd hour from 09 to 17, UTC"},
      {"0 0 1 1 *", "At 00:00 on the 1st of the month in January, UTC"},
      {"0 0 1,15 * *", "At 00:00 on the 1st and 15th of the month, UTC"},
      {"0 0 1-7 * *", "At 00:00 on the 1st to the 7th of the month, UTC"},
      {"0 0 13 * 5", "At 00:00 on the 13th of the month, and on every Friday, UTC"},
      {"0 0 */2 * 1",
       "At 00:00 on every 2nd day from the 1st to the 31st of the month, if that is Monday, UTC"},
      {"0 0 L * *", "At 00:00 on the last day of the month, UTC"},
      {"0 0 L-1 * *", "At 00:00 on the day before the last day of the month, UTC"},
      {"0 0 L-3 * *", "At 00:00 on the day 3 days before the last day of the month, UTC"},
      {"0 0 30L * *", "At 00:00 on the 30th of the month or its last day, UTC"},
      {"0 15 10 18 8 ? 2027", "At 10:15 on the 18th of the month in August, only in 2027, UTC"},
      {"0 0/10 * * * ? 2026-2028", "Every 10 minutes, only in 2026 to 2028, UTC"},
      {"0 9 LW * *", "At 09:00 on the last working day of the month, UTC"},
      {"0 9 15W * *", "At 09:00 on the working day nearest to the 15th of the month, UTC"},
      {"0 9 W * *", "At 09:00 on every working day, UTC"},
      {"0 9 C#1,C#-2 * *",
       "At 09:00 on the 1st day of the month that its calendars allow and the 2nd last day of the "
       "month that its calendars allow, UTC"},
      {"0 9 C#-1 * *", "At 09:00 on the last day of the month that its calendars allow, UTC"},
      {"0 9 25< * *",
       "At 09:00 on the 25th of the month or the nearest day before it that its calendars allow, "
       "UTC"},
      {"0 9 * 3 5#2>",
       "At 09:00 on the 2nd Friday of the month or the nearest day after it that its calendars "
       "allow in March, UTC"},
      {"0 9 * * 5L", "At 09:00 on the last Friday of the month, UTC"},
      {"0 9 * * 1#1", "At 09:00 on the 1st Monday of the month, UTC"},
      {"0 9 * JAN-MAR,DEC *", "At 09:00 every day in January to March and December, UTC"},
      {"0 0 1-31 * 1", "At 00:00 every day, UTC"},
      {"*/10 30 8 * * *", "Every 10 seconds of minute 30 of hour 08, UTC"},
  };
  for (const auto& [text, sentence] : rows) {
    EXPECT_EQ(ExplainCron(ParseCron(text).value(), "UTC"), sentence) << text;
  }
  EXPECT_EQ(ExplainCron(ParseCron("30 2 * * *").value(), "Europe/Paris"),
            "At 02:30 every day, Europe/Paris time");
}

TEST(ExplainTest, OtherKindsSayWhen) {
  const WallTime start = ParseRfc3339("2026-03-01T00:00:00Z").value();
  EXPECT_EQ(ExplainRate(90s, start), "Every 1 minute 30 seconds from 2026-03-01 00:00:00 UTC");
  EXPECT_EQ(ExplainRate(1ms, start + 250ms),
            "Every 1 millisecond from 2026-03-01 00:00:00.250000 UTC");
  EXPECT_EQ(ExplainRate(49h, start), "Every 2 days 1 hour from 2026-03-01 00:00:00 UTC");
  EXPECT_EQ(ExplainOnce(start), "Once at 2026-03-01 00:00:00 UTC");
}

TEST(ExplainTest, ASpreadFieldIsNamedWithItsValue) {
  ScheduleSpec spec{.kind = ScheduleKind::kCron, .cron_expression = "H(5-5) 2 * * *"};
  const auto sentence = [&spec] {
    return Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto)->Explain();
  };
  EXPECT_EQ(sentence(),
            "At 02:05 every day, UTC, where H is an example: each job_id has its own value");
  spec.spread = 7;
  spec.jitter = 90s;
  EXPECT_EQ(sentence(),
            "At 02:05 every day, UTC, where H is fixed by the job_id, each run up to 1 minute 30 "
            "seconds later");
  spec = {.kind = ScheduleKind::kCron, .cron_expression = "0 0 * * THU", .spread = 7};
  EXPECT_EQ(sentence(), "At 00:00 on Thursday, UTC");
}

TEST(ExplainTest, WindowAndJitterEndTheSentence) {
  ScheduleSpec spec{.kind = ScheduleKind::kCron, .cron_expression = "30 2 * * *"};
  const auto sentence = [&spec] {
    return Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto)->Explain();
  };
  EXPECT_EQ(sentence(), "At 02:30 every day, UTC");
  spec.end = ParseRfc3339("2026-04-01T00:00:00Z").value();
  EXPECT_EQ(sentence(), "At 02:30 every day, UTC, until 2026-04-01 00:00:00 UTC");
  spec.start = ParseRfc3339("2026-03-01T00:00:00Z").value();
  EXPECT_EQ(sentence(),
            "At 02:30 every day, UTC, from 2026-03-01 00:00:00 UTC until 2026-04-01 00:00:00 UTC");
  spec.jitter = 90s;
  EXPECT_EQ(sentence(),
            "At 02:30 every day, UTC, from 2026-03-01 00:00:00 UTC until 2026-04-01 00:00:00 UTC, "
            "each run up to 1 minute 30 seconds later");
  spec = {.kind = ScheduleKind::kRate, .every = 1h, .start = spec.start, .end = spec.end};
  EXPECT_EQ(sentence(), "Every 1 hour from 2026-03-01 00:00:00 UTC, until 2026-04-01 00:00:00 UTC");
}

TEST(ExplainTest, AnyExpressionGivesOneBoundedPrintableSentence) {
  for (uint64_t seed = 1; seed <= 2'000; ++seed) {
    Rng rng(seed);
    const std::string text = RandomCronText(rng);
    const std::string sentence = ExplainCron(ParseCron(text).value(), "UTC");
    ASSERT_FALSE(sentence.empty()) << "seed " << seed;
    EXPECT_TRUE(sentence[0] == 'A' || sentence[0] == 'E') << sentence;
    EXPECT_EQ(sentence.find("  "), std::string::npos) << sentence;
    EXPECT_TRUE(sentence.ends_with(", UTC")) << sentence;
    EXPECT_LT(sentence.size(), 2'000u) << text;
  }
}

}  // namespace
}  // namespace carillon::test
