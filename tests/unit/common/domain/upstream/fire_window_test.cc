#include "common/domain/upstream/fire_window.h"

#include <gtest/gtest.h>

#include <string>

namespace carillon::fire_window_test {
namespace {

WallTime At(std::string_view text) { return ParseRfc3339(text).value(); }

FireWindow Day(int day, std::string_view fire, std::string_view zone) {
  const auto window = WindowOf({.day = day}, At(fire), zone);
  EXPECT_TRUE(window.ok());
  return window.ok() ? *window : FireWindow{};
}

// "from until" of a day.
std::string Text(const FireWindow& window) {
  EXPECT_EQ(window.ahead_until, window.until);
  return FormatRfc3339(window.from) + " " + FormatRfc3339(window.until);
}

TEST(FireWindowTest, TheDayOfAFireEndsAtTheFire) {
  EXPECT_EQ(Text(Day(0, "2026-03-01T06:30:00Z", "UTC")),
            "2026-03-01T00:00:00.000000Z 2026-03-01T06:30:00.000000Z");
  EXPECT_EQ(Text(Day(0, "2026-03-01T00:00:00Z", "UTC")),
            "2026-03-01T00:00:00.000000Z 2026-03-01T00:00:00.000000Z");
  EXPECT_EQ(Text(Day(0, "2026-03-01T23:59:59.999999Z", "UTC")),
            "2026-03-01T00:00:00.000000Z 2026-03-01T23:59:59.999999Z");
}

TEST(FireWindowTest, AnEarlierDayIsWhole) {
  EXPECT_EQ(Text(Day(-1, "2026-03-01T06:30:00Z", "UTC")),
            "2026-02-28T00:00:00.000000Z 2026-02-28T23:59:59.999999Z");
  EXPECT_EQ(Text(Day(-31, "2026-03-31T06:30:00Z", "UTC")),
            "2026-02-28T00:00:00.000000Z 2026-02-28T23:59:59.999999Z");
}

TEST(FireWindowTest, ADayIsThatOfTheZone) {
  // 06:30 UTC is 20:30 of the day before in Honolulu-like zones, and 20:30 in Kiribati.
  EXPECT_EQ(Text(Day(0, "2026-03-01T06:30:00Z", "Pacific/Kiritimati")),  // UTC+14
            "2026-02-28T10:00:00.000000Z 2026-03-01T06:30:00.000000Z");
  EXPECT_EQ(Text(Day(0, "2026-03-01T06:30:00Z", "Pacific/Pago_Pago")),  // UTC-11
            "2026-02-28T11:00:00.000000Z 2026-03-01T06:30:00.000000Z");
  EXPECT_EQ(Text(Day(-1, "2026-03-01T06:30:00Z", "Asia/Shanghai")),
            "2026-02-27T16:00:00.000000Z 2026-02-28T15:59:59.999999Z");
}

TEST(FireWindowTest, ADayOfAClockChangeHas23Or25Hours) {
  EXPECT_EQ(Text(Day(-1, "2026-03-30T06:00:00Z", "Europe/Berlin")),
            "2026-03-28T23:00:00.000000Z 2026-03-29T21:59:59.999999Z");
  EXPECT_EQ(Text(Day(-1, "2026-10-26T06:00:00Z", "Europe/Berlin")),
            "2026-10-24T22:00:00.000000Z 2026-10-25T22:59:59.999999Z");
  // The day begins at 01:00 where midnight is left out.
  EXPECT_EQ(Text(Day(0, "2026-03-08T12:00:00Z", "America/Havana")),
            "2026-03-08T05:00:00.000000Z 2026-03-08T12:00:00.000000Z");
}

TEST(FireWindowTest, ASpanIsTimeAndNoClock) {
  const WallTime fire = At("2026-03-29T02:00:00Z");
  EXPECT_EQ(*WindowOf({.back_s = 86'400, .ahead_s = 60}, fire, "Europe/Berlin"),
            (FireWindow{.from = fire - 24h, .until = fire, .ahead_until = fire + 60s}));
  EXPECT_EQ(*WindowOf({.ahead_s = 3'600}, fire, "UTC"),
            (FireWindow{.from = fire, .until = fire, .ahead_until = fire + 1h}));
}

TEST(FireWindowTest, UnknownZonesAndFarFiresAreRefused) {
  EXPECT_EQ(WindowOf({.day = 0}, At("2026-03-01T06:30:00Z"), "Mars/Base").code(),
            ErrorCode::kInvalid);
  EXPECT_EQ(WindowOf({.day = 0}, At("2301-01-01T00:00:00Z"), "UTC").code(), ErrorCode::kInvalid);
  EXPECT_TRUE(WindowOf({.back_s = 60}, At("2301-01-01T00:00:00Z"), "UTC").ok());
}

}  // namespace
}  // namespace carillon::fire_window_test
