#include <fstream>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

json State(bool finished, const json& problem = nullptr) {
  return {
      {"finished", finished}, {"finishing", !finished && problem.is_null()}, {"problem", problem}};
}

class UpgradeCommandsTest : public CliTest {
 protected:
  void AnswerCheck(const json& segments, const char* member_state, const json& results) {
    Answer("GET /api/system/status", {{"leader", "m1"},
                                      {"members", {{{"id", "m1"}}, {{"id", "m2"}}}},
                                      {"segments", segments},
                                      {"lag", {{"results", results}}}});
    Answer("GET /api/system/topology", {{"nodes",
                                         {{{"id", "bus"}, {"state", "down"}},
                                          {{"id", "member:m1"}, {"state", "ok"}},
                                          {{"id", "member:m2"}, {"state", member_state}}}}});
  }
};

TEST_F(UpgradeCommandsTest, FinishAsksFirstAndWaitsForTheOutcome) {
  Answer("POST /api/system/upgrade/finish", State(false), 202);
  Answer("GET /api/system/upgrade", State(false));
  Answer("GET /api/system/upgrade", State(true));
  EXPECT_EQ(Run({"system", "upgrade", "finish"}), 2) << "without a terminal it needs --yes";
  EXPECT_EQ(server_.requests.size(), 0u);
  EXPECT_EQ(Run({"system", "upgrade", "finish", "--yes", "--reason", "done", "-o", "json"}), 0)
      << err();
  EXPECT_EQ(SentBody(0), (json{{"reason", "done"}}));
  EXPECT_EQ(OutJson()["finished"], true);
}

TEST_F(UpgradeCommandsTest, FinishReportsTheMemberThatIsNotUpgraded) {
  Answer("POST /api/system/upgrade/finish", State(false), 202);
  Answer("GET /api/system/upgrade", State(false, "member m2 knows schema 1 and not 2"));
  EXPECT_EQ(Run({"system", "upgrade", "finish", "--yes"}), 5);
  EXPECT_NE(err().find("member m2 knows schema 1"), std::string::npos) << err();
}

TEST_F(UpgradeCommandsTest, FinishDoesNotWaitForEver) {
  Answer("POST /api/system/upgrade/finish", State(false), 202);
  Answer("GET /api/system/upgrade", State(false));
  EXPECT_EQ(Run({"system", "upgrade", "finish", "--yes"}), 12);
}

TEST_F(UpgradeCommandsTest, CheckNamesTheOrderWithTheLeaderLast) {
  AnswerCheck({{{"owner", "m1"}}, {{"owner", "m2"}}}, "ok", 0);
  EXPECT_EQ(Run({"system", "upgrade", "check", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson()["restart_order"], (json{"m2", "m1"}));
  EXPECT_EQ(OutJson()["checks"][0]["result"], "unknown") << "no backup is named";
  EXPECT_EQ(Run({"system", "upgrade", "check"}), 0);
  EXPECT_NE(err().find("m2, m1, then the executors"), std::string::npos) << err();
}

TEST_F(UpgradeCommandsTest, CheckTellsWhatToWaitFor) {
  AnswerCheck({{{"owner", "m1"}}, {{"owner", nullptr}}}, "down", 7);
  const std::string none = ::testing::TempDir() + "/no-backup.sql.gz";
  EXPECT_EQ(Run({"system", "upgrade", "check", "--backup", none}), 5);
  EXPECT_EQ(out(),
            "CHECK     RESULT  DETAIL\n"
            "backup    wait    There is no file " +
                none +
                "\n"
                "members   wait    Not well: m2\n"
                "segments  wait    1 have no owner\n"
                "results   wait    7 wait to be applied\n");
}

TEST_F(UpgradeCommandsTest, BackupMustBeYoungerThanADay) {
  AnswerCheck(json::array(), "ok", nullptr);
  const std::string file = ::testing::TempDir() + "/upgrade-backup.sql.gz";
  std::ofstream(file) << "x";
  clock_.StepWall(24h * 365 * 70);
  EXPECT_EQ(Run({"system", "upgrade", "check", "--backup", file}), 5);
  EXPECT_NE(out().find("is older than a day"), std::string::npos) << out();
}

}  // namespace
}  // namespace carillon::cli
