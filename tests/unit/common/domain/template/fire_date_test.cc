#include "common/domain/template/fire_date.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/rng.h"
#include "tests/fuzz/fire_date_check.h"

namespace carillon::test {
namespace {

std::string Filled(const std::string& placeholder, const std::string& fire,
                   const std::string& zone) {
  const auto date = ParseFireDate(placeholder);
  if (!date.ok()) return date.error().message;
  const auto text = FormatFireDate(*date, ParseRfc3339(fire).value(), zone);
  return text.ok() ? *text : text.error().message;
}

struct FireDateRow {
  std::string placeholder;
  std::string fire;
  std::string zone;
  std::string expected;
};

TEST(FireDateTest, TellsTheDayOfTheZone) {
  const std::vector<FireDateRow> rows{
      {"fire_date", "2026-11-28T15:59:59Z", "Asia/Shanghai", "2026-11-28"},
      {"fire_date", "2026-11-28T16:00:00Z", "Asia/Shanghai", "2026-11-29"},
      {"fire_date", "2026-03-01T02:00:00Z", "America/New_York", "2026-02-28"},
      {"fire_date", "2026-03-01T02:00:00Z", "UTC", "2026-03-01"},
      {"fire_time.local", "2026-03-01T02:00:00.5Z", "Asia/Kolkata", "2026-03-01T07:30:00+05:30"},
      {"fire_time.local", "2026-07-01T12:00:00Z", "America/St_Johns", "2026-07-01T09:30:00-02:30"},
      {"fire_time.local", "2026-07-01T12:00:00Z", "UTC", "2026-07-01T12:00:00+00:00"},
      {"fire_date", "1970-01-01T00:00:00Z", "America/New_York", "1969-12-31"},
  };
  for (const FireDateRow& row : rows) {
    EXPECT_EQ(Filled(row.placeholder, row.fire, row.zone), row.expected) << row.placeholder;
  }
}

TEST(FireDateTest, ShiftsByHoursDaysWeeksAndMonths) {
  const std::vector<FireDateRow> rows{
      {"fire_date - 1d", "2026-03-01T00:00:00Z", "UTC", "2026-02-28"},
      {"fire_date-1d", "2024-03-01T00:00:00Z", "UTC", "2024-02-29"},
      {"fire_date+1d", "2026-12-31T00:00:00Z", "UTC", "2027-01-01"},
      {"fire_date - 2w", "2026-03-01T00:00:00Z", "UTC", "2026-02-15"},
      {"fire_date - 1M", "2026-03-31T00:00:00Z", "UTC", "2026-02-28"},
      {"fire_date + 1M", "2024-01-31T00:00:00Z", "UTC", "2024-02-29"},
      {"fire_date - 12M", "2024-02-29T00:00:00Z", "UTC", "2023-02-28"},
      {"fire_date + 14M", "2026-11-30T00:00:00Z", "UTC", "2028-01-30"},
      {"fire_date - 1h", "2026-03-01T00:30:00Z", "UTC", "2026-02-28"},
      {"fire_time.local - 1h", "2026-03-01T00:30:00Z", "UTC", "2026-02-28T23:30:00+00:00"},
      {"fire_date - 0d", "2026-03-01T00:00:00Z", "UTC", "2026-03-01"},
      {"fire_date  -  1d", "2026-03-01T00:00:00Z", "UTC", "2026-02-28"},
  };
  for (const FireDateRow& row : rows) {
    EXPECT_EQ(Filled(row.placeholder, row.fire, row.zone), row.expected) << row.placeholder;
  }
}

TEST(FireDateTest, FormatsByTheLettersOfStrftime) {
  const std::vector<FireDateRow> rows{
      {"fire_date | %Y%m%d", "2026-03-01T02:00:00Z", "UTC", "20260301"},
      {"fire_date|%Y/%m/%d", "2026-03-01T02:00:00Z", "UTC", "2026/03/01"},
      {"fire_date - 1d | %Y%m%d", "2026-03-01T02:00:00Z", "UTC", "20260228"},
      {"fire_date - 1M | %Y-%m-01", "2026-03-31T02:00:00Z", "UTC", "2026-02-01"},
      {"fire_time.local | %H%M%S", "2026-03-01T02:03:04Z", "Asia/Tokyo", "110304"},
      {"fire_date | %F %T", "2026-03-01T02:03:04Z", "UTC", "2026-03-01 02:03:04"},
      {"fire_date | %j", "2024-12-31T00:00:00Z", "UTC", "366"},
      {"fire_date | %j", "2026-01-01T00:00:00Z", "UTC", "001"},
      {"fire_date | %y", "2026-03-01T02:00:00Z", "UTC", "26"},
      {"fire_date | %G-W%V-%u", "2027-01-01T00:00:00Z", "UTC", "2026-W53-5"},
      {"fire_date | %G-W%V-%u", "2024-12-30T00:00:00Z", "UTC", "2025-W01-1"},
      {"fire_date | %G-W%V-%u", "2026-03-01T00:00:00Z", "UTC", "2026-W09-7"},
      {"fire_date | 100%% %d", "2026-03-01T02:00:00Z", "UTC", "100% 01"},
      {"fire_date | Tag %d/é", "2026-03-01T02:00:00Z", "UTC", "Tag 01/é"},
  };
  for (const FireDateRow& row : rows) {
    EXPECT_EQ(Filled(row.placeholder, row.fire, row.zone), row.expected) << row.placeholder;
  }
}

TEST(FireDateTest, ShiftKeepsTheClockAcrossChangesOfIt) {
  const std::vector<FireDateRow> rows{
      // 2026-03-29 02:00 to 03:00 does not exist in Berlin, 2026-10-25 02:00 to 03:00 is twice.
      {"fire_time.local", "2026-03-29T01:00:00Z", "Europe/Berlin", "2026-03-29T03:00:00+02:00"},
      {"fire_time.local - 1d", "2026-03-29T22:00:00Z", "Europe/Berlin",
       "2026-03-29T00:00:00+01:00"},
      {"fire_time.local - 1d", "2026-03-30T00:30:00Z", "Europe/Berlin",
       "2026-03-29T03:00:00+02:00"},
      {"fire_time.local + 1d", "2026-10-24T00:30:00Z", "Europe/Berlin",
       "2026-10-25T02:30:00+02:00"},
      {"fire_time.local - 1d", "2026-10-26T01:30:00Z", "Europe/Berlin",
       "2026-10-25T02:30:00+02:00"},
      {"fire_time.local - 1h", "2026-10-25T01:30:00Z", "Europe/Berlin",
       "2026-10-25T02:30:00+02:00"},
      {"fire_time.local - 0h", "2026-10-25T01:30:00Z", "Europe/Berlin",
       "2026-10-25T02:30:00+01:00"},
      {"fire_time.local", "2026-10-25T01:30:00Z", "Europe/Berlin", "2026-10-25T02:30:00+01:00"},
      // A day that Samoa left out: the first instant after it.
      {"fire_time.local - 1d", "2011-12-30T22:00:00Z", "Pacific/Apia", "2011-12-31T00:00:00+14:00"},
      {"fire_date - 2d", "2011-12-30T22:00:00Z", "Pacific/Apia", "2011-12-29"},
  };
  for (const FireDateRow& row : rows) {
    EXPECT_EQ(Filled(row.placeholder, row.fire, row.zone), row.expected) << row.placeholder;
  }
}

TEST(FireDateTest, RefusalNamesTheColumnAndTheWay) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"fire_date - 1x", "column 14: there is no such unit"},
      {"fire_date - 1m", "column 14: there is no unit m: months are M"},
      {"fire_date - 1", "column 14: the shift has no unit"},
      {"fire_date - d", "column 13: a shift is a number and a unit"},
      {"fire_date - 12345d", "column 17: a shift has at most four digits"},
      {"fire_date - 1M - 1d", "column 16: a shift or | and a format is expected"},
      {"fire_date_local", "column 10: a shift or"},
      {"fire_date |", "column 12: a format needs a letter"},
      {"fire_date | yyyyMMdd", "column 13: a format needs a letter such as %Y"},
      {"fire_date | %Y%q", "column 16: a format has %Y"},
      {"fire_date | %Y%", "column 15: a format has %Y"},
      {"fire_date | %%", "column 13: a format needs a letter"},
      {"fire_date | %Y\n", "column 15: a control character"},
      {"fire_time - 1d", "column 1: fire_time is UTC"},
      {"fire_time | %Y", "column 1: fire_time is UTC"},
      {"fire_time.utc", "column 1: fire_time is UTC"},
  };
  for (const auto& [placeholder, reason] : rows) {
    EXPECT_TRUE(IsFireDate(placeholder)) << placeholder;
    const auto date = ParseFireDate(placeholder);
    ASSERT_FALSE(date.ok()) << placeholder;
    EXPECT_EQ(date.code(), ErrorCode::kInvalid);
    EXPECT_NE(date.error().message.find(reason), std::string::npos) << date.error().message;
    EXPECT_NE(date.error().message.find("write fire_date"), std::string::npos);
  }
}

