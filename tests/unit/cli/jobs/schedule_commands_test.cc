// The commands schedule, and the next fires of a job.
#include <filesystem>
#include <fstream>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

using ScheduleCommandsTest = CliTest;

TEST_F(ScheduleCommandsTest, ScheduleNextNeedsNoServer) {
  EXPECT_EQ(Run({"schedule", "next", "30 2 * * *", "--tz", "Europe/Paris", "--after",
                 "2026-03-28T00:00:00Z", "-n", "2", "-o", "json"}),
            0)
      << err();
  const json shown = OutJson();
  EXPECT_EQ(shown["time_zone"], "Europe/Paris");
  ASSERT_EQ(shown["fires"].size(), 2u);
  EXPECT_EQ(shown["fires"][0], (json{{"fire_time", "2026-03-28T01:30:00.000000Z"},
                                     {"local_time", "2026-03-28T02:30:00.000000+01:00"},
                                     {"dst", nullptr}}));
  EXPECT_EQ(shown["fires"][1], (json{{"fire_time", "2026-03-29T01:00:00.000000Z"},
                                     {"local_time", "2026-03-29T03:00:00.000000+02:00"},
                                     {"dst", "moved_by_gap"}}));
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(ScheduleCommandsTest, SchedulesOfAJobHaveItsTimes) {
  EXPECT_EQ(Run({"schedule", "next", "H H * * *", "--job-id", "mail-digest"}), 0);
  EXPECT_NE(out().find("04:51:00Z"), std::string::npos) << out();  // as in docs/schedules.md
}

TEST_F(ScheduleCommandsTest, ScheduleIsJudgedBeforeAnythingIsPrinted) {
  EXPECT_EQ(Run({"schedule", "next", "61 * * * *"}), 2);
  EXPECT_EQ(Run({"schedule", "next", "* * * * *", "--tz", "Mars/Olympus"}), 2);
  EXPECT_EQ(Run({"schedule", "next", "* * * * *", "-n", "0"}), 2);
  EXPECT_EQ(Run({"schedule", "explain", "@reboot"}), 2);
  EXPECT_EQ(out(), "");
}

TEST_F(ScheduleCommandsTest, ExplainSaysThatItNeverFires) {
  EXPECT_EQ(Run({"schedule", "explain", "0 0 31 2 *"}), 0);
  EXPECT_NE(err().find("It never fires"), std::string::npos) << err();
}

TEST_F(ScheduleCommandsTest, ScheduleLintNeedsNoServerAndSaysWhatItFound) {
  EXPECT_EQ(Run({"schedule", "lint", "0 9 13 * FRI"}), 1);
  EXPECT_TRUE(out().starts_with("either_day_field: Day of month and day of week")) << out();
  EXPECT_TRUE(out().ends_with("match both.\n")) << "cut off: " << out();
  EXPECT_EQ(Run({"schedule", "lint", "0 0 31 2 *", "-o", "json"}), 1);
  EXPECT_EQ(OutJson()["items"][0]["code"], "never_fires");
  EXPECT_EQ(Run({"schedule", "lint", "30 2 * * *", "--tz", "Europe/Paris", "--after",
                 "2026-03-01T00:00:00Z", "-q"}),
            1);
  EXPECT_EQ(out(), "hour_in_gap\n");
  EXPECT_EQ(Run({"schedule", "lint", "0 9 * * *"}), 0);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(Run({"schedule", "lint", "0 9 * * *", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["items"], json::array());
  EXPECT_EQ(Run({"schedule", "lint", "61 * * * *"}), 2);
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(ScheduleCommandsTest, LintSaysThatTheListOfACalendarEnds) {
  const std::string file = ::testing::TempDir() + "holidays.yaml";
  std::ofstream(file) << "time_zone: Europe/Berlin\ndates: ['2026-12-25', '2026-12-26']\n";
  const auto lint = [&](const char* after) {
    return Run({"schedule", "lint", "0 9 * * *", "--tz", "Europe/Berlin", "--blackout",
                file.c_str(), "--after", after});
  };
  EXPECT_EQ(lint("2026-12-01T00:00:00Z"), 0) << out();
  EXPECT_EQ(lint("2026-12-20T00:00:00Z"), 0) << out();
  EXPECT_EQ(lint("2026-12-24T00:00:00Z"), 1);
  EXPECT_TRUE(out().starts_with("calendar_ends: Calendar holidays lists no day after 2026-12-26"))
      << out();
  EXPECT_EQ(Run({"schedule", "next", "0 9 * * *", "--blackout", file.c_str(), "--after",
                 "2026-12-24T12:00:00Z", "-n", "1"}),
            0);
  EXPECT_NE(out().find("2026-12-27"), std::string::npos) << out();
  std::ofstream(file) << "time_zone: Mars/Olympus\n";
  EXPECT_EQ(lint("2026-12-01T00:00:00Z"), 2);
  EXPECT_NE(err().find("/time_zone unknown time zone"), std::string::npos) << err();
  std::filesystem::remove(file);
  EXPECT_EQ(lint("2026-12-01T00:00:00Z"), 2) << "no such file";
}

TEST_F(ScheduleCommandsTest, ScheduleLoadLeavesQuietHoursOut) {
  const json buckets = {{{"start", "2026-03-01T00:00:00.000000Z"}, {"fires", 0}},
                        {{"start", "2026-03-01T01:00:00.000000Z"}, {"fires", 12}}};
  Answer("GET /api/schedules/load?bucket=hour", {{"buckets", buckets}, {"truncated", true}});
  EXPECT_EQ(Run({"schedule", "load"}), 0);
  EXPECT_EQ(out(),
            "START                 FIRES\n"
            "2026-03-01 01:00:00Z  12\n");
  EXPECT_NE(err().find("Not all jobs were counted"), std::string::npos);
  Answer("GET /api/schedules/load?bucket=minute", {{"buckets", buckets}, {"truncated", false}});
  EXPECT_EQ(Run({"schedule", "load", "--bucket", "minute", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson()["buckets"], buckets);
}

TEST_F(ScheduleCommandsTest, FiresWithinASecondAreToldApart) {
  Answer(
      "GET /api/jobs/j/next?n=10",
      {{"state", "ENABLED"},
       {"items",
        {{{"fire_time", "2026-03-29T01:00:00.000000Z"}, {"local_time", "x"}, {"dst", nullptr}},
         {{"fire_time", "2026-03-29T01:00:00.250000Z"}, {"local_time", "y"}, {"dst", nullptr}}}}});
  EXPECT_EQ(Run({"job", "next", "j"}), 0);
  EXPECT_EQ(out(),
            "FIRE TIME                LOCAL TIME  DST\n"
            "2026-03-29 01:00:00Z     x           -\n"
            "2026-03-29 01:00:00.25Z  y           -\n");
}

}  // namespace
}  // namespace carillon::cli
