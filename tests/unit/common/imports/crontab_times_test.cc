#include "common/imports/crontab_times.h"

#include <gtest/gtest.h>

#include "common/domain/cron/cron.h"

namespace carillon {
namespace {

struct Times {
  std::string fields;      // of the crontab
  std::string expression;  // "" = refused
  std::string rest;        // the gap and the repeat, "-" = the default; of a refusal: its reason
};

const Times kTimes[] = {
    {"* * * * *", "* * * * *", "- -"},
    {"5 4 * * *", "5 4 * * *", "- -"},
    {"00 03 */10 * 1", "00 03 */10 * 1", "- -"},
    {"-*/15 * * * *", "*/15 * * * *", "- -"},
    {"*/15 0-6,20-23 * * 1-5", "*/15 0-6,20-23 * * 1-5", "skip both"},
    {"0 0 1 jan,JUL *", "0 0 1 jan,JUL *", "- -"},
    {"10 7 * * sun-sat", "10 7 * * sun-sat", "- -"},
    {"10 7 * * sat-sun", "10 7 * * sat-sun", "- -"},
    {"10 7 * * 5-0", "10 7 * * 5-7", "- -"},
    {"10 7 * * 1-0", "10 7 * * 1-7", "- -"},
    {"10 7 * * 2-7", "10 7 * * 2-7", "- -"},
    // Steps: no more than the field has values, and the end may lie behind the field.
    {"*/90 * * * *", "*/60 * * * *", "skip -"},
    {"0 */24 * * *", "0 */24 * * *", "skip -"},
    {"0 0 */99999999999 * *", "0 0 */31 * *", "- -"},
    {"0 0 * * */9", "0 0 * * */7", "- -"},
    {"0-60/25 1 * * *", "0-59/25 1 * * *", "- -"},
    {"0 0 1-31/2 * *", "0 0 1-31/2 * *", "- -"},
    {"000007 1 * * *", "7 1 * * *", "- -"},
    // Random ranges are spread.
    {"~ * * * *", "H * * * *", "skip -"},
    {"0~30 3 * * 6", "H(0-30) 3 * * 6", "- -"},
    {"~9 20~ * * *", "H(0-9) H(20-23) * * *", "- -"},
    {"~/10 1 * * mon~fri", "H/10 1 * * H(1-5)", "- -"},
    {"0 0 ~ * *", "0 0 H * *", "- -"},
    {"0 0 ~/9 * ~/2", "0 0 H(1-31)/9 * H(0-7)/2", "- -"},
    {"0~9,30~39 1 * * *", "H(0-9),H(30-39) 1 * * *", "- -"},
    {"0~59/15 1 * * *", "H(0-59)/15 1 * * *", "- -"},
    // A minute or an hour that begins with '*' follows real time.
    {"*/20 2 * * *", "*/20 2 * * *", "skip both"},
    {"* 2 * * *", "* 2 * * *", "skip both"},
    {"*/5 * * * *", "*/5 * * * *", "- -"},
    {"*/20 * * * *", "*/20 * * * *", "skip -"},
    {"30 * * * *", "30 * * * *", "skip -"},
    {"30 */2 * * *", "30 */2 * * *", "skip -"},
    {"0 0-23 * * *", "0 0-23 * * *", "- early"},
    {"0-59 2 * * *", "0-59 2 * * *", "- early"},
    {"@hourly", "@hourly", "skip -"},
    {"@daily", "@daily", "- -"},
    {"@midnight", "@midnight", "- -"},
    {"@weekly", "@weekly", "- -"},
    {"@monthly", "@monthly", "- -"},
    {"@yearly", "@yearly", "- -"},
    {"-@annually", "@annually", "- -"},
    {"@every_minute", "* * * * *", "- -"},
    {"@every_second", "* * * * * *", "- -"},
    // Refusals.
    {"0 1 * *", "", "neither a setting nor five schedule fields"},
    {"61 * * * *", "", "minute: 61 is out of range (0–59)"},
    {"0 24 * * *", "", "hour: 24 is out of range"},
    {"0 0 0 * *", "", "day of month: 0 is out of range"},
    {"0 0 * 13 *", "", "month: 13 is out of range"},
    {"0 0 * * 8", "", "day of week: 8 is out of range"},
    {"0-60 * * * *", "", "minute: 60 is out of range"},
    {"0 22-2 * * *", "", "hour: the range 22-2 runs backwards"},
    {"5-0 * * * *", "", "runs backwards"},
    {"0 0 * * sat-sun/2", "", "runs backwards"},
    {"0 0 * * fri-mon", "", "runs backwards"},
    {"30~10 * * * *", "", "runs backwards"},
    {"5/10 * * * *", "", "minute: cron ignores or refuses a step after a single number"},
    {"0 0 * jan/2 *", "", "step after a single number"},
    {"*/0 * * * *", "", "the step is 0"},
    {"1,2,,4 * * * *", "", "cannot read '1,2,,4'"},
    {"1, * * * *", "", "cannot read '1,'"},
    {"*5 * * * *", "", "cannot read"},
    {"*-5 * * * *", "", "cannot read"},
    {"- * * * *", "", "neither"},  // the minus is no field
    {"--5 * * * *", "", "cannot read '-5'"},
    {"1-5-7 * * * *", "", "cannot read"},
    {"*/jan * * * *", "", "cannot read"},
    {"0 0 * january *", "", "cannot read 'january'"},
    {"jan 0 * * *", "", "minute: cron cannot read"},
    {"0 0 L * *", "", "cron cannot read 'L'; for Carillon: carillon job create --cron '0 0 L * *'"},
    {"0 0 ? * 1", "", "for Carillon"},
    {"@Daily", "", "cron does not know @Daily; write @daily"},
    {"@reboot", "", "systemd unit"},
    {"@0", "", "the delay must be 1 to"},
    {"@99999999999999999999", "", "the delay must be 1 to"},
    {"@fortnightly", "", "it knows @yearly"},
};

TEST(CrontabTimesTest, AreReadAsCronReadsThem) {
  for (const Times& one : kTimes) {
    const std::string line = one.rest.starts_with("neither") ? one.fields : one.fields + "\t x";
    std::string_view rest = line;
    const auto times = TakeCrontabTimes(rest);
    if (one.expression.empty()) {
      ASSERT_FALSE(times.ok()) << one.fields;
      EXPECT_NE(times.error().message.find(one.rest), std::string::npos)
          << one.fields << ": " << times.error().message;
      continue;
    }
    ASSERT_TRUE(times.ok()) << one.fields << ": " << times.error().message;
    EXPECT_EQ(times->expression, one.expression);
    EXPECT_TRUE(ParseCron(times->expression).ok()) << one.expression;
    const auto shown = [](std::string_view text) {
      return text.empty() ? std::string("-") : std::string(text);
    };
    EXPECT_EQ(shown(times->dst_gap) + " " + shown(times->dst_repeat), one.rest) << one.fields;
    EXPECT_EQ(rest, "x") << "the command is left";
  }
}

TEST(CrontabTimesTest, ADelayCountsFromTheEndOfTheRun) {
  std::string_view line = "@600 x";
  const auto times = TakeCrontabTimes(line);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->delay_s, 600);
  EXPECT_EQ(times->expression, "");
}

TEST(CrontabTimesTest, AListThatIsTooLongBecomesRanges) {
  std::string minutes = "0";
  std::string hours = "0";
  std::string days = "1";
  for (int n = 1; n < 60; ++n) minutes += "," + std::to_string(n);
  for (int n = 1; n < 24; ++n) hours += "," + std::to_string(n);
  for (int n = 3; n <= 31; ++n) days += "," + std::to_string(n);
  const std::string text = minutes + " " + hours + " " + days + " * 1,3,7 x";
  std::string_view line = text;
  const auto times = TakeCrontabTimes(line);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->expression, "0-59 0-23 1,3-31 * 0-1,3");
}

}  // namespace
}  // namespace carillon
