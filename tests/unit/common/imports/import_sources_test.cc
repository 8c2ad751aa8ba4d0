// Sources as people have them: drop-ins, marks of other systems, a damaged part among sound ones.
#include <gtest/gtest.h>

#include "common/imports/import_result.h"

namespace carillon {
namespace {

using nlohmann::json;

ImportResult ImportedFiles(ImportKind kind, const std::vector<ImportFile>& files) {
  auto result = ImportJobs(kind, files, {.time_zone = "UTC"});
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : ImportResult();
}

std::string ReasonsOf(const ImportedRow& row) {
  std::string text;
  for (const std::string& remark : row.remarks) text += remark + "\n";
  return text;
}

json OnlyJob(const ImportResult& result) {
  EXPECT_EQ(result.jobs.size(), 1u);
  return result.jobs.empty() ? json::object() : result.jobs[0];
}

const ImportFile kTimer{.name = "/u/nightly.timer",
                        .text = "\xEF\xBB\xBF[Timer]\r\nOnCalendar=*-*-* 02:30:00\r\n"};
const ImportFile kService{.name = "/u/nightly.service",
                          .text = "[Service]\nUser=a\nExecStart=/bin/old\n"};

TEST(SystemdFilesTest, DropInsAreReadBehindTheirUnitByName) {
  const std::vector<ImportFile> files = {
      {.name = "/u/nightly.service.d/20.conf",
       .text = "[Service]\nExecStart=\nExecStart=/bin/new\n"},
      {.name = "/u/nightly.service.d/10.conf", .text = "[Service]\nUser=b\nUser=c\n"},
      {.name = "/u/nightly.timer.d/override.conf",
       .text = "[Timer]\nOnCalendar=\nOnCalendar=Sun *-*-* 04:00\n"},
      kTimer,
      kService,
      {.name = "/u/service.d/all.conf", .text = "[Service]\nTimeoutStopSec=7\n"},
      {.name = "/u/night-.service.d/no.conf", .text = "[Service]\nUser=no\n"},
      {.name = "/u/other.service.d/no.conf", .text = "[Service]\nUser=no\n"}};
  const json job = OnlyJob(ImportedFiles(ImportKind::kSystemd, files));
  EXPECT_EQ(job["command"], "exec '/bin/new'");
  EXPECT_EQ(job["run_as"], "c");
  EXPECT_EQ(job["kill_grace"], 7);
  EXPECT_EQ(job["schedules"], json::parse(R"([
    {"kind":"cron","cron_expression":"0 4 * * SUN","time_zone":"UTC"}])"));
}

TEST(SystemdFilesTest, APrintedInstanceAndPrefixKeepTheirDropIns) {
  const json job = OnlyJob(ImportedFiles(ImportKind::kSystemd, {{.text =
                                                                     R"(# /u/db-dump.timer
[Timer]
OnCalendar=daily
Unit=db-dump@main.service
# /u/db-.timer.d/hours.conf
[Timer]
OnCalendar=
OnCalendar=Sat 05:00
# /u/db-dump@.service
[Service]
User=a
ExecStart=/bin/dump %i
# /u/db-dump@main.service.d/user.conf
[Service]
User=b
# /u/data.mount
[Unit]
Description=Not the service
)"}}));
  EXPECT_EQ(job["command"], "exec '/bin/dump' 'main'");
  EXPECT_EQ(job["run_as"], "b");
  EXPECT_EQ(job["name"], "db-dump") << "a mount describes no service";
  EXPECT_EQ(job["schedules"][0]["cron_expression"], "0 5 * * SAT");
}

TEST(SystemdFilesTest, ATextWithoutItsUnitIsRefused) {
  const std::vector<ImportFile> files = {
      kTimer,
      kService,
      {.name = "override.conf", .text = "[Timer]\nOnCalendar=hourly\n"},
      {.name = "/u/gone.timer.d/x.conf", .text = "[Timer]\nOnCalendar=hourly\n"},
      {.name = "/u/notes.txt", .text = "# nothing\n\n"}};
  const ImportResult result = ImportedFiles(ImportKind::kSystemd, files);
  ASSERT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(result.rows[0].source, "override.conf");
  EXPECT_EQ(result.rows[0].verdict, Verdict::kRefused);
  EXPECT_NE(ReasonsOf(result.rows[0]).find("X.timer.d"), std::string::npos);
  EXPECT_NE(ReasonsOf(result.rows[1]).find("gone.timer is not among"), std::string::npos);
  EXPECT_EQ(OnlyJob(result)["schedules"][0]["cron_expression"], "30 2 * * *");
}

// The console joins files, and a browser tells no folder.
TEST(SystemdFilesTest, AJoinedDropInWithoutAFolderIsRefusedAlone) {
  const ImportResult result = ImportedFiles(
      ImportKind::kSystemd, {{.text = "# /nightly.timer\n" + kTimer.text.substr(3) +
                                      "# /override.conf\n[Timer]\nOnCalendar=hourly\n" +
                                      "# /nightly.service\n" + kService.text}});
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0].source, "/override.conf");
  EXPECT_EQ(result.rows[0].verdict, Verdict::kRefused);
  EXPECT_EQ(OnlyJob(result)["schedules"].size(), 1u);
}

TEST(SystemdFilesTest, ASemicolonBehindABackslashIsAWord) {
  const std::pair<const char*, const char*> commands[] = {
      {"/bin/find /x -exec rm {} \\;", "exec '/bin/find' '/x' '-exec' 'rm' '{}' ';'"},
      {"/bin/find /x -exec rm {} \\; -print",
       "exec '/bin/find' '/x' '-exec' 'rm' '{}' ';' '-print'"},
      {"/bin/x ';' a;b", "exec '/bin/x' ';' 'a;b'"},
      {":/bin/x \\;", "exec '/bin/x' ';'"}};
  for (const auto& [line, command] : commands) {
    ImportFile service = kService;
    service.text += std::string("ExecStart=\nExecStart=") + line + "\n";
    EXPECT_EQ(OnlyJob(ImportedFiles(ImportKind::kSystemd, {kTimer, service}))["command"], command);
  }
}

// systemd starts it once at a time that two lines name; here each schedule makes a run.
TEST(SystemdFilesTest, TimesThatAreTheSameBecomeOneSchedule) {
  ImportFile timer = kTimer;
  timer.text += "OnCalendar=02:30\nOnCalendar=Mon *-*-* 03:00\nOnCalendar=*-*-* 2:30:0 UTC\n";
  const json job = OnlyJob(ImportedFiles(ImportKind::kSystemd, {timer, kService}));
  ASSERT_EQ(job["schedules"].size(), 2u);
  EXPECT_EQ(job["schedules"][1]["cron_expression"], "0 3 * * MON");
}

TEST(XxlJobTextsTest, WhatPeopleReadDoesNotCostTheRow) {
  const std::string columns =
      "INSERT INTO xxl_job_info (id,job_group,job_desc,author,schedule_type,glue_type,glue_source,"
      "glue_remark) VALUES ";
  const ImportResult result = ImportedFiles(
      ImportKind::kXxlJob, {{.text = "\xEF\xBB\xBF" + columns +
                                     "(1,1,'caf\xE9','\xFF\\0b','NONE','GLUE_SHELL','true','\xFF'),"
                                     "(2,1,'b','a','NONE','GLUE_SHELL','echo \xE9','')"}});
  ASSERT_EQ(result.rows.size(), 2u);
  const json job = OnlyJob(result);
  EXPECT_EQ(job["name"], "caf\xEF\xBF\xBD");
  EXPECT_EQ(job["labels"]["author"], "\xEF\xBF\xBD b");
  EXPECT_NE(ReasonsOf(result.rows[0]).find("job_desc is not valid UTF-8"), std::string::npos);
  EXPECT_EQ(result.rows[1].verdict, Verdict::kRefused);
  EXPECT_NE(ReasonsOf(result.rows[1]).find("glue_source is not valid UTF-8"), std::string::npos);
}

// The script that comes with XXL-JOB 3 fills its tables so.
TEST(XxlJobTextsTest, ATimeMayBeACall) {
  const auto dump = [](const std::string& time, const std::string& name) {
    return std::vector<ImportFile>{
        {.text = "INSERT INTO `xxl_job_info`(id,job_group,add_time,glue_updatetime,job_desc,"
                 "schedule_type,glue_type,glue_source) VALUES (1, 1, now() , " +
                 time + "," + name + ",'NONE','GLUE_SHELL','true')"}};
  };
  for (const char* time : {"now()", "current_timestamp( 6 )", "str_to_date('1) (', '%Y,')"}) {
    EXPECT_EQ(OnlyJob(ImportedFiles(ImportKind::kXxlJob, dump(time, "'a'")))["name"], "a") << time;
  }
  for (const char* name : {"concat('a','b')", "now("}) {
    EXPECT_FALSE(ImportJobs(ImportKind::kXxlJob, dump("now()", name), {.time_zone = "UTC"}).ok());
  }
}

// A parameter has no escape for it.
TEST(XxlJobTextsTest, ADateInAParameterIsRemarkedOn) {
  const ImportResult result = ImportedFiles(
      ImportKind::kXxlJob,
      {{.text =
            "INSERT INTO xxl_job_group (id,app_name,title) VALUES (1,'app','t');"
            "INSERT INTO xxl_job_info (id,job_group,job_desc,schedule_type,glue_type,"
            "executor_handler,executor_param) VALUES (1,1,'a','NONE','BEAN','h','{{fire_date}}'),"
            "(2,1,'b','NONE','BEAN','h','{{day}}')"}});
  ASSERT_EQ(result.jobs.size(), 2u);
  EXPECT_NE(ReasonsOf(result.rows[0]).find("which each run replaces"), std::string::npos);
  EXPECT_EQ(ReasonsOf(result.rows[1]), "");
}

TEST(ImportFilesTest, OnePartThatCannotBeReadCostsNoOther) {
  const json manifest = json::parse(R"({"kind": "CronJob", "metadata": {"name": "a"}, "spec":
    {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {"spec":
    {"containers": [{"image": "busybox:1"}]}}}}}})");
  const ImportResult result =
      ImportedFiles(ImportKind::kCronJob,
                    {{.name = "chart.yaml", .fault = "chart.yaml:1: damaged"},
                     {.name = "b.yaml", .documents = {json{{"replicas", 1}}, {}, manifest}}});
  ASSERT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(ReasonsOf(result.rows[0]), "chart.yaml:1: damaged\n");
  EXPECT_EQ(ReasonsOf(result.rows[1]), "it has no kind, so it is no manifest\n");
  EXPECT_EQ(OnlyJob(result)["job_id"], "a");
  EXPECT_FALSE(ImportJobs(ImportKind::kCronJob, {{.name = "x", .fault = "damaged"}}, {}).ok());
}

