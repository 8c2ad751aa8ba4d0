#include "common/domain/cron/cron.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace carillon::test::cron_test {
namespace {

// The first `count` local times of `text` from 2026-03-01 (a Sunday), as "MM-DD hh:mm:ss".
std::vector<std::string> NextTimes(std::string_view text, size_t count) {
  using namespace std::chrono;
  const auto expression = ParseCron(text);
  if (!expression.ok()) return {expression.error().message};
  const CronPattern pattern(*expression);
  int64_t at = sys_days(2026y / 3 / 1).time_since_epoch().count() * int64_t{86'400};
  const int64_t until = at + 10 * 366 * int64_t{86'400};
  std::vector<std::string> times;
  while (times.size() < count) {
    const auto found = pattern.Next(at, until);
    if (!found) break;
    const std::string rfc = FormatRfc3339(FromUnixMicros(*found * 1'000'000));
    times.push_back(rfc.substr(5, 5) + " " + rfc.substr(11, 8));
    at = *found + 1;
  }
  return times;
}

struct Row {
  std::string text;
  std::vector<std::string> times;
};

TEST(CronTest, EachConstructNamesItsTimes) {
  const std::vector<Row> rows{
      {"* * * * *", {"03-01 00:00:00", "03-01 00:01:00"}},
      {"* * * * * *", {"03-01 00:00:00", "03-01 00:00:01"}},
      {"*/20 * * * *", {"03-01 00:00:00", "03-01 00:20:00", "03-01 00:40:00", "03-01 01:00:00"}},
      {"5/20 * * * *", {"03-01 00:05:00", "03-01 00:25:00", "03-01 00:45:00", "03-01 01:05:00"}},
      {"10-30/10 3 * * *",
       {"03-01 03:10:00", "03-01 03:20:00", "03-01 03:30:00", "03-02 03:10:00"}},
      {"7,3,5 1 * * *", {"03-01 01:03:00", "03-01 01:05:00", "03-01 01:07:00", "03-02 01:03:00"}},
      {"15 30 2 * * *", {"03-01 02:30:15", "03-02 02:30:15"}},
      {"\t 30  2\t* * *  ", {"03-01 02:30:00", "03-02 02:30:00"}},
      {"0 0 1 jan,Jul *", {"07-01 00:00:00", "01-01 00:00:00"}},
      {"0 0 * feb-APR mon", {"03-02 00:00:00", "03-09 00:00:00"}},
      {"0 0 * * 0", {"03-01 00:00:00", "03-08 00:00:00"}},
      {"0 0 * * 7", {"03-01 00:00:00", "03-08 00:00:00"}},
      {"0 0 * * SUN", {"03-01 00:00:00", "03-08 00:00:00"}},
      {"0 0 * * 5-7", {"03-01 00:00:00", "03-06 00:00:00", "03-07 00:00:00", "03-08 00:00:00"}},
      {"0 0 * * FRI-SUN", {"03-01 00:00:00", "03-06 00:00:00", "03-07 00:00:00"}},
      {"0 0 * * SUN-TUE", {"03-01 00:00:00", "03-02 00:00:00", "03-03 00:00:00", "03-08 00:00:00"}},
      {"0 0 * * 1/2", {"03-02 00:00:00", "03-04 00:00:00", "03-06 00:00:00", "03-09 00:00:00"}},
      {"0 0 L * *", {"03-31 00:00:00", "04-30 00:00:00"}},
      {"0 0 L-3 * *", {"03-28 00:00:00", "04-27 00:00:00"}},
      {"0 0 LW * *", {"03-31 00:00:00", "04-30 00:00:00", "05-29 00:00:00"}},
      {"0 0 L-2W * *", {"03-30 00:00:00", "04-28 00:00:00", "05-29 00:00:00"}},
      {"0 0 1W * *",
       {"03-02 00:00:00", "04-01 00:00:00", "05-01 00:00:00", "06-01 00:00:00", "07-01 00:00:00",
        "08-03 00:00:00"}},
      {"0 0 15W * *", {"03-16 00:00:00", "04-15 00:00:00", "05-15 00:00:00"}},
      {"0 0 31W * *", {"03-31 00:00:00", "05-29 00:00:00"}},
      {"0 0 W * *", {"03-02 00:00:00", "03-03 00:00:00"}},
      {"0 0 30L * *", {"03-30 00:00:00", "04-30 00:00:00", "05-30 00:00:00"}},
      {"0 0 31l * *", {"03-31 00:00:00", "04-30 00:00:00", "05-31 00:00:00"}},
      {"0 0 29L 2 *", {"02-28 00:00:00", "02-29 00:00:00"}},
      {"0 0 0 29 2 ? 2027-2029", {"02-29 00:00:00"}},
      {"0 0 0 1 1 ? 2027", {"01-01 00:00:00"}},
      {"0 0 0 1 1 ? */4", {"01-01 00:00:00", "01-01 00:00:00"}},
      {"0 0 0 1 1 ? 2025-2025", {}},
      {"0 0 0 1 3 ? 2020,2026/5", {"03-01 00:00:00", "03-01 00:00:00"}},
      {"0 0 1,L * *", {"03-01 00:00:00", "03-31 00:00:00", "04-01 00:00:00"}},
      {"0 0 * * 5L", {"03-27 00:00:00", "04-24 00:00:00"}},
      {"0 0 * * 7L", {"03-29 00:00:00", "04-26 00:00:00"}},
      {"0 0 * * friL", {"03-27 00:00:00", "04-24 00:00:00"}},
      {"0 0 * * 5#2", {"03-13 00:00:00", "04-10 00:00:00"}},
      {"0 0 * * MON#1,0#5", {"03-02 00:00:00", "03-29 00:00:00", "04-06 00:00:00"}},
      {"@hourly", {"03-01 00:00:00", "03-01 01:00:00"}},
      {"@Daily", {"03-01 00:00:00", "03-02 00:00:00"}},
      {"@midnight", {"03-01 00:00:00", "03-02 00:00:00"}},
      {"@weekly", {"03-01 00:00:00", "03-08 00:00:00"}},
      {"@monthly", {"03-01 00:00:00", "04-01 00:00:00"}},
      {"@yearly", {"01-01 00:00:00", "01-01 00:00:00"}},
      {" @annually ", {"01-01 00:00:00", "01-01 00:00:00"}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(NextTimes(row.text, row.times.size()), row.times) << row.text;
}

TEST(CronTest, BothDayFieldsRestrictedMeansEither) {
  EXPECT_EQ(NextTimes("0 0 13 * 5", 4),
            (std::vector<std::string>{"03-06 00:00:00", "03-13 00:00:00", "03-20 00:00:00",
                                      "03-27 00:00:00"}));
  EXPECT_EQ(NextTimes("0 0 3 * 5", 2),
            (std::vector<std::string>{"03-03 00:00:00", "03-06 00:00:00"}));
}

TEST(CronTest, AFieldThatBeginsWithAStarIsUnrestricted) {
  // The days that are odd and Mondays, not all odd days and all Mondays.
  EXPECT_EQ(NextTimes("0 0 */2 * 1", 3),
            (std::vector<std::string>{"03-09 00:00:00", "03-23 00:00:00", "04-13 00:00:00"}));
  EXPECT_EQ(NextTimes("0 0 1-31/2 * 1", 3),
            (std::vector<std::string>{"03-01 00:00:00", "03-02 00:00:00", "03-03 00:00:00"}));
  EXPECT_EQ(NextTimes("0 0 ? * 1", 2), NextTimes("0 0 * * 1", 2));
  EXPECT_EQ(NextTimes("0 0 5 * ?", 2), NextTimes("0 0 5 * *", 2));
  EXPECT_EQ(NextTimes("0 0 *,5 * 1", 3), NextTimes("0 0 * * 1", 3));
}

struct RefusedText {
  std::string text;
  std::string field;   // part of the message
  std::string column;  // "" = the whole expression
};

TEST(CronTest, RefusesNamingFieldAndColumn) {
  const std::vector<RefusedText> rows{
      {"60 * * * *", "minute", "column 1"},
      {"* 24 * * *", "hour", "column 3"},
      {"* * 0 * *", "day of month", "column 5"},
      {"* * 32 * *", "day of month", "column 5"},
      {"* * * 13 *", "month", "column 7"},
      {"* * * * 8", "day of week", "column 9"},
      {"60 * * * * *", "second", "column 1"},
      {"5-1 * * * *", "minute", "column 1"},
      {"* 22-2 * * *", "hour", "column 3"},
      {"* * * * 1,FRI-MON", "day of week", "column 11"},
      {"*/0 * * * *", "minute", "column 3"},
      {"*/61 * * * *", "minute", "column 3"},
      {"* * * * */8", "day of week", "column 11"},
      {"1,,2 * * * *", "minute", "column 3"},
      {"1, * * * *", "minute", "column 3"},
      {",1 * * * *", "minute", "column 1"},
      {"1- * * * *", "minute", "column 3"},
      {"1-2-3 * * * *", "minute", "column 4"},
      {"1/ * * * *", "minute", "column 3"},
      {"*5 * * * *", "minute", "column 2"},
      {"99999999999999999999 * * * *", "minute", "column 1"},
      {"-5 * * * *", "minute", "column 1"},
      {"? * * * *", "minute", "column 1"},
      {"* * ?/2 * *", "day of month", "column 6"},
      {"* * * FOO *", "month", "column 7"},
      {"* * * JANUARY *", "month", "column 10"},
      {"* * * * MO", "day of week", "column 9"},
      {"* * * * L", "day of week", "column 9"},
      {"* * * * 5#6", "day of week", "column 11"},
      {"* * * * 5#0", "day of week", "column 11"},
      {"* * L-31 * *", "day of month", "column 7"},
      {"* * 5L * *", "day of month", "column 6"},
      {"* * 15WL * *", "day of month", "column 8"},
      {"* * 1-5W * *", "day of month", "column 8"},
      {"* * * * 1-5L", "day of week", "column 12"},
      {"* * * * 5W", "day of week", "column 10"},
      {"H(5) * * * *", "minute", "column 4"},
      {"H(5-60) * * * *", "minute", "column 5"},
      {"H(9-5) * * * *", "minute", "column 3"},
      {"H(0-9 * * * *", "minute", "column 6"},
      {"H/0 * * * *", "minute", "column 3"},
      {"H-5 * * * *", "minute", "column 2"},
      {"*H * * * *", "minute", "column 2"},
      {"* * HW * *", "day of month", "column 6"},
      {"* * H< * *", "day of month", "column 6"},
      {"* * C * *", "C#1", "column 5"},
      {"* * C#0 * *", "day of month", "column 7"},
      {"* * C#-32 * *", "day of month", "column 8"},
      {"* * C#1> * *", "day of month", "column 8"},
      {"* * 5C * *", "5>", "column 6"},
      {"* * 1-5> * *", "day of month", "column 8"},
      {"* * 5>/2 * *", "day of month", "column 7"},
      {"* * 15W< * *", "day of month", "column 8"},
      {"* * LW> * *", "day of month", "column 7"},
      {"* * *> * *", "day of month", "column 6"},
      {"* * * * C#1", "day of week", "column 9"},
      {"* 5> * * *", "hour", "column 4"},
      {"* * 5> * 1", "day of week: must be * or ?", ""},
      {"* * 5>,6 * 1-5", "day of week: must be * or ?", ""},
      {"* * */2 * 5<", "day of month: must be * or ?", ""},
      {"* * 1-31 * 5<", "day of month: must be * or ?", ""},
      {"* * * * H#2", "day of week", "column 10"},
      {"", "empty", ""},
      {"  \t ", "empty", ""},
      {"* * * *", "4 fields", ""},
      {"* * * * * * * *", "8 fields", ""},
      {"0 0 0 * * ? 1969", "year", "column 13"},
      {"0 0 0 * * ? 2100", "year", "column 13"},
      {"0 0 0 * * ? 2030-2026", "year", "column 13"},
      {"0 0 0 * * ? H", "year", "column 13"},
      {"0 0 28L * *", "every month has a day 28", "column 7"},
      {"0 0 32L * *", "day of month", "column 5"},
      {"0 0 30/L * *", "30L", "column 8"},
      {"0 0 30LW * *", "day of month", "column 8"},
      {"@reboot", "@reboot", ""},
      {"@every 5m", "every_ms 300000", ""},
      {"@", "'@'", ""},
      {"TZ=UTC * * * * *", "time_zone", ""},
      {std::string(257, ' '), "257 bytes", ""},
      {std::string("* * * * *\0", 10), "day of week", "column 10"},
      {"* * * * *\n", "day of week", "column 10"},
  };
  for (const RefusedText& row : rows) {
    const auto expression = ParseCron(row.text);
    ASSERT_FALSE(expression.ok()) << row.text;
    EXPECT_EQ(expression.code(), ErrorCode::kInvalid) << row.text;
    // Clients rely on the field and the column in these messages, but not on the wording.
    const std::string& message = expression.error().message;
    EXPECT_NE(message.find(row.field), std::string::npos) << row.text << ": " << message;
    EXPECT_NE(message.find(row.column), std::string::npos) << row.text << ": " << message;
    EXPECT_LT(message.size(), 250u) << message;
  }
}

TEST(CronTest, SpellsItselfInOneWay) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"@daily", "0 0 * * *"},
      {"*/5 9-17 ? JAN mon-fri", "*/5 9-17 * 1 1-5"},
      {"0 0 L-3W,15w * 5l", "0 0 L-3W,15W * 5L"},
      {"5/15 * * * SUN#2", "5-59/15 * * * 0#2"},
      {"0 30 2 * * 7", "0 30 2 * * 7"},
      {"5-5/2 * * * *", "5-5/2 * * * *"},
      {"0 0 30l * *", "0 0 30L * *"},
      {"0 0 c#1,c#-12 * ?", "0 0 C#1,C#-12 * *"},
      {"0 0 25<,l-2>,30l< * *", "0 0 25<,L-2>,30L< * *"},
      {"0 0 ? * sun<,mon>,fril<,5#2>", "0 0 * * 0<,1>,5L<,5#2>"},
      {"0 0/10 * * * ? *", "0 0-59/10 * * * *"},
      {"0 0/10 * * * ? ?", "0 0-59/10 * * * *"},
      {"0 0 12 * * ? */2", "0 0 12 * * * */2"},
      {"0 0 12 * * ? 2026/4,2027", "0 0 12 * * * 2026-2099/4,2027"}};
  for (const auto& [text, spelled] : rows) EXPECT_EQ(FormatCron(ParseCron(text).value()), spelled);
}

// ---- H -----------------------------------------------------------------------------------------

std::string Spread(std::string_view text, uint64_t seed) {
  const auto expression = ParseCron(text, seed);
  return expression.ok() ? FormatCron(*expression) : expression.error().message;
}

// The stored schedules of every installation depend on these values.
TEST(CronSpreadTest, AValueNeverChanges) {
  EXPECT_EQ(Spread("H H * * *", 0), "0 7 * * *");
  EXPECT_EQ(Spread("h(0-29)/10 H/6 H H H", 42), "1-29/10 0-23/6 17 11 4");
}

TEST(CronSpreadTest, EachFormStaysInItsRangeAndUsesAllOfIt) {
  struct Form {
    const char* text;
    CronUnit unit;
    int least;
    int most;  // of the first value
    int step;
    int to;  // of the last value; -1 = the first is the only one
  };
  const std::vector<Form> forms = {
      {"H * * * * *", CronUnit::kSecond, 0, 59, 1, -1},
      {"H * * * *", CronUnit::kMinute, 0, 59, 1, -1},
      {"* H * * *", CronUnit::kHour, 0, 23, 1, -1},
      {"* * H * *", CronUnit::kDayOfMonth, 1, 28, 1, -1},
      {"* * * H *", CronUnit::kMonth, 1, 12, 1, -1},
      {"* * * * H", CronUnit::kDayOfWeek, 0, 6, 1, -1},
      {"H/15 * * * *", CronUnit::kMinute, 0, 14, 15, 59},
      {"* * H/7 * *", CronUnit::kDayOfMonth, 1, 7, 7, 28},
      {"* * H/31 * *", CronUnit::kDayOfMonth, 1, 28, 31, 28},
      {"H(0-29) * * * *", CronUnit::kMinute, 0, 29, 1, -1},
      {"H(20-29)/3 * * * *", CronUnit::kMinute, 20, 22, 3, 29},
      {"H(20-22)/30 * * * *", CronUnit::kMinute, 20, 22, 30, 22},
      {"* * * * H(mon-fri)", CronUnit::kDayOfWeek, 1, 5, 1, -1},
  };
  for (const Form& form : forms) {
    std::set<int> firsts;
    for (uint64_t seed = 0; seed < 2'000; ++seed) {
      const auto expression = ParseCron(form.text, seed);
      ASSERT_TRUE(expression.ok()) << form.text << expression.error().message;
      const CronField& field = expression->field(form.unit);
      ASSERT_EQ(field.items.size(), 1u);
      EXPECT_FALSE(field.starred);
      const CronItem& item = field.items[0];
      firsts.insert(item.from);
      EXPECT_EQ(item.step, form.step);
      EXPECT_EQ(item.to, form.to < 0 ? item.from : form.to);
    }
    EXPECT_EQ(*firsts.begin(), form.least) << form.text;
    EXPECT_EQ(*firsts.rbegin(), form.most) << form.text;
    EXPECT_EQ(firsts.size(), static_cast<size_t>(form.most - form.least + 1)) << form.text;
  }
}

TEST(CronSpreadTest, FieldsOfOneSeedAreIndependent) {
  std::set<std::string> pairs;
  for (uint64_t seed = 0; seed < 20'000; ++seed) pairs.insert(Spread("H(0-9) H(0-9) * * *", seed));
  EXPECT_EQ(pairs.size(), 100u);
}

TEST(CronSpreadTest, OnlyAnHThatBeginsAnItemIsOne) {
  for (const char* text : {"H * * * *", "5,h * * * *", "0 0 * * thu,H", " H", "\tH"}) {
    EXPECT_TRUE(UsesSpread(text)) << text;
  }
  for (const char* text : {"", "@hourly", "0 0 * * THU", "0 0 * MAR *", "5H"}) {
    EXPECT_FALSE(UsesSpread(text)) << text;
  }
}

TEST(CronTest, ANumberThatIsTooLongIsNotTakenForItsBeginning) {
  const auto expression = ParseCron("00000000000000000005 * * * *");
  ASSERT_FALSE(expression.ok());
  EXPECT_EQ(expression.error().message.find("0000 is not"), std::string::npos)
      << expression.error().message;
}

}  // namespace
}  // namespace carillon::test::cron_test
