// Events on the command line: sent once although an answer is lost, listed, and tried.
#include <fstream>

#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class EventCommandsTest : public CliTest {
 protected:
  static json Started() {
    return json::parse(R"({"items": [{"id": "42", "source": "shop", "status": "started", "starts": [
      {"job_id": "bill", "schedule_id": 7, "run_id": "R1", "gap": null, "problem": null},
      {"job_id": "ship", "schedule_id": 8, "run_id": null, "gap": "bad_event",
       "problem": "data.amount is missing"}]}]})");
  }
  int Send(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"event", "send", "--type", "order.paid", "--source", "shop"};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }
};

TEST_F(EventCommandsTest, ATableHasARowForEachRunAndGap) {
  Answer("POST /api/events?namespace=sales", Started(), 202);
  ASSERT_EQ(Send({"--id", "42", "--subject", "o-7", "-n", "sales", "--data", R"({"amount": 9.5})"}),
            0)
      << err();
  EXPECT_EQ(SentBody(0), (json{{"id", "42"},
                               {"source", "shop"},
                               {"type", "order.paid"},
                               {"subject", "o-7"},
                               {"data", {{"amount", 9.5}}}}));
  EXPECT_NE(out().find("\n42     started  bill  R1   -"), std::string::npos) << out();
  EXPECT_NE(out().find("\n42     started  ship  -    bad_event  data.amount is missing"),
            std::string::npos)
      << out();
  ASSERT_EQ(Send({"--id", "42", "-n", "sales", "-o", "json"}), 0);
  EXPECT_EQ(OutJson(), Started());
}

TEST_F(EventCommandsTest, WithoutAnIdItDrawsOneAndPrintsIt) {
  Answer("POST /api/events", {{"items", json::array()}}, 202);
  ASSERT_EQ(Send(), 0) << err();
  const std::string id = SentBody(0)["id"];
  EXPECT_EQ(id.size(), 32u);
  EXPECT_FALSE(SentBody(0).contains("data"));
  server_.answers.clear();
  Answer("POST /api/events",
         {{"items", {{{"id", id}, {"source", "shop"}, {"status", "no_match"}, {"starts", {}}}}}},
         202);
  ASSERT_EQ(Send(), 0);
  EXPECT_NE(out().find(id + "  no_match  -"), std::string::npos) << out();
  ASSERT_EQ(Send({"-q"}), 0);
  EXPECT_EQ(out(), id + "\n");
}

TEST_F(EventCommandsTest, ALostAnswerIsAskedForWithTheSameId) {
  FailOf("http://a", "POST /api/events", ErrorCode::kTimeout);
  Answer("POST /api/events", ProblemOf("outcome_unknown"), 504);
  Answer("POST /api/events", Started(), 202);
  ASSERT_EQ(Send(), 0) << err();
  ASSERT_EQ(server_.requests.size(), 3u);
  EXPECT_EQ(Sent(0).body, Sent(1).body);
  EXPECT_EQ(Sent(0).body, Sent(2).body);
  EXPECT_EQ(HeaderOf(Sent(0), "Idempotency-Key"), "");
}

TEST_F(EventCommandsTest, ALostAnswerIsAskedForAtAnotherMember) {
  environment_["CARILLON_ADDR"] = "http://a,http://b";
  FailOf("http://a", "POST /api/events", ErrorCode::kTimeout);
  AnswerOf("http://b", "POST /api/events", Started(), 202);
  ASSERT_EQ(Send(), 0) << err();
  ASSERT_EQ(server_.requests.size(), 2u);
  EXPECT_EQ(Sent(0).body, Sent(1).body);
}

TEST_F(EventCommandsTest, AfterThreeTriesItNamesTheIdToRepeatItWith) {
  FailOf("http://a", "POST /api/events", ErrorCode::kTimeout);
  EXPECT_EQ(Send(), static_cast<int>(ExitCode::kUnreachable));
  ASSERT_EQ(server_.requests.size(), 3u);
  const std::string id = SentBody(0)["id"];
  EXPECT_NE(err().find("Repeat it with --id " + id), std::string::npos) << err();
  EXPECT_EQ(out(), "");
}

TEST_F(EventCommandsTest, ARefusalIsNotRepeated) {
  Answer("POST /api/events", ProblemOf("too_many_matches"), 422);
  EXPECT_EQ(Send(), 2);
  EXPECT_EQ(server_.requests.size(), 1u);
  EXPECT_EQ(err().find("Repeat it"), std::string::npos) << err();
}

