#include "scheduler/streams/change_watch.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class DeliveryRoutesTest : public ApiEnv {
 protected:
  // A notified failure of a new job, with one delivery per channel.
  std::string Fail() {
    const std::string job = Create();
    const std::string run = Execute(job);
    const RunKey key = DecodeRunId(run).value();
    const RunRow row = stores_.runs.GetRun(key)->row;
    const Fence fence = stores_.segments
                            .Take({.member = MemberId("m1"),
                                   .incarnation = Incarnation("i"),
                                   .generation = Generation(++generation_),
                                   .segments = {row.segment}})
                            .value()
                            .fence;
    const ClaimToken token{1, ++claims_};
    EXPECT_TRUE(stores_.firing
                    .Claim({{.key = key,
                             .segment = row.segment,
                             .job_no = row.job_no,
                             .def_version = row.def_version,
                             .token = token,
                             .executor = ExecutorId("e1"),
                             .incarnation = Incarnation("x")}},
                           fence, clock_.Wall())
                    .ok());
    EXPECT_TRUE(stores_.firing
                    .ApplyResults({{.key = key,
                                    .segment = row.segment,
                                    .job_no = row.job_no,
                                    .token = token,
                                    .executor = ExecutorId("e1"),
                                    .result = {.state = RunState::kFailed}}},
                                  fence, clock_.Wall())
                    .ok());
    const auto open = stores_.notices.ScanNotices({row.segment}, 10).value();
    EXPECT_EQ(open.size(), 1u);
    const NoticeDecision told{
        .notice = open.at(0).notice,
        .verdict = NoticeVerdict::kTell,
        .deliveries = {
            {.channel = DeliveryChannel::kWebhook, .message = "{}"},
            {.channel = DeliveryChannel::kMail, .recipients = {"a@b.example"}, .message = "x"}}};
    EXPECT_TRUE(stores_.notices.DecideNotices({told}, fence, clock_.Wall()).ok());
    return job;
  }
  std::string Create() {
    const Answer made = Send("POST", "/api/jobs", R"({"name": "n", "type": "noop"})");
    EXPECT_EQ(made.status, 201) << made.text;
    return made.body().value("job_id", "");
  }
  uint64_t generation_ = 1000;
  uint64_t claims_ = 0;
};

TEST_F(DeliveryRoutesTest, DeliveriesAreListedByFilterAndPage) {
  const std::string a = Fail();
  const std::string b = Fail();
  const nlohmann::json all = Send("GET", "/api/deliveries").body();
  ASSERT_EQ(all["items"].size(), 4u);
  const nlohmann::json& mail = all["items"][0];
  EXPECT_EQ(mail["channel"], "mail");
  EXPECT_EQ(mail["job_id"], b);
  EXPECT_EQ(mail["kind"], "failed");
  EXPECT_EQ(mail["state"], "PENDING");
  EXPECT_EQ(mail["recipients"], nlohmann::json::array({"a@b.example"}));
  EXPECT_TRUE(mail["end_time"].is_null());
  EXPECT_FALSE(mail["next_try_time"].is_null());
  EXPECT_EQ(Send("GET", "/api/deliveries?job_id=" + a).body()["items"].size(), 2u);
  EXPECT_EQ(Send("GET", "/api/deliveries?state=DELIVERED").body()["items"].size(), 0u);
  EXPECT_EQ(Send("GET", "/api/deliveries?kind=late").body()["items"].size(), 0u);
  const nlohmann::json first = Send("GET", "/api/deliveries?page_size=3").body();
  EXPECT_EQ(first["items"].size(), 3u);
  const std::string token = first["next_page_token"];
  const nlohmann::json rest = Send("GET", "/api/deliveries?page_size=3&page_token=" + token).body();
  ASSERT_EQ(rest["items"].size(), 1u);
  EXPECT_EQ(rest["items"][0]["id"], all["items"][3]["id"]);
  EXPECT_EQ(Send("GET", "/api/deliveries?state=LOST").status, 400);
  EXPECT_EQ(Send("GET", "/api/deliveries?kind=x").status, 400);
  EXPECT_EQ(Send("GET", "/api/deliveries?job_id=X").status, 400);
}

TEST_F(DeliveryRoutesTest, OneIsSentAgainAndThatIsInTheAudit) {
  Fail();
  const std::string id = Send("GET", "/api/deliveries").body()["items"][0]["id"];
  const Answer resent =
      Send("POST", "/api/deliveries/" + id + "/resend", R"({"reason": "lost it"})");
  EXPECT_EQ(resent.status, 202) << resent.text;
  EXPECT_EQ(resent.body()["state"], "PENDING");
  EXPECT_EQ(Send("POST", "/api/deliveries/999/resend").status, 404);
  EXPECT_EQ(Send("POST", "/api/deliveries/x/resend").status, 404);
  const nlohmann::json record = Send("GET", "/api/audit?object_id=" + id).body()["items"].at(0);
  EXPECT_EQ(record["action"], "delivery.resend");
  EXPECT_NE(record["reason"].get<std::string>().find("lost it"), std::string::npos);
}

TEST_F(DeliveryRoutesTest, ATestSaysWhatEachChannelAnswered) {
  const Answer none = Send("POST", "/api/notify/test");
  EXPECT_EQ(none.status, 409);
  EXPECT_EQ(none.body()["code"], "no_notify_channel");
  test_outcomes_ = {
      {DeliveryChannel::kWebhook, {.verdict = scheduler::SendVerdict::kDelivered, .status = 200}},
      {DeliveryChannel::kMail,
       {.verdict = scheduler::SendVerdict::kNoAnswer, .error = "connection refused"}}};
  const Answer told = Send("POST", "/api/notify/test", "{}");
  EXPECT_EQ(told.status, 200) << told.text;
  EXPECT_EQ(told.body()["channels"],
            (nlohmann::json::array(
                {{{"channel", "webhook"}, {"delivered", true}, {"status", 200}, {"error", nullptr}},
                 {{"channel", "mail"},
                  {"delivered", false},
                  {"status", nullptr},
                  {"error", "connection refused"}}})));
}

TEST_F(DeliveryRoutesTest, WhoListensIsToldOfThem) {
  const scheduler::ApiContext context = Context("");
  scheduler::ChangeWatch watch(ChangePorts(context), "life");
  const auto topics = [&] {
    const uint64_t from = watch.end();
    clock_.Advance(scheduler::ChangeWatch::kLookEvery);
    watch.Look(clock_.Steady());
    const auto changes = watch.From(from).value();
    std::set<std::string> told;
    for (const auto& change : changes) told.insert(change.topic + change.id);
    return told;
  };
  topics();
  const std::string job = Fail();
  EXPECT_TRUE(topics().contains("deliveries"));
  EXPECT_FALSE(topics().contains("deliveries"));
  const nlohmann::json sent = Send("GET", "/api/deliveries?job_id=" + job).body()["items"][0];
  const std::string id = sent["id"];
  clock_.Advance(1min);
  EXPECT_EQ(Send("POST", "/api/deliveries/" + id + "/resend", "{}").status, 202);
  EXPECT_TRUE(topics().contains("deliveries" + id));
}

}  // namespace
}  // namespace carillon::test
