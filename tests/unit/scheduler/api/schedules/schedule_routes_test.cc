// The distribution of fires over time and the warnings of a preview, over the API; and the counting
// of fires alone.
#include "scheduler/explain/fire_load.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using scheduler::CountFires;
using scheduler::FireLoad;
using scheduler::LoadSpan;

class ScheduleRoutesTest : public ApiEnv {
 protected:
  static LoadSpan Hours(const char* from, int hours) {
    const WallTime begin = *ParseRfc3339(from);
    return {.from = begin, .until = begin + hours * 1h, .bucket = 1h};
  }
};

constexpr char kDay[] = "/api/schedules/load?from=2026-03-01T00:00:00Z&until=2026-03-02T00:00:00Z";

TEST_F(ScheduleRoutesTest, TheLoadIsWhatTheJobsFire) {
  Create({{"job_id", "five"}, {"cron_expression", "*/5 * * * *"}});
  Create({{"job_id", "nightly"}, {"cron_expression", "0 3 * * *"}});
  Create({{"job_id", "paused"}, {"cron_expression", "* * * * *"}, {"enabled", false}});
  const json load = Get(std::string(kDay) + "&bucket=hour&by_job=true").body();
  ASSERT_EQ(load["buckets"].size(), 24u);
  EXPECT_EQ(load["buckets"][0], (json{{"start", "2026-03-01T00:00:00.000000Z"}, {"fires", 12}}));
  EXPECT_EQ(load["busiest"], (json{{"start", "2026-03-01T03:00:00.000000Z"}, {"fires", 13}}));
  EXPECT_EQ(load["jobs"], 2);
  EXPECT_EQ(load["truncated"], false);
  ASSERT_EQ(load["items"].size(), 2u);
  EXPECT_EQ(load["items"][0]["job_id"], "five");
  EXPECT_EQ(load["items"][0]["fires"], 288);
  EXPECT_EQ(load["items"][1]["first_fire_time"], "2026-03-01T03:00:00.000000Z");
  EXPECT_EQ(load["items"][1]["buckets"].size(), 1u);
}

TEST_F(ScheduleRoutesTest, WindowsCountInTheLoadAndInThePreview) {
  const auto limited = [](const char* start, const char* end) {
    return json{{{"kind", "cron"},
                 {"cron_expression", "0 * * * *"},
                 {"start_time", start},
                 {"end_time", end}}};
  };
  const json early = limited("2026-03-01T02:00:00Z", "2026-03-01T05:00:00Z");
  Create({{"job_id", "early"}, {"cron_expression", nullptr}, {"schedules", early}});
  Create({{"job_id", "late"},
          {"cron_expression", nullptr},
          {"schedules", limited("2026-03-01T02:00:00Z", "2026-03-01T07:00:00Z")}});
  const json load = Get(std::string(kDay) + "&bucket=hour&by_job=true").body();
  EXPECT_EQ(load["buckets"][1]["fires"], 0);
  EXPECT_EQ(load["buckets"][2]["fires"], 2);
  EXPECT_EQ(load["buckets"][5]["fires"], 1);
  EXPECT_EQ(load["buckets"][7]["fires"], 0);
  const json preview = Post("/api/schedules/preview", {{"schedules", early}}).body();
  EXPECT_EQ(preview["items"].size(), 3u);
  const json delayed =
      Post("/api/schedules/preview", {{"schedules", {{{"kind", "once"}, {"in_s", 60}}}}}).body();
  ASSERT_EQ(delayed["items"].size(), 1u);
  EXPECT_EQ(delayed["items"][0]["fire_time"], "2026-03-01T00:01:00.000000Z");
}

TEST_F(ScheduleRoutesTest, NothingFiredBeforeItsJobWasThere) {
  clock_.Advance(3h + 7min);
  Create({{"job_id", "five"}, {"cron_expression", "*/5 * * * *"}});
  const json load = Get(std::string(kDay) + "&bucket=hour&by_job=true").body();
  EXPECT_EQ(load["buckets"][2]["fires"], 0);
  EXPECT_EQ(load["buckets"][3]["fires"], 10);
  EXPECT_EQ(load["buckets"][4]["fires"], 12);
  EXPECT_EQ(load["items"][0]["first_fire_time"], "2026-03-01T03:10:00.000000Z");
}

