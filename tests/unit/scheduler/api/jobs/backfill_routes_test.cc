#include <fmt/format.h>

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class BackfillRoutesTest : public ApiEnv {
 protected:
  static constexpr Duration kDay = 24h;

  std::string DaysAgo(int days) const { return FormatRfc3339(clock_.Wall() - kDay * days); }
  // The range of the last `days` days, changed by `changes`.
  json Range(int days, json changes = json::object()) const {
    json body = {{"from", DaysAgo(days)}, {"to", DaysAgo(0)}};
    body.update(changes);
    return body;
  }
  static std::string PathOf(const json& job) {
    return "/api/jobs/" + job.value("job_id", "") + "/backfills";
  }
  json Start(const json& job, int days) {
    const Answer answer = Post(PathOf(job), Range(days));
    EXPECT_EQ(answer.status, 201) << answer.text;
    return answer.body();
  }
  static std::string PathOf(uint64_t number, const std::string& verb) {
    return fmt::format("/api/backfills/{}/{}", number, verb);
  }
  void ExpectUnfit(const json& job, const json& body, const std::string& pointer,
                   const std::string& code) {
    const Answer answer = Post(PathOf(job), body);
    EXPECT_EQ(answer.status, 422) << answer.text;
    EXPECT_EQ(answer.body().value("code", ""), code);
    EXPECT_EQ(answer.body()["errors"][0].value("pointer", ""), pointer);
  }
};

TEST_F(BackfillRoutesTest, StartsABackfill) {
  const json job = Create({{"priority", 5}});
  const size_t before = nudges();
  const Answer answer = Post(PathOf(job), Range(3, {{"order", "descending"},
                                                    {"rerun", "failed"},
                                                    {"concurrency", 4},
                                                    {"priority", 9},
                                                    {"parameters", {{"day", "x"}}}}));
  ASSERT_EQ(answer.status, 201) << answer.text;
  const json body = answer.body();
  EXPECT_EQ(body["job_id"], job["job_id"]);
  EXPECT_EQ(body["state"], "RUNNING");
  EXPECT_EQ(body["fires"], 3);
  EXPECT_EQ(body["done"], 0);
  EXPECT_EQ(body["order"], "descending");
  EXPECT_EQ(body["rerun"], "failed");
  EXPECT_EQ(body["concurrency"], 4);
  EXPECT_EQ(body["priority"], 9);
  EXPECT_EQ(body["parameters"], json({{"day", "x"}}));
  EXPECT_EQ(body["cursor_time"], body["to"]);
  EXPECT_EQ(body["end_time"], nullptr);
  EXPECT_EQ(body["allowed_actions"], json({"cancel", "pause", "resume"}));
  EXPECT_GT(nudges(), before);
  const std::string path = fmt::format("/api/backfills/{}", body["backfill_id"].get<uint64_t>());
  EXPECT_EQ(answer.header("location"), path);
  EXPECT_EQ(Get(path).body(), body);
  const json audit = Get("/api/audit?action=job.backfill").body()["items"];
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0]["object_id"], job["job_id"]);
}

TEST_F(BackfillRoutesTest, DryRunOnlyCounts) {
  const json job = Create();
  const Answer answer = Post(PathOf(job), Range(3, {{"dry_run", true}}));
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json body = answer.body();
  EXPECT_EQ(body["fires"], 3);
  EXPECT_EQ(body["to_run"], 3);
  EXPECT_EQ(body["existing"], 0);
  EXPECT_EQ(body["refused"], 0);
  EXPECT_EQ(body["first_fires"].size(), 3u);
  EXPECT_TRUE(Get("/api/backfills").body()["items"].empty());
  EXPECT_TRUE(Get("/api/audit?action=job.backfill").body()["items"].empty());
}

TEST_F(BackfillRoutesTest, ParametersOfTheRequestOverrideThoseOfTheSchedule) {
  const json job = Create();
  StoredJob stored = *stores_.jobs.GetJob(JobId(job["job_id"]));
  stored.definition.schedules[0].parameters = {{"a", std::string("schedule")}, {"b", int64_t{1}}};
  ASSERT_TRUE(
      stores_.jobs
          .ReplaceJob(stored.job_id, stored.version, stored.definition, {.now = clock_.Wall()})
          .ok());
  const Answer answer = Post(PathOf(job), Range(1, {{"parameters", {{"a", "request"}}}}));
  ASSERT_EQ(answer.status, 201) << answer.text;
  EXPECT_EQ(answer.body()["parameters"], json({{"a", "request"}, {"b", 1}}));
}

TEST_F(BackfillRoutesTest, ParametersFitTheRulesOfTheJob) {
  const json job = Create({{"parameter_rules", {{"day", {{"choices", {"mon", "tue"}}}}}}});
  const Answer refused = Post(PathOf(job), Range(1, {{"parameters", {{"day", "x"}}}}));
  EXPECT_EQ(refused.status, 400) << refused.text;
  EXPECT_EQ(refused.pointer(), "/parameters/day");
  EXPECT_EQ(Post(PathOf(job), Range(1, {{"parameters", {{"day", "mon"}}}})).status, 201);
}

