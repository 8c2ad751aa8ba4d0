// Compares Carillon's fires with those of independent implementations (tests/crosscheck).
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/domain/schedule/schedule.h"
#include "tests/support/source_file.h"

namespace carillon::test {
namespace {

struct GoldenRow {
  std::string source, expression, zone, start;
  std::vector<std::string> fires;

  std::string Key() const { return expression + " | " + zone + " | " + start; }
};

constexpr char kGoldenFile[] = "tests/crosscheck/cron_golden.tsv";

std::vector<GoldenRow> ReadGolden() {
  std::ifstream file(SourceFile(kGoldenFile));
  std::vector<GoldenRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream fields(line);
    GoldenRow row;
    std::string fires;
    std::getline(fields, row.source, '\t');
    std::getline(fields, row.expression, '\t');
    std::getline(fields, row.zone, '\t');
    std::getline(fields, row.start, '\t');
    std::getline(fields, fires);
    std::istringstream each(fires);
    for (std::string fire; each >> fire;) row.fires.push_back(fire);
    rows.push_back(row);
  }
  return rows;
}

constexpr size_t kFiresInARow = 8;

// Returns Carillon's fires in the format of the golden file.
std::vector<std::string> FiresOf(const GoldenRow& row, DstGap gap = DstGap::kFire) {
  const auto schedule = Schedule::Compile(
      {.kind = ScheduleKind::kCron, .cron_expression = row.expression, .time_zone = row.zone}, gap,
      DstRepeat::kAuto);
  if (!schedule.ok()) return {schedule.error().message};
  std::vector<std::string> fires;
  WallTime at = ParseRfc3339(row.start).value();
  while (fires.size() < kFiresInARow) {
    const auto fire = schedule->Next(at);
    if (!fire) break;
    at = fire->time;
    std::string text = FormatRfc3339(at);
    fires.push_back(text.substr(0, text.size() - std::string(".000000Z").size()) + "Z");
  }
  return fires;
}

// The reasons for which Carillon differs on purpose; see tests/crosscheck/README.md.
enum class Why {
  kGapFires,        // any local time inside a gap fires once, at the end of the gap
  kNamedHourOnce,   // a named hour fires once in a repeat, even with */n minutes or six fields
  kStepToSaturday,  // 1/2 as a weekday ends at Saturday
  kNoSuchDay,       // 31W has no fire in a month of 30 days
  kTheirDefect,     // the other implementation repeats one time for ever, or skips fires
};

const std::map<std::string, Why>& Differences() {
  static const std::map<std::string, Why> rows{
      {"0 0 31W * * | UTC | 2023-12-30T11:59:30Z", Why::kNoSuchDay},
      {"0 0 31W * * | UTC | 2024-02-27T23:58:00Z", Why::kNoSuchDay},
      {"0 0 31W * * | UTC | 2026-10-31T08:00:01Z", Why::kNoSuchDay},
      {"*/20 */2 * * * | Europe/Paris | 2024-03-30T23:25:00Z", Why::kGapFires},
      {"*/20 */2 * * * | America/New_York | 2024-03-10T05:25:00Z", Why::kGapFires},
      {"*/20 */2 * * * | America/Sao_Paulo | 2018-11-04T01:25:00Z", Why::kGapFires},
      {"*/15 * * * * | America/St_Johns | 2010-03-14T01:56:00Z", Why::kGapFires},
      {"0 * * * * | America/St_Johns | 2010-03-14T01:56:00Z", Why::kGapFires},
      {"*/20 */2 * * * | America/St_Johns | 2010-03-14T01:56:00Z", Why::kTheirDefect},
      {"*/5 * * * 0 | America/St_Johns | 2010-03-14T01:56:00Z", Why::kGapFires},
      {"*/20 */2 * * * | America/St_Johns | 2010-11-07T00:56:00Z", Why::kTheirDefect},
      {"*/5 * * * 0 | America/St_Johns | 2010-11-07T00:56:00Z", Why::kTheirDefect},
      {"*/20 */2 * * * | America/Havana | 2024-03-10T03:25:00Z", Why::kGapFires},
      {"*/20 */2 * * * | Asia/Beirut | 2022-03-26T20:25:00Z", Why::kGapFires},
      {"*/20 */2 * * * | Asia/Tehran | 2021-03-21T18:55:00Z", Why::kGapFires},
      {"0 * * * * | Australia/Lord_Howe | 2024-10-05T13:55:00Z", Why::kGapFires},
      {"*/20 */2 * * * | Australia/Lord_Howe | 2024-10-05T13:55:00Z", Why::kGapFires},
      {"*/20 */2 * * * | Australia/Lord_Howe | 2024-04-06T13:25:00Z", Why::kTheirDefect},
      {"*/20 */2 * * * | Antarctica/Troll | 2024-03-30T23:25:00Z", Why::kGapFires},
      {"0 * * * * | Pacific/Chatham | 2024-09-28T12:25:00Z", Why::kGapFires},
      {"*/20 */2 * * * | Africa/Casablanca | 2024-04-14T00:25:00Z", Why::kGapFires},
      {"30 * * * * | Europe/Paris | 2024-03-30T23:45:00Z", Why::kGapFires},
      {"*/20 2 * * * | Europe/Paris | 2024-03-30T12:00:00Z", Why::kGapFires},
      {"*/20 2 * * * | Europe/Paris | 2024-10-26T12:00:00Z", Why::kNamedHourOnce},
      {"30 */2 * * * | Europe/Paris | 2024-03-30T12:00:00Z", Why::kGapFires},
      {"0 30 2 * * * | Europe/Paris | 2024-10-26T12:00:00Z", Why::kNamedHourOnce},
      {"0 30 2 * * * | Europe/Paris | 2024-03-30T12:00:00Z", Why::kGapFires},
      {"0 0 * * 1/2 | UTC | 2024-03-30T12:00:00Z", Why::kStepToSaturday},
  };
  return rows;
}

TEST(CronGoldenTest, AgreesWithIndependentImplementations) {
  const std::vector<GoldenRow> rows = ReadGolden();
  ASSERT_GT(rows.size(), 1'000u) << kGoldenFile;
  size_t compared = 0;
  for (const GoldenRow& row : rows) {
    if (Differences().contains(row.Key())) continue;
    EXPECT_EQ(FiresOf(row), row.fires) << row.source << ": " << row.Key();
    ++compared;
  }
  EXPECT_EQ(compared + Differences().size(), rows.size());
}

// Every entry of the list must still be a row of the file and a difference.
TEST(CronGoldenTest, DiffersOnlyWhereItSaysSo) {
  size_t found = 0;
  for (const GoldenRow& row : ReadGolden()) {
    if (!Differences().contains(row.Key())) continue;
    EXPECT_NE(FiresOf(row), row.fires) << row.Key();
    ++found;
  }
  EXPECT_EQ(found, Differences().size());
}

// If only the gap rule differs, the results differ only by fires at the end of the gap.
TEST(CronGoldenTest, GapRowsDifferByTheFireAfterTheGapOnly) {
  for (const GoldenRow& row : ReadGolden()) {
    const auto found = Differences().find(row.Key());
    if (found == Differences().end() || found->second != Why::kGapFires) continue;
    EXPECT_EQ(FiresOf(row, DstGap::kSkip), row.fires) << row.Key();
  }
}

}  // namespace
}  // namespace carillon::test
