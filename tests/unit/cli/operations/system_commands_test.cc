// The commands system and api.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

using SystemCommandsTest = CliTest;

json Effect(const char* capability, const char* effect, double after_s, json until_s = nullptr) {
  return {{"capability", capability},
          {"effect", effect},
          {"after_s", after_s},
          {"until_s", std::move(until_s)},
          {"detail", "In words."}};
}

TEST_F(SystemCommandsTest, TopologyShowsWhatStopsWithoutWhat) {
  json now = Effect("results", "delayed", 0);
  now["nodes"] = {"bus"};
  const json topology = {
      {"nodes",
       {{{"id", "bus"},
         {"state", "down"},
         {"affects", {Effect("starting", "delayed", 0), Effect("running", "goes_on", 0)}}},
        {{"id", "member:m1"},
         {"state", "ok"},
         {"leader", true},
         {"affects", {Effect("planning", "delayed", 0, 6.0), Effect("running", "stops", 20)}}}}},
      {"edges",
       {{{"from", "member:m1"}, {"to", "store"}, {"state", "ok"}},
        {{"from", "member:m1"}, {"to", "bus"}, {"state", "down"}}}},
      {"impact", {now}}};
  Answer("GET /api/system/topology", topology);
  EXPECT_EQ(Run({"system", "topology"}), 0) << err();
  EXPECT_EQ(out(),
            "COMPONENT           STATE  DEPENDS ON         STOPS IF DOWN       DELAYED IF DOWN\n"
            "bus                 down   -                  -                   starting\n"
            "member:m1 (leader)  ok     store, bus (down)  running after 20 s  planning for 6 s\n"
            "Current impact: results delayed. In words.\n");
}

// The command accepts the store that was shown, and only after a confirmation.
TEST_F(SystemCommandsTest, AcceptStoreSendsWhatTheStatusShowed) {
  const json held = {{"state", "held"},
                     {"since", "2026-03-01T00:00:00.000000Z"},
                     {"detail", "the store has lost commits"},
                     {"seen", {{"store_id", "s"}, {"server_id", "w"}, {"mark", 4}}}};
  Answer("GET /api/system/status", {{"store", held}});
  Answer("POST /api/system/store/accept", {{"state", "trusted"}});
  EXPECT_EQ(Run({"system", "accept-store"}), 2) << "without a terminal it needs --yes";
  EXPECT_NE(err().find("has lost commits"), std::string::npos) << err();
  EXPECT_EQ(server_.requests.size(), 1u);
  EXPECT_EQ(Run({"system", "accept-store", "--yes", "--reason", "restored", "-o", "json"}), 0)
      << err();
  EXPECT_EQ(SentBody(2),
            (json{{"store_id", "s"}, {"server_id", "w"}, {"mark", 4}, {"reason", "restored"}}));
  EXPECT_EQ(OutJson()["state"], "trusted");
  tty_ = true;
  in_.str("n\n");
  EXPECT_EQ(Run({"system", "accept-store"}), 1);
  EXPECT_EQ(server_.requests.size(), 4u) << "the status was asked for, nothing was accepted";
}

TEST_F(SystemCommandsTest, AcceptStoreRefusesWhatIsNotHeldOrNoStore) {
  Answer("GET /api/system/status", {{"store", {{"state", "trusted"}}}});
  Answer("GET /api/system/status", {{"store", {{"state", "held"}, {"seen", nullptr}}}});
  EXPECT_EQ(Run({"system", "accept-store", "--yes"}), 5);
  EXPECT_EQ(Run({"system", "accept-store", "--yes"}), 5);
  EXPECT_EQ(server_.requests.size(), 2u);
}

TEST_F(SystemCommandsTest, PauseAsksFirstAndResumeDoesNot) {
  const json paused = {{"since", "2026-03-01T00:00:00Z"}, {"by", "anna"}, {"reason", "a move"}};
  Answer("POST /api/system/pause", {{"paused", paused}, {"version", 1}});
  Answer("POST /api/system/resume", {{"paused", nullptr}, {"version", 2}});
  EXPECT_EQ(Run({"system", "pause", "--yes"}), 2) << "it needs a reason";
  EXPECT_EQ(Run({"system", "pause", "--reason", "a move"}), 2) << "without a terminal: --yes";
  EXPECT_EQ(server_.requests.size(), 0u);
  EXPECT_EQ(Run({"system", "pause", "--reason", "a move", "--yes", "-o", "json"}), 0) << err();
  EXPECT_EQ(SentBody(0), (json{{"reason", "a move"}}));
  EXPECT_EQ(OutJson()["paused"], paused);
  EXPECT_EQ(Run({"system", "resume"}), 0) << err();
}

json MembersPaused(const json& first, const json& second) {
  return {{"members",
           {{{"id", "m1"}, {"version", "0.1.0"}, {"paused", first}},
            {{"id", "m2"}, {"version", nullptr}, {"paused", second}}}}};
}

