#include "common/imports/import_result.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fuzz/import_check.h"

namespace carillon {
namespace {

using nlohmann::json;

ImportResult Imported(ImportKind kind, const std::string& text, ImportOptions options = {}) {
  if (options.time_zone.empty()) options.time_zone = "Asia/Shanghai";
  ImportFile file{.text = text};
  if (ReadsDocuments(kind)) file.documents.push_back(json::parse(text));
  auto result = ImportJobs(kind, {file}, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : ImportResult();
}

const json& ImportedJob(const ImportResult& result, const std::string& id) {
  static const json kNone;
  for (const json& job : result.jobs) {
    if (job["job_id"] == id) return job;
  }
  ADD_FAILURE() << "no job " << id;
  return kNone;
}

std::string RemarksOf(const ImportedRow& row) {
  std::string text;
  for (const std::string& remark : row.remarks) text += remark + "\n";
  return text;
}

// ---- XXL-JOB -----------------------------------------------------------------------------------

// The tables of version 2.4, as mysqldump writes them.
constexpr const char* kDump = R"(-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `xxl_job_group`;
CREATE TABLE `xxl_job_group` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `app_name` varchar(64) NOT NULL COMMENT 'AppName, (of) the; executor',
  `title` varchar(12) NOT NULL,
  `address_type` tinyint(4) NOT NULL DEFAULT '0',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO `xxl_job_group` VALUES (1,'Billing','Bills',0),(2,'shop','Shop',1);
CREATE TABLE `xxl_job_log` (`id` bigint(20) NOT NULL);
INSERT INTO `xxl_job_log` VALUES (1),(2);
CREATE TABLE `xxl_job_info` (
  `id` int(11) NOT NULL,
  `job_group` int(11) NOT NULL,
  `job_desc` varchar(255) NOT NULL,
  `author` varchar(64) DEFAULT NULL,
  `alarm_email` varchar(255) DEFAULT NULL,
  `schedule_type` varchar(50) NOT NULL DEFAULT 'NONE',
  `schedule_conf` varchar(128) DEFAULT NULL,
  `misfire_strategy` varchar(50) NOT NULL DEFAULT 'DO_NOTHING',
  `executor_route_strategy` varchar(50) DEFAULT NULL,
  `executor_handler` varchar(255) DEFAULT NULL,
  `executor_param` varchar(512) DEFAULT NULL,
  `executor_block_strategy` varchar(50) DEFAULT NULL,
  `executor_timeout` int(11) NOT NULL DEFAULT '0',
  `executor_fail_retry_count` int(11) NOT NULL DEFAULT '0',
  `glue_type` varchar(50) NOT NULL,
  `glue_source` mediumtext,
  `child_jobid` varchar(255) DEFAULT NULL,
  `trigger_status` tinyint(4) NOT NULL DEFAULT '0',
  PRIMARY KEY (`id`), KEY `I_x` (`job_group`)
) ENGINE=InnoDB;
INSERT INTO `xxl_job_info` VALUES
(1,1,'Close the day','amy','amy@example.com, bo@example.com','CRON','0 0/10 * ? * 2-6 *',
 'FIRE_ONCE_NOW','CONSISTENT_HASH','closeDayHandler','{{day}}','SERIAL_EXECUTION',300,3,'BEAN',
 '','3',1),
(2,2,'It''s a \"script\"\n',NULL,'','FIX_RATE','30','DO_NOTHING','ROUND','','a {{b}} %',
 'DISCARD_LATER',0,0,'GLUE_SHELL','#!/bin/bash\necho \'{{x}}\'\n','',1),
(3,1,'After it','amy','','CRON','0 0 3 * * ?','DO_NOTHING','FIRST','sendMail','','COVER_EARLY',
 0,0,'BEAN','','',0),
(4,1,'By hand','amy','','NONE','','DO_NOTHING','RANDOM','by.hand','','SERIAL_EXECUTION',0,0,
 'BEAN','','',0);
)";

std::string InfoRow(const std::string& values) {
  return "insert into xxl_job.xxl_job_info(id,job_group,job_desc,job_cron,glue_type,glue_source,"
         "executor_route_strategy,child_jobid) values " +
         values + ";";
}

TEST(XxlJobImportTest, ARowBecomesAJob) {
  const ImportResult result = Imported(ImportKind::kXxlJob, kDump);
  ASSERT_EQ(result.rows.size(), 4u);
  const json& close = ImportedJob(result, "billing-1");
  EXPECT_EQ(close["name"], "Close the day");
  EXPECT_EQ(close["enabled"], false);
  EXPECT_EQ(close["type"], "handler");
  EXPECT_EQ(close["handler"], "billing/close_day_handler");
  EXPECT_EQ(close["parameters"], (json{{"param", "{{day}}"}}));
  EXPECT_EQ(close["schedules"],
            json::parse(R"([{"kind":"cron","cron_expression":"0/10 * * * MON-FRI"}])"));
  EXPECT_EQ(close["time_zone"], "Asia/Shanghai");
  EXPECT_EQ(close["misfire_policy"], "latest");
  EXPECT_EQ(close["routing"], "consistent_hash");
  EXPECT_EQ(close["overlap_policy"], "queue_all");
  EXPECT_EQ(close["timeout"], 300);
  EXPECT_EQ(close["retry_count"], 3);
  EXPECT_EQ(close["notify"], (json{{"mail_to", {"amy@example.com", "bo@example.com"}}}));
  EXPECT_EQ(close["labels"], (json{{"author", "amy"},
                                   {"imported-from", "xxl-job"},
                                   {"was-running", "yes"},
                                   {"xxl-job-executor", "Billing"}}));
  EXPECT_EQ(result.rows[0].expression, "0 0/10 * ? * 2-6 *");
  EXPECT_EQ(result.rows[0].verdict, Verdict::kRemarked);
  EXPECT_NE(RemarksOf(result.rows[0]).find("2-6 is MON-FRI"), std::string::npos);
  EXPECT_FALSE(ImportedJob(result, "billing-4").contains("schedules"));
}

TEST(XxlJobImportTest, AScriptKeepsItsTextsAndArguments) {
  const ImportResult result = Imported(ImportKind::kXxlJob, kDump);
  const json& script = ImportedJob(result, "shop-2");
  EXPECT_EQ(script["name"], "It's a \"script\" ");
  EXPECT_EQ(script["script"], (json{{"interpreter", "bash"},
                                    {"body", "#!/bin/bash\necho '{{x}}'\n"},
                                    {"args", {"a {{{{b}} %", "0", "1"}}}));
  EXPECT_EQ(script["schedules"], json::parse(R"([{"kind":"rate","every_ms":30000}])"));
  EXPECT_EQ(script["overlap_policy"], "skip");
  EXPECT_EQ(script["misfire_policy"], "skip");
}

TEST(XxlJobImportTest, AChildJobStartsAfterItsParent) {
  const ImportResult result = Imported(ImportKind::kXxlJob, kDump);
  const json& child = ImportedJob(result, "billing-3");
  EXPECT_EQ(child["schedules"],
            json::parse(R"([{"kind":"after","job":"billing-1","on":"success"}])"));
  EXPECT_EQ(child["labels"]["was-running"], "yes") << "its parent runs";
  EXPECT_EQ(child["overlap_policy"], "terminate_previous");
  EXPECT_NE(RemarksOf(result.rows[2]).find("without a schedule of its own"), std::string::npos);
}

TEST(XxlJobImportTest, ChildJobsInACircleAndThoseOfRefusedRowsAreNamed) {
  const ImportResult result = Imported(
      ImportKind::kXxlJob,
      InfoRow("(1,1,'a','','GLUE_SHELL','x','FIRST','2'),(2,1,'b','','GLUE_SHELL','x','FIRST','1, "
              "3'),(3,1,'c','','GLUE_SHELL','x','FIRST','4,9,3'),(4,1,'d','bad','GLUE_SHELL','x',"
              "'FIRST',NULL)"));
  ASSERT_EQ(result.rows.size(), 4u);
  EXPECT_EQ(result.rows[0].verdict, Verdict::kRefused);
  EXPECT_NE(RemarksOf(result.rows[1]).find("lead back to it"), std::string::npos);
  ASSERT_EQ(result.jobs.size(), 1u);
  EXPECT_EQ(result.jobs[0]["job_id"], "xxl-job-3");
  const std::string remarks = RemarksOf(result.rows[2]);
  for (const char* part : {"its child job 4 is not imported", "its child job 9 is not imported",
                           "a child job of 2, which is not imported"}) {
    EXPECT_NE(remarks.find(part), std::string::npos) << remarks;
  }
  EXPECT_EQ(result.rows[3].verdict, Verdict::kRefused);
}

TEST(XxlJobImportTest, RefusalsSayTheWay) {
  struct Case {
    const char* change;
    const char* reason;
  };
  const std::string columns =
      "INSERT INTO xxl_job_info (id,job_group,job_desc,schedule_type,"
      "schedule_conf,glue_type,glue_source,executor_handler,"
      "executor_route_strategy,executor_block_strategy) VALUES ";
  const Case cases[] = {
      {"(1,1,'a','FIX_DELAY','60','GLUE_SHELL','x','','','')", "every_ms: 60000"},
      {"(1,1,'a','CRON','0 0 5 * * *','GLUE_SHELL','x','','','')", "exactly one"},
      {"(1,1,'a','CRON','x','GLUE_SHELL','x','','','')", "has 1 fields"},
      {"(1,1,'a','FIX_RATE','0','GLUE_SHELL','x','','','')", "no number of seconds"},
      {"(1,1,'a','WEEKLY','0','GLUE_SHELL','x','','','')", "WEEKLY"},
      {"(1,1,'a','NONE','','GLUE_GROOVY','x','','','')", "GLUE_GROOVY"},
      {"(1,1,'a','NONE','','GLUE_RUBY','x','','','')", "GLUE_RUBY"},
      {"(1,1,'a','NONE','','GLUE_SHELL','','','','')", "/script/body"},
      {"(1,1,'a','NONE','','BEAN','','','','')", "executor_handler is empty"},
      {"(1,7,'a','NONE','','BEAN','','x','','')", "dump xxl_job_group too"},
      {"(1,1,'a','NONE','','GLUE_SHELL','x','','FASTEST','')", "FASTEST"},
      {"(1,1,'a','NONE','','GLUE_SHELL','x','','','LATER')", "LATER"},
      {"(1,1,'a','NONE','','GLUE_SHELL',_binary 0xFF,'','','')", "glue_source"}};
  for (const Case& one : cases) {
    const ImportResult result = Imported(ImportKind::kXxlJob, columns + one.change + ";");
    ASSERT_EQ(result.rows.size(), 1u) << one.change;
    EXPECT_EQ(result.rows[0].verdict, Verdict::kRefused) << one.change;
    EXPECT_NE(RemarksOf(result.rows[0]).find(one.reason), std::string::npos)
        << one.change << ": " << RemarksOf(result.rows[0]);
  }
}

TEST(XxlJobImportTest, ShardingBroadcastBecomesBroadcast) {
  const ImportResult result = Imported(
      ImportKind::kXxlJob,
      "INSERT INTO xxl_job_group (id,app_name,title) VALUES (1,'shop','Shop');"
      "INSERT INTO xxl_job_info (id,job_group,job_desc,schedule_type,glue_type,glue_source,"
      "executor_handler,executor_route_strategy,executor_block_strategy) VALUES "
      "(1,1,'a','NONE','BEAN','','close_day','SHARDING_BROADCAST','SERIAL_EXECUTION'),"
      "(2,1,'b','NONE','GLUE_SHELL','x','','SHARDING_BROADCAST','COVER_EARLY');");
  const json handler = ImportedJob(result, "shop-1");
  EXPECT_EQ(handler["broadcast"], json::object());
  EXPECT_EQ(handler["overlap_policy"], "queue_all");
  const json script = ImportedJob(result, "shop-2");
  EXPECT_EQ(script["script"]["args"], json::parse(R"(["", "{{shard_index}}", "{{shard_total}}"])"));
  EXPECT_EQ(script["overlap_policy"], "queue_all");
  EXPECT_NE(RemarksOf(result.rows[1]).find("COVER_EARLY"), std::string::npos);
}

TEST(XxlJobImportTest, NamesThatBecomeOneAreRefusedAndAMapTellsThemApart) {
  const std::string dump =
      "INSERT INTO xxl_job_group (id,app_name,title) VALUES (1,'Shop','s');"
      "INSERT INTO xxl_job_info (id,job_group,job_desc,glue_type,executor_handler) VALUES "
      "(1,1,'a','BEAN','sendMail'),(2,1,'a','BEAN','send_mail');";
  const ImportResult result = Imported(ImportKind::kXxlJob, dump);
  EXPECT_EQ(result.rows[1].verdict, Verdict::kRefused);
  EXPECT_NE(RemarksOf(result.rows[1]).find("Shop/sendMail"), std::string::npos);
  const ImportResult mapped =
      Imported(ImportKind::kXxlJob, dump,
               {.id_prefix = "old-", .names = {{"sendMail", "post/first"}, {"Shop", "store"}}});
  EXPECT_EQ(ImportedJob(mapped, "old-shop-1")["handler"], "post/first");
  EXPECT_EQ(ImportedJob(mapped, "old-shop-2")["handler"], "store/send_mail");
  EXPECT_EQ(ImportedJob(mapped, "old-shop-2")["name"], "a [old-shop-2]") << "names are unique";
}

TEST(XxlJobImportTest, ADumpIsReadByTheNamesOfItsColumns) {
  const ImportResult result =
      Imported(ImportKind::kXxlJob,
               "# a comment; with 'quotes\nINSERT INTO other VALUES ('a;\\'b','x');\n/* ; */\n" +
                   InfoRow("(7,1,'a\\\\b','0 0 1 * * ?','GLUE_PYTHON',_binary 'p\\%',N'FIRST',''), "
                           "(0x38,1,x'61','','GLUE_SHELL',\"say \"\"hi\"\"\",'FIRST',NULL)"));
  ASSERT_EQ(result.jobs.size(), 2u);
  EXPECT_EQ(result.jobs[0]["name"], "a\\b");
  EXPECT_EQ(result.jobs[0]["script"]["body"], "p\\%");
  EXPECT_EQ(result.jobs[1]["job_id"], "xxl-job-8");
  EXPECT_EQ(result.jobs[1]["script"]["body"], "say \"hi\"");
  const std::pair<const char*, const char*> damaged[] = {
      {"SELECT 1;", "no table xxl_job_info"},
      {"INSERT INTO xxl_job_info VALUES (1);", "--complete-insert"},
      {"\nINSERT INTO xxl_job_info (id,job_desc) VALUES (1);", "line 2 of the dump: a row has 1"},
      {"INSERT INTO xxl_job_info (id) VALUES ('1", "not closed"},
      {"INSERT INTO xxl_job_info (id) VALUES (now());", "cannot read a value"}};
  for (const auto& [text, reason] : damaged) {
    const auto none = ImportJobs(ImportKind::kXxlJob, {{.text = text}}, {.time_zone = "UTC"});
    ASSERT_FALSE(none.ok()) << text;
    EXPECT_NE(none.error().message.find(reason), std::string::npos) << none.error().message;
  }
  EXPECT_FALSE(ImportJobs(ImportKind::kXxlJob, {{.text = kDump}}, {}).ok()) << "the zone";
}

// ---- Kubernetes --------------------------------------------------------------------------------

json Manifest() {
  return json::parse(R"json({"apiVersion":"batch/v1","kind":"CronJob",
    "metadata":{"name":"nightly.report","namespace":"shop","labels":{"team":"etl"}},
    "spec":{"schedule":"0 3 */2 * MON","timeZone":"Europe/Paris","concurrencyPolicy":"Replace",
      "startingDeadlineSeconds":120,"suspend":true,"jobTemplate":{"spec":{"backoffLimit":2,
      "activeDeadlineSeconds":600,"template":{"spec":{"restartPolicy":"Never","containers":[{
        "name":"main","image":"registry.example.com:5000/report:1.2",
        "command":["/bin/report","$(WHO)"],"args":["--day={{x}}","$$(WHO)"],
        "env":[{"name":"WHO","value":"me"},
        {"name":"GREETING","value":"hello $(WHO)"}],"imagePullPolicy":"Always",
        "resources":{"limits":{"cpu":"500m","memory":"128Mi"}},
        "securityContext":{"runAsUser":1000,"readOnlyRootFilesystem":true}}]}}}}}})json");
}

TEST(CronJobImportTest, AManifestBecomesAContainerJob) {
  const ImportResult result = Imported(ImportKind::kCronJob, Manifest().dump());
  const json& job = ImportedJob(result, "shop-nightly-report");
  EXPECT_EQ(job["name"], "shop/nightly.report");
  EXPECT_EQ(job["container"],
            json::parse(R"json({"image":"registry.example.com:5000/report:1.2","pull":"always",
              "command":["/bin/report","me"],"args":["--day={{{{x}}","$(WHO)"],"user":"1000",
              "read_only":true})json"));
  EXPECT_EQ(job["env"], (json{{"WHO", "me"}, {"GREETING", "hello me"}}));
  EXPECT_EQ(job["limits"], (json{{"cpu", 0.5}, {"memory_mb", 128}}));
  // In Kubernetes a stepped star restricts its field: either day matches.
  EXPECT_EQ(job["schedules"][0]["cron_expression"], "0 3 1-31/2 * MON");
  EXPECT_EQ(job["time_zone"], "Europe/Paris");
  EXPECT_EQ(job["overlap_policy"], "cancel_previous");
  EXPECT_EQ(job["misfire_policy"], "skip");
  EXPECT_EQ(job["misfire_grace"], 120);
  EXPECT_EQ(job["retry_count"], 2);
  EXPECT_EQ(job["timeout"], 600);
  EXPECT_EQ(job["kill_grace"], 30);
  EXPECT_EQ(job["enabled"], false);
  EXPECT_EQ(job["labels"], (json{{"imported-from", "cronjob"},
                                 {"kubernetes-namespace", "shop"},
                                 {"team", "etl"},
                                 {"was-running", "no"}}));
}

TEST(CronJobImportTest, WhatAJobCannotHaveIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([{"op":"add","path":"/P/volumes","value":[{"name":"v"}]}])", "volumes"},
      {R"([{"op":"add","path":"/P/initContainers","value":[{}]}])", "initContainers"},
      {R"([{"op":"add","path":"/P/containers/-","value":{}}])", "2 containers"},
      {R"([{"op":"add","path":"/P/hostNetwork","value":true}])", "hostNetwork"},
      {R"([{"op":"add","path":"/C/envFrom","value":[{}]}])", "envFrom"},
      {R"([{"op":"add","path":"/C/env/-","value":{"name":"PW","valueFrom":{"x":{}}}}])", "PW"},
      {R"([{"op":"add","path":"/C/workingDir","value":"/x"}])", "workingDir"},
      {R"([{"op":"remove","path":"/C/image"}])", "/container/image"},
      {R"([{"op":"add","path":"/spec/schedule","value":"0 0 L * *"}])", "0 0 L * *"},
      {R"([{"op":"add","path":"/spec/schedule","value":"H 0 * * *"}])", "H 0 * * *"},
      {R"([{"op":"add","path":"/spec/timeZone","value":"Mars/Base"}])", "Mars/Base"},
      {R"([{"op":"add","path":"/spec/concurrencyPolicy","value":"Maybe"}])", "Maybe"},
      {R"([{"op":"add","path":"/J/parallelism","value":3}])", "parallelism"}};
  for (auto [patch, reason] : cases) {
    std::string text = patch;
    const auto expand = [&text](const std::string& from, const std::string& to) {
      const size_t at = text.find(from);
      if (at != std::string::npos) text.replace(at, from.size(), to);
    };
    expand("/C/", "/P/containers/0/");
    expand("/P/", "/J/template/spec/");
    expand("/J/", "/spec/jobTemplate/spec/");
    const ImportResult result =
        Imported(ImportKind::kCronJob, Manifest().patch(json::parse(text)).dump());
    ASSERT_EQ(result.rows.size(), 1u);
    const std::string remarks = RemarksOf(result.rows[0]);
    EXPECT_EQ(result.rows[0].verdict, Verdict::kRefused) << text;
    EXPECT_NE(remarks.find(reason), std::string::npos) << remarks;
  }
}

