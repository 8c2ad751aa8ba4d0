// Local dates in the values of parameters.
#include "common/domain/template/parameter_dates.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

// 01:30 of the next day in Tokyo.
const WallTime kTokyoFire = ParseRfc3339("2026-02-28T16:30:00Z").value();

std::string DatesFilled(const std::string& text, const std::set<std::string>& outside = {}) {
  const auto filled =
      FillDates({{"x", text}, {"n", int64_t{5}}}, outside, kTokyoFire, "Asia/Tokyo");
  EXPECT_TRUE(filled.ok());
  EXPECT_EQ(filled->at("n"), ParameterValue(int64_t{5}));
  return ParameterText(filled->at("x"));
}

TEST(ParameterDatesTest, OnlyDatesAreFilled) {
  EXPECT_EQ(DatesFilled("{{fire_date}}"), "2026-03-01");
  EXPECT_EQ(DatesFilled("day={{ fire_date - 1d | %Y%m%d }}/{{fire_time.local}}."),
            "day=20260228/2026-03-01T01:30:00+09:00.");
  for (const char* text : {"", "plain", "{{run_id}}", "{{fire_time}}", "{{", "{{fire_date", "}}",
                           "{{params.x}}", "fire_date}}", "{{ fire_date - 1x }}"}) {
    EXPECT_EQ(DatesFilled(text), text);
  }
  EXPECT_EQ(DatesFilled("{{a}} {{{fire_date}}}"), "{{a}} {2026-03-01}");
}

TEST(ParameterDatesTest, TextFromOutsideIsNot) {
  EXPECT_EQ(DatesFilled("{{fire_date}}", {"x"}), "{{fire_date}}");
  EXPECT_EQ(DatesFilled("{{fire_date}}", {"n"}), "2026-03-01");
}

TEST(ParameterDatesTest, AZoneThatIsGoneIsAnError) {
  EXPECT_FALSE(FillDates({{"x", "{{fire_date}}"}}, {}, kTokyoFire, "Mars/Base").ok());
  EXPECT_TRUE(FillDates({{"x", "no date"}}, {}, kTokyoFire, "Mars/Base").ok());
}

TEST(ParameterDatesTest, AWrongDateIsRefusedWithItsPlace) {
  JobDefinition job;
  job.name = "Report";
  job.type = JobType::kHandler;
  job.handler = "app/report";
  job.parameters["day"] = std::string("{{fire_date - 1d}}");
  EXPECT_TRUE(ValidateJob(job).ok());
  job.parameters["day"] = std::string("{{fire_date - 1x}}");
  EXPECT_EQ(ValidateJob(job).error().pointer, "/parameters/day");
  job.parameters.clear();
  job.schedules = {
      {.kind = ScheduleKind::kRate, .every = 1h, .parameters = {{"day", "{{fire_date | %Q}}"}}}};
  EXPECT_EQ(ValidateJob(job).error().pointer, "/schedules/0/parameters/day");
}

}  // namespace
}  // namespace carillon::test
