// A job whose stored definition the server cannot read: shown, not exported, and not edited in
// an editor.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class UnreadableJobTest : public CliTest {
 protected:
  static constexpr const char* kProblem =
      "The definition of job bad (version 1) cannot be read: unknown type.";
  static json Bad() {
    return {{"job_id", "bad"},
            {"name", "Bad"},
            {"type", "shell"},
            {"user_id", "ann"},
            {"namespace", "default"},
            {"version", 1},
            {"state", "ENABLED"},
            {"pause_reason", nullptr},
            {"problem", kProblem},
            {"create_time", "2026-03-01T00:00:00Z"},
            {"update_time", "2026-03-01T00:00:00Z"},
            {"allowed_actions", json::array()}};
  }
};

TEST_F(UnreadableJobTest, IsListedAndShownWithItsProblem) {
  Answer("GET /api/jobs?page_size=50", {{"items", {Bad()}}, {"next_page_token", nullptr}});
  Answer("GET /api/recent-runs?n=1&job_id=bad", {{"items", json::array()}});
  EXPECT_EQ(Run({"job", "list"}), 0) << err();
  EXPECT_NE(out().find("bad  Bad   ENABLED  cannot be read"), std::string::npos) << out();
  Answer("GET /api/jobs/bad", Bad());
  EXPECT_EQ(Run({"job", "get", "bad"}), 0) << err();
  EXPECT_NE(out().find(kProblem), std::string::npos) << out();
}

TEST_F(UnreadableJobTest, IsLeftOutOfExportsWithAWord) {
  Answer("GET /api/jobs?page_size=500",
         {{"items", {Bad(), JobShown("nightly")}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"export"}), 0) << err();
  EXPECT_EQ(out().find("bad"), std::string::npos) << out();
  EXPECT_NE(out().find("job_id: nightly"), std::string::npos) << out();
  EXPECT_NE(err().find(std::string("Left out: ") + kProblem), std::string::npos) << err();
}

}  // namespace
}  // namespace carillon::cli
