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

TEST_F(ExecutorCommandsTest, ExecutorLabelsAreMerged) {
  Answer("GET /api/executors/e", {{"executor_id", "e"}, {"labels", {{"a", "1"}, {"b", "2"}}}}, 200,
         "\"x\"");
  Answer("PATCH /api/executors/e", {{"executor_id", "e"}, {"labels", json::object()}});
  EXPECT_EQ(Run({"executor", "label", "e", "b-", "c=3"}), 0);
  EXPECT_EQ(SentBody(1), (json{{"labels", {{"a", "1"}, {"c", "3"}}}}));
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"x\"");
  EXPECT_EQ(Run({"executor", "label", "e", "nonsense"}), 2);
}

// Only a heartbeat sent after the answer to the drain proves that nothing runs. The first heartbeat
// that arrives may have been sent before.
TEST_F(ExecutorCommandsTest, DrainWaitsForHeartbeatsThatSayNothingRuns) {
  Answer("POST /api/executors/e/drain", {{"executor_id", "e"}, {"draining", true}});
  const auto beat = [this](int second, int running, bool draining = true) {
    Answer("GET /api/executors/e",
           {{"executor_id", "e"},
            {"draining", draining},
            {"running", running},
            {"last_heartbeat_time", "2026-03-01T12:00:1" + std::to_string(second) + "Z"}});
  };
  beat(1, 0);
  beat(1, 0);
  beat(3, 0);
  beat(2, 0);  // reported by another member
  beat(5, 2);
  FailOf("http://a", "GET /api/executors/e", ErrorCode::kUnavailable);
  beat(7, 0);
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait"}), 0) << err();
  EXPECT_EQ(server_.requests.size(), 8u);
  EXPECT_NE(err().find("is drained"), std::string::npos);
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait", "--wait-timeout", "20s"}), 12)
      << "no further heartbeat";
  server_.answers.erase("GET http://a/api/executors/e");
  beat(9, 0, false);
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait"}), 5) << "enabled meanwhile";
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait", "--wait-timeout", "soon"}), 2);
}

TEST_F(ExecutorCommandsTest, ControlCharactersDoNotReachATerminalThroughATable) {
  Answer(
      "GET /api/executors?page_size=500",
      {{"items", {{{"executor_id", "e"}, {"host", "\x1b[2Jevil"}}}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"executor", "list"}), 0);
  EXPECT_EQ(out().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace carillon::cli