// Equal schedules are evaluated once, and each further job costs only one step.
TEST_F(ScheduleRoutesTest, ManyThatWereCreatedLatelyAreCountedExactlyAndCheaply) {
  const LoadSpan span = Hours("2026-03-01T00:00:00Z", 24);
  int64_t fires = 0;
  for (int i = 0; i < 30; ++i) {
    Create({{"job_id", "j" + std::to_string(i)}, {"cron_expression", "*/5 * * * *"}});
    fires += 288 - (i * 7 + 4) / 5;
    clock_.Advance(7min);
  }
  const FireLoad load = *CountFires(stores_.jobs, CalendarSet(), span, {.steps = 24 + 1 + 30});
  EXPECT_FALSE(load.truncated);
  int64_t counted = 0;
  for (const int64_t bucket : load.buckets) counted += bucket;
  EXPECT_EQ(counted, fires);
  EXPECT_EQ(load.jobs.back().first, span.from + 205min);
}

TEST_F(ScheduleRoutesTest, APreviewSpellsTheExpressionInOneWay) {
  const auto spelled = [&](const json& body) {
    return Post("/api/schedules/preview", body).body()["cron_expressions"];
  };
  for (const auto& [text, expected] :
       std::map<std::string, std::string>{{"0 */5 * * * *", "0 */5 * * * *"},
                                          {"  */5   * * * ? ", "*/5 * * * *"},
                                          {"@daily", "0 0 * * *"},
                                          {"0 9 ? jan-mar mon-fri", "0 9 * 1-3 1-5"},
                                          {"0 0 l * *", "0 0 L * *"}}) {
    EXPECT_EQ(spelled({{"cron_expression", text}}), json::array({expected})) << text;
  }
  EXPECT_EQ(spelled({{"schedules",
                      {{{"kind", "cron"}, {"cron_expression", "0 0 * * SUN"}},
                       {{"kind", "rate"}, {"every_ms", 60000}}}}}),
            (json{"0 0 * * 0", nullptr}));
  EXPECT_EQ(spelled({{"cron_expression", "61 * * * *"}}), json::array());
}

TEST_F(ScheduleRoutesTest, APreviewNamesAScheduleThatRepeatsAnother) {
  const json daily = {{"kind", "cron"}, {"cron_expression", "@daily"}, {"time_zone", "UTC"}};
  const json same = {{"kind", "cron"}, {"cron_expression", "0 0 * * *"}, {"time_zone", "UTC"}};
  const json told = Post("/api/schedules/preview", {{"schedules", {daily, same}}}).body();
  EXPECT_EQ(told["valid"], false);
  ASSERT_EQ(told["errors"].size(), 1u);
  EXPECT_EQ(told["errors"][0]["code"], "duplicate");
  EXPECT_EQ(told["errors"][0]["pointer"], "/schedules/1");
}

TEST_F(ScheduleRoutesTest, APreviewOfHIsOfItsJobOrAnExample) {
  const json job = Create({{"job_id", "nightly-backup"}, {"cron_expression", "H H * * *"}});
  EXPECT_EQ(job["cron_expression"], "H H * * *");
  const auto preview = [&](const std::string& id) {
    json body = {{"cron_expression", "H H * * *"}};
    if (!id.empty()) body["job_id"] = id;
    return Post("/api/schedules/preview", body).body();
  };
  const json own = preview("nightly-backup");
  EXPECT_EQ(own["cron_expressions"], json::array({"30 5 * * *"}));
  EXPECT_EQ(own["items"][0]["fire_time"], job["next_fire_time"]);
  EXPECT_EQ(own["explanations"][0], "At 05:30 every day, UTC, where H is fixed by the job_id");
  for (const char* none : {"", "not a job id"}) {
    const json example = preview(none);
    EXPECT_EQ(example["cron_expressions"], json::array({"0 7 * * *"}));
    EXPECT_NE(example["explanations"][0].get<std::string>().find("an example"), std::string::npos);
  }
}

