#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/jobs/last_runs.h"
#include "tests/support/process_wait.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class JobCommandsTest : public CliTest {
 protected:
  // A run of /api/recent-runs that has just ended.
  json Last(const std::string& state, Duration took) const {
    return {{"run_id", "R1"},
            {"state", state},
            {"fire_time", FormatRfc3339(clock_.Wall() - took)},
            {"started_at", FormatRfc3339(clock_.Wall() - took)},
            {"ended_at", FormatRfc3339(clock_.Wall())}};
  }
};

TEST_F(JobCommandsTest, ListIsAPlainTable) {
  json paused = JobShown("weekly");
  paused["state"] = "PAUSED";
  paused["next_fire_time"] = nullptr;
  paused["schedules"] = {{{"kind", "rate"}, {"every_ms", 500}}, {{"kind", "once"}}};
  Answer("GET /api/jobs?page_size=50",
         {{"items", {JobShown("nightly"), paused}}, {"next_page_token", nullptr}});
  Answer("GET /api/recent-runs?n=1&job_id=nightly&job_id=weekly",
         {{"items",
           {{{"job_id", "nightly"}, {"runs", {Last("FAILED", 125s)}}},
            {{"job_id", "weekly"}, {"runs", json::array()}}}}});
  EXPECT_EQ(Run({"job", "list"}), 0);
  EXPECT_EQ(
      out(),
      "JOB      NAME     STATE    SCHEDULE        NEXT FIRE             LAST RESULT  DURATION\n"
      "nightly  Nightly  ENABLED  0 3 * * * UTC   2026-03-01 03:00:00Z  FAILED       2m 05s\n"
      "weekly   Nightly  PAUSED   every 500ms +1  -                     -            -\n");
  EXPECT_EQ(err(), "");
  EXPECT_EQ(HeaderOf(Sent(0), "Authorization"), "Bearer secret");
}

TEST_F(JobCommandsTest, ListShowsARunThatHasNotEnded) {
  Answer("GET /api/jobs?page_size=50",
         {{"items", {JobShown("a"), JobShown("b"), JobShown("c")}}, {"next_page_token", nullptr}});
  json running = Last("RUNNING", 0s);
  running["ended_at"] = nullptr;
  json ahead = running;  // this machine's clock is behind the server's
  ahead["started_at"] = FormatRfc3339(clock_.Wall() + 3s);
  json pending = running;
  pending["state"] = "PENDING";
  pending["started_at"] = nullptr;
  Answer("GET /api/recent-runs?n=1&job_id=a&job_id=b&job_id=c",
         {{"items",
           {{{"job_id", "a"}, {"runs", {running}}},
            {{"job_id", "b"}, {"runs", {ahead}}},
            {{"job_id", "c"}, {"runs", {pending}}}}}});
  clock_.Advance(90s);
  EXPECT_EQ(Run({"job", "list"}), 0);
  EXPECT_NE(out().find("  running      1m 30s\n"), std::string::npos) << out();
  EXPECT_NE(out().find("  running      1m 27s\n"), std::string::npos) << out();
  EXPECT_NE(out().find("  pending      -\n"), std::string::npos) << out();
}

TEST_F(JobCommandsTest, ListAsksForAHundredLastRunsAtATime) {
  json jobs = json::array();
  std::vector<std::string> asked(2, "GET /api/recent-runs?n=1");
  for (int i = 0; i < 120; ++i) {
    jobs.push_back(JobShown("j" + std::to_string(i)));
    asked[i / 100] += "&job_id=j" + std::to_string(i);
  }
  Answer("GET /api/jobs?page_size=500", {{"items", jobs}, {"next_page_token", nullptr}});
  Answer(asked[0], {{"items", {{{"job_id", "j0"}, {"runs", {Last("COMPLETED", 1s)}}}}}});
  Answer(asked[1], {{"items", {{{"job_id", "j119"}, {"runs", {Last("LOST", 1s)}}}}}});
  EXPECT_EQ(Run({"job", "list", "--limit", "0"}), 0);
  EXPECT_NE(out().find("COMPLETED"), std::string::npos);
  EXPECT_NE(out().find("LOST"), std::string::npos);
  EXPECT_EQ(server_.requests.size(), 3u);
}