TEST(CronJobImportTest, ListsOtherKindsAndIntervals) {
  json every = Manifest();
  every["metadata"] = {{"name", "often"}};
  every["spec"]["schedule"] = "@every 1h30m";
  every["spec"].erase("timeZone");
  const json list = {{"kind", "List"},
                     {"items", {every, {{"kind", "Service"}, {"metadata", {{"name", "web"}}}}}}};
  const ImportResult result = Imported(ImportKind::kCronJob, list.dump());
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(ImportedJob(result, "often")["schedules"],
            json::parse(R"([{"kind":"rate","every_ms":5400000}])"));
  EXPECT_EQ(ImportedJob(result, "often")["time_zone"], "Asia/Shanghai");
  EXPECT_EQ(result.rows[1].source, "Service web");
  EXPECT_EQ(result.rows[1].verdict, Verdict::kRefused);
  EXPECT_FALSE(ImportJobs(ImportKind::kCronJob, {{.documents = {json::object()}}}, {}).ok());
}

// ---- systemd -----------------------------------------------------------------------------------

constexpr const char* kUnits = R"(# /etc/systemd/system/nightly.timer
[Timer]
OnCalendar=Mon..Fri 02:30 Europe/Paris
OnCalendar=Sun 04:00
Persistent=true
RandomizedDelaySec=5min
# /etc/systemd/system/nightly.service
[Unit]
Description=Nightly work
[Service]
Type=oneshot
User=backup
WorkingDirectory=~
Environment="A=b c" D=%n
Environment=E={{e}}
ExecStart=-/usr/bin/backup --to "/a b" ${TARGET} $OPTIONS \
  'it''s' 50%% a$$b
