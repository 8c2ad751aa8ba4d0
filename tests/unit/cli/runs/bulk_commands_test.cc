// The commands for bulk actions.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class BulkCommandsTest : public CliTest {
 protected:
  static json Answered(const std::string& result, int count, int failed = 0) {
    json items = json::array();
    for (int i = 0; i < count; ++i) {
      items.push_back({{"id", "j" + std::to_string(i)},
                       {"result", result},
                       {"run_id", nullptr},
                       {"error", nullptr}});
    }
    for (int i = 0; i < failed; ++i) {
      items[i]["result"] = "error";
      items[i]["error"] = {{"status", 409}, {"code", "conflict"}, {"detail", "it has ended"}};
    }
    return {{"action", "pause"},
            {"kind", "job"},
            {"dry_run", result == "would"},
            {"total", count},
            {"more", false},
            {"done", count - failed},
            {"failed", failed},
            {"items", std::move(items)}};
  }
  static json Action(const std::string& state, int done, int failed = 0, int skipped = 0) {
    const bool ended = done + failed + skipped == 2000;
    return {{"bulk_id", "bulk-1a2b"},
            {"action", "pause"},
            {"kind", "job"},
            {"state", state},
            {"total", 2000},
            {"done", done},
            {"failed", failed},
            {"skipped", skipped},
            {"actor", "anna"},
            {"error", nullptr},
            {"create_time", "2026-03-01T03:00:00.000000Z"},
            {"end_time", ended ? json("2026-03-01T03:01:00.000000Z") : json(nullptr)}};
  }
};

TEST_F(BulkCommandsTest, LooksThenAsksThenActsInPieces) {
  Answer("POST /api/bulk", Answered("would", 150));
  Answer("POST /api/bulk", Answered("done", 100));
  Answer("POST /api/bulk", Answered("done", 50, 1));
  EXPECT_EQ(Run({"bulk", "pause", "--filter", "selector=team=etl", "--filter", "status=ENABLED",
                 "--reason", "moving", "--yes", "-o", "json"}),
            5);
  ASSERT_EQ(server_.requests.size(), 3u);
  const json filter = {{"selector", {"team=etl"}}, {"status", {"ENABLED"}}};
  EXPECT_EQ(SentBody(0), (json{{"action", "pause"}, {"dry_run", true}, {"filter", filter}}));
  EXPECT_EQ(SentBody(1)["ids"].size(), 100u);
  EXPECT_EQ(SentBody(2)["ids"][0], "j100");
  EXPECT_EQ(SentBody(2)["reason"], "moving");
  EXPECT_NE(HeaderOf(Sent(1), "Idempotency-Key"), HeaderOf(Sent(2), "Idempotency-Key"));
  EXPECT_EQ(OutJson()["total"], 150);
  EXPECT_EQ(OutJson()["failed"], 1);
  EXPECT_EQ(OutJson()["items"].size(), 150u);
  EXPECT_EQ(err(), "149 done, 1 failed\n");
}

TEST_F(BulkCommandsTest, WithoutAYesNothingIsDone) {
  Answer("POST /api/bulk", Answered("would", 2));
  EXPECT_EQ(Run({"bulk", "delete", "a", "b"}), 2);
  EXPECT_EQ(server_.requests.size(), 1u);
  tty_ = true;
  in_.str("n\n");
  EXPECT_EQ(Run({"bulk", "delete", "a", "b"}), 1);
  EXPECT_EQ(server_.requests.size(), 2u);
  tty_ = false;
  EXPECT_EQ(Run({"bulk", "delete", "a", "b", "--dry-run"}), 0);
  EXPECT_EQ(out(),
            "ID  RESULT        RUN  WHY\n"
            "j0  would delete  -    -\n"
            "j1  would delete  -    -\n");
  EXPECT_EQ(Run({"bulk", "delete"}), 2);
  EXPECT_EQ(Run({"bulk", "delete", "a", "--filter", "q=b"}), 2);
  EXPECT_EQ(Run({"bulk", "delete", "--filter", "nonsense"}), 2);
  EXPECT_EQ(Run({"bulk", "cancel", "--kind", "user", "a"}), 2);
  EXPECT_EQ(server_.requests.size(), 3u);
}

TEST_F(BulkCommandsTest, KillIsOfWhatIsCancelled) {
  for (int i = 0; i < 2; ++i) Answer("POST /api/bulk", Answered("would", 2));
  Answer("POST /api/bulk", Answered("done", 2));
  EXPECT_EQ(Run({"bulk", "cancel", "a", "b", "--kill", "--dry-run"}), 0);
  EXPECT_FALSE(SentBody(0).contains("mode"));
  EXPECT_NE(out().find("would cancel"), std::string::npos) << out();
  EXPECT_EQ(Run({"bulk", "cancel", "a", "b", "--kill", "--yes"}), 0);
  EXPECT_EQ(SentBody(2)["mode"], "kill");
  EXPECT_EQ(Run({"bulk", "pause", "a", "--kill", "--yes"}), 2);
}