TEST_F(JobCommandsTest, ListIsPrintedWithoutLastRunsIfTheyCannotBeRead) {
  Answer("GET /api/jobs?page_size=50",
         {{"items", {JobShown("nightly")}}, {"next_page_token", nullptr}});
  Answer("GET /api/recent-runs?n=1&job_id=nightly", ProblemOf("unavailable"), 503);
  EXPECT_EQ(Run({"job", "list"}), 0);
  EXPECT_NE(out().find("2026-03-01 03:00:00Z  -            -\n"), std::string::npos) << out();
  EXPECT_NE(err().find("The last results are missing: "), std::string::npos) << err();
}

TEST_F(JobCommandsTest, DurationsHaveAtMostTwoUnits) {
  const std::vector<std::pair<Duration, std::string>> texts = {
      {0s, "0.00s"},      {351ms, "0.35s"},  {59'990ms, "59.9s"},         {60s, "1m 00s"},
      {3599s, "59m 59s"}, {3600s, "1h 00m"}, {24h + 3h + 59min, "1d 03h"}};
  for (const auto& [time, text] : texts) EXPECT_EQ(DurationText(time), text);
}

TEST_F(JobCommandsTest, AListCanBeOfJobsThatTheirFailuresHavePaused) {
  Answer("GET /api/jobs?paused_by=failures&page_size=50",
         {{"items", json::array()}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"job", "list", "--paused-by", "failures"}), 0) << err();
}

TEST_F(JobCommandsTest, ARateIsShownAsItIsGiven) {
  json jobs = json::array();
  for (const int64_t ms : {60'000, 90'000, 7'200'000, 1500}) {
    json job = JobShown("j");
    job["schedules"] = {{{"kind", "rate"}, {"every_ms", ms}}};
    jobs.push_back(job);
  }
  Answer("GET /api/jobs?page_size=50", {{"items", jobs}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"job", "list"}), 0) << err();
  for (const char* text : {"every 1m ", "every 90s ", "every 2h ", "every 1500ms "}) {
    EXPECT_NE(out().find(text), std::string::npos) << text << out();
  }
}

TEST_F(JobCommandsTest, ListInEveryForm) {
  const json page = {{"items", {JobShown("nightly")}}, {"next_page_token", nullptr}};
  Answer("GET /api/jobs?page_size=500", page);
  EXPECT_EQ(Run({"-o", "jsonl", "job", "list"}), 0);
  EXPECT_EQ(OutJson(), page["items"][0]);
  EXPECT_EQ(Run({"job", "list", "--output", "name"}), 0);
  EXPECT_EQ(out(), "nightly\n");
  EXPECT_EQ(Run({"job", "list", "-q"}), 0);
  EXPECT_EQ(out(), "nightly\n");
  EXPECT_EQ(Run({"job", "list", "-o", "yaml"}), 0);
  EXPECT_EQ(out().substr(0, 9), "items:\n  ");
  EXPECT_EQ(Run({"job", "list", "-o", "xml"}), 2);
}

TEST_F(JobCommandsTest, ListFollowsPagesUpToItsLimit) {
  Answer("GET /api/jobs?status=PAUSED&q=a%20b&page_size=3",
         {{"items", {JobShown("a"), JobShown("b")}}, {"next_page_token", "t/1"}});
  Answer("GET /api/jobs?status=PAUSED&q=a%20b&page_size=1&page_token=t%2F1",
         {{"items", {JobShown("c")}}, {"next_page_token", "t/2"}});
  EXPECT_EQ(Run({"job", "list", "--status", "PAUSED", "--search", "a b", "--limit", "3", "-q"}), 0);
  EXPECT_EQ(out(), "a\nb\nc\n");
}