TEST(ImportFilesTest, AManifestMayNameItsZoneInTheSchedule) {
  json manifest = json::parse(R"({"kind": "CronJob", "metadata": {"name": "a"}, "spec":
    {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"image": "busybox:1"}]}}}}}})");
  for (const char* name : {"TZ", "CRON_TZ"}) {
    manifest["spec"]["schedule"] = std::string(name) + "=Asia/Tokyo 0 3 * * *";
    const json job = OnlyJob(ImportedFiles(ImportKind::kCronJob, {{.documents = {manifest}}}));
    EXPECT_EQ(job["time_zone"], "Asia/Tokyo");
    EXPECT_EQ(job["schedules"][0]["cron_expression"], "0 3 * * *");
  }
  manifest["spec"]["schedule"] = "TZ=Mars/Base 0 3 * * *";
  EXPECT_TRUE(ImportedFiles(ImportKind::kCronJob, {{.documents = {manifest}}}).jobs.empty());
  manifest["spec"]["timeZone"] = "UTC";
  manifest["spec"]["schedule"] = "TZ=Asia/Tokyo 0 3 * * *";
  EXPECT_TRUE(ImportedFiles(ImportKind::kCronJob, {{.documents = {manifest}}}).jobs.empty());
}

TEST(ImportFilesTest, Utf16IsNamed) {
  const ImportFile dump{.name = "x.sql", .text = std::string("\xFF\xFE-\0-\0", 6)};
  for (const ImportKind kind : {ImportKind::kXxlJob, ImportKind::kSystemd}) {
    const auto result = ImportJobs(kind, {dump}, {.time_zone = "UTC"});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message, "x.sql: it is UTF-16; save it as UTF-8");
  }
}

}  // namespace
}  // namespace carillon