TEST_F(BulkCommandsTest, TooManyAreLeftAlone) {
  json many = Answered("would", 3);
  many["more"] = true;
  Answer("POST /api/bulk", many);
  EXPECT_EQ(Run({"bulk", "run", "--filter", "q=x", "--yes"}), 2);
  EXPECT_NE(err().find("narrow the filter"), std::string::npos);
  EXPECT_EQ(server_.requests.size(), 1u);
}

TEST_F(BulkCommandsTest, InTheBackgroundTheIdIsPrinted) {
  json many = Answered("would", 3);
  many["more"] = true;
  Answer("POST /api/bulk", many);
  Answer("POST /api/bulk", Action("RUNNING", 0), 202);
  EXPECT_EQ(Run({"bulk", "pause", "--filter", "q=x", "--background", "--reason", "r", "--yes"}), 0)
      << err();
  EXPECT_EQ(out(), "bulk-1a2b\n");
  const json filter = {{"q", {"x"}}};
  EXPECT_EQ(SentBody(1),
            (json{{"action", "pause"}, {"filter", filter}, {"background", true}, {"reason", "r"}}));
  EXPECT_FALSE(HeaderOf(Sent(1), "Idempotency-Key").empty());
  EXPECT_EQ(Run({"bulk", "pause", "a", "b", "--background", "--yes", "-o", "json"}), 0);
  EXPECT_EQ(server_.requests.size(), 3u);  // ids are not looked up first
  EXPECT_EQ(OutJson()["state"], "RUNNING");
  EXPECT_EQ(Run({"bulk", "pause", "a", "--background"}), 2);
  EXPECT_EQ(Run({"bulk", "pause", "a", "--background", "--dry-run"}), 2);
  EXPECT_EQ(Run({"bulk", "pause", "a", "--wait", "--yes"}), 2);
  EXPECT_EQ(server_.requests.size(), 3u);
}

TEST_F(BulkCommandsTest, ItIsFollowedToItsEnd) {
  const std::vector<std::string> command = {"bulk",         "pause",  "a",
                                            "--background", "--wait", "--yes"};
  Answer("POST /api/bulk", Action("RUNNING", 0), 202);
  Answer("GET /api/bulk/bulk-1a2b", Action("RUNNING", 0));
  Answer("GET /api/bulk/bulk-1a2b", Action("RUNNING", 700));
  Answer("GET /api/bulk/bulk-1a2b", Action("RUNNING", 700));
  Answer("GET /api/bulk/bulk-1a2b", Action("DONE", 2000));
  EXPECT_EQ(Run(command), 0);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(),
            "bulk-1a2b: 0 of 2000 done, 0 failed, 0 skipped\n"
            "bulk-1a2b: 700 of 2000 done, 0 failed, 0 skipped\n"
            "bulk-1a2b: 2000 of 2000 done, 0 failed, 0 skipped\n");
  server_.answers.erase("GET http://a/api/bulk/bulk-1a2b");
  json stopped = Action("STOPPED", 700, 1, 1299);
  stopped["error"] = "The user who started it was disabled.";
  Answer("GET /api/bulk/bulk-1a2b", stopped);
  EXPECT_EQ(Run(command), 1);
  EXPECT_NE(err().find("was disabled"), std::string::npos);
}

TEST_F(BulkCommandsTest, ABulkActionIsNotCancelledByMistake) {
  Answer("POST /api/bulk/bulk-1a2b/cancel", Action("CANCELLED", 700, 3, 1297), 202);
  for (const char* flag : {"--dry-run", "--background", "--wait", "--confirm-overlap", "--kill"}) {
    EXPECT_EQ(Run({"bulk", "cancel", "bulk-1a2b", "--yes", flag}), 2) << flag;
  }
  EXPECT_EQ(Run({"bulk", "cancel", "bulk-1a2b", "--yes", "--filter", "state=RUNNING"}), 2);
  EXPECT_EQ(Run({"bulk", "cancel", "bulk-1a2b"}), 2);  // no terminal for the confirmation
  EXPECT_EQ(Run({"bulk", "cancel", "bulk-1a2b", "069FNJDGV00000000000020000"}), 2);
  tty_ = true;
  in_.str("n\n");
  EXPECT_EQ(Run({"bulk", "cancel", "bulk-1a2b"}), 1);
  EXPECT_EQ(server_.requests.size(), 0u);
  in_.str("y\n");
  EXPECT_EQ(Run({"bulk", "cancel", "bulk-1a2b"}), 0);
  EXPECT_EQ(server_.requests.size(), 1u);
}

}  // namespace
}  // namespace carillon::cli