TimeoutStartSec=1h
Nice=10
# /etc/systemd/system/nightly.service.d/more.conf
[Service]
TimeoutStopSec=20
# /etc/systemd/system/poll@.timer
[Timer]
OnBootSec=2min
OnUnitActiveSec=90s
# /etc/systemd/system/poll@db.timer
[Timer]
OnUnitInactiveSec=1min 30s
# /etc/systemd/system/poll@.service
[Service]
ExecStart=/usr/bin/poll %i
)";

TEST(SystemdImportTest, ATimerBecomesAJob) {
  const ImportResult result = Imported(ImportKind::kSystemd, kUnits);
  const json& job = ImportedJob(result, "nightly");
  EXPECT_EQ(job["name"], "Nightly work");
  EXPECT_EQ(job["schedules"], json::parse(R"([
    {"kind":"cron","cron_expression":"30 2 * * MON-FRI","time_zone":"Europe/Paris","jitter_s":300},
    {"kind":"cron","cron_expression":"0 4 * * SUN","time_zone":"Asia/Shanghai","jitter_s":300}])"));
  EXPECT_EQ(job["misfire_policy"], "latest");
  EXPECT_EQ(job["overlap_policy"], "skip");
  EXPECT_EQ(job["command"],
            "'/usr/bin/backup' '--to' '/a b' \"${TARGET}\" $OPTIONS 'its' '50%' 'a$b' || true");
  EXPECT_EQ(job["env"], (json{{"A", "b c"}, {"D", "nightly.service"}, {"E", "{{{{e}}"}}));
  EXPECT_EQ(job["run_as"], "backup");
  EXPECT_EQ(job["working_directory"], "~");
  EXPECT_EQ(job["timeout"], 3600);
  EXPECT_EQ(job["kill_grace"], 20);
  EXPECT_EQ(job["enabled"], false);
  ASSERT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(RemarksOf(result.rows[0]), "left out: Nice\n");
  EXPECT_EQ(result.rows[1].source, "poll@.timer");
  EXPECT_EQ(result.rows[1].verdict, Verdict::kRefused);
  const json& instance = ImportedJob(result, "poll-db");
  EXPECT_EQ(instance["command"], "exec '/usr/bin/poll' 'db'");
  EXPECT_EQ(instance["schedules"], json::parse(R"([{"kind":"delay","every_ms":90000}])"));
}

