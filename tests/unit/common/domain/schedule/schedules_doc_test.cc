// Checks the examples of docs/schedules.md against the code.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/domain/cron/cron.h"
#include "common/domain/job/spread.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/template/template.h"
#include "tests/support/source_file.h"

namespace carillon::test {
namespace {

std::vector<std::string> Lines() {
  std::ifstream file(SourceFile("docs/schedules.md"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The cells of "| a | b | c |", without backquotes.
std::vector<std::string> Cells(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> cells;
  std::string cell;
  std::getline(stream, cell, '|');
  while (std::getline(stream, cell, '|')) {
    std::erase(cell, '`');
    const size_t first = cell.find_first_not_of(' ');
    const size_t last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

// The rows of the table whose first line is `header`.
std::vector<std::vector<std::string>> Table(const std::string& header) {
  const std::vector<std::string> lines = Lines();
  auto at = std::find(lines.begin(), lines.end(), header);
  std::vector<std::vector<std::string>> rows;
  if (at == lines.end()) return rows;
  for (at += 2; at != lines.end() && at->starts_with("|"); ++at) rows.push_back(Cells(*at));
  return rows;
}

// The fires in [from, until), as "hh:mm" UTC.
std::string FiresBetween(const Schedule& schedule, WallTime from, WallTime until) {
  std::string fires;
  for (auto fire = schedule.Next(from - Duration(1)); fire && fire->time < until;
       fire = schedule.Next(fire->time)) {
    fires += (fires.empty() ? "" : " ") + FormatRfc3339(fire->time).substr(11, 5);
  }
  return fires.empty() ? "none" : fires;
}

// The fires from midnight to 05:00 in Paris, as "hh:mm" UTC.
std::string FiresInTheNight(const std::string& text, DstGap gap, DstRepeat repeat,
                            std::string_view midnight, std::string_view five) {
  const auto schedule = Schedule::Compile(
      {.kind = ScheduleKind::kCron, .cron_expression = text, .time_zone = "Europe/Paris"}, gap,
      repeat);
  if (!schedule.ok()) return schedule.error().message;
  return FiresBetween(*schedule, ParseRfc3339(midnight).value(), ParseRfc3339(five).value());
}

TEST(SchedulesDocTest, GapExamplesAreTrue) {
  const auto rows = Table("| expression | dst_gap | 29 March 2026, UTC |");
  ASSERT_EQ(rows.size(), 4u);
  for (const auto& row : rows) {
    EXPECT_EQ(FiresInTheNight(row[0], ParseName<DstGap>(row[1]).value(), DstRepeat::kAuto,
                              "2026-03-28T23:00:00Z", "2026-03-29T03:00:01Z"),
              row[2])
        << row[0] << " " << row[1];
  }
}

TEST(SchedulesDocTest, RepeatExamplesAreTrue) {
  const auto rows = Table("| expression | dst_repeat | 25 October 2026, UTC |");
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) {
    EXPECT_EQ(FiresInTheNight(row[0], DstGap::kFire, ParseName<DstRepeat>(row[1]).value(),
                              "2026-10-24T22:00:00Z", "2026-10-25T04:00:00Z"),
              row[2])
        << row[0] << " " << row[1];
  }
}

TEST(SchedulesDocTest, WindowExamplesAreTrue) {
  const auto rows = Table("| schedule | start_time | end_time | fires on 1 March 2026, UTC |");
  ASSERT_EQ(rows.size(), 4u);
  const auto at = [](const std::string& time) {
    return ParseRfc3339("2026-03-01T" + time + ":00Z").value();
  };
  for (const auto& row : rows) {
    ScheduleSpec spec{.kind = ScheduleKind::kCron, .cron_expression = row[0]};
    if (row[0] == "every 90 minutes") spec = {.kind = ScheduleKind::kRate, .every = 90min};
    spec.start = at(row[1]);
    spec.end = at(row[2]);
    const auto schedule = Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto);
    ASSERT_TRUE(schedule.ok()) << row[0];
    EXPECT_EQ(FiresBetween(*schedule, WallTime{}, spec.end + 24h), row[3]) << row[0];
  }
}

TEST(SchedulesDocTest, SpreadExamplesAreTrue) {
  const auto rows = Table("| expression | job nightly-backup | job mail-digest |");
  ASSERT_EQ(rows.size(), 4u);
  for (const auto& row : rows) {
    const auto spelled = [&row](const char* id) {
      return FormatCron(ParseCron(row[0], SpreadSeed(JobId(id))).value());
    };
    EXPECT_EQ(spelled("nightly-backup"), row[1]) << row[0];
    EXPECT_EQ(spelled("mail-digest"), row[2]) << row[0];
  }
}

TEST(SchedulesDocTest, TheRefusalShownIsTheRefusalGiven) {
  const auto refused =
      Schedule::Compile({.kind = ScheduleKind::kCron, .cron_expression = "0 22-2 * * *"},
                        DstGap::kFire, DstRepeat::kAuto);
  ASSERT_FALSE(refused.ok());
  const std::vector<std::string> lines = Lines();
  const std::string shown = "`" + refused.error().message + "`.";
  EXPECT_NE(std::find(lines.begin(), lines.end(), shown), lines.end()) << shown;
}

TEST(SchedulesDocTest, ThePathShownIsThePathGiven) {
  const std::vector<std::string> lines = Lines();
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("`" + std::string(kStatedPath) + "`") != std::string::npos;
  }));
}

}  // namespace
}  // namespace carillon::test
