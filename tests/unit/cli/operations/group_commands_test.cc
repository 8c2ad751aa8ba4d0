// Concurrency groups and calendars on the command line.
#include "cli/runs/wait_text.h"
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class GroupCommandsTest : public CliTest {
 protected:
  static json Group() {
    return {{"name", "db"}, {"limit", 2}, {"running", 2}, {"queued", 120}, {"jobs", 3}};
  }
  static json GroupDetail() {
    json group = Group();
    group["holders"] = {
        {{"run_id", "r1"}, {"job_id", "j"}, {"job_name", "J"}, {"state", "RUNNING"}}};
    group["queue"] = {{{"run_id", "r2"}, {"job_id", "other"}, {"job_name", "O"}, {"position", 1}},
                      {{"run_id", "r3"}, {"job_id", "j"}, {"job_name", "J"}, {"position", 2}}};
    return group;
  }
  static json Calendar() {
    return {{"name", "office"},
            {"version", 2},
            {"jobs", 1},
            {"definition", {{"time_zone", "UTC"}, {"weekdays", {"mon", "tue"}}}}};
  }
};

TEST_F(GroupCommandsTest, AGroupIsShownWithHoldersAndQueue) {
  Answer("GET /api/groups/db", GroupDetail());
  EXPECT_EQ(Run({"group", "get", "db"}), 0) << err();
  EXPECT_NE(out().find("Runs that hold a slot:\nRUN"), std::string::npos) << out();
  EXPECT_NE(out().find("\n2      r3   j"), std::string::npos) << out();
  EXPECT_NE(err().find("2 of 120 queued runs"), std::string::npos) << err();
  EXPECT_EQ(Run({"group", "get", "db", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson(), GroupDetail());
}

TEST_F(GroupCommandsTest, AGroupIsMadeAndItsLimitChangedByOneVerb) {
  Answer("PUT /api/groups/db", Group());
  EXPECT_EQ(Run({"group", "set", "db", "--limit", "2", "-q"}), 0) << err();
  EXPECT_EQ(SentBody(0), (json{{"limit", 2}}));
  EXPECT_EQ(out(), "db\n");
  EXPECT_EQ(Run({"group", "set", "db", "--limit", "5", "--per", "2m", "-q"}), 0) << err();
  EXPECT_EQ(SentBody(1), (json{{"limit", 5}, {"per_s", 120}}));
  EXPECT_EQ(Run({"group", "set", "db", "--limit", "5", "--per", "0s", "-q"}), 0) << err();
  EXPECT_EQ(SentBody(2), (json{{"limit", 5}, {"per_s", 0}}));
  EXPECT_EQ(Run({"group", "set", "db", "--limit", "5", "--per", "1500ms"}), 2);
  EXPECT_EQ(Run({"group", "set", "db"}), 2);
  EXPECT_EQ(Run({"group", "set", "db", "--limit", "10001"}), 2);
  EXPECT_EQ(Run({"group", "set", "db", "--limit", "-1"}), 2);
}

TEST_F(GroupCommandsTest, ListsAreReadToTheirEndWithoutAPageSize) {
  Answer("GET /api/groups", {{"items", {Group()}}, {"next_page_token", "x"}});
  Answer("GET /api/groups?page_token=x", {{"items", {{{"name", "printer"}}}}});
  EXPECT_EQ(Run({"group", "list", "-q"}), 0) << err();
  EXPECT_EQ(out(), "db\nprinter\n");
  Answer("GET /api/calendars", {{"items", {Calendar()}}});
  EXPECT_EQ(Run({"calendar", "list"}), 0) << err();
  EXPECT_NE(out().find("office    UTC        mon, tue"), std::string::npos) << out();
}

TEST_F(GroupCommandsTest, DeletingAsksFirst) {
  Answer("DELETE /api/groups/db", ProblemOf("in_use"), 409);
  EXPECT_NE(Run({"group", "delete", "db"}), 0);
  EXPECT_TRUE(server_.requests.empty());
  EXPECT_EQ(Run({"group", "delete", "db", "--yes"}), 5);
  Answer("DELETE /api/calendars/office", nullptr, 204);
  EXPECT_EQ(Run({"calendar", "delete", "office", "--yes"}), 0) << err();
}

TEST_F(GroupCommandsTest, ACalendarIsSetFromADefinitionOrFromOneThatWasPrinted) {
  Answer("PUT /api/calendars/office", Calendar());
  in_.str("time_zone: UTC\ndates: [\"2026-12-24\"]\n");
  EXPECT_EQ(Run({"calendar", "set", "office", "-f", "-"}), 0) << err();
  EXPECT_EQ(SentBody(0), (json{{"time_zone", "UTC"}, {"dates", {"2026-12-24"}}}));
  in_.str(Calendar().dump());
  EXPECT_EQ(Run({"calendar", "set", "office", "-f", "-"}), 0) << err();
  EXPECT_EQ(SentBody(1), Calendar()["definition"]);
  EXPECT_EQ(Run({"calendar", "set", "office"}), 2);
  in_.str("- mon\n");
  EXPECT_EQ(Run({"calendar", "set", "office", "-f", "-"}), 2);
}

TEST_F(GroupCommandsTest, APreviewIsOfAFileOrOfAStoredCalendar) {
  const json times = {
      {"items",
       {{{"from", "2026-03-02T00:00:00.000000Z"}, {"to", "2026-03-04T00:00:00.000000Z"}}}}};
  Answer("POST /api/calendars/preview", times);
  Answer("GET /api/calendars/office", Calendar());
  EXPECT_EQ(Run({"calendar", "preview", "office", "--days", "30"}), 0) << err();
  EXPECT_EQ(SentBody(1), (json{{"definition", Calendar()["definition"]}, {"days", 30}}));
  EXPECT_EQ(out(), "FROM                  TO\n2026-03-02 00:00:00Z  2026-03-04 00:00:00Z\n");
  in_.str("{time_zone: UTC}");
  EXPECT_EQ(Run({"calendar", "preview", "-f", "-", "--from", "2026-03-01T00:00:00Z"}), 0) << err();
  EXPECT_EQ(SentBody(2), (json{{"definition", {{"time_zone", "UTC"}}},
                               {"from", "2026-03-01T00:00:00.000000Z"}}));
  EXPECT_EQ(Run({"calendar", "preview"}), 2);
  EXPECT_EQ(Run({"calendar", "preview", "office", "-f", "-"}), 2);
  EXPECT_EQ(Run({"calendar", "preview", "office", "--days", "367"}), 2);
}

TEST_F(GroupCommandsTest, JobsGetAGroupCalendarsAndAFixedDelay) {
  Answer("POST /api/jobs", {{"job_id", "a"}}, 201);
  EXPECT_EQ(Run({"job", "create", "--name", "A", "--group", "db", "--cron", "0 3 * * *",
                 "--calendar", "office", "--blackout", "closing", "--delay", "10s", "--start-time",
                 "2026-03-01T00:00:00Z"}),
            0)
      << err();
  const json schedules = {
      {{"kind", "cron"},
       {"cron_expression", "0 3 * * *"},
       {"start_time", "2026-03-01T00:00:00Z"},
       {"calendar", "office"},
       {"blackout", "closing"}},
      {{"kind", "delay"}, {"every_ms", 10'000}, {"start_time", "2026-03-01T00:00:00Z"}}};
  EXPECT_EQ(SentBody(0)["schedules"], schedules);
  EXPECT_EQ(SentBody(0)["concurrency_group"], "db");
  EXPECT_EQ(Run({"job", "create", "--name", "A", "--delay", "10s", "--calendar", "office"}), 2);
  EXPECT_EQ(Run({"job", "create", "--name", "A", "--delay", "10s", "--manual"}), 2);
  EXPECT_EQ(Run({"job", "create", "--name", "A", "--start-time", "2026-03-01T00:00:00Z"}), 2);
  Answer("GET /api/jobs/a", {{"job_id", "a"}}, 200, "\"v1\"");
  Answer("PATCH /api/jobs/a", {{"job_id", "a"}});
  EXPECT_EQ(Run({"job", "edit", "a", "--group", ""}), 0) << err();
  EXPECT_EQ(SentBody(2), (json{{"concurrency_group", ""}}));
}

TEST_F(GroupCommandsTest, TheQueueOfAJobNamesItsGroup) {
  Answer("GET /api/jobs/j/queue",
         {{"holders", json::array()}, {"queued", json::array()}, {"length", 0}});
  Answer("GET /api/jobs/j", {{"job_id", "j"}, {"concurrency_group", "db"}});
  Answer("GET /api/groups/db", GroupDetail());
  EXPECT_EQ(Run({"job", "queue", "j"}), 0) << err();
  EXPECT_NE(out().find("2nd of group db  r3"), std::string::npos) << out();
  EXPECT_EQ(out().find("r2"), std::string::npos) << out();
}

TEST_F(GroupCommandsTest, ARunSaysItsPlaceInAGroup) {
  json run = RunShown("PENDING");
  run["waiting"] = {{"code", "group"}, {"group", "db"}, {"position", 3}, {"detail", "none free"}};
  Answer("GET /api/runs/R1", run);
  EXPECT_EQ(Run({"run", "get", "R1"}), 0) << err();
  EXPECT_NE(out().find("waits for a slot of group db, 3rd\n"), std::string::npos) << out();
  EXPECT_EQ(Run({"run", "get", "R1", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson()["waiting"], run["waiting"]);
  EXPECT_EQ(Run({"run", "wait", "R1", "--wait-timeout", "0s"}), 12);
  EXPECT_NE(err().find("waits for a slot of group db, 3rd"), std::string::npos) << err();
}

TEST(GroupText, SaysThePlaceWithTheLengthIfItIsKnown) {
  for (const auto& [number, text] : std::map<int64_t, std::string>{{1, "1st"},
                                                                   {2, "2nd"},
                                                                   {3, "3rd"},
                                                                   {4, "4th"},
                                                                   {10, "10th"},
                                                                   {11, "11th"},
                                                                   {12, "12th"},
                                                                   {13, "13th"},
                                                                   {21, "21st"},
                                                                   {112, "112th"},
                                                                   {1002, "1002nd"}}) {
    EXPECT_EQ(Ordinal(number), text);
  }
  json waiting = {{"code", "group"}, {"group", "db"}};
  EXPECT_EQ(WaitingText(waiting), "waits for a slot of group db");
  waiting["position"] = 3;
  waiting["length"] = 7;
  EXPECT_EQ(WaitingText(waiting), "waits for a slot of group db, 3rd of 7");
  waiting["code"] = "slot";
  EXPECT_EQ(WaitingText(waiting), "");
  EXPECT_EQ(WaitingText(nullptr), "");
}

}  // namespace
}  // namespace carillon::cli
