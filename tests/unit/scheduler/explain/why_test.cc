// Reasons why a job did or did not fire: the decision, and the route that finds the facts.
#include "scheduler/explain/why.h"

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using scheduler::ExplainFire;
using scheduler::FireEvidence;

const WallTime kAt = FromUnixMicros(1'772'332'200'000'000);

JobDefinition Nightly() {
  JobDefinition job;
  job.name = "Nightly";
  job.command = "true";
  job.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "30 2 * * *"}};
  return job;
}

FireEvidence Evidence() {
  return {.at = kAt, .now = kAt + 24h, .created = kAt - 24h, .definition = Nightly()};
}

RunDetail RunThen(RunState state, std::string_view why) {
  RunDetail run;
  run.row.key.fire = kAt;
  run.row.state = state;
  run.result.reason = std::string(why);
  return run;
}

TEST(WhyTest, AFireThatThePauseOfTheClusterHoldsBack) {
  FireEvidence evidence = Evidence();
  evidence.due = kAt;
  evidence.paused_since = kAt + 1s;
  EXPECT_EQ(ExplainFire(evidence).outcome, "no_record") << "due before it";
  evidence.paused_since = kAt;
  EXPECT_EQ(ExplainFire(evidence).outcome, "cluster_paused");
}

TEST(WhyTest, AGapThatAPauseOfTheClusterLeft) {
  FireEvidence evidence = Evidence();
  evidence.due = kAt;
  evidence.gap.emplace().range.reason = GapReason::kMisfire;
  EXPECT_NE(ExplainFire(evidence).explanation.find("no scheduler could plan it"),
            std::string::npos);
  evidence.past_pause = {
      .since = kAt - 1h, .until = kAt + 1h, .by = "user anna", .reason = "a move"};
  const auto answer = ExplainFire(evidence);
  EXPECT_EQ(answer.outcome, "gap");
  EXPECT_NE(answer.explanation.find("(user anna: a move)"), std::string::npos)
      << answer.explanation;
  EXPECT_EQ(answer.explanation.find("no scheduler could plan it"), std::string::npos);
}

TEST(WhyTest, AFireThatWasShedSaysBecauseOfWhat) {
  FireEvidence evidence = Evidence();
  evidence.run = RunThen(RunState::kSkipped, reason::kShed);
  const auto answer = ExplainFire(evidence);
  EXPECT_EQ(answer.outcome, "skipped");
  EXPECT_NE(answer.explanation.find("overload.levels"), std::string::npos) << answer.explanation;
}

TEST(WhyTest, ARunOnRecordAnswersFirst) {
  FireEvidence evidence = Evidence();
  evidence.definition->enabled = false;
  evidence.run = RunThen(RunState::kFailed, "exit_code");
  EXPECT_EQ(ExplainFire(evidence).outcome, "run");
  EXPECT_NE(ExplainFire(evidence).explanation.find("FAILED (exit_code)"), std::string::npos);
  for (const RunState state :
       {RunState::kPending, RunState::kRunning, RunState::kHeld, RunState::kCompleted,
        RunState::kTimedOut, RunState::kCancelled, RunState::kLost}) {
    evidence.run = RunThen(state, "x");
    EXPECT_EQ(ExplainFire(evidence).outcome, "run");
    EXPECT_FALSE(ExplainFire(evidence).explanation.empty());
  }
}

TEST(WhyTest, ASkippedRunSaysWhy) {
  FireEvidence evidence = Evidence();
  for (const auto& [why, word] : std::map<std::string, std::string>{{"overlap", "overlap_policy"},
                                                                    {"paused", "paused"},
                                                                    {"queue_full", "queue_max"},
                                                                    {"replaced", "newer run"},
                                                                    {"queue_timeout", "executor"},
                                                                    {"edited", "edit"},
                                                                    {"other", "other"}}) {
    evidence.run = RunThen(RunState::kSkipped, why);
    EXPECT_EQ(ExplainFire(evidence).outcome, "skipped");
    EXPECT_NE(ExplainFire(evidence).explanation.find(word), std::string::npos) << why;
  }
}

TEST(WhyTest, AGapSaysWhy) {
  FireEvidence evidence = Evidence();
  for (const GapReason why : {GapReason::kMisfire, GapReason::kPaused, GapReason::kCatchUpLimit,
                              GapReason::kEdited, GapReason::kDeleted, GapReason::kBadEvent}) {
    evidence.gap = GapRecord{.schedule_id = ScheduleId(1),
                             .job_id = JobId("a"),
                             .range = {.from = kAt, .to = kAt, .count = 1, .reason = why}};
    EXPECT_EQ(ExplainFire(evidence).outcome, "gap");
    EXPECT_FALSE(ExplainFire(evidence).explanation.empty());
  }
}

TEST(WhyTest, TheEventThatStartedARunIsNamed) {
  FireEvidence evidence = Evidence();
  evidence.run = RunThen(RunState::kCompleted, "");
  EXPECT_EQ(ExplainFire(evidence).explanation.find("started it"), std::string::npos);
  evidence.event = EventOrigin{.id = "42", .source = "shop", .type = "order.paid"};
  const std::string text = ExplainFire(evidence).explanation;
  EXPECT_TRUE(text.ends_with("completed. Event 42 of shop started it.")) << text;
}

