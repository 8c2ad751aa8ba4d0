// The command executor: its output, and the form of times in it.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

using ExecutorCommandsTest = CliTest;

json Beating(const std::string& second, int running) {
  return {{"executor_id", "e"},
          {"draining", true},
          {"running", running},
          {"last_heartbeat_time", "2026-03-01T12:00:" + second + "Z"}};
}

TEST_F(ExecutorCommandsTest, SharesOfAHostArePercentagesForPeopleOnly) {
  const json executor = {
      {"executor_id", "e"},
      {"load", {{"cpu", 0.5763546798029556}, {"memory", 1}, {"disk", 0.004}, {"io", nullptr}}}};
  Answer("GET /api/executors/e", executor);
  Answer("GET /api/executors?page_size=500", {{"items", {executor}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"executor", "list", "-o", "wide"}), 0) << err();
  for (const char* cell : {" 58% ", " 100% ", " 0% "}) {
    EXPECT_NE(out().find(cell), std::string::npos) << out();
  }
  EXPECT_EQ(out().find("0.57"), std::string::npos) << out();
  EXPECT_EQ(Run({"executor", "get", "e"}), 0) << err();
  EXPECT_NE(out().find("load.cpu     58%\n"), std::string::npos) << out();
  EXPECT_NE(out().find("load.io      -\n"), std::string::npos) << out();
  EXPECT_EQ(Run({"executor", "get", "e", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson(), executor);
}

TEST_F(ExecutorCommandsTest, WhatIsDrainedIsShownAsItIsAfterTheWait) {
  Answer("POST /api/executors/e/drain", Beating("10", 1));
  Answer("GET /api/executors/e", Beating("10", 1));
  Answer("GET /api/executors/e", Beating("15", 0));
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson(), Beating("15", 0)) << "once, and nothing before";
  EXPECT_EQ(Run({"executor", "drain", "e", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson(), Beating("10", 1)) << "without a wait as it was answered";
}

TEST_F(ExecutorCommandsTest, AWaitThatEndsEarlyShowsWhatStillRuns) {
  Answer("POST /api/executors/e/drain", Beating("10", 1));
  Answer("GET /api/executors/e", Beating("15", 3));
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait", "--wait-timeout", "20s", "-o", "json"}), 12);
  EXPECT_EQ(OutJson(), Beating("15", 3));
  EXPECT_NE(err().find("may still have active runs"), std::string::npos) << err();
}

}  // namespace
}  // namespace carillon::cli
