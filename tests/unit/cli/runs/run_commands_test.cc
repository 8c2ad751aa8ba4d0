#include <algorithm>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class RunCommandsTest : public CliTest {
 protected:
  RunCommandsTest() { Answer("POST /api/jobs/j/execute", {{"run_id", "R1"}}, 202); }
  // Executes `job run --wait` for a run that goes through these states.
  int WaitThrough(const std::vector<std::string>& states,
                  const std::vector<std::string>& more = {}) {
    server_.answers.erase("GET http://a/api/runs/R1");
    for (const std::string& state : states) Answer("GET /api/runs/R1", RunShown(state));
    std::vector<std::string> arguments = {"job", "run", "j", "--wait"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(RunCommandsTest, RunNowPrintsTheRun) {
  EXPECT_EQ(Run({"job", "run", "j", "--param", "day=monday", "--executor", "e", "--priority", "9"}),
            0);
  EXPECT_EQ(out(), "R1\n");
  EXPECT_EQ(SentBody(1),
            (json{{"parameters", {{"day", "monday"}}}, {"executor_id", "e"}, {"priority", 9}}));
  EXPECT_NE(HeaderOf(Sent(1), "Idempotency-Key"), "");
  EXPECT_EQ(Run({"job", "run", "j", "-o", "json"}), 0);
  EXPECT_EQ(OutJson(), (json{{"run_id", "R1"}}));
}

TEST_F(RunCommandsTest, WaitShowsStatesThenTheOutput) {
  EXPECT_EQ(WaitThrough({"PENDING", "RUNNING", "RUNNING", "COMPLETED"}), 0);
  EXPECT_EQ(out(), "hello\n");
  EXPECT_EQ(err(),
            "R1: PENDING on executor-1\nR1: RUNNING on executor-1\nR1: COMPLETED on executor-1\n");
  EXPECT_EQ(WaitThrough({"COMPLETED"}, {"-o", "json"}), 0);
  EXPECT_EQ(OutJson(), RunShown("COMPLETED"));
}

TEST_F(RunCommandsTest, FateDecidesTheExitCode) {
  EXPECT_EQ(WaitThrough({"FAILED"}), 10);
  EXPECT_EQ(WaitThrough({"TIMED_OUT"}), 10);
  EXPECT_EQ(WaitThrough({"LOST"}), 10);
  EXPECT_EQ(WaitThrough({"SKIPPED"}), 10);
  EXPECT_EQ(WaitThrough({"HELD", "CANCELLED"}), 11);
}

TEST_F(RunCommandsTest, WaitEndsAtItsTimeout) {
  const SteadyTime started = clock_.Steady();
  EXPECT_EQ(WaitThrough({"RUNNING"}, {"--wait-timeout", "3s"}), 12);
  EXPECT_EQ(clock_.Steady() - started, 3s);
}

TEST_F(RunCommandsTest, WaitSaysOnceThatNothingStartsInAPause) {
  Answer("GET /api/system/status", {{"paused", {{"reason", "the store is moved"}}}});
  EXPECT_EQ(WaitThrough({"PENDING"}, {"--wait-timeout", "9s"}), 12);
  const std::string said = "The cluster is paused (the store is moved)";
  EXPECT_NE(err().find(said), std::string::npos) << err();
  EXPECT_EQ(err().find(said), err().rfind(said)) << err();
}

TEST_F(RunCommandsTest, WaitGoesOnWhereThereIsNoPauseOrItCannotBeAsked) {
  Answer("GET /api/system/status", {{"paused", nullptr}});
  EXPECT_EQ(WaitThrough({"PENDING"}, {"--wait-timeout", "9s"}), 12);
  EXPECT_EQ(err().find("paused"), std::string::npos) << err();
  FailOf("http://a", "GET /api/system/status", ErrorCode::kUnavailable);
  EXPECT_EQ(WaitThrough({"PENDING"}, {"--wait-timeout", "9s"}), 12);
}

TEST_F(RunCommandsTest, WaitSurvivesAShortAbsenceOfTheServer) {
  Answer("GET /api/runs/R1", RunShown("RUNNING"));
  FailOf("http://a", "GET /api/runs/R1", ErrorCode::kUnavailable);
  Answer("GET /api/runs/R1", ProblemOf("unavailable"), 503);
  Answer("GET /api/runs/R1", RunShown("COMPLETED"));
  EXPECT_EQ(Run({"run", "wait", "R1"}), 0);
}

TEST_F(RunCommandsTest, WaitGivesUpOnALongAbsence) {
  Answer("GET /api/runs/R1", RunShown("RUNNING"));
  FailOf("http://a", "GET /api/runs/R1", ErrorCode::kUnavailable);
  EXPECT_EQ(Run({"run", "wait", "R1"}), 6);
}

TEST_F(RunCommandsTest, WaitingForSeveralEndsWithTheFirstBadFate) {
  Answer("GET /api/runs/R1", RunShown("COMPLETED"));
  Answer("GET /api/runs/R2", RunShown("FAILED"));
  Answer("GET /api/runs/R3", RunShown("CANCELLED"));
  EXPECT_EQ(Run({"run", "wait", "R1", "R2", "R3", "-q"}), 10);
}

TEST_F(RunCommandsTest, ListFilters) {
  Answer(
      "GET /api/runs?executor_id=e&state=FAILED&state=LOST&since=2026-02-28T00%3A00%3A00.000000Z"
      "&until=2026-03-01T00%3A00%3A00.000000Z&page_size=50",
      {{"items", {RunShown("FAILED")}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"run", "list", "--executor", "e", "--state", "FAILED", "--state", "LOST",
                 "--since", "24h", "--until", "2026-03-01T00:00:00Z"}),
            0)
      << err();
  EXPECT_EQ(out(),
            "RUN  JOB  KIND    FIRE TIME             STATE   REASON  ATTEMPT  EXECUTOR    EXIT\n"
            "R1   j    manual  2026-03-01 03:00:00Z  FAILED  -       1        executor-1  -\n");
  EXPECT_EQ(Run({"run", "list", "--since", "yesterday"}), 2);
}

TEST_F(RunCommandsTest, ListFiltersByWhatMadeTheRunAndWhoseJobItIs) {
  Answer(
      "GET /api/runs?user_id=anna&namespace=pay&namespace=etl&kind=manual&kind=once&page_size=500",
      {{"items", {RunShown("FAILED")}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"run", "list", "--user", "anna", "--namespace", "pay", "--namespace", "etl",
                 "--kind", "manual", "--kind", "once", "-q"}),
            0)
      << err();
  EXPECT_EQ(out(), "R1\n");
}

TEST_F(RunCommandsTest, AttemptsAreATableBelowTheRun) {
  const json attempt = {{"attempt", 1},
                        {"state", "FAILED"},
                        {"reason", "exit_code"},
                        {"executor_id", "e"},
                        {"started_at", "2026-03-01T00:00:00.000000Z"},
                        {"ended_at", "2026-03-01T00:00:01.000000Z"},
                        {"exit_code", 7},
                        {"error", nullptr}};
  Answer("GET /api/runs/R1", {{"run_id", "R1"}, {"attempts", {attempt}}});
  EXPECT_EQ(Run({"run", "get", "R1"}), 0) << err();
  EXPECT_EQ(out(),
            "run_id  R1\n\n"
            "ATTEMPT  STATE   REASON     EXECUTOR  STARTED               ENDED                 "
            "EXIT  HTTP  "
            "ERROR\n"
            "1        FAILED  exit_code  e         2026-03-01 00:00:00Z  2026-03-01 00:00:01Z  7   "
            "  -     "
            "-\n");
}

TEST_F(RunCommandsTest, StatesAreTakenInAnyCase) {
  Answer("GET /api/runs?state=FAILED&page_size=50",
         {{"items", json::array()}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"run", "list", "--state", "failed"}), 0) << err();
}

TEST_F(RunCommandsTest, GapsWithoutAJobAreThoseOfAll) {
  const json gap = {{"schedule_id", 2},
                    {"job_id", "j"},
                    {"from", "2026-03-01T00:00:00.000000Z"},
                    {"to", "2026-03-01T00:09:00.000000Z"},
                    {"count", 10},
                    {"reason", "misfire"}};
  Answer(
      "GET /api/gaps?reason=misfire&reason=paused&since=2026-02-28T00%3A00%3A00.000000Z"
      "&until=2026-03-01T00%3A00%3A00.000000Z&page_size=500",
      {{"items", {gap}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"job", "gaps", "--reason", "misfire", "--reason", "paused", "--since", "24h",
                 "--until", "2026-03-01T01:00:00+01:00", "-q"}),
            0)
      << err();
  EXPECT_EQ(out(), "j\n");
  EXPECT_EQ(Run({"job", "gaps", "--since", "yesterday"}), 2);
  EXPECT_EQ(Run({"job", "gaps", ""}), 2);
}

TEST_F(RunCommandsTest, WhatAProgramReadsIsComplete) {
  Answer("GET /api/runs?page_size=500",
         {{"items", {RunShown("COMPLETED")}}, {"next_page_token", "t"}});
  Answer("GET /api/runs?page_size=500&page_token=t",
         {{"items", {RunShown("FAILED")}}, {"next_page_token", nullptr}});
  for (const std::vector<std::string>& form :
       std::vector<std::vector<std::string>>{{"-q"}, {"-o", "name"}, {"-o", "jsonl"}}) {
    std::vector<std::string> arguments = {"run", "list"};
    arguments.insert(arguments.end(), form.begin(), form.end());
    EXPECT_EQ(Run(arguments), 0);
    const std::string printed = out();
    EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 2) << printed;
    EXPECT_EQ(err(), "");
  }
  EXPECT_EQ(Run({"run", "list", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["items"].size(), 2u);
  EXPECT_TRUE(OutJson()["next_page_token"].is_null());
  EXPECT_EQ(Run({"run", "list", "-o", "yaml"}), 0);
  EXPECT_NE(out().find("FAILED"), std::string::npos);
}

TEST_F(RunCommandsTest, ATableThatIsCutSaysSo) {
  Answer("GET /api/runs?page_size=50",
         {{"items", {RunShown("COMPLETED")}}, {"next_page_token", "t"}});
  Answer("GET /api/runs?page_size=49&page_token=t",
         {{"items", json(std::vector<json>(49, RunShown("FAILED")))}, {"next_page_token", "u"}});
  EXPECT_EQ(Run({"run", "list"}), 0);
  const std::string printed = out();
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 51);
  EXPECT_NE(err().find("--limit"), std::string::npos);
  Answer("GET /api/runs?page_size=1", {{"items", {RunShown("LOST")}}, {"next_page_token", "t"}});
  EXPECT_EQ(Run({"run", "list", "--limit", "1"}), 0);
  EXPECT_NE(err().find("--limit"), std::string::npos);
  EXPECT_EQ(Run({"run", "list", "--limit", "1", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["next_page_token"], "t");
}

TEST_F(RunCommandsTest, LimitsAreWholeNumbersInRange) {
  for (const char* limit : {"-1", "x", "1.5", "1000001", ""}) {
    EXPECT_EQ(Run({"run", "list", std::string("--limit=") + limit}), 2) << limit;
    EXPECT_NE(err().find("--limit"), std::string::npos) << err();
    EXPECT_EQ(out(), "");
  }
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(RunCommandsTest, LogsArePrintedAsTheyAre) {
  AnswerText("GET /api/runs/R1/logs", "one\ntwo");
  AnswerText("GET /api/runs/R1/logs?attempt=2", "second");
  EXPECT_EQ(Run({"run", "logs", "R1"}), 0);
  EXPECT_EQ(out(), "one\ntwo");
  EXPECT_EQ(Run({"run", "logs", "R1", "--attempt", "2"}), 0);
  EXPECT_EQ(out(), "second");
}

TEST_F(RunCommandsTest, LongLogIsReadInParts) {
  AnswerLog("GET /api/runs/R1/logs?tail=5", "one\n", "1", false);
  AnswerLog("GET /api/runs/R1/logs?offset=1", "two\n", "2", true);
  EXPECT_EQ(Run({"run", "logs", "R1", "--tail", "5"}), 0);
  EXPECT_EQ(out(), "one\ntwo\n");
}

TEST_F(RunCommandsTest, LogThatLacksItsEndAfterTheRunIsToldOf) {
  for (const std::string& state : std::vector<std::string>{"RUNNING", "COMPLETED"}) {
    const std::string path = "GET /api/runs/" + state;  // each state has its own run id
    AnswerLog(path + "/logs", "one\n", "1", false);
    AnswerLog(path + "/logs?offset=1", "", "1", false);
    Answer(path, RunShown(state));
    EXPECT_EQ(Run({"run", "logs", state}), 0);
    EXPECT_EQ(out(), "one\n");
    const bool told = err().find("The end of this log") != std::string::npos;
    EXPECT_EQ(told, state == "COMPLETED") << err();
  }
}

TEST_F(RunCommandsTest, FollowPrintsEachPartOnce) {
  Answer("GET /api/runs/R1", RunShown("RUNNING"));
  Answer("GET /api/runs/R1", RunShown("RUNNING"));
  Answer("GET /api/runs/R1", RunShown("COMPLETED"));
  Answer("GET /api/runs/R1", RunShown("COMPLETED"));
  AnswerText("GET /api/runs/R1/logs?attempt=1", "");
  AnswerLog("GET /api/runs/R1/logs?attempt=1", "one\n", "1", false);
  AnswerLog("GET /api/runs/R1/logs?attempt=1&offset=1", "", "1", false);
  AnswerLog("GET /api/runs/R1/logs?attempt=1&offset=1", "two\n", "2", true);
  EXPECT_EQ(Run({"run", "logs", "R1", "-f"}), 0);
  EXPECT_EQ(out(), "one\ntwo\n");
}

TEST_F(RunCommandsTest, FollowGoesOnWithTheNextAttempt) {
  json second = RunShown("COMPLETED");
  second["attempt"] = 2;
  Answer("GET /api/runs/R1", RunShown("RUNNING"));
  Answer("GET /api/runs/R1", second);
  Answer("GET /api/runs/R1", second);
  AnswerLog("GET /api/runs/R1/logs?attempt=1", "one\n", "1", false);
  AnswerLog("GET /api/runs/R1/logs?attempt=1&offset=1", "failed\n", "2", true);
  AnswerLog("GET /api/runs/R1/logs?attempt=2", "again\n", "1", true);
  EXPECT_EQ(Run({"run", "logs", "R1", "-f"}), 0);
  EXPECT_EQ(out(), "one\nfailed\nagain\n");
  EXPECT_NE(err().find("attempt 2"), std::string::npos);
}

TEST_F(RunCommandsTest, FollowPrintsOutputOnceWhereThereIsNoLog) {
  Answer("GET /api/runs/R1", RunShown("RUNNING"));
  Answer("GET /api/runs/R1", RunShown("COMPLETED"));
  AnswerText("GET /api/runs/R1/logs?attempt=1", "");
  AnswerText("GET /api/runs/R1/logs?attempt=1", "all of it\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "-f"}), 0);
  EXPECT_EQ(out(), "all of it\n");
}

TEST_F(RunCommandsTest, FollowBearsAServerThatIsAway) {
  Answer("GET /api/runs/R1", RunShown("RUNNING"));
  FailOf("http://a", "GET /api/runs/R1", ErrorCode::kUnavailable);
  Answer("GET /api/runs/R1", RunShown("COMPLETED"));
  AnswerLog("GET /api/runs/R1/logs?attempt=1", "one\n", "1", false);
  AnswerLog("GET /api/runs/R1/logs?attempt=1&offset=1", "two\n", "2", true);
  EXPECT_EQ(Run({"run", "logs", "R1", "-f"}), 0);
  EXPECT_EQ(out(), "one\ntwo\n");
}

TEST_F(RunCommandsTest, LogsSinceATimeLeaveOutWhatIsEarlier) {
  const std::string early =
      R"({"line":"early","seq":1,"stream":"stdout","t":"2026-02-28T23:00:00.000000Z"})";
  const std::string late =
      R"({"line":"late","seq":2,"stream":"stderr","t":"2026-03-01T00:00:00.000000Z"})";
  const std::string untimed = R"({"line":"untimed","seq":3,"stream":"stdout","t":null})";
  for (int i = 0; i < 3; ++i) {
    AnswerLog("GET /api/runs/R1/logs", early + "\n" + late + "\n" + untimed + "\n", "3", true);
  }
  const std::string since = "2026-03-01T01:00:00+01:00";
  EXPECT_EQ(Run({"run", "logs", "R1", "--since", since}), 0);
  EXPECT_EQ(out(), "late\nuntimed\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "--since", since, "-t"}), 0);
  EXPECT_EQ(out(), "2026-03-01T00:00:00.000000Z stderr late\n- stdout untimed\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "--since", since, "-o", "jsonl"}), 0);
  EXPECT_EQ(out(), late + "\n" + untimed + "\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "--since", "yesterday"}), 2);
}

TEST_F(RunCommandsTest, RunsOfJobsWithANameOrALabel) {
  Answer("GET /api/runs?q=night&label=team%3Aetl&label=env%3Aa%3Db&page_size=50",
         {{"items", {RunShown("LOST")}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"run", "list", "--q", "night", "--label", "team:etl", "--label", "env=a=b"}), 0)
      << err();
  EXPECT_NE(out().find("LOST"), std::string::npos);
  EXPECT_EQ(Run({"run", "list", "--label", "team"}), 2);
}

TEST_F(RunCommandsTest, LinesWithTimes) {
  AnswerLog("GET /api/runs/R1/logs",
            R"({"line":"bad","seq":1,"stream":"stderr","t":"2026-03-01T00:00:00.000001Z"})"
            "\n",
            "1", true);
  EXPECT_EQ(Run({"run", "logs", "R1", "-t"}), 0);
  EXPECT_EQ(out(), "2026-03-01T00:00:00.000001Z stderr bad\n");
}

TEST_F(RunCommandsTest, LogsReachATerminalWithTheirColoursOnly) {
  const std::string evil =
      "\x1b[1;31mred\x1b[0m\x1b]52;c;cm0gLXJm\x07\x1b[2Ja\x08"
      "b\tc\xc2\x9b"
      "d \xc3\xbc\x1b";
  AnswerLog("GET /api/runs/R1/logs", evil + "\n", "1", true);
  AnswerLog("GET /api/runs/R1/logs", evil + "\n", "1", true);
  EXPECT_EQ(Run({"run", "logs", "R1"}), 0);
  EXPECT_EQ(out(), evil + "\n") << "into a file as it is";
  tty_ = true;
  EXPECT_EQ(Run({"run", "logs", "R1"}), 0);
  EXPECT_EQ(out(), "\x1b[1;31mred\x1b[0m]52;c;cm0gLXJm[2Jab\tcd \xc3\xbc\n");
}

TEST_F(RunCommandsTest, ConfirmOverlapIsSaidOnlyWhenItIsGiven) {
  for (const char* verb : {"cancel", "retry"}) {
    Answer(std::string("POST /api/runs/R1/") + verb, RunShown("PENDING"), 202);
    Answer(std::string("POST /api/runs/R1/") + verb, RunShown("PENDING"), 202);
  }
  EXPECT_EQ(Run({"run", "cancel", "R1"}), 0);
  EXPECT_EQ(Run({"run", "cancel", "R1", "--confirm-overlap"}), 0);
  EXPECT_EQ(Run({"run", "retry", "R1"}), 0);
  EXPECT_EQ(Run({"run", "retry", "R1", "--confirm-overlap"}), 0);
  EXPECT_EQ(SentBody(0), json::object());
  EXPECT_EQ(SentBody(1), (json{{"confirm_overlap", true}}));
  EXPECT_EQ(SentBody(2), json::object());
  EXPECT_EQ(SentBody(3), (json{{"confirm_overlap", true}}));
}

TEST_F(RunCommandsTest, KillIsSaidOnlyWhenItIsGiven) {
  Answer("POST /api/runs/R1/cancel", {{"cancelled", 1}}, 202);
  EXPECT_EQ(Run({"run", "cancel", "R1"}), 0);
  EXPECT_EQ(Run({"run", "cancel", "R1", "--kill", "--reason", "deaf"}), 0);
  EXPECT_EQ(SentBody(0), json::object());
  EXPECT_EQ(SentBody(1), (json{{"mode", "kill"}, {"reason", "deaf"}}));
  EXPECT_EQ(Run({"run", "cancel", "R1", "--give-up", "--confirm-overlap"}), 0);
  EXPECT_EQ(SentBody(2), (json{{"give_up", true}, {"confirm_overlap", true}}));
  EXPECT_EQ(Run({"run", "cancel", "R1", "--give-up", "--kill"}), 2);
  EXPECT_EQ(Run({"run", "retry", "R1", "--kill"}), 2);
}

TEST_F(CliTest, DeadLettersAreReplayedAndDiscarded) {
  const json letter = {{"id", "17"},
                       {"run_id", "R1"},
                       {"job_id", "nightly"},
                       {"state", "FAILED"},
                       {"attempts", 3},
                       {"reason", "exit_code"},
                       {"create_time", "2026-03-01T00:00:00.000000Z"}};
  Answer("GET /api/dead-letters?job_id=nightly&page_size=500",
         {{"items", {letter}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"dead-letter", "list", "--job", "nightly", "-q"}), 0) << err();
  EXPECT_EQ(out(), "17\n");
  Answer("GET /api/dead-letters/17", letter);
  Answer("POST /api/dead-letters/17/retry", {{"run_id", "R1"}, {"state", "PENDING"}}, 202);
  Answer("DELETE /api/dead-letters/17", nullptr, 204);
  EXPECT_EQ(Run({"dead-letter", "get", "17", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson(), letter);
  server_.requests.clear();
  EXPECT_EQ(Run({"dead-letter", "replay", "17", "-q"}), 0) << err();
  EXPECT_EQ(out(), "R1\n");
  EXPECT_FALSE(HeaderOf(Sent(0), "Idempotency-Key").empty());
  server_.requests.clear();
  EXPECT_EQ(Run({"dead-letter", "discard", "17"}), 2) << "asks, and nobody is there to say yes";
  EXPECT_EQ(server_.requests.size(), 0u);
  EXPECT_EQ(Run({"dead-letter", "discard", "17", "--yes"}), 0) << err();
  EXPECT_EQ(Sent(0).method, "DELETE");
  EXPECT_EQ(Run({"dead-letter", "replay", "18"}), 3);
}

TEST_F(CliTest, AllDeadLettersOfAJobAreOneBulkAction) {
  const auto action = [](const std::string& verb) -> json {
    return {{"bulk_id", "bulk-1"}, {"action", verb}, {"kind", "dead_letter"},
            {"state", "DONE"},     {"total", 3},     {"done", 3},
            {"failed", 0},         {"skipped", 0},   {"end_time", "2026-03-01T03:01:00.000000Z"}};
  };
  Answer("GET /api/dead-letters?job_id=nightly&page_size=1",
         {{"items", json::array()}, {"next_page_token", "more"}, {"total", 3}});
  Answer("POST /api/bulk", action("discard"), 202);
  Answer("GET /api/bulk/bulk-1", action("discard"));
  EXPECT_EQ(Run({"dead-letter", "discard", "--job", "nightly"}), 2)
      << "cannot ask for confirmation";
  server_.requests.clear();
  EXPECT_EQ(Run({"dead-letter", "discard", "--job", "nightly", "--yes"}), 0) << err();
  EXPECT_EQ(SentBody(1), (json{{"action", "discard"},
                               {"kind", "dead_letter"},
                               {"filter", {{"job_id", "nightly"}}},
                               {"background", true}}));
  EXPECT_FALSE(HeaderOf(Sent(1), "Idempotency-Key").empty());
  server_.requests.clear();
  Answer("GET /api/bulk/bulk-1", action("retry"));
  EXPECT_EQ(Run({"dead-letter", "retry", "--job", "nightly", "--confirm-overlap", "--yes"}), 0)
      << err();
  EXPECT_EQ(SentBody(1)["confirm_overlap"], true);
  EXPECT_EQ(SentBody(1)["action"], "retry");
  server_.requests.clear();
  Answer("GET /api/dead-letters?job_id=fine&page_size=1",
         {{"items", json::array()}, {"next_page_token", nullptr}, {"total", 0}});
  EXPECT_EQ(Run({"dead-letter", "discard", "--job", "fine", "--yes"}), 0);
  EXPECT_EQ(server_.requests.size(), 1u);
  EXPECT_EQ(Run({"dead-letter", "discard", "--yes"}), 2);
  EXPECT_EQ(Run({"dead-letter", "retry", "17", "--job", "nightly"}), 2);
}

}  // namespace
}  // namespace carillon::cli