TEST_F(EventCommandsTest, DataComesFromAFileOrStandardInput) {
  Answer("POST /api/events", Started(), 202);
  const std::string file = ::testing::TempDir() + "order-event.json";
  std::ofstream(file) << "{\"n\": 1}\n";
  ASSERT_EQ(Send({"--data", "@" + file}), 0) << err();
  EXPECT_EQ(SentBody(0)["data"], (json{{"n", 1}}));
  in_.str("[1, null]");
  ASSERT_EQ(Send({"--data", "-"}), 0) << err();
  EXPECT_EQ(SentBody(1)["data"], (json{1, nullptr}));
  ASSERT_EQ(Send({"--data", "123456789012345678901234567890.10"}), 0) << err();
  EXPECT_NE(Sent(2).body.find("\"data\":123456789012345678901234567890.10}"), std::string::npos)
      << "no digit is lost: " << Sent(2).body;
  for (const char* wrong : {"paid", "{\"a\": 1", "{} {}", "@", "@/none/at/all", "\"\xff\""}) {
    EXPECT_EQ(Send({"--data", wrong}), 2) << wrong;
    EXPECT_NE(err().find("carillon: "), std::string::npos);
  }
  EXPECT_EQ(Send({"--data", ""}), 2);
  EXPECT_EQ(server_.requests.size(), 3u);
}

TEST_F(EventCommandsTest, AnEventNeedsItsTypeAndSource) {
  EXPECT_EQ(Run({"event", "send", "--type", "a"}), 2);
  EXPECT_EQ(Run({"event", "send", "--source", "a"}), 2);
  EXPECT_EQ(Run({"event", "send", "--type", "", "--source", "a"}), 2);
  EXPECT_EQ(Run({"event", "test", "--type", "a"}), 2);
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(EventCommandsTest, TheListSaysWhatWasStarted) {
  const json gap = {{"job_id", "ship"}, {"run_id", nullptr}, {"gap", "paused"}};
  const json bad = {
      {"job_id", "tax"}, {"run_id", nullptr}, {"gap", "bad_event"}, {"problem", "no amount"}};
  const json run = {{"job_id", "bill"}, {"run_id", "R1"}, {"gap", nullptr}};
  const auto event = [](const std::string& id, const std::string& outcome, json starts) {
    return json{{"id", id},
                {"source", "shop"},
                {"type", "order.paid"},
                {"outcome", outcome},
                {"accepted_at", "2026-03-01T03:00:00.000000Z"},
                {"problem", nullptr},
                {"starts", std::move(starts)}};
  };
  Answer(
      "GET /api/events?namespace=sales&namespace=default&type=order.%2A&source=shop&id=42&"
      "outcome=started&since=2026-03-01T00%3A00%3A00.000000Z&"
      "until=2026-03-02T00%3A00%3A00.000000Z&page_size=50",
      {{"items",
        {event("42", "started", {run, run, gap}), event("43", "gap", {gap, bad}),
         event("orders/0/7", "refused", json::array())}},
       {"next_page_token", nullptr}});
  ASSERT_EQ(Run({"event", "list", "-n", "sales", "-n", "default", "--type", "order.*", "--source",
                 "shop", "--id", "42", "--outcome", "started", "--since", "2026-03-01T00:00:00Z",
                 "--until", "2026-03-02T00:00:00Z"}),
            0)
      << err();
  EXPECT_NE(out().find("  42          started  2 runs, 1 gap (paused) "), std::string::npos)
      << out();
  EXPECT_NE(out().find("  43          gap      2 gaps (bad_event, paused)  no amount"),
            std::string::npos)
      << out();
  EXPECT_NE(out().find("  orders/0/7  refused  -"), std::string::npos) << out();
}

TEST_F(EventCommandsTest, ATestSendsTheEventAndPrintsWhatEachTriggerWouldDo) {
  const json tested = json::parse(R"({"items": [{"job_id": "bill", "schedule_id": 7,
      "result": "matched", "sentence": "It would start a run.", "parameters": {"amount": 9.5},
      "untrusted": []}]})");
  Answer("POST /api/events/test", tested);
  ASSERT_EQ(Run({"event", "test", "--type", "order.paid", "--source", "shop", "--data", "{}"}), 0)
      << err();
  EXPECT_EQ(SentBody(0)["event"]["data"], json::object());
  EXPECT_EQ(SentBody(0).size(), 1u);
  EXPECT_NE(SentBody(0)["event"].value("id", ""), "");
  EXPECT_NE(out().find("\nbill  7         matched"), std::string::npos) << out();
  ASSERT_EQ(Run({"event", "test", "--type", "order.paid", "--source", "shop", "--id", "42",
                 "--namespace", "sales", "--job", "bill", "-o", "json"}),
            0);
  EXPECT_EQ(SentBody(1),
            (json{{"namespace", "sales"},
                  {"job_id", "bill"},
                  {"event", {{"id", "42"}, {"source", "shop"}, {"type", "order.paid"}}}}));
  EXPECT_EQ(OutJson(), tested);
  ASSERT_EQ(Run({"event", "test", "--type", "order.paid", "--source", "shop", "--trigger",
                 R"({"kind": "event", "type": "order.*"})"}),
            0);
  EXPECT_EQ(SentBody(2)["trigger"], (json{{"kind", "event"}, {"type", "order.*"}}));
  EXPECT_EQ(Run({"event", "test", "--type", "a", "--source", "b", "--trigger", "order.*"}), 2);
  EXPECT_NE(err().find("--trigger: not JSON"), std::string::npos) << err();
}

}  // namespace
}  // namespace carillon::cli
