#include <filesystem>
#include <fstream>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class SchedulerImportsTest : public CliTest {
 protected:
  static std::string Written(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + name;
    std::ofstream(path) << text;
    return path;
  }
  static json Item(const char* id, const char* result) {
    return {{"job_id", id}, {"name", id}, {"result", result}, {"error", nullptr}};
  }
};

constexpr char kRows[] =
    "INSERT INTO xxl_job_info (id,job_group,job_desc,schedule_type,schedule_conf,glue_type,"
    "glue_source) VALUES (1,1,'a','CRON','0 0 2 ? * 2-6','GLUE_SHELL','true'),"
    "(2,1,'b','NONE','','GLUE_SHELL','true');";

TEST_F(SchedulerImportsTest, AnImportPrintsJobsAndReportsRows) {
  in_.str(kRows);
  const std::string report = ::testing::TempDir() + "import_report";
  EXPECT_EQ(Run({"import", "xxl-job", "-", "--tz", "Asia/Shanghai", "--report", report}), 0);
  EXPECT_NE(out().find("cron_expression: \"0 2 * * MON-FRI\""), std::string::npos) << out();
  EXPECT_NE(out().find("enabled: false"), std::string::npos);
  EXPECT_NE(err().find("2-6 is MON-FRI"), std::string::npos) << err();
  EXPECT_NE(err().find("0 mapped, 2 mapped with remarks, 0 refused."), std::string::npos);
  EXPECT_TRUE(server_.requests.empty());
  std::ifstream file(report);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("remarked  xxl_job_info 1 (a)  ->  xxl-job-1\n    0 0 2 ? * 2-6\n"),
            std::string::npos)
      << text;
  in_.clear();
  in_.str(kRows);
  EXPECT_EQ(Run({"import", "xxl-job", "-"}), 2) << "the zone is required";
  EXPECT_NE(err().find("time zone of the XXL-JOB server"), std::string::npos);
}

TEST_F(SchedulerImportsTest, ApplyCreatesOnlyWhatIsMissing) {
  in_.str(kRows);
  json second = Item("xxl-job-2", "created");
  second["warnings"] =
      json::array({{{"schedule", 0}, {"code", "ends"}, {"detail", "It ends soon."}}});
  Answer("POST /api/apply?only_new=true", {{"items", {Item("xxl-job-1", "unchanged"), second}}});
  EXPECT_EQ(Run({"import", "xxl-job", "-", "--tz", "UTC", "--apply", "-o", "json", "--namespace",
                 "shop"}),
            5);
  ASSERT_EQ(server_.requests.size(), 1u);
  ASSERT_EQ(SentBody(0).size(), 2u);
  EXPECT_EQ(SentBody(0)[1]["job_id"], "xxl-job-2");
  EXPECT_EQ(SentBody(0)[1]["namespace"], "shop");
  EXPECT_EQ(OutJson()["items"][0]["result"], "exists");
  EXPECT_EQ(OutJson()["items"][1]["result"], "created");
  EXPECT_NE(err().find("xxl-job-2: warning: schedule 1: It ends soon."), std::string::npos);
  EXPECT_NE(err().find("carillon bulk resume --background --filter status=PAUSED --filter "
                       "selector=imported-from=xxl-job,was-running=yes"),
            std::string::npos)
      << err();
}

TEST_F(SchedulerImportsTest, AnImportThatStopsSaysHowFarItCame) {
  std::string rows =
      "INSERT INTO xxl_job_info (id,job_group,job_desc,glue_type,glue_source) VALUES ";
  json items = json::array();
  for (int i = 1; i <= 301; ++i) {
    rows +=
        std::string(i == 1 ? "" : ",") + "(" + std::to_string(i) + ",1,'a','GLUE_SHELL','true')";
    if (i <= 300) items.push_back(Item(("xxl-job-" + std::to_string(i)).c_str(), "created"));
  }
  in_.str(rows);
  Answer("POST /api/apply?only_new=true", {{"items", items}});
  Answer("POST /api/apply?only_new=true", {{"code", "unavailable"}, {"detail", "away"}}, 422);
  EXPECT_NE(Run({"import", "xxl-job", "-", "--tz", "UTC", "--apply"}), 0);
  EXPECT_NE(err().find("Stopped after 300 of 301 jobs. Import again"), std::string::npos) << err();
}

TEST_F(SchedulerImportsTest, AFolderOfUnitsHasItsDropIns) {
  const std::string folder = ::testing::TempDir() + "import_units/";
  for (const char* name : {"a.timer.d", "a.service.d", "notes"}) {
    std::filesystem::create_directories(folder + name);
  }
  Written("import_units/a.timer", "[Timer]\nOnCalendar=daily\n");
  Written("import_units/a.service", "[Service]\nUser=x\nExecStart=/bin/a\n");
  Written("import_units/a.timer.d/b.conf", "[Timer]\nOnCalendar=\nOnCalendar=05:00\n");
  Written("import_units/a.service.d/b.conf", "[Service]\nExecStart=\nExecStart=/bin/b\n");
  Written("import_units/notes/c.conf", "[Timer]\nOnCalendar=06:00\n");
  EXPECT_EQ(Run({"import", "systemd", folder, "--tz", "UTC"}), 0) << err();
  EXPECT_NE(out().find("0 5 * * *"), std::string::npos) << out();
  EXPECT_NE(out().find("/bin/b"), std::string::npos);
  EXPECT_EQ(Run({"import", "systemd", folder + "a.timer", folder + "a.service",
                 folder + "a.timer.d/b.conf", "--tz", "UTC"}),
            0)
      << err();
  EXPECT_NE(out().find("0 5 * * *"), std::string::npos) << out();
}

