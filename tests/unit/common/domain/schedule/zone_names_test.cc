#include "common/domain/schedule/zone_names.h"

#include <gtest/gtest.h>

#include <string>

namespace carillon {
namespace {

constexpr std::string_view kTzdata =
    "# version 2026f\n"
    "R A 1996 o - O Su>=25 3 0 -\n"
    "Z America/New_York -4:56:2 - LMT 1883 N 18 17u\n"
    "L America/New_York US/Eastern\n"
    "L US/Eastern America/Odd\n"
    "L Europe/Brussels Europe/Amsterdam\n"
    "L Etc/UTC UTC\n"
    "L Etc/GMT GMT\n"
    "L Etc/UTC Etc/UCT\n"
    "L Etc/UTC Zulu";
constexpr std::string_view kPlaces =
    "# comment\t\tnot/this\n"
    "US\t+404251-0740023\tAmerica/New_York\tEastern (most areas)\n"
    "NL\t+5222+00454\tEurope/Amsterdam\n";

std::string InsteadOf(std::string_view name) {
  const OldZoneNames old = ParseOldZoneNames(kTzdata, kPlaces);
  const auto found = old.find(name);
  return found == old.end() ? "" : found->second;
}

TEST(ZoneNamesTest, LinksThatNameNoPlaceAreOld) {
  EXPECT_EQ(InsteadOf("US/Eastern"), "America/New_York");
  EXPECT_EQ(InsteadOf("America/Odd"), "America/New_York");
  EXPECT_EQ(InsteadOf("Zulu"), "UTC");
  EXPECT_EQ(InsteadOf("EST5EDT"), "America/New_York");
  for (const char* name :
       {"Europe/Amsterdam", "America/New_York", "UTC", "GMT", "Etc/UCT", "not/this", ""}) {
    EXPECT_EQ(InsteadOf(name), "") << name;
  }
}

TEST(ZoneNamesTest, WithoutItsPlacesTheDatabaseTellsNothing) {
  EXPECT_EQ(ParseOldZoneNames(kTzdata, "").count("US/Eastern"), 0u);
  EXPECT_EQ(ParseOldZoneNames("", kPlaces).count("US/Eastern"), 0u);
  EXPECT_EQ(ParseOldZoneNames("", "").count("EST5EDT"), 1u);
}

TEST(ZoneNamesTest, TheHostsDatabaseIsRead) {
  EXPECT_EQ(NewZoneName("US/Eastern"), "America/New_York");
  EXPECT_EQ(NewZoneName("Asia/Calcutta"), "Asia/Kolkata");
  for (const char* name : {"Europe/Amsterdam", "Europe/Paris", "Asia/Shanghai", "UTC", "Nowhere"}) {
    EXPECT_EQ(NewZoneName(name), "") << name;
  }
}

}  // namespace
}  // namespace carillon
