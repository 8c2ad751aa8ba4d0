#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class OtherCommandsTest : public CliTest {};

TEST_F(OtherCommandsTest, ExecutorLabelsAreMerged) {
  Answer("GET /api/executors/e", {{"executor_id", "e"}, {"labels", {{"a", "1"}, {"b", "2"}}}}, 200,
         "\"x\"");
  Answer("PATCH /api/executors/e", {{"executor_id", "e"}, {"labels", json::object()}});
  EXPECT_EQ(Run({"executor", "label", "e", "b-", "c=3"}), 0);
  EXPECT_EQ(SentBody(1), (json{{"labels", {{"a", "1"}, {"c", "3"}}}}));
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"x\"");
  EXPECT_EQ(Run({"executor", "label", "e", "nonsense"}), 2);
}

// Only a heartbeat sent after the answer to the drain proves that nothing runs. The first heartbeat
// that arrives may have been sent before.
TEST_F(OtherCommandsTest, DrainWaitsForHeartbeatsThatSayNothingRuns) {
  Answer("POST /api/executors/e/drain", {{"executor_id", "e"}, {"draining", true}});
  const auto beat = [this](int second, int running, bool draining = true) {
    Answer("GET /api/executors/e",
           {{"executor_id", "e"},
            {"draining", draining},
            {"running", running},
            {"last_heartbeat_time", "2026-03-01T12:00:1" + std::to_string(second) + "Z"}});
  };
  beat(1, 0);
  beat(1, 0);
  beat(3, 0);
  beat(2, 0);  // reported by another member
  beat(5, 2);
  FailOf("http://a", "GET /api/executors/e", ErrorCode::kUnavailable);
  beat(7, 0);
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait"}), 0) << err();
  EXPECT_EQ(server_.requests.size(), 8u);
  EXPECT_NE(err().find("is drained"), std::string::npos);
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait", "--wait-timeout", "20s"}), 12)
      << "no further heartbeat";
  server_.answers.erase("GET http://a/api/executors/e");
  beat(9, 0, false);
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait"}), 5) << "enabled meanwhile";
  EXPECT_EQ(Run({"executor", "drain", "e", "--wait", "--wait-timeout", "soon"}), 2);
}

json Effect(const char* capability, const char* effect, double after_s, json until_s = nullptr) {
  return {{"capability", capability},
          {"effect", effect},
          {"after_s", after_s},
          {"until_s", std::move(until_s)},
          {"detail", "In words."}};
}