TEST_F(SchedulerImportsTest, AManifestThatCannotBeReadCostsNoOther) {
  const std::string bad = Written("import_bad.yaml", "a: {{ .Values.x }}\nb: [\n");
  const std::string good = Written("import_good.yaml",
                                   "kind: CronJob\nmetadata: {name: a}\nspec: {schedule: '@daily', "
                                   "jobTemplate: {spec: {template: {spec: {containers: [{image: "
                                   "busybox}]}}}}}\n");
  EXPECT_EQ(Run({"import", "cronjob", bad, good, "--tz", "UTC"}), 1);
  EXPECT_NE(out().find("job_id: a"), std::string::npos) << out();
  EXPECT_NE(err().find("import_bad.yaml skipped: "), std::string::npos) << err();
  EXPECT_EQ(Run({"import", "cronjob", bad, "--tz", "UTC"}), 2);
}

// The server would miss a job of an earlier request, because it stores none in a dry run.
TEST_F(SchedulerImportsTest, ADryRunLeavesOutWhatFollowsAJobOfTheImport) {
  in_.str(
      "INSERT INTO xxl_job_info (id,job_group,job_desc,schedule_type,glue_type,glue_source,"
      "child_jobid) VALUES (2,1,'b','NONE','GLUE_SHELL','true',''),"
      "(1,1,'a','NONE','GLUE_SHELL','true','2');");
  const json items = {{"items", {Item("xxl-job-1", "created"), Item("xxl-job-2", "created")}}};
  Answer("POST /api/apply?dry_run=true", items);
  Answer("POST /api/apply?only_new=true", items);
  const std::string rows = in_.str();
  EXPECT_EQ(Run({"import", "xxl-job", "-", "--tz", "UTC", "--dry-run"}), 0) << err();
  in_.clear();
  in_.str(rows);
  EXPECT_EQ(Run({"import", "xxl-job", "-", "--tz", "UTC", "--apply", "-o", "json"}), 0) << err();
  ASSERT_EQ(server_.requests.size(), 2u);
  EXPECT_EQ(SentBody(0)[1]["schedules"], json::array());
  EXPECT_EQ(SentBody(1)[1]["schedules"][0]["job"], "xxl-job-1");
}

TEST_F(SchedulerImportsTest, AMapRenamesHandlers) {
  in_.str(
      "INSERT INTO xxl_job_group (id,app_name) VALUES (1,'Shop');"
      "INSERT INTO xxl_job_info (id,job_group,job_desc,glue_type,executor_handler) VALUES "
      "(1,1,'a','BEAN','sendMail');");
  const std::string map = Written("import_map.yaml", "sendMail: post/send\n");
  EXPECT_EQ(Run({"import", "xxl-job", "-", "--tz", "UTC", "--map", map, "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson()["jobs"][0]["handler"], "post/send");
  const std::string bad = Written("import_bad_map.yaml", "- x\n");
  EXPECT_EQ(Run({"import", "xxl-job", "-", "--tz", "UTC", "--map", bad}), 2);
}

TEST_F(SchedulerImportsTest, ADirectoryIsReadByKind) {
  const std::string directory = ::testing::TempDir() + "import_units";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  EXPECT_EQ(Run({"import", "systemd", directory}), 2) << "nothing in it";
  std::ofstream(directory + "/a.timer") << "[Timer]\nOnCalendar=daily UTC\n";
  std::ofstream(directory + "/a.service") << "[Service]\nUser=x\nExecStart=/bin/true\n";
  std::ofstream(directory + "/notes.txt") << "# /x/b.timer\n[Timer]\n";
  EXPECT_EQ(Run({"import", "systemd", directory, "-o", "json"}), 0) << err();
  ASSERT_EQ(OutJson()["jobs"].size(), 1u);
  EXPECT_EQ(OutJson()["jobs"][0]["job_id"], "a");
}

constexpr char kManifest[] =
    "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: 5 4 * * *\n"
    "  jobTemplate: {spec: {template: {spec: {containers: [{image: 'a:1'}]}}}}\n";

TEST_F(SchedulerImportsTest, ManifestsMayBeSeveralAndNeedAZone) {
  const std::string path =
      Written("import_manifest.yaml", std::string(kManifest) + "---\n" + "kind: Secret\n---\n");
  EXPECT_EQ(Run({"import", "cronjob", path, "-o", "json"}), 1);
  EXPECT_TRUE(OutJson()["jobs"].empty());
  EXPECT_NE(err().find("CronJob a skipped: it has no timeZone"), std::string::npos) << err();
  EXPECT_NE(err().find("it is no CronJob"), std::string::npos);
  EXPECT_EQ(Run({"import", "cronjob", path, "--time-zone", "UTC", "-o", "json"}), 1);
  EXPECT_EQ(OutJson()["jobs"][0]["container"]["image"], "a:1");
}

TEST_F(SchedulerImportsTest, ApplySaysHowAManifestIsImported) {
  const std::string path = Written("import_applied.yaml", kManifest);
  EXPECT_EQ(Run({"apply", "-f", path}), 2);
  EXPECT_NE(err().find("carillon import cronjob"), std::string::npos) << err();
  EXPECT_TRUE(server_.requests.empty());
}

}  // namespace
}  // namespace carillon::cli