TEST_F(JobCommandsTest, CreateSendsWhatTheFlagsSay) {
  Answer("POST /api/jobs", JobShown("nightly"), 201);
  EXPECT_EQ(Run({"job",       "create",     "--name",    "Nightly", "--command",
                 "echo hi",   "--cron",     "0 3 * * *", "--zone",  "Europe/Paris",
                 "--timeout", "15m",        "--retry",   "2",       "--retry-intervals",
                 "1m,5m",     "--priority", "7",         "--param", "n=3",
                 "--param",   "s=x",        "--env",     "A=b=c",   "--label",
                 "team=etl",  "--paused",   "--id",      "nightly", "-o",
                 "json"}),
            0);
  EXPECT_EQ(SentBody(0),
            (json{{"name", "Nightly"},
                  {"command", "echo hi"},
                  {"schedules", {{{"kind", "cron"}, {"cron_expression", "0 3 * * *"}}}},
                  {"time_zone", "Europe/Paris"},
                  {"timeout", 900},
                  {"retry_count", 2},
                  {"retry_intervals", {60, 300}},
                  {"priority", 7},
                  {"parameters", {{"n", 3}, {"s", "x"}}},
                  {"env", {{"A", "b=c"}}},
                  {"labels", {{"team", "etl"}}},
                  {"enabled", false},
                  {"job_id", "nightly"}}));
  EXPECT_EQ(HeaderOf(Sent(0), "Idempotency-Key").size(), 32u);
  EXPECT_EQ(OutJson()["job_id"], "nightly");
  EXPECT_EQ(err(), "");
}