TEST(FireDateTest, OtherNamesAreNoDates) {
  for (const char* name : {"fire_time", "fire", "run_id", "", "Fire_date", "fire_times"}) {
    EXPECT_FALSE(IsFireDate(name)) << name;
  }
  EXPECT_EQ(FireDateLike("yesterday_ds"), "fire_date - 1d");
  EXPECT_EQ(FireDateLike("run_id"), "");
}

TEST(FireDateTest, UnknownZoneAndFarFireHaveNoDate) {
  EXPECT_NE(Filled("fire_date", "2026-03-01T02:00:00Z", "Moon/Base").find("unknown time zone"),
            std::string::npos);
  EXPECT_NE(Filled("fire_date", "2300-01-01T00:00:00Z", "UTC").find("outside"), std::string::npos);
  EXPECT_NE(Filled("fire_date - 2000w", "1970-01-01T00:00:00Z", "UTC").find("outside"),
            std::string::npos);
  EXPECT_NE(Filled("fire_date + 1200M", "2250-01-01T00:00:00Z", "UTC").find("outside"),
            std::string::npos);
  for (const char* far : {"fire_date - 1201M", "fire_date + 5201w"}) {
    EXPECT_EQ(ParseFireDate(far).code(), ErrorCode::kInvalid) << far;
  }
}

TEST(FireDateTest, AnyTextIsReadOrRefused) {
  const std::string alphabet = "fire_date.time_local -+|0123456789hdwMmYm%jGVuFT\n\xc3";
  const char* const begins[] = {"fire_date", "fire_time.local", "fire_date - 1d | %", ""};
  int accepted = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    std::string text = begins[rng.Below(4)];
    for (uint64_t left = rng.Below(12); left > 0; --left) {
      text += alphabet[rng.Below(alphabet.size())];
    }
    const FireDateCheck check = CheckFireDateText(text);
    EXPECT_EQ(check.complaint, "") << text << " seed " << seed;
    accepted += check.accepted ? 1 : 0;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace carillon::test
