// Jobs that start after another job, on the command line.
#include "cli/runs/trigger_text.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

using DependenciesTest = CliTest;

TEST_F(DependenciesTest, AJobThatDoesNotExistIsNotFound) {
  Answer("GET /api/jobs/none/dependencies", ProblemOf("not_found"), 404);
  EXPECT_EQ(Run({"job", "deps", "none"}), 3);
  EXPECT_EQ(Run({"job", "deps"}), 2);
}

TEST_F(DependenciesTest, JobsStartAfterOthersOnTheirResult) {
  Answer("POST /api/jobs", JobShown("report"), 201);
  EXPECT_EQ(Run({"job", "create", "--name", "Report", "--after", "load", "--after", "stock", "--on",
                 "done", "--cron", "0 3 * * *"}),
            0)
      << err();
  EXPECT_EQ(SentBody(0)["schedules"],
            (json{{{"kind", "cron"}, {"cron_expression", "0 3 * * *"}},
                  {{"kind", "after"}, {"job", "load"}, {"on", "done"}},
                  {{"kind", "after"}, {"job", "stock"}, {"on", "done"}}}));
  EXPECT_EQ(Run({"job", "create", "--name", "Report", "--after", "load"}), 0) << err();
  EXPECT_EQ(SentBody(1)["schedules"], (json{{{"kind", "after"}, {"job", "load"}}}));
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--after", "load", "--on", "never"},
                                             {"--on", "failure"},
                                             {"--after", ""},
                                             {"--after", "load", "--manual"},
                                             {"--after", "load", "--jitter", "5m"}}) {
    std::vector<std::string> arguments = {"job", "create", "--name", "Report"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(Run(arguments), 2) << err();
  }
}

TEST_F(DependenciesTest, AListSaysAfterWhichJobAJobStarts) {
  json job = JobShown("report");
  job["schedules"] = {{{"kind", "after"}, {"job", "load"}, {"on", "failure"}, {"schedule_id", 4}}};
  Answer("POST /api/jobs", job, 201);
  EXPECT_EQ(Run({"job", "create", "--name", "Report", "--after", "load", "--on", "failure"}), 0)
      << err();
  EXPECT_NE(out().find("after load (failure)"), std::string::npos) << out();
}

TEST_F(DependenciesTest, AJobThatOthersNameIsDeletedOnlyByForce) {
  Answer("GET /api/jobs/load", JobShown("load"), 200, "\"v3\"");
  json problem = ProblemOf("has_dependents");
  problem["detail"] = "Report starts after this job";
  Answer("DELETE /api/jobs/load", problem, 409);
  Answer("DELETE /api/jobs/load?force=true", nullptr, 204);
  EXPECT_EQ(Run({"job", "delete", "load", "--yes"}), 5);
  EXPECT_NE(err().find("Report starts after this job (has_dependents)"), std::string::npos)
      << err();
  EXPECT_NE(err().find("--force"), std::string::npos) << err();
  EXPECT_EQ(Run({"job", "delete", "load", "--force", "--yes"}), 0) << err();
  EXPECT_EQ(HeaderOf(Sent(3), "If-Match"), "\"v3\"");
}

TEST(TriggerText, NamesTheJobByItsIdIfItHasNoName) {
  EXPECT_EQ(
      TriggerText({{"run_id", "R0"}, {"job_id", "load"}, {"job_name", ""}, {"state", "LOST"}}),
      "run R0 of load (LOST)");
  EXPECT_EQ(TriggerText(nullptr), "");
}

}  // namespace
}  // namespace carillon::cli