TEST_F(JobCommandsTest, WritesSayTheWarningsOfTheServer) {
  json job = JobShown("j");
  job["warnings"] = {{{"schedule", 1}, {"code", "never_fires"}, {"detail", "It never fires."}}};
  Answer("POST /api/jobs", job, 201);
  EXPECT_EQ(Run({"job", "create", "--name", "n", "--command", "true", "--cron", "0 0 30 2 *"}), 0);
  EXPECT_EQ(err(), "warning: schedule 2: It never fires.\n");
  Answer("GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  Answer("PATCH /api/jobs/j", job);
  EXPECT_EQ(Run({"job", "edit", "j", "--timeout", "5m", "-o", "json"}), 0);
  EXPECT_EQ(err(), "warning: schedule 2: It never fires.\n");
  EXPECT_EQ(OutJson(), job);
}

TEST_F(JobCommandsTest, CreateTakesSeveralSchedules) {
  Answer("POST /api/jobs", JobShown("j"), 201);
  EXPECT_EQ(Run({"job", "create", "--name", "n", "--every", "500ms", "--at", "2026-03-01T00:00:00Z",
                 "--cron", "@daily"}),
            0);
  EXPECT_EQ(SentBody(0)["schedules"], (json{{{"kind", "cron"}, {"cron_expression", "@daily"}},
                                            {{"kind", "rate"}, {"every_ms", 500}},
                                            {{"kind", "once"}, {"at", "2026-03-01T00:00:00Z"}}}));
}

TEST_F(JobCommandsTest, WindowAndJitterApplyToEachRepeatedSchedule) {
  Answer("POST /api/jobs", JobShown("j"), 201);
  EXPECT_EQ(Run({"job", "create", "--name", "n", "--cron", "@daily", "--every", "1h", "--in", "90m",
                 "--start-time", "2026-03-01T00:00:00Z", "--end-time", "2026-04-01T00:00:00Z",
                 "--jitter", "5m"}),
            0);
  EXPECT_EQ(SentBody(0)["schedules"], (json{{{"kind", "cron"},
                                             {"cron_expression", "@daily"},
                                             {"start_time", "2026-03-01T00:00:00Z"},
                                             {"end_time", "2026-04-01T00:00:00Z"},
                                             {"jitter_s", 300}},
                                            {{"kind", "rate"},
                                             {"every_ms", 3'600'000},
                                             {"start_time", "2026-03-01T00:00:00Z"},
                                             {"end_time", "2026-04-01T00:00:00Z"},
                                             {"jitter_s", 300}},
                                            {{"kind", "once"}, {"in_s", 5'400}}}));
}

TEST_F(JobCommandsTest, CreateReadsYamlFromStandardInputAndFlagsWin) {
  Answer("POST /api/jobs", JobShown("j"), 201);
  in_.str("name: from file\ncommand: |\n  set -e\n  true\ntimeout: 5\nenv: {PORT: \"80\"}\n");
  EXPECT_EQ(Run({"job", "create", "-f", "-", "--timeout", "6"}), 0);
  EXPECT_EQ(SentBody(0), (json{{"name", "from file"},
                               {"command", "set -e\ntrue\n"},
                               {"timeout", 6},
                               {"env", {{"PORT", "80"}}}}));
}

TEST_F(JobCommandsTest, CreateRefusesBadFlagsWithoutAsking) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {},
           {"--name", "n", "--timeout", "soon"},
           {"--name", "n", "--timeout", "500ms"},
           {"--name", "n", "--retry", "two"},
           {"--name", "n", "--env", "novalue"},
           {"--name", "n", "--at", "tomorrow"},
           {"--name", "n", "--in", "500ms"},
           {"--name", "n", "--jitter", "5m"},
           {"--name", "n", "--at", "2026-03-01T00:00:00Z", "--end-time", "2026-04-01T00:00:00Z"},
           {"--name", "n", "--cron", "@daily", "--end-time", "x"},
           {"--name", "n", "--no-such-flag"},
           {"-f", "/nonexistent/job.yaml"}}) {
    std::vector<std::string> arguments = {"job", "create"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(Run(arguments), 2);
    EXPECT_EQ(out(), "");
  }
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(JobCommandsTest, ProblemsNameCodeFieldAndTrace) {
  Answer("POST /api/jobs", ProblemOf("invalid"), 400);
  EXPECT_EQ(Run({"job", "create", "--name", "n", "-o", "json"}), 2);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(),
            "carillon: it is wrong (invalid)\n"
            "  /timeout: too small\n"
            "  trace 0af7651916cd43dd8448eb211c80319c\n");
}

TEST_F(JobCommandsTest, StatusDecidesTheExitCode) {
  const std::map<int, int> expected = {{400, 2}, {401, 4}, {403, 4}, {404, 3}, {409, 5}, {412, 5},
                                       {422, 2}, {428, 2}, {500, 1}, {503, 6}, {504, 6}};
  for (const auto& [status, exit] : expected) {
    server_.answers.clear();
    Answer("GET /api/jobs/j", ProblemOf("code"), status);
    EXPECT_EQ(Run({"job", "get", "j"}), exit) << status;
  }
}

TEST_F(JobCommandsTest, EditByFlagsPatchesTheVersionItRead) {
  Answer("GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  Answer("PATCH /api/jobs/j", JobShown("j"));
  EXPECT_EQ(Run({"job", "edit", "j", "--cron", "0 4 * * *", "--label", "a=b"}), 0);
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"v3\"");
  EXPECT_EQ(SentBody(1),
            (json{{"schedules", {{{"kind", "cron"}, {"cron_expression", "0 4 * * *"}}}},
                  {"labels", {{"a", "b"}}}}));
}

TEST_F(JobCommandsTest, EditByFileBuildsOnTheVersionInTheFile) {
  Answer("PUT /api/jobs/j", ProblemOf("stale_version"), 412);
  in_.str(JobShown("j").dump());
  EXPECT_EQ(Run({"job", "edit", "j", "-f", "-"}), 5);
  EXPECT_EQ(HeaderOf(Sent(0), "If-Match"), "\"v3\"");
  EXPECT_EQ(SentBody(0), JobShown("j"));
}

TEST_F(JobCommandsTest, EditInTheEditorSendsWhatWasWritten) {
  tty_ = true;
  Answer("GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  Answer("PUT /api/jobs/j", JobShown("j"));
  std::string draft;
  edit_ = [&](const std::string& file) {
    draft = file;
    std::ifstream in(file);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    EXPECT_EQ(text.find("schedules"), std::string::npos) << "two views of one schedule";
    EXPECT_EQ(text.find("version"), std::string::npos);
    std::ofstream(file) << text << "priority: 9\n";
    return Status();
  };
  EXPECT_EQ(Run({"job", "edit", "j"}), 0);
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"v3\"");
  EXPECT_EQ(SentBody(1)["priority"], 9);
  EXPECT_EQ(SentBody(1)["cron_expression"], "0 3 * * *");
  EXPECT_FALSE(std::filesystem::exists(draft));
}

TEST_F(JobCommandsTest, UntouchedDraftChangesNothing) {
  tty_ = true;
  Answer("GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  EXPECT_EQ(Run({"job", "edit", "j"}), 0);
  EXPECT_EQ(server_.requests.size(), 1u);
}

TEST_F(JobCommandsTest, RefusedDraftIsKept) {
  tty_ = true;
  Answer("GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  Answer("PUT /api/jobs/j", ProblemOf("invalid"), 400);
  std::string draft;
  edit_ = [&](const std::string& file) {
    draft = file;
    std::ofstream(file) << "timeout: 0\n";
    return Status();
  };
  EXPECT_EQ(Run({"job", "edit", "j"}), 2);
  EXPECT_TRUE(std::filesystem::exists(draft));
  std::filesystem::remove(draft);
}

TEST_F(JobCommandsTest, EditWithoutATerminalNeedsFlags) {
  EXPECT_EQ(Run({"job", "edit", "j"}), 2);
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(JobCommandsTest, DeleteNeedsYesOrAnAnswer) {
  Answer("GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  server_.answers["DELETE http://a/api/jobs/j"].emplace_back(HttpResponse{.status = 204});
  EXPECT_EQ(Run({"job", "delete", "j"}), 2);
  EXPECT_TRUE(server_.requests.empty());
  tty_ = true;
  in_.str("n\n");
  EXPECT_EQ(Run({"job", "delete", "j"}), 1);
  EXPECT_TRUE(server_.requests.empty());
  in_.str("y\n");
  EXPECT_EQ(Run({"job", "delete", "j"}), 0);
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"v3\"");
  tty_ = false;
  EXPECT_EQ(Run({"job", "delete", "j", "--yes"}), 0);
}

TEST_F(JobCommandsTest, CancelNeedsYesAndTellsHowMany) {
  Answer("POST /api/jobs/j/cancel", {{"cancelled", 2}}, 202);
  EXPECT_EQ(Run({"job", "cancel", "j"}), 2);
  EXPECT_EQ(Run({"job", "cancel", "j", "-y", "-o", "json"}), 0);
  EXPECT_EQ(OutJson(), (json{{"cancelled", 2}, {"job_id", "j"}}));
}

TEST_F(JobCommandsTest, CancelSendsItsReasonAndTheConfirmation) {
  Answer("POST /api/jobs/j/cancel", {{"cancelled", 2}}, 202);
  EXPECT_EQ(Run({"job", "cancel", "j", "-y", "--confirm-overlap", "--reason", "moved"}), 0);
  EXPECT_EQ(SentBody(0), (json{{"confirm_overlap", true}, {"reason", "moved"}}));
  EXPECT_EQ(Run({"job", "cancel", "j", "-y"}), 0);
  EXPECT_EQ(SentBody(1), json::object());
  EXPECT_EQ(Run({"job", "cancel", "j", "-y", "--kill"}), 0);
  EXPECT_EQ(SentBody(2), (json{{"mode", "kill"}}));
}

TEST_F(JobCommandsTest, AJobThatCannotBeReadIsDeletedAndReplacedAtItsVersion) {
  Answer("GET /api/jobs/j", {{"code", "corrupt"}, {"detail", "…"}}, 500, "\"v3\"");
  server_.answers["DELETE http://a/api/jobs/j"].emplace_back(HttpResponse{.status = 204});
  Answer("PUT /api/jobs/j", JobShown("j"));
  EXPECT_EQ(Run({"job", "get", "j"}), 1);
  EXPECT_EQ(Run({"job", "delete", "j", "--yes"}), 0);
  EXPECT_EQ(HeaderOf(Sent(2), "If-Match"), "\"v3\"");
  in_.str("name: n\ncommand: c\n");
  EXPECT_EQ(Run({"job", "edit", "j", "-f", "-"}), 0);
  EXPECT_EQ(HeaderOf(Sent(4), "If-Match"), "\"v3\"");
}

TEST_F(JobCommandsTest, QueueShowsHoldersAndThenTheRunsThatWait) {
  const auto run = [](const char* id, const char* state, json due) {
    return json{{"run_id", id},
                {"kind", "manual"},
                {"fire_time", "2026-03-01T01:00:00.000000Z"},
                {"state", state},
                {"due_at", std::move(due)}};
  };
  Answer("GET /api/jobs/j/queue?limit=2",
         {{"length", 3},
          {"holders",
           {run("r1", "RUNNING", nullptr), run("r2", "PENDING", "2026-03-01T02:00:00.000000Z")}},
          {"queued", {run("r3", "PENDING", nullptr), run("r4", "PENDING", nullptr)}}});
  EXPECT_EQ(Run({"job", "queue", "j", "--limit", "2"}), 0);
  EXPECT_EQ(out(),
            "PLACE  RUN  KIND    FIRE TIME             DUE SINCE             STATE\n"
            "slot   r1   manual  2026-03-01 01:00:00Z  -                     RUNNING\n"
            "slot   r2   manual  2026-03-01 01:00:00Z  2026-03-01 02:00:00Z  PENDING\n"
            "1      r3   manual  2026-03-01 01:00:00Z  2026-03-01 01:00:00Z  PENDING\n"
            "2      r4   manual  2026-03-01 01:00:00Z  2026-03-01 01:00:00Z  PENDING\n");
  EXPECT_NE(err().find("2 of 3 queued runs"), std::string::npos);
  EXPECT_EQ(Run({"job", "queue", "j", "--limit", "1001"}), 2);
}

TEST_F(JobCommandsTest, IdsAreEscaped) {
  EXPECT_EQ(Run({"job", "get", "../runs?x=1"}), 3);
  EXPECT_EQ(Sent(0).url, "http://a/api/jobs/..%2Fruns%3Fx%3D1");
  EXPECT_EQ(Run({"job", "get", ".."}), 3);
  EXPECT_EQ(Sent(1).url, "http://a/api/jobs/%2E%2E");
}

TEST_F(JobCommandsTest, RunConvertsParametersByTheRulesOfTheJob) {
  json job = JobShown("j");
  job["parameter_rules"] = {{"zip", {{"type", "string"}}}, {"rows", {{"type", "integer"}}}};
  Answer("GET /api/jobs/j", job);
  Answer("POST /api/jobs/j/execute", {{"run_id", "R1"}}, 202);
  EXPECT_EQ(
      Run({"job", "run", "j", "--param", "zip=01234", "--param", "rows=7", "--param", "free=true"}),
      0)
      << err();
  EXPECT_EQ(SentBody(1)["parameters"], (json{{"zip", "01234"}, {"rows", 7}, {"free", true}}));
}

TEST_F(JobCommandsTest, RunGuessesTypesIfTheJobCannotBeRead) {
  Answer("GET /api/jobs/j", ProblemOf("denied"), 403);
  Answer("POST /api/jobs/j/execute", {{"run_id", "R1"}}, 202);
  EXPECT_EQ(Run({"job", "run", "j", "--param", "rows=7"}), 0) << err();
  EXPECT_EQ(SentBody(1)["parameters"], (json{{"rows", 7}}));
}

TEST_F(JobCommandsTest, CreateSendsLimitsAndTheUser) {
  Answer("POST /api/jobs", JobShown("report"), 201);
  const std::vector<std::string> create = {"job",    "create",    "--name",
                                           "Report", "--command", "true"};
  std::vector<std::string> words = create;
  for (const char* word : {"--run-as", "alice", "--working-directory", "~/app", "--limit",
                           "cpu=0.5", "--limit", "pids=9", "--limit", "enforce=best_effort",
                           "--pause-after-failures", "5", "--presume-dead", "10m"}) {
    words.emplace_back(word);
  }
  ASSERT_EQ(Run(words), 0) << err();
  EXPECT_EQ(SentBody(0),
            (json{{"name", "Report"},
                  {"command", "true"},
                  {"run_as", "alice"},
                  {"working_directory", "~/app"},
                  {"pause_after_failures", 5},
                  {"presume_dead_s", 600},
                  {"limits", {{"cpu", 0.5}, {"pids", 9}, {"enforce", "best_effort"}}}}));
  EXPECT_NE(Run({"job", "create", "--name", "Report", "--command", "true", "--limit", "pids"}), 0);
}

TEST_F(JobCommandsTest, CreateSendsTheScriptOfAFile) {
  const test::ScratchDirectory scratch;
  const std::string file = scratch / "report.py";
  std::ofstream(file) << "print(1)\n";
  Answer("POST /api/jobs", JobShown("report"), 201);
  Answer("POST /api/jobs", JobShown("report"), 201);
  ASSERT_EQ(Run({"job", "create", "--name", "Report", "--script", file, "--arg", "--day", "--arg",
                 "{{params.day}}", "--retry-on", "exit:75,timeout", "--no-retry-on", ""}),
            0)
      << err();
  EXPECT_EQ(SentBody(0), (json{{"name", "Report"},
                               {"type", "script"},
                               {"script",
                                {{"interpreter", "python3"},
                                 {"body", "print(1)\n"},
                                 {"args", {"--day", "{{params.day}}"}}}},
                               {"retry_on", {"exit:75", "timeout"}},
                               {"no_retry_on", json::array()}}));
  ASSERT_EQ(Run({"job", "create", "--name", "Report", "--script", file, "--interpreter", "bash"}),
            0);
  EXPECT_EQ(SentBody(1)["script"]["interpreter"], "bash");
  const std::string plain = scratch / "report";
  std::ofstream(plain) << "print(1)\n";
  EXPECT_EQ(Run({"job", "create", "--name", "Report", "--script", plain}), 2);
  EXPECT_NE(err().find("--interpreter"), std::string::npos) << err();
  EXPECT_EQ(Run({"job", "create", "--name", "Report", "--script", scratch / "none.py"}), 2);
}

TEST_F(JobCommandsTest, CreateMakesAContainerOfFlags) {
  Answer("POST /api/jobs", JobShown("report"), 201);
  ASSERT_EQ(Run({"job", "create", "--name", "Report", "--image", "alpine:3.20", "--entrypoint",
                 "sh", "--entrypoint", "-c", "--arg", "date", "--network", "none", "--read-only",
                 "--container-user", "1000", "--pull", "never"}),
            0)
      << err();
  EXPECT_EQ(SentBody(0), (json{{"name", "Report"},
                               {"type", "container"},
                               {"container",
                                {{"image", "alpine:3.20"},
                                 {"command", {"sh", "-c"}},
                                 {"args", {"date"}},
                                 {"network", "none"},
                                 {"read_only", true},
                                 {"user", "1000"},
                                 {"pull", "never"}}}}));
}

}  // namespace
}  // namespace carillon::cli
