// One action on many, and who did what.
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
            "ID  RESULT  RUN  WHY\n"
            "j0  would   -    -\n"
            "j1  would   -    -\n");
  EXPECT_EQ(Run({"bulk", "delete"}), 2);
  EXPECT_EQ(Run({"bulk", "delete", "a", "--filter", "q=b"}), 2);
  EXPECT_EQ(Run({"bulk", "delete", "--filter", "nonsense"}), 2);
  EXPECT_EQ(Run({"bulk", "cancel", "--kind", "user", "a"}), 2);
  EXPECT_EQ(server_.requests.size(), 3u);
}

TEST_F(BulkCommandsTest, TooManyAreLeftAlone) {
  json many = Answered("would", 3);
  many["more"] = true;
  Answer("POST /api/bulk", many);
  EXPECT_EQ(Run({"bulk", "run", "--filter", "q=x", "--yes"}), 2);
  EXPECT_NE(err().find("narrow the filter"), std::string::npos);
  EXPECT_EQ(server_.requests.size(), 1u);
}

TEST_F(BulkCommandsTest, TheAuditShowsWhatChanged) {
  Answer("GET /api/audit?object_id=nightly&page_size=50",
         {{"items",
           {{{"id", "7"},
             {"time", "2026-03-01T03:00:00.000000Z"},
             {"actor", "anna"},
             {"action", "job.patch"},
             {"object_id", "nightly"},
             {"reason", nullptr},
             {"trace_id", "t"},
             {"changes", {{{"path", "/timeout"}, {"from", 60}, {"to", 90}}}}}}},
          {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"audit", "nightly"}), 0) << err();
  EXPECT_EQ(out(),
            "TIME                  WHO   ACTION     OBJECT   CHANGED            REASON\n"
            "2026-03-01 03:00:00Z  anna  job.patch  nightly  /timeout 60 -> 90  -\n");
}

}  // namespace
}  // namespace carillon::cli
