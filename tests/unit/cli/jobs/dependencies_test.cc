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

TEST_F(DependenciesTest, EachDependencyHasItsKind) {
  Answer("GET /api/jobs/report/dependencies", json::parse(R"({"hidden": 0, "upstream": [
      {"job_id": "load", "job_name": "Load", "kind": "waits", "on": "done"},
      {"job_id": "stock", "job_name": "Stock", "kind": "after", "on": "success"}],
      "downstream": [{"job_id": "flow", "job_name": "Flow", "kind": "node", "on": null}]})"));
  EXPECT_EQ(Run({"job", "deps", "report"}), 0) << err();
  EXPECT_EQ(out(),
            "DIRECTION   KIND   JOB    NAME   ON\n"
            "upstream    waits  load   Load   done\n"
            "upstream    after  stock  Stock  success\n"
            "downstream  node   flow   Flow   -\n");
}

TEST_F(DependenciesTest, JobsWaitForOthers) {
  Answer("POST /api/jobs", JobShown("report"), 201);
  Answer("PATCH /api/jobs/report", JobShown("report"));
  Answer("GET /api/jobs/report", JobShown("report"), 200, "\"v3\"");
  EXPECT_EQ(Run({"job", "create", "--name", "Report", "--waits-for", "load,day=-1", "--waits-for",
                 "stock,on=done", "--wait-limit", "6h"}),
            0)
      << err();
  EXPECT_EQ(SentBody(0)["waits_for"],
            (json{{{"job", "load"}, {"window", {{"day", -1}}}},
                  {{"job", "stock"}, {"on", "done"}, {"window", {{"day", 0}}}}}));
  EXPECT_EQ(SentBody(0)["wait_limit_s"], 21'600);
  EXPECT_EQ(Run({"job", "edit", "report", "--waits-for", "none"}), 0) << err();
  EXPECT_EQ(test::ParseJson(server_.requests.back().body),
            (json{{"waits_for", nullptr}, {"wait_limit_s", nullptr}}));
  EXPECT_EQ(Run({"job", "edit", "report", "--waits-for", "load,days=1"}), 2);
  EXPECT_EQ(Run({"job", "edit", "report", "--waits-for", ""}), 2);
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
  EXPECT_EQ(EventText({{"id", "42"}, {"source", "shop"}, {"type", "order.paid"}}),
            "42 of shop (order.paid)");
  EXPECT_EQ(EventText(nullptr), "");
}

}  // namespace
}  // namespace carillon::cli