TEST_F(ScheduleRoutesTest, TheLoadSpreadsTheJobsWithH) {
  for (int i = 0; i < 40; ++i) {
    Create({{"job_id", "j" + std::to_string(i)}, {"cron_expression", "0 H * * *"}});
  }
  const json load = Get(std::string(kDay) + "&bucket=hour").body();
  int busy = 0;
  for (const json& bucket : load["buckets"]) busy += bucket["fires"] > 0 ? 1 : 0;
  EXPECT_GT(busy, 12);
}

TEST_F(ScheduleRoutesTest, APreviewSaysWhereTheMistakeIs) {
  for (const auto& [text, column] :
       std::map<std::string, std::string>{{"61 * * * *", "column 1"},
                                          {"* 24 * * *", "column 3"},
                                          {"0 0 1,32 * *", "column 7"},
                                          {"0 0 * * FOO", "column 9"},
                                          {"0 */0 * * * *", "column 5"}}) {
    const json preview = Post("/api/schedules/preview", {{"cron_expression", text}}).body();
    EXPECT_EQ(preview["valid"], false) << text;
    ASSERT_EQ(preview["errors"].size(), 1u) << text;
    EXPECT_EQ(preview["errors"][0]["pointer"], "/cron_expression") << text;
    EXPECT_NE(preview["errors"][0].value("detail", "").find(column), std::string::npos)
        << text << ": " << preview["errors"][0];
  }
}

TEST_F(ScheduleRoutesTest, TheComingDayByMinuteUnlessAskedOtherwise) {
  const json load = Get("/api/schedules/load").body();
  EXPECT_EQ(load["buckets"].size(), 1440u);
  EXPECT_EQ(load["busiest"], nullptr);
  EXPECT_FALSE(load.contains("items"));
}

TEST_F(ScheduleRoutesTest, AQuestionThatIsTooLargeOrWrongIsRefusedAtItsParameter) {
  const std::string year =
      "/api/schedules/load?from=2026-01-01T00:00:00Z&until=2027-01-01T00:00:00Z";
  EXPECT_EQ(Get(year).pointer(), "?until");
  EXPECT_EQ(Get(year + "&bucket=hour&by_job=true").pointer(), "?until");
  EXPECT_EQ(Get(std::string(kDay) + "&by_job=true").pointer(), "?until");
  EXPECT_EQ(
      Get("/api/schedules/load?from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z").pointer(),
      "?until");
  EXPECT_EQ(Get("/api/schedules/load?bucket=day").pointer(), "?bucket");
  EXPECT_EQ(Get("/api/schedules/load?by_job=yes").pointer(), "?by_job");
  EXPECT_EQ(Get("/api/schedules/load?from=soon").pointer(), "?from");
}

TEST_F(ScheduleRoutesTest, LimitsAreToldAndCountsAreExactUpToThem) {
  for (int i = 0; i < 5; ++i) {
    Create({{"job_id", "job-" + std::to_string(i)}, {"cron_expression", "0 * * * * *"}});
  }
  const LoadSpan span = Hours("2026-03-01T00:00:00Z", 2);
  const FireLoad all = *CountFires(stores_.jobs, CalendarSet(), span, {.jobs = 5});
  EXPECT_FALSE(all.truncated);
  EXPECT_EQ(all.buckets, (std::vector<int64_t>{300, 300}));
  const FireLoad some = *CountFires(stores_.jobs, CalendarSet(), span, {.jobs = 4});
  EXPECT_TRUE(some.truncated);
  EXPECT_EQ(some.jobs_read, 4u);
  EXPECT_EQ(some.buckets, (std::vector<int64_t>{240, 240}));
  Create({{"job_id", "other"}, {"cron_expression", "1 * * * * *"}});
  // Equal schedules are evaluated once, so only the different schedule exceeds the limit.
  const FireLoad few = *CountFires(stores_.jobs, CalendarSet(), span, {.steps = 1});
  EXPECT_TRUE(few.truncated);
  EXPECT_EQ(few.jobs_read, 5u);
}

