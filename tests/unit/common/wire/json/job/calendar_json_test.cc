#include "common/wire/json/job/calendar_json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/source_file.h"

namespace carillon::calendar_test {
namespace {

using nlohmann::json;

const json kFull = json::parse(R"({"time_zone": "Europe/Berlin", "weekdays": ["mon", "sun"],
    "dates": ["2026-12-24", "2028-02-29"], "except": ["2026-12-25"],
    "intervals": ["09:00-17:00", "22:00-06:00", "00:00-24:00"]})");

std::string PointerOf(const json& body) { return CalendarFromJson(body).error().pointer; }

TEST(CalendarJsonTest, RoundTrip) {
  const auto definition = CalendarFromJson(kFull);
  ASSERT_TRUE(definition.ok()) << definition.error().message;
  EXPECT_EQ(definition->weekdays, 0b11);
  EXPECT_EQ(definition->intervals[1], (CalendarInterval{22 * 60, 6 * 60}));
  EXPECT_EQ(CalendarToJson(*definition), kFull);
  EXPECT_EQ(*CalendarFromText(CalendarToText(*definition)), *definition);
}

TEST(CalendarJsonTest, OnlyTheTimeZoneIsRequired) {
  const auto definition = CalendarFromJson({{"time_zone", "UTC"}});
  ASSERT_TRUE(definition.ok());
  EXPECT_EQ(*definition, CalendarDefinition{});
  EXPECT_EQ(PointerOf(json::object()), "/time_zone");
}

TEST(CalendarJsonTest, ErrorsPointToTheValue) {
  const auto with = [](const char* name, json value) {
    json body = {{"time_zone", "UTC"}};
    body[name] = std::move(value);
    return PointerOf(body);
  };
  EXPECT_EQ(with("time_zone", 3), "/time_zone");
  EXPECT_EQ(with("time_zone", "Nowhere/City"), "/time_zone");
  EXPECT_EQ(with("weekdays", json::array({"mon", "Tue"})), "/weekdays/1");
  EXPECT_EQ(with("dates", json::array({"2026-02-29"})), "/dates/0");
  EXPECT_EQ(with("dates", json::array({"2026-2-1"})), "/dates/0");
  EXPECT_EQ(with("except", "2026-01-01"), "/except");
  EXPECT_EQ(with("intervals", json::array({"09:00-17:00", "9:00-17:00"})), "/intervals/1");
  EXPECT_EQ(with("intervals", json::array({"09:00-24:01"})), "/intervals/0");
  EXPECT_EQ(with("intervals", json::array({"09:00-09:00"})), "/intervals/0");
  EXPECT_EQ(with("intervals", json::array({"24:00-09:00"})), "/intervals/0");
  EXPECT_EQ(with("holidays", json::array()), "/holidays");
  EXPECT_EQ(with("dates", json(json::array_t(2001, "2026-01-01"))), "/dates");
  EXPECT_EQ(CalendarFromJson(json::array()).code(), ErrorCode::kInvalid);
}

TEST(CalendarJsonTest, AStoredCalendarIsReadThoughItsZoneHasGone) {
  const char* text = R"({"time_zone": "Gone/Away", "dates": ["2026-12-24"]})";
  const auto stored = CalendarFromText(text);
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->time_zone, "Gone/Away");
  EXPECT_EQ(CalendarFromJson(json::parse(text)).code(), ErrorCode::kInvalid);
  EXPECT_FALSE(CalendarFromText(R"({"time_zone": "UTC", "later": 1})").ok());
}

TEST(CalendarJsonTest, TheExamplesAreCalendars) {
  size_t found = 0;
  const std::filesystem::path root(test::SourceFile("docs/calendars"));
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    const auto definition = CalendarFromText(text.str());
    EXPECT_TRUE(definition.ok()) << entry.path() << ": "
                                 << (definition.ok() ? "" : definition.error().message);
    ++found;
  }
  EXPECT_GE(found, 2u);
}

}  // namespace
}  // namespace carillon::calendar_test
