// Runs that wait for runs of other jobs, on the command line.
#include "cli/runs/wait_text.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

using ReleaseCommandsTest = CliTest;

constexpr const char* kDetail = "Waits for load of 2026-11-28 (run R0, FAILED), until 06:00";

TEST_F(ReleaseCommandsTest, EachRunIsReleasedWithTheReason) {
  Answer("POST /api/runs/R1/release", RunShown("PENDING"));
  Answer("POST /api/runs/R2/release", RunShown("PENDING"));
  EXPECT_EQ(Run({"run", "release", "R1", "R2", "--reason", "the load comes later"}), 0) << err();
  ASSERT_EQ(server_.requests.size(), 2u);
  EXPECT_EQ(SentBody(1), (json{{"reason", "the load comes later"}}));
  EXPECT_NE(out().find("PENDING"), std::string::npos) << out();
  EXPECT_EQ(Run({"run", "release", "R1"}), 0) << err();
  EXPECT_EQ(SentBody(2), json::object());
}

TEST_F(ReleaseCommandsTest, TheFirstRefusalEndsIt) {
  Answer("POST /api/runs/R1/release", ProblemOf("not_waiting"), 409);
  EXPECT_EQ(Run({"run", "release", "R1", "R2"}), 5);
  EXPECT_EQ(server_.requests.size(), 1u);
  EXPECT_EQ(Run({"run", "release"}), 2);
  EXPECT_EQ(Run({"run", "release", "R1", "--kill"}), 2);
}

TEST_F(ReleaseCommandsTest, ManyAreReleasedByAFilter) {
  const auto answered = [](const std::string& result) -> json {
    return {{"action", "release"},
            {"kind", "run"},
            {"total", 1},
            {"more", false},
            {"done", 1},
            {"failed", 0},
            {"items", {{{"id", "R1"}, {"result", result}, {"run_id", nullptr}}}}};
  };
  Answer("POST /api/bulk", answered("would"));
  Answer("POST /api/bulk", answered("done"));
  EXPECT_EQ(
      Run({"bulk", "release", "--filter", "waiting=upstream_run", "--reason", "late", "--yes"}), 0)
      << err();
  const json filter = {{"waiting", {"upstream_run"}}};
  EXPECT_EQ(SentBody(0), (json{{"action", "release"}, {"dry_run", true}, {"filter", filter}}));
  EXPECT_EQ(SentBody(1), (json{{"action", "release"}, {"ids", {"R1"}}, {"reason", "late"}}));
}

TEST_F(ReleaseCommandsTest, RunsThatWaitAreListed) {
  const json none = {{"items", json::array()}, {"next_page_token", nullptr}};
  Answer("GET /api/runs?waiting=upstream_run&page_size=50", none);
  Answer("GET /api/jobs/j/history?waiting=upstream_run&page_size=50", none);
  EXPECT_EQ(Run({"run", "list", "--waiting", "upstream_run"}), 0) << err();
  EXPECT_EQ(Run({"job", "history", "j", "--waiting", "upstream_run"}), 0) << err();
  EXPECT_EQ(Run({"run", "list", "--waiting", ""}), 2);
}

TEST_F(ReleaseCommandsTest, ARunSaysWhatItWaitsFor) {
  json run = RunShown("PENDING");
  run["waiting"] = {{"code", "upstream_run"}, {"detail", kDetail}};
  Answer("GET /api/runs/R1", run);
  EXPECT_EQ(Run({"run", "get", "R1"}), 0) << err();
  EXPECT_NE(out().find("waits for load of 2026-11-28 (run R0, FAILED), until 06:00"),
            std::string::npos)
      << out();
  EXPECT_EQ(Run({"run", "wait", "R1", "--wait-timeout", "1s"}), 12);
  EXPECT_NE(err().find("PENDING on executor-1, waits for load of 2026-11-28 (run R0, FAILED)"),
            std::string::npos)
      << err();
  EXPECT_EQ(Run({"run", "get", "R1", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["waiting"]["detail"], kDetail);
}

TEST_F(ReleaseCommandsTest, ANodeWaitsForOtherJobsFirst) {
  Answer("GET /api/runs/R1/nodes", json::parse(R"({"nodes": [
      {"id": "a", "job_id": "a", "state": "PENDING", "blocked": true, "awaiting": true,
       "after": [{"node": "b", "on": "success", "verdict": "open"}]},
      {"id": "c", "job_id": "c", "state": "PENDING", "blocked": true, "awaiting": false,
       "after": [{"node": "b", "on": "success", "verdict": "open"}]}]})"));
  EXPECT_EQ(Run({"run", "nodes", "R1"}), 0) << err();
  EXPECT_NE(out().find("waits for other jobs\n"), std::string::npos) << out();
  EXPECT_NE(out().find("waits for b\n"), std::string::npos) << out();
}

TEST(WaitingText, IsEmptyForAnotherReason) {
  EXPECT_EQ(WaitingText({{"code", "not_due"}, {"detail", "Is due at 06:00"}}), "");
  EXPECT_EQ(WaitingText({{"code", "upstream_run"}, {"detail", kDetail}}).substr(0, 9), "waits for");
}

}  // namespace
}  // namespace carillon::cli