TEST(SystemdImportTest, WhatAJobCannotBeIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"OnCalendar=daily|Type=forking", "Type=forking"},
      {"OnCalendar=daily|ExecStart=/bin/other", "several ExecStart"},
      {"OnCalendar=daily|ExecStartPre=/bin/other", "ExecStartPre"},
      {"OnCalendar=daily|EnvironmentFile=/etc/x", "EnvironmentFile"},
      {"OnCalendar=daily|ExecStart=|ExecStart=+/bin/x", "the prefix +"},
      {"OnCalendar=daily|ExecStart=|ExecStart=/bin/x %h", "%h"},
      {"OnCalendar=daily|ExecStart=|ExecStart=/bin/x 'a", "not closed"},
      {"OnCalendar=daily|ExecStart=|ExecStart=/bin/x ; /bin/y", "several commands"},
      {"OnCalendar=Mon *-*-13|User=x", "must both match"},
      {"OnBootSec=1min|User=x", "OnBootSec alone"},
      {"Persistent=yes|User=x", "has no time"},
      {"OnUnitActiveSec=soon|User=x", "soon"},
      {"OnCalendar=daily\nUnit=x.target|User=x", "x.target"},
      {"OnCalendar=daily\nUnit=other.service|User=x", "not among the files"}};
  for (const auto& [settings, reason] : cases) {
    std::string text = settings;
    const size_t middle = text.find('|');
    std::string service = text.substr(middle + 1);
    std::replace(service.begin(), service.end(), '|', '\n');
    const std::vector<ImportFile> files = {
        {.name = "/x/a.timer", .text = "[Timer]\n" + text.substr(0, middle) + "\n"},
        {.name = "/x/a.service", .text = "[Service]\nExecStart=/bin/true\n" + service + "\n"}};
    const auto result = ImportJobs(ImportKind::kSystemd, files, {.time_zone = "UTC"});
    ASSERT_TRUE(result.ok()) << text;
    ASSERT_EQ(result->rows.size(), 1u);
    EXPECT_EQ(result->rows[0].verdict, Verdict::kRefused) << text;
    EXPECT_NE(RemarksOf(result->rows[0]).find(reason), std::string::npos)
        << text << ": " << RemarksOf(result->rows[0]);
  }
  EXPECT_FALSE(ImportJobs(ImportKind::kSystemd, {{.text = "[Timer]\n"}}, {}).ok());
}