TEST_F(ScheduleRoutesTest, ClockChangesAndSeveralSchedulesAreInTheLoad) {
  Create({{"job_id", "both"},
          {"cron_expression", nullptr},
          {"schedules",
           {{{"kind", "cron"}, {"cron_expression", "30 2 * * *"}, {"time_zone", "Europe/Paris"}},
            {{"kind", "rate"}, {"every_ms", 250}, {"start_time", "2026-03-29T01:59:00Z"}}}}});
  const FireLoad load = *CountFires(stores_.jobs, CalendarSet(), Hours("2026-03-29T00:00:00Z", 3));
  // 02:30 does not exist on that day; the job fires at 03:00, which is 01:00 UTC.
  EXPECT_EQ(load.buckets, (std::vector<int64_t>{0, 241, 14'400}));
  ASSERT_EQ(load.jobs.size(), 1u);
  EXPECT_EQ(load.jobs[0].first, *ParseRfc3339("2026-03-29T01:00:00Z"));
}

TEST_F(ScheduleRoutesTest, AStoreThatIsAwayIsAnErrorOfTheLoadAndNoneOfThePreview) {
  faults_.plan.Arm("ListJobs", Fault::kUnavailable);
  EXPECT_EQ(Get("/api/schedules/load").status, 503);
  faults_.plan.Arm("ListJobs", Fault::kUnavailable);
  const Answer preview = Post("/api/schedules/preview", {{"cron_expression", "0 3 * * *"}});
  EXPECT_EQ(preview.status, 200);
  EXPECT_EQ(preview.body()["valid"], true);
}

TEST_F(ScheduleRoutesTest, APreviewWarnsOfWhatIsProbablyNotMeant) {
  const json preview =
      Post("/api/schedules/preview", {{"schedules",
                                       {{{"kind", "cron"}, {"cron_expression", "0 9 * * *"}},
                                        {{"kind", "cron"}, {"cron_expression", "0 0 31 * MON"}}}}})
          .body();
  ASSERT_EQ(preview["warnings"].size(), 1u) << preview;
  EXPECT_EQ(preview["warnings"][0]["schedule"], 1);
  EXPECT_EQ(preview["warnings"][0]["code"], "either_day_field");
  const json wrong = Post("/api/schedules/preview", {{"cron_expression", "61 * * * *"}}).body();
  EXPECT_EQ(wrong["warnings"], json::array());
}

json CronSchedules(const std::vector<std::string>& expressions) {
  json schedules = json::array();
  for (const std::string& one : expressions) {
    schedules.push_back({{"kind", "cron"}, {"cron_expression", one}});
  }
  return schedules;
}

json JobOf(const std::vector<std::string>& expressions) {
  return {{"cron_expression", nullptr}, {"schedules", CronSchedules(expressions)}};
}

TEST_F(ScheduleRoutesTest, APreviewWarnsOfSchedulesThatFireTogether) {
  const auto warnings = [this](const std::vector<std::string>& expressions) {
    const json schedules = {{"schedules", CronSchedules(expressions)}, {"n", 2}};
    return Post("/api/schedules/preview", schedules).body()["warnings"];
  };
  const json told = warnings({"0 9 * * *", "0 9 * * MON"});
  ASSERT_EQ(told.size(), 1u) << told;
  EXPECT_EQ(told[0]["schedule"], 1);
  EXPECT_EQ(told[0]["code"], "same_instant");
  EXPECT_EQ(told[0]["detail"],
            "Schedules 1 and 2 both fire at 2026-03-02 09:00:00 UTC: that makes two runs.");
  EXPECT_EQ(warnings({"0 9 * * *", "0 10 * * *"}), json::array());
}

TEST_F(ScheduleRoutesTest, AScheduleThatRepeatsAnotherIsRefused) {
  const Answer refused = Post("/api/jobs", JobBody(JobOf({"@daily", "0 12 * * *", "0 0 * * *"})));
  EXPECT_EQ(refused.status, 400) << refused.text;
  EXPECT_EQ(refused.pointer(), "/schedules/2");
  EXPECT_NE(refused.text.find("It is the same as schedule 1"), std::string::npos) << refused.text;
  json parameters = JobBody(JobOf({"0 0 * * *", "0 0 * * *"}));
  parameters["schedules"][1]["parameters"] = {{"tenant", "b"}};
  EXPECT_EQ(Post("/api/jobs", parameters).status, 201);
}

TEST_F(ScheduleRoutesTest, AJobThatWasStoredWithTwoEqualSchedulesCanBeEdited) {
  JobDefinition job;
  job.name = "old";
  job.type = JobType::kNoop;
  job.user_id = "admin";
  const ScheduleSpec daily{.kind = ScheduleKind::kCron, .cron_expression = "0 0 * * *"};
  job.schedules = {daily, daily};
  ASSERT_TRUE(stores_.jobs.CreateJob(JobId("old"), job, {.now = clock_.Wall()}).ok());
  const auto patch = [this](const json& changes) {
    return Send("PATCH", "/api/jobs/old", changes.dump(), {{"If-Match", "*"}});
  };
  EXPECT_EQ(patch({{"description", "still twice"}}).status, 200);
  const Answer thrice =
      patch({{"schedules", CronSchedules({"0 0 * * *", "0 0 * * *", "0 0 * * *"})}});
  EXPECT_EQ(thrice.pointer(), "/schedules/2") << thrice.text;
  EXPECT_EQ(patch({{"schedules", CronSchedules({"0 1 * * *", "0 1 * * *"})}}).pointer(),
            "/schedules/1")
      << "other ones are no reason to keep two";
  EXPECT_EQ(patch({{"schedules", CronSchedules({"@daily"})}}).status, 200);
  EXPECT_EQ(patch({{"schedules", CronSchedules({"@daily", "@daily"})}}).pointer(), "/schedules/1");
}

TEST_F(ScheduleRoutesTest, YearsAndADayOrTheLastAreOffUntilTheUpgradeIsFinished) {
  for (const char* text : {"0 0/10 * * * ? *", "0 0 12 * * ? 2026-2027", "0 0 30L * *"}) {
    const Answer refused = Post("/api/jobs", JobBody({{"cron_expression", text}}));
    EXPECT_EQ(refused.code(), "upgrade_unfinished") << text;
    EXPECT_EQ(refused.pointer(), "/schedules");
  }
  {
    MutexLock lock(stores_.tables.mu);
    stores_.tables.schema = {.known = 2, .applied = 2, .finished = 2};
  }
  clock_.Advance(scheduler::UpgradeWatch::kLookEvery);
  upgrade_.Step(clock_.Steady());
  for (const char* text : {"0 0/10 * * * ? *", "0 0 12 * * ? 2026-2027", "0 0 30L * *"}) {
    EXPECT_EQ(Create({{"cron_expression", text}})["cron_expression"], text) << "as it was written";
  }
  const json over = Create({{"cron_expression", "0 0 12 1 1 ? 2025"}});
  EXPECT_EQ(over["next_fire_time"], json(nullptr));
}

TEST_F(ScheduleRoutesTest, CalendarWhoseListEndsIsToldInPreviewAndJob) {
  const json holidays = {{"time_zone", "UTC"}, {"dates", {"2026-03-02"}}};
  ASSERT_EQ(Send("PUT", "/api/calendars/holidays", holidays.dump()).status, 200);
  json schedules = CronSchedules({"0 9 * * *"});
  schedules[0]["blackout"] = "holidays";
  const auto told = [](const json& warnings) {
    ASSERT_EQ(warnings.size(), 1u) << warnings;
    EXPECT_EQ(warnings[0]["code"], "calendar_ends");
    EXPECT_NE(
        warnings[0]["detail"].get<std::string>().find("holidays lists no day after 2026-03-02"),
        std::string::npos);
  };
  told(Post("/api/schedules/preview", {{"schedules", schedules}}).body()["warnings"]);
  told(Create(
      {{"job_id", "j"}, {"cron_expression", nullptr}, {"schedules", schedules}})["warnings"]);
  told(Get("/api/jobs/j/next").body()["warnings"]);
}

TEST_F(ScheduleRoutesTest, OldNamesOfZonesAreToldOfScheduleAndCalendar) {
  const json office = {{"time_zone", "US/Pacific"}, {"weekdays", {"mon"}}};
  ASSERT_EQ(Send("PUT", "/api/calendars/office", office.dump()).status, 200);
  json schedules = CronSchedules({"0 9 * * *"});
  schedules[0]["time_zone"] = "US/Eastern";
  schedules[0]["calendar"] = "office";
  const json warnings =
      Create({{"job_id", "j"}, {"cron_expression", nullptr}, {"schedules", schedules}})["warnings"];
  ASSERT_EQ(warnings.size(), 2u) << warnings;
  for (const json& one : warnings) EXPECT_EQ(one["code"], "old_zone_name");
  EXPECT_NE(warnings[0]["detail"].get<std::string>().find("America/New_York"), std::string::npos);
  EXPECT_NE(warnings[1]["detail"].get<std::string>().find("calendar office US/Pacific"),
            std::string::npos);
}

TEST_F(ScheduleRoutesTest, AnswersToWritesHaveTheWarningsOfAPreview) {
  const auto codes = [](const json& answer) {
    std::vector<std::string> found;
    for (const json& one : answer.value("warnings", json::array())) found.push_back(one["code"]);
    return found;
  };
  using Codes = std::vector<std::string>;
  const json clean = Create({{"job_id", "clean"}, {"cron_expression", "0 3 * * *"}});
  EXPECT_FALSE(clean.contains("warnings")) << clean;
  const json created = Create({{"job_id", "j"}, {"cron_expression", "0 0 31 * *"}});
  EXPECT_EQ(codes(created), Codes{"skips_months"});
  EXPECT_FALSE(Get("/api/jobs/j").body().contains("warnings"));

  const auto send = [&](const std::string& method, const json& body) {
    return Send(method, "/api/jobs/j", body.dump(), {{"If-Match", "*"}}).body();
  };
  EXPECT_EQ(codes(send("PUT", created)), Codes{"skips_months"}) << "the answer can be sent back";
  EXPECT_EQ(codes(send("PATCH", {{"cron_expression", "*/7 * * * *"}})), Codes{"uneven_step"});
  EXPECT_EQ(codes(send("PATCH", {{"cron_expression", "0 3 * * *"}})), Codes());

  const json list =
      json::array({JobBody({{"job_id", "j"}, {"cron_expression", "0 0 30 2 *"}}),
                   JobBody({{"job_id", "another"}, {"cron_expression", "*/7 * * * *"}}),
                   JobBody({{"job_id", "fine"}, {"cron_expression", "0 3 * * *"}})});
  for (const char* query : {"?dry_run=true", "", ""}) {  // the last one changes nothing
    const json items =
        Post(std::string("/api/apply") + query, list).body().value("items", json::array());
    ASSERT_EQ(items.size(), 3u);
    const Codes first = codes(items[0]);
    EXPECT_NE(std::find(first.begin(), first.end(), "never_fires"), first.end()) << items[0];
    EXPECT_EQ(codes(items[1]), Codes{"uneven_step"}) << items;
    EXPECT_FALSE(items[2].contains("warnings"));
  }
}

TEST_F(ScheduleRoutesTest, APreviewCountsTheNeighboursOfItsFirstFire) {
  const auto ask = [this](const json& more) {
    json body = {{"cron_expression", "0 3 * * *"}};
    body.update(more);
    return Post("/api/schedules/preview", body).body()["warnings"];
  };
  for (int i = 0; i < 5; ++i) Create({{"job_id", "at-three-" + std::to_string(i)}});
  const json warnings = ask(json::object());
  ASSERT_EQ(warnings.size(), 1u) << warnings;
  EXPECT_EQ(warnings[0]["code"], "crowded_minute");
  EXPECT_EQ(warnings[0]["detail"].get<std::string>().substr(0, 12), "5 other jobs");
  EXPECT_EQ(ask({{"job_id", "at-three-1"}}), json::array());  // the job itself is one of the five
  EXPECT_EQ(ask({{"cron_expression", "1 3 * * *"}}), json::array());
}

}  // namespace
}  // namespace carillon::test