TEST_F(BackfillRoutesTest, RefusesWhatDoesNotFit) {
  const json job = Create();
  ExpectUnfit(job, Range(20), "/from", "not_kept");
  ExpectUnfit(job, Range(1, {{"to", DaysAgo(-1)}}), "/to", "in_the_future");
  ExpectUnfit(job, Range(1, {{"schedule_id", 999}}), "/schedule_id", "no_schedule");
  const json by_hand = Create({{"name", "Manual"}, {"cron_expression", nullptr}});
  ExpectUnfit(by_hand, Range(1), "/schedule_id", "no_schedule");
  JobDefinition by_event = stores_.jobs.GetJob(JobId(by_hand["job_id"]))->definition;
  by_event.schedules = {{.kind = ScheduleKind::kEvent, .event_type = "order.paid"}};
  const JobId id("by-event");
  const auto stored = stores_.jobs.CreateJob(id, by_event, {.now = clock_.Wall()});
  ASSERT_TRUE(stored.ok());
  ExpectUnfit({{"job_id", id.value()}}, Range(1), "/schedule_id", "no_schedule");
  const json often = Create({{"name", "Often"},
                             {"cron_expression", nullptr},
                             {"schedules", {{{"kind", "rate"}, {"every_ms", 1}}}}});
  // A rate begins when its job is created, unless it says otherwise.
  clock_.Advance(200s);
  ExpectUnfit(often, Range(1), "/to", "too_many_fires");
  const json two = Create({{"name", "Two"},
                           {"cron_expression", nullptr},
                           {"schedules",
                            {{{"kind", "cron"}, {"cron_expression", "0 1 * * *"}},
                             {{"kind", "cron"}, {"cron_expression", "0 2 * * *"}}}}});
  ExpectUnfit(two, Range(1), "/schedule_id", "ambiguous");
  const uint64_t second =
      stores_.jobs.GetJob(JobId(two["job_id"]))->schedules[1].schedule_id.value();
  EXPECT_EQ(Post(PathOf(two), Range(1, {{"schedule_id", second}})).status, 201);
}

TEST_F(BackfillRoutesTest, RefusesMalformedFields) {
  const json job = Create();
  for (const json& body :
       {json({{"to", DaysAgo(0)}}), Range(1, {{"from", "yesterday"}}), Range(1, {{"order", "up"}}),
        Range(1, {{"rerun", "some"}}), Range(1, {{"concurrency", 0}}),
        Range(1, {{"concurrency", 101}}), Range(1, {{"priority", 101}}), Range(1, {{"x", 1}}),
        Range(1, {{"to", DaysAgo(1)}}), Range(1, {{"parameters", {{"a", json::array()}}}})}) {
    EXPECT_EQ(Post(PathOf(job), body).status, 400) << body;
  }
}

TEST_F(BackfillRoutesTest, PauseResumeAndCancel) {
  const json job = Create();
  const uint64_t number = Start(job, 3)["backfill_id"];
  const Answer second = Post(PathOf(job), Range(1));
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.body().value("code", ""), "backfill_open");
  EXPECT_EQ(Post(PathOf(number, "pause")).body()["state"], "PAUSED");
  EXPECT_EQ(Post(PathOf(number, "resume")).body()["state"], "RUNNING");
  const Answer cancelled = Post(PathOf(number, "cancel"), {{"reason", "enough"}});
  EXPECT_EQ(cancelled.status, 202);
  EXPECT_EQ(cancelled.body()["state"], "CANCELLED");
  EXPECT_EQ(Post(PathOf(number, "resume")).status, 409);
  EXPECT_EQ(Post(PathOf(number + 1, "cancel")).status, 404);
  EXPECT_EQ(Post("/api/backfills/x/cancel").status, 404);
  const json audit = Get("/api/audit?action=backfill.cancel").body()["items"];
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0]["object_id"], std::to_string(number));
  EXPECT_EQ(audit[0]["reason"], "enough");
}

TEST_F(BackfillRoutesTest, ListsByJobAndState) {
  const json one = Create();
  const json two = Create({{"name", "Two"}});
  const uint64_t first = Start(one, 1)["backfill_id"];
  const uint64_t second = Start(two, 1)["backfill_id"];
  Post(PathOf(first, "cancel"));
  const json all = Get("/api/backfills").body();
  ASSERT_EQ(all["items"].size(), 2u);
  EXPECT_EQ(all["items"][0]["backfill_id"], second);
  EXPECT_EQ(all["total"], 2);
  const json of_job = Get("/api/backfills?job_id=" + one.value("job_id", "")).body()["items"];
  ASSERT_EQ(of_job.size(), 1u);
  EXPECT_EQ(of_job[0]["backfill_id"], first);
  EXPECT_EQ(Get("/api/backfills?state=CANCELLED").body()["items"].size(), 1u);
  EXPECT_EQ(Get("/api/backfills?state=x").status, 400);
  const json page = Get("/api/backfills?page_size=1").body();
  EXPECT_EQ(page["items"].size(), 1u);
  EXPECT_NE(page["next_page_token"], nullptr);
}

TEST_F(BackfillRoutesTest, RepeatedRequestMakesOneBackfill) {
  const json job = Create();
  const HttpHeaders key = {{"Idempotency-Key", "k1"}};
  const json body = Range(2);
  const Answer first = Post(PathOf(job), body, key);
  const Answer again = Post(PathOf(job), body, key);
  EXPECT_EQ(first.status, 201) << first.text;
  EXPECT_EQ(again.status, 201) << again.text;
  EXPECT_EQ(again.body()["backfill_id"], first.body()["backfill_id"]);
  EXPECT_EQ(Get("/api/backfills").body()["items"].size(), 1u);
}

TEST_F(BackfillRoutesTest, UnknownOutcomeIsReported) {
  const json job = Create();
  faults_.plan.Arm("CreateBackfill", Fault::kTimeoutBefore);
  const Answer answer = Post(PathOf(job), Range(1));
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.body().value("code", ""), "outcome_unknown");
}

}  // namespace
}  // namespace carillon::test