// ---- all ---------------------------------------------------------------------------------------

TEST(ImportResultTest, TheAnswerHasTheNextFiresBesideTheExpression) {
  const auto now = ParseRfc3339("2027-01-15T08:30:00Z");
  ASSERT_TRUE(now.ok());
  const json answer = ImportToJson(Imported(ImportKind::kSystemd, kUnits), *now);
  const json& row = answer["rows"][0];
  EXPECT_EQ(row["source"], "nightly.timer");
  EXPECT_EQ(row["verdict"], "remarked");
  EXPECT_EQ(row["job_id"], "nightly");
  EXPECT_EQ(row["expression"], "OnCalendar=Mon..Fri 02:30 Europe/Paris; OnCalendar=Sun 04:00");
  ASSERT_EQ(row["next"].size(), 5u);
  EXPECT_EQ(row["next"][0], "2027-01-16T20:00:00.000000Z") << "Sunday in Shanghai";
  EXPECT_EQ(row["next"][1], "2027-01-18T01:30:00.000000Z");
  EXPECT_TRUE(answer["rows"][1]["job_id"].is_null());
  EXPECT_TRUE(answer["rows"][1]["next"].empty());
}

TEST(ImportResultTest, ACrontabHasTheSameForm) {
  const ImportResult result =
      Imported(ImportKind::kCrontab, "5 4 * * * root /bin/x\n@reboot y\n* * * * * z\n");
  ASSERT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(result.rows[0].source, "line 1");
  EXPECT_EQ(result.rows[0].verdict, Verdict::kRemarked);
  EXPECT_EQ(result.rows[0].expression, "5 4 * * *");
  EXPECT_EQ(result.rows[1].verdict, Verdict::kRefused);
  EXPECT_EQ(result.rows[2].verdict, Verdict::kMapped);
  EXPECT_EQ(ImportedJob(result, result.rows[2].job_id)["enabled"], false);
  EXPECT_FALSE(ImportJobs(ImportKind::kCrontab, {{.text = "# nothing\n"}}, {}).ok());
}

TEST(ImportMutationTest, AnyBytesAreAnswered) {
  const std::string manifest = Manifest().dump();
  constexpr std::string_view kBytes = "'\"\\`(),;#-/*?@%${}[]=LW:.0179aZ\n\x01\xff";
  uint64_t state = 11;
  const auto any = [&](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % below;
  };
  const std::pair<ImportKind, std::string_view> sources[] = {{ImportKind::kXxlJob, kDump},
                                                             {ImportKind::kSystemd, kUnits},
                                                             {ImportKind::kCronJob, manifest}};
  for (int round = 0; round < 1500; ++round) {
    const auto& [kind, source] = sources[round % 3];
    std::string text(source);
    for (size_t i = any(6) + 1; i > 0; --i) text[any(text.size())] = kBytes[any(kBytes.size())];
    if (round % 7 == 0) text.resize(any(text.size()));
    EXPECT_EQ(test::CheckImport(kind, text), "") << text;
  }
}

}  // namespace
}  // namespace carillon