TEST_F(SystemCommandsTest, PauseWaitsUntilEveryMemberHasTakenItOver) {
  for (int i = 0; i < 2; ++i) Answer("POST /api/system/pause", {{"paused", json::object()}});
  Answer("GET /api/system/status", {{"members", json::array()}});
  Answer("GET /api/system/status", MembersPaused(true, nullptr));
  Answer("GET /api/system/status", MembersPaused(true, false));
  Answer("GET /api/system/status", MembersPaused(true, true));
  const std::vector<std::string> wait = {"system", "pause",  "--reason",  "a move",
                                         "--yes",  "--wait", "--timeout", "1s"};
  EXPECT_EQ(Run(wait), 0) << err();
  EXPECT_EQ(server_.requests.size(), 5u);
  server_.answers.erase("GET http://a/api/system/status");
  Answer("GET /api/system/status", MembersPaused(false, nullptr));
  EXPECT_EQ(Run(wait), 12);
  EXPECT_NE(err().find("m1, m2"), std::string::npos) << err();
}

TEST_F(SystemCommandsTest, ResumeWaitsForTheEndOfThePauseEverywhere) {
  for (int i = 0; i < 2; ++i) Answer("POST /api/system/resume", {{"paused", nullptr}});
  Answer("GET /api/system/status", MembersPaused(true, false));
  Answer("GET /api/system/status", MembersPaused(false, false));
  EXPECT_EQ(Run({"system", "resume", "--wait"}), 0) << err();
  EXPECT_EQ(server_.requests.size(), 3u);
  server_.answers.erase("GET http://a/api/system/status");
  Answer("GET /api/system/status", MembersPaused(true, false));
  EXPECT_EQ(Run({"system", "resume", "--wait", "--timeout", "0s"}), 12);
  EXPECT_NE(err().find("by: m1"), std::string::npos) << err();
  EXPECT_EQ(Run({"system", "resume", "--wait", "--timeout", "soon"}), 2);
}

TEST_F(SystemCommandsTest, StatusSaysWhereMembersDiffer) {
  json status = MembersPaused(true, false);
  Answer("GET /api/system/status", status);
  EXPECT_EQ(Run({"system", "status"}), 0);
  EXPECT_EQ(out(),
            "members                2\n"
            "resume_not_taken_over  m1\n"
            "versions               m1 0.1.0, m2 -\n");
  status["paused"] = {{"by", "anna"}};
  status["members"][1]["version"] = "0.1.0";
  server_.answers.erase("GET http://a/api/system/status");
  Answer("GET /api/system/status", status);
  EXPECT_EQ(Run({"system", "status"}), 0);
  EXPECT_EQ(out(),
            "members               2\n"
            "pause_not_taken_over  m2\n"
            "paused.by             anna\n");
}

TEST_F(SystemCommandsTest, StatusNamesJobsThatCannotBePlanned) {
  json status = {{"leader", "m1"}, {"unplanned_jobs", json::array()}};
  Answer("GET /api/system/status", status);
  EXPECT_EQ(Run({"system", "status"}), 0);
  EXPECT_EQ(out(), "leader  m1\n");
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
    status["unplanned_jobs"].push_back({{"job_id", id}});
  }
  server_.answers.erase("GET http://a/api/system/status");
  Answer("GET /api/system/status", status);
  EXPECT_EQ(Run({"system", "status"}), 0);
  EXPECT_EQ(out(),
            "leader          m1\n"
            "unplanned_jobs  6: a b c d e …\n");
  EXPECT_EQ(Run({"system", "status", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["unplanned_jobs"].size(), 6u);
}

TEST_F(SystemCommandsTest, StatusSaysThatDeadLettersAreNotPublished) {
  Answer("GET /api/system/status",
         {{"leader", "m1"},
          {"unpublished_letters", {{"count", 12}, {"since", "2026-03-01T00:00:00.000000Z"}}}});
  EXPECT_EQ(Run({"system", "status"}), 0);
  EXPECT_NE(out().find("12 since 2026-03-01T00:00:00.000000Z are not in dead_letters.topic"),
            std::string::npos)
      << out();
  EXPECT_EQ(Run({"system", "status", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["unpublished_letters"]["count"], 12);
}

TEST_F(SystemCommandsTest, StatusSaysThatMoreDeadLettersMayWaitThanAreCounted) {
  Answer("GET /api/system/status",
         {{"leader", "m1"},
          {"unpublished_letters", {{"count", 10'000}, {"since", "2026-03-01T00:00:00.000000Z"}}}});
  EXPECT_EQ(Run({"system", "status"}), 0);
  EXPECT_NE(out().find("at least 10000 since 2026-03-01"), std::string::npos) << out();
}

TEST_F(SystemCommandsTest, ApiPrintsTheAnswerWhateverItIs) {
  Answer("GET /api/gaps?job_id=j", {{"items", json::array()}});
  EXPECT_EQ(Run({"api", "get", "/api/gaps?job_id=j"}), 0);
  EXPECT_EQ(OutJson(), (json{{"items", json::array()}}));
  in_.str("{\"a\":1}");
  EXPECT_EQ(Run({"api", "POST", "/api/nothing", "-d", "@-", "-H", "If-Match: *"}), 3);
  EXPECT_EQ(Sent(1).body, "{\"a\":1}");
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "*");
  EXPECT_EQ(OutJson()["code"], "not_found");
  EXPECT_EQ(Run({"api", "GET", "api/jobs"}), 2);
}

}  // namespace
}  // namespace carillon::cli
