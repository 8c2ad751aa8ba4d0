// Imports over the API: nothing is stored, and /api/apply takes what they answer.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class ImportRoutesTest : public ApiEnv {};

constexpr char kInfo[] =
    "INSERT INTO xxl_job_info (id,job_group,job_desc,schedule_type,schedule_conf,glue_type,"
    "glue_source,child_jobid,trigger_status) VALUES "
    "(2,1,'second','NONE','','GLUE_SHELL','true','',0),"
    "(1,1,'first','CRON','0 0 2 ? * 2','GLUE_SHELL','true','2',1),"
    "(3,1,'third','CRON','never','GLUE_SHELL','true','',1);";

TEST_F(ImportRoutesTest, TheAnswerIsWhatApplyTakes) {
  const auto answer =
      Post("/api/imports/xxl-job", {{"text", kInfo}, {"time_zone", "UTC"}, {"prefix", "old-"}});
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json imported = answer.body();
  ASSERT_EQ(imported["rows"].size(), 3u);
  EXPECT_EQ(imported["rows"][1]["job_id"], "old-xxl-job-1");
  EXPECT_EQ(imported["rows"][1]["next"].size(), 5u);
  EXPECT_EQ(imported["rows"][2]["verdict"], "refused");
  ASSERT_EQ(imported["jobs"].size(), 2u);
  EXPECT_EQ(imported["jobs"][0]["job_id"], "old-xxl-job-1") << "the job that the other follows";
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 0u);
  const json applied = Post("/api/apply", imported["jobs"]).body();
  EXPECT_EQ(applied["counts"]["created"], 2) << applied.dump();
  EXPECT_EQ(Get("/api/jobs/old-xxl-job-2").body()["state"], "PAUSED");
}

TEST_F(ImportRoutesTest, EachKindReadsItsOwnForm) {
  const auto verdict = [this](const std::string& kind, const std::string& text) {
    const auto answer = Post("/api/imports/" + kind, {{"text", text}, {"time_zone", "UTC"}});
    return answer.status == 200 ? answer.body()["rows"][0]["verdict"].get<std::string>()
                                : answer.pointer();
  };
  EXPECT_EQ(verdict("crontab", "5 4 * * * x\n"), "mapped");
  EXPECT_EQ(verdict("cronjob",
                    "kind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: 5 4 * * *\n"
                    "  jobTemplate: {spec: {template: {spec: {containers: [{image: 'a:1'}]}}}}\n"),
            "mapped");
  EXPECT_EQ(verdict("systemd",
                    "# /x/a.timer\n[Timer]\nOnCalendar=daily\n# /x/a.service\n[Service]\n"
                    "User=a\nExecStart=/bin/true\n"),
            "mapped");
  EXPECT_EQ(verdict("cronjob", "a: [b"), "/text");
  EXPECT_EQ(verdict("cronjob", "a: b"), "/text");
  EXPECT_EQ(verdict("systemd", "x"), "/text");
  EXPECT_EQ(verdict("xxl-job", "x"), "/text");
}

TEST_F(ImportRoutesTest, ASystemCrontabNamesItsUsers) {
  const json body = {{"text", "5 4 * * * backup /srv/b\n"}, {"time_zone", "UTC"}, {"system", true}};
  const json job = Post("/api/imports/crontab", body).body()["jobs"][0];
  EXPECT_EQ(job["command"], "/srv/b");
  EXPECT_EQ(job["labels"]["crontab-user"], "backup");
  EXPECT_EQ(Post("/api/imports/systemd", body).pointer(), "/system");
}

TEST_F(ImportRoutesTest, MistakesAreNamed) {
  const auto post = [this](const json& body) { return Post("/api/imports/crontab", body); };
  EXPECT_EQ(post({{"text", "x"}}).pointer(), "/time_zone");
  EXPECT_EQ(post({{"text", "x"}, {"time_zone", "Mars"}}).pointer(), "/time_zone");
  EXPECT_EQ(post({{"time_zone", "UTC"}}).pointer(), "/text");
  EXPECT_EQ(post({{"text", ""}, {"time_zone", "UTC"}}).pointer(), "/text");
  EXPECT_EQ(post({{"text", "x"}, {"time_zone", "UTC"}, {"prefix", "-"}}).pointer(), "/prefix");
  EXPECT_EQ(Post("/api/imports/rundeck", {{"text", "x"}, {"time_zone", "UTC"}}).status, 404);
}

}  // namespace
}  // namespace carillon::test