TEST_F(OtherCommandsTest, TopologyShowsWhatStopsWithoutWhat) {
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
TEST_F(OtherCommandsTest, AcceptStoreSendsWhatTheStatusShowed) {
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

TEST_F(OtherCommandsTest, AcceptStoreRefusesWhatIsNotHeldOrNoStore) {
  Answer("GET /api/system/status", {{"store", {{"state", "trusted"}}}});
  Answer("GET /api/system/status", {{"store", {{"state", "held"}, {"seen", nullptr}}}});
  EXPECT_EQ(Run({"system", "accept-store", "--yes"}), 5);
  EXPECT_EQ(Run({"system", "accept-store", "--yes"}), 5);
  EXPECT_EQ(server_.requests.size(), 2u);
}

TEST_F(OtherCommandsTest, PauseAsksFirstAndResumeDoesNot) {
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

TEST_F(OtherCommandsTest, PauseWaitsUntilEveryMemberHasTakenItOver) {
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

TEST_F(OtherCommandsTest, ResumeWaitsForTheEndOfThePauseEverywhere) {
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

TEST_F(OtherCommandsTest, StatusSaysWhereMembersDiffer) {
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

TEST_F(OtherCommandsTest, ApiPrintsTheAnswerWhateverItIs) {
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

TEST_F(OtherCommandsTest, ScheduleNextNeedsNoServer) {
  EXPECT_EQ(Run({"schedule", "next", "30 2 * * *", "--tz", "Europe/Paris", "--after",
                 "2026-03-28T00:00:00Z", "-n", "2", "-o", "json"}),
            0)
      << err();
  const json shown = OutJson();
  EXPECT_EQ(shown["time_zone"], "Europe/Paris");
  ASSERT_EQ(shown["fires"].size(), 2u);
  EXPECT_EQ(shown["fires"][0], (json{{"fire_time", "2026-03-28T01:30:00.000000Z"},
                                     {"local_time", "2026-03-28T02:30:00.000000+01:00"},
                                     {"dst", nullptr}}));
  EXPECT_EQ(shown["fires"][1], (json{{"fire_time", "2026-03-29T01:00:00.000000Z"},
                                     {"local_time", "2026-03-29T03:00:00.000000+02:00"},
                                     {"dst", "moved_by_gap"}}));
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(OtherCommandsTest, SchedulesOfAJobHaveItsTimes) {
  EXPECT_EQ(Run({"schedule", "next", "H H * * *", "--job-id", "mail-digest"}), 0);
  EXPECT_NE(out().find("04:51:00Z"), std::string::npos) << out();  // as in docs/schedules.md
}

TEST_F(OtherCommandsTest, ScheduleIsJudgedBeforeAnythingIsPrinted) {
  EXPECT_EQ(Run({"schedule", "next", "61 * * * *"}), 2);
  EXPECT_EQ(Run({"schedule", "next", "* * * * *", "--tz", "Mars/Olympus"}), 2);
  EXPECT_EQ(Run({"schedule", "next", "* * * * *", "-n", "0"}), 2);
  EXPECT_EQ(Run({"schedule", "explain", "@reboot"}), 2);
  EXPECT_EQ(out(), "");
}

TEST_F(OtherCommandsTest, ScheduleLintNeedsNoServerAndSaysWhatItFound) {
  EXPECT_EQ(Run({"schedule", "lint", "0 9 13 * FRI"}), 1);
  EXPECT_TRUE(out().starts_with("either_day_field: Day of month and day of week")) << out();
  EXPECT_TRUE(out().ends_with("match both.\n")) << "cut off: " << out();
  EXPECT_EQ(Run({"schedule", "lint", "0 0 31 2 *", "-o", "json"}), 1);
  EXPECT_EQ(OutJson()["items"][0]["code"], "never_fires");
  EXPECT_EQ(Run({"schedule", "lint", "30 2 * * *", "--tz", "Europe/Paris", "--after",
                 "2026-03-01T00:00:00Z", "-q"}),
            1);
  EXPECT_EQ(out(), "hour_in_gap\n");
  EXPECT_EQ(Run({"schedule", "lint", "0 9 * * *"}), 0);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(Run({"schedule", "lint", "0 9 * * *", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["items"], json::array());
  EXPECT_EQ(Run({"schedule", "lint", "61 * * * *"}), 2);
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(OtherCommandsTest, ScheduleLoadLeavesQuietHoursOut) {
  const json buckets = {{{"start", "2026-03-01T00:00:00.000000Z"}, {"fires", 0}},
                        {{"start", "2026-03-01T01:00:00.000000Z"}, {"fires", 12}}};
  Answer("GET /api/schedules/load?bucket=hour", {{"buckets", buckets}, {"truncated", true}});
  EXPECT_EQ(Run({"schedule", "load"}), 0);
  EXPECT_EQ(out(),
            "START                 FIRES\n"
            "2026-03-01 01:00:00Z  12\n");
  EXPECT_NE(err().find("Not all jobs were counted"), std::string::npos);
  Answer("GET /api/schedules/load?bucket=minute", {{"buckets", buckets}, {"truncated", false}});
  EXPECT_EQ(Run({"schedule", "load", "--bucket", "minute", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson()["buckets"], buckets);
}

TEST_F(OtherCommandsTest, VersionAndHelp) {
  EXPECT_EQ(Run({"version"}), 0);
  EXPECT_EQ(out(), "carillon 1.2.3\n");
  EXPECT_EQ(Run({"version", "-o", "json"}), 0);
  EXPECT_EQ(OutJson(), (json{{"version", "1.2.3"}}));
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_NE(out().find("standalone"), std::string::npos);
  EXPECT_EQ(Run({"job", "create", "--help"}), 0);
  for (const char* flag : {"--retry-interval", "--token-file", "--output", "--quiet", "--yes"}) {
    EXPECT_NE(out().find(flag), std::string::npos) << flag;
  }
}

TEST_F(OtherCommandsTest, FiresWithinASecondAreToldApart) {
  Answer(
      "GET /api/jobs/j/next?n=10",
      {{"state", "ENABLED"},
       {"items",
        {{{"fire_time", "2026-03-29T01:00:00.000000Z"}, {"local_time", "x"}, {"dst", nullptr}},
         {{"fire_time", "2026-03-29T01:00:00.250000Z"}, {"local_time", "y"}, {"dst", nullptr}}}}});
  EXPECT_EQ(Run({"job", "next", "j"}), 0);
  EXPECT_EQ(out(),
            "FIRE TIME                LOCAL TIME  DST\n"
            "2026-03-29 01:00:00Z     x           -\n"
            "2026-03-29 01:00:00.25Z  y           -\n");
}

TEST_F(OtherCommandsTest, QuietSaysErrorsAndNothingElse) {
  Answer("GET /api/jobs/j", JobShown("j"), 200, "\"v3\"");
  server_.answers["DELETE http://a/api/jobs/j"].emplace_back(HttpResponse{.status = 204});
  EXPECT_EQ(Run({"job", "delete", "j", "-y", "-q"}), 0);
  EXPECT_EQ(err(), "");
  EXPECT_EQ(Run({"job", "get", "none", "-q"}), 3);
  EXPECT_NE(err(), "");
  environment_.erase("CARILLON_TOKEN");
  EXPECT_EQ(Run({"--token-file", "/nonexistent", "job", "list"}), 2);
}

TEST_F(OtherCommandsTest, AMistypedVerbIsToldFromTheNearest) {
  EXPECT_EQ(Run({"job", "creat", "--name", "x"}), 2);
  EXPECT_NE(err().find("unknown command 'job creat'; did you mean 'job create'?"),
            std::string::npos)
      << err();
  EXPECT_EQ(Run({"jobs", "list"}), 2);
  EXPECT_NE(err().find("unknown command 'jobs'; did you mean 'job'?"), std::string::npos) << err();
  EXPECT_EQ(Run({"help", "jbo"}), 2);
  EXPECT_NE(err().find("unknown command 'jbo'; did you mean 'job'?"), std::string::npos) << err();
  EXPECT_EQ(Run({"help", "job", "creat"}), 2);
  EXPECT_NE(err().find("unknown command 'job creat'; did you mean 'job create'?"),
            std::string::npos)
      << err();
  EXPECT_EQ(Run({"help", "job", "list", "all"}), 2);
  EXPECT_NE(err().find("unknown command 'list all' (usage)\n"), std::string::npos) << err();
  EXPECT_EQ(Run({"job", "frobnicate"}), 2);
  EXPECT_NE(err().find("unknown command 'job frobnicate'\n"), std::string::npos) << err();
  EXPECT_EQ(Run({"job", "--limit", "5"}), 2);
  EXPECT_EQ(err().find("unknown command"), std::string::npos) << err();
  EXPECT_EQ(Run({"job"}), 2);
  EXPECT_EQ(err().find("unknown command"), std::string::npos) << err();
}

TEST_F(OtherCommandsTest, ExplainSaysThatItNeverFires) {
  EXPECT_EQ(Run({"schedule", "explain", "0 0 31 2 *"}), 0);
  EXPECT_NE(err().find("It never fires"), std::string::npos) << err();
}

TEST_F(OtherCommandsTest, UnknownVerbsAreUsageErrors) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"job"}), 2);
  EXPECT_EQ(Run({"job", "explode"}), 2);
  EXPECT_EQ(Run({"job", "get"}), 2);
  EXPECT_EQ(out(), "");
}

TEST_F(OtherCommandsTest, StandaloneGetsItsOverrides) {
  EXPECT_EQ(Run({"standalone", "--data-dir", "/d", "--port", "0", "--config", "/c.yaml", "--set",
                 "executor.slots=3", "--set", "ops.port=5"}),
            0);
  ASSERT_TRUE(standalone_.has_value());
  EXPECT_EQ(standalone_->config_file, "/c.yaml");
  std::map<std::string, std::string> last;  // a later value replaces an earlier one
  for (const config::Override& o : standalone_->overrides) last[o.name] = o.value;
  EXPECT_EQ(
      last,
      (std::map<std::string, std::string>{
          {"data_dir", "/d"}, {"executor.slots", "3"}, {"ops.port", "5"}, {"rest.port", "0"}}));
}

TEST_F(OtherCommandsTest, AnEmptyFlagIsNotNoFlag) {
  for (const char* flag : {"--data-dir", "--port", "--config", "--addr", "--token-file"}) {
    EXPECT_EQ(Run({"standalone", flag, ""}), 2) << flag;
    EXPECT_FALSE(standalone_.has_value()) << flag;
  }
}

TEST_F(OtherCommandsTest, CheckConfigShowsWhereValuesComeFrom) {
  environment_["CARILLON_OPS_PORT"] = "9";
  EXPECT_EQ(Run({"check-config", "--set", "rest.port=7", "-o", "json"}), 0);
  std::map<std::string, std::string> origins;
  const json shown = OutJson();
  for (const json& item : shown["items"]) origins[item["name"]] = item["origin"];
  EXPECT_EQ(origins["rest.port"], "flag");
  EXPECT_EQ(origins["ops.port"], "environment");
  EXPECT_EQ(origins["log.level"], "default");
  EXPECT_EQ(Run({"check-config", "--set", "rest.port=x"}), 2);
  EXPECT_EQ(Run({"check-config", "--config", "/nowhere/at.all"}), 2);
  EXPECT_EQ(out(), "");
}

TEST_F(OtherCommandsTest, CheckConfigSaysAllThatIsWrong) {
  EXPECT_EQ(Run({"check-config", "--set", "rest.port=x", "--set", "rest.prot=7", "--set",
                 "log.level=loud"}),
            2);
  for (const char* part :
       {"rest.port must be", "unknown setting 'rest.prot'", "log.level must be"}) {
    EXPECT_NE(err().find(part), std::string::npos) << part << " in " << err();
  }
  EXPECT_EQ(
      Run({"check-config", "--set", "rest.listen=0.0.0.0", "--set", "kafka.sasl=scram-sha-512"}),
      2);
  for (const char* part : {"rest.listen is beyond loopback", "kafka.sasl is scram-sha-512"}) {
    EXPECT_NE(err().find(part), std::string::npos) << part << " in " << err();
  }
}

TEST_F(OtherCommandsTest, CheckConfigRemarksOnFilesThatCannotBeRead) {
  EXPECT_EQ(Run({"check-config", "--set", "store.password_file=/nowhere/password"}), 0);
  EXPECT_NE(err().find("store.password_file: cannot read /nowhere/password"), std::string::npos)
      << err();
}

TEST_F(OtherCommandsTest, ControlCharactersDoNotReachATerminalThroughATable) {
  Answer(
      "GET /api/executors?page_size=500",
      {{"items", {{{"executor_id", "e"}, {"host", "\x1b[2Jevil"}}}}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"executor", "list"}), 0);
  EXPECT_EQ(out().find('\x1b'), std::string::npos);
}

json ConfigShown(int64_t version, const std::string& level, const std::string& source) {
  return {{"version", version},
          {"settings", {{"log.level", level}, {"rest.port", "0"}}},
          {"sources", {{"log.level", source}, {"rest.port", "flag"}}},
          {"live", {"log.level"}}};
}

TEST_F(OtherCommandsTest, ConfigWithoutAVerbIsConfigGet) {
  Answer("GET /api/system/config", ConfigShown(3, "debug", "live"));
  EXPECT_EQ(Run({"system", "config", "-o", "json"}), 0);
  EXPECT_EQ(server_.requests.size(), 1u);
  EXPECT_EQ(OutJson(), ConfigShown(3, "debug", "live"));
  EXPECT_EQ(Run({"system", "config", "get", "rest.port", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["value"], "0");
  EXPECT_EQ(Run({"system", "config", "get", "no.such"}), 3);
}

TEST_F(OtherCommandsTest, ConfigurationIsChangedAtTheVersionThatWasRead) {
  Answer("GET /api/system/config", ConfigShown(3, "info", "default"), 200, "\"v3\"");
  Answer("PUT /api/system/config", ConfigShown(4, "debug", "live"));
  EXPECT_EQ(Run({"system", "config", "set", "log.level=debug", "executor.slots=3", "--reason",
                 "looking"}),
            0)
      << err();
  EXPECT_EQ(HeaderOf(Sent(1), "If-Match"), "\"v3\"");
  EXPECT_EQ(SentBody(1), (json{{"settings", {{"log.level", "debug"}, {"executor.slots", "3"}}},
                               {"reason", "looking"}}));
  EXPECT_NE(out().find("log.level  debug  live    true\n"), std::string::npos) << out();
  EXPECT_EQ(Run({"system", "config", "unset", "log.level"}), 0);
  EXPECT_EQ(SentBody(3), (json{{"settings", {{"log.level", nullptr}}}}));
  EXPECT_EQ(Run({"system", "config", "set", "log.level"}), 2);
  EXPECT_EQ(Run({"system", "config", "set"}), 2);
  EXPECT_EQ(Run({"system", "config", "unset"}), 2);
  server_.answers.erase("PUT http://a/api/system/config");
  Answer("PUT /api/system/config", ProblemOf("stale_version"), 412);
  EXPECT_EQ(Run({"system", "config", "set", "log.level=warn"}), 5);
}

}  // namespace
}  // namespace carillon::cli