TEST(WhyTest, AJobThatEventsStartSaysSo) {
  const ScheduleSpec event{
      .kind = ScheduleKind::kEvent, .event_type = "order.paid", .event_source = "shop"};
  FireEvidence evidence = Evidence();
  evidence.definition->schedules = {event};
  EXPECT_EQ(ExplainFire(evidence).outcome, "not_due");
  EXPECT_EQ(ExplainFire(evidence).explanation,
            "Not started in that minute. The job starts on each event of type order.paid from "
            "shop.");
  evidence.definition->schedules.push_back({.kind = ScheduleKind::kAfter, .upstream = "load"});
  EXPECT_EQ(ExplainFire(evidence).explanation,
            "Not scheduled for that minute. The job also starts on each event of type order.paid "
            "from shop and after job load on success.");
}

TEST(WhyTest, WithoutARecordTheJobItselfAnswers) {
  FireEvidence evidence = Evidence();
  EXPECT_EQ(ExplainFire(evidence).outcome, "not_due");
  evidence.problem = "Schedule 1 cannot be planned: unknown time zone 'US/Eastern'.";
  EXPECT_EQ(ExplainFire(evidence).outcome, "not_planned");
  EXPECT_EQ(ExplainFire(evidence).explanation, evidence.problem);
  evidence.due = kAt + 5s;
  EXPECT_EQ(ExplainFire(evidence).outcome, "no_record");
  evidence.now = kAt;
  EXPECT_EQ(ExplainFire(evidence).outcome, "future");
  evidence.definition->enabled = false;
  EXPECT_EQ(ExplainFire(evidence).outcome, "paused");
  EXPECT_EQ(ExplainFire(evidence).explanation, "Not scheduled: the job was paused.");
  evidence.definition->pause_after_failures = 3;
  evidence.paused_by_failures = true;
  EXPECT_EQ(ExplainFire(evidence).outcome, "paused");
  EXPECT_EQ(ExplainFire(evidence).explanation,
            "Not scheduled: the job was paused, because 3 runs in a row have failed "
            "(pause_after_failures).");
  evidence.definition->enabled = true;
  evidence.definition->schedules.clear();
  EXPECT_EQ(ExplainFire(evidence).outcome, "manual");
  evidence.definition.reset();
  EXPECT_EQ(ExplainFire(evidence).outcome, "not_kept");
  evidence.created = kAt + 1min;
  EXPECT_EQ(ExplainFire(evidence).outcome, "not_created");
}

class WhyRouteTest : public ApiEnv {
 protected:
  json Why(const std::string& at) {
    const Answer answer = Get("/api/jobs/a/why?at=" + at);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
};

TEST_F(WhyRouteTest, LooksAtTheVersionInForceThen) {
  const json job = Create({{"job_id", "a"}, {"cron_expression", "* * * * *"}});
  EXPECT_EQ(Why("2001-01-01T00:00:00Z")["outcome"], "not_created");
  const json future = Why("2090-01-01T00:00:00Z");
  EXPECT_EQ(future["outcome"], "future");
  EXPECT_EQ(future["fire_time"], "2090-01-01T00:00:00.000000Z");
  EXPECT_EQ(future["job_version"], 1);
  Post("/api/jobs/a/pause");
  EXPECT_EQ(Why("2090-01-01T00:00:00Z")["outcome"], "paused");
  EXPECT_EQ(Why("2090-01-01T00:00:00Z")["job_version"], 2);
}

TEST_F(WhyRouteTest, FindsTheVersionAmongMany) {
  Create({{"job_id", "a"}});
  std::vector<WallTime> between = {clock_.Wall() + 30min};
  for (int version = 1; version < 8; ++version) {
    clock_.Advance(1h);
    ASSERT_EQ(Send("PATCH", "/api/jobs/a", json{{"priority", version}}.dump(), {{"If-Match", "*"}})
                  .status,
              200);
    between.push_back(clock_.Wall() + 30min);
  }
  for (size_t i = 0; i < between.size(); ++i) {
    EXPECT_EQ(Why(FormatRfc3339(between[i]))["job_version"], i + 1);
  }
}

TEST_F(WhyRouteTest, IgnoresRunsThatPeopleMade) {
  const json job = Create({{"job_id", "a"}, {"cron_expression", nullptr}});
  Execute("a");
  const std::string at = job["create_time"];
  EXPECT_EQ(Why(at)["outcome"], "manual");
  EXPECT_TRUE(Why(at)["run_id"].is_null());
}

TEST_F(WhyRouteTest, SaysWhatIsWrongWithAQuestion) {
  Create({{"job_id", "a"}});
  EXPECT_EQ(Get("/api/jobs/a/why").pointer(), "?at");
  EXPECT_EQ(Get("/api/jobs/a/why?at=yesterday").pointer(), "?at");
  EXPECT_EQ(Get("/api/jobs/a/why?at=2026-01-01T00:00:00Z&x=1").pointer(), "?x");
  EXPECT_EQ(Get("/api/jobs/b/why?at=2026-01-01T00:00:00Z").code(), "not_found");
}

}  // namespace
}  // namespace carillon::test
