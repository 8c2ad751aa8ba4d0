// Handlers: from the offer of a worker to the start of a function, and from its end to the
// confirmation.
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor::daemon_handler_test {
namespace {

class DaemonHandlerTest : public DaemonFixture {
 protected:
  void Offer(HandlerOffers offers) {
    handlers_.offers = std::make_shared<HandlerOffers>(std::move(offers));
    Step();
  }
  TaskMessage HandlerTask(uint64_t number, const std::string& handler = "app/a") {
    TaskMessage task = Task(number, JobType::kHandler);
    task.handler = HandlerCall{.name = handler, .parameters_json = R"({"day":1})"};
    task.env = {{"PLAIN", "p"}};
    return task;
  }
  void End(const ClaimRequest& claim, RunState state = RunState::kCompleted) {
    handlers_.events.push_back(AttemptEnded{HeldOf(claim), {.state = state}, JobId("job")});
    Step();
  }
  Heartbeat LastBeat() {
    StepFor(2s);
    auto beats = link_.Take<Heartbeat>();
    return beats.empty() ? Heartbeat{} : beats.back();
  }
};

TEST_F(DaemonHandlerTest, AFunctionGetsItsParametersAndSecrets) {
  Join();
  Offer({{"app/a", 2}});
  TaskMessage task = HandlerTask(1);
  task.secret_env = {{"TOKEN", {{.text = "x-"}, {.secret = "token"}}}};
  Publish({task});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_TRUE(claims[0].wants_secrets);
  ClaimBatchReply reply;
  reply.batch_id = last_batch_;
  reply.sent_us = clock_.Steady().time_since_epoch().count();
  reply.items.push_back({.key = claims[0].key,
                         .token = claims[0].token,
                         .verdict = ClaimVerdict::kAccepted,
                         .secrets = {{"token", "open-sesame"}}});
  Deliver(reply);
  ASSERT_EQ(handlers_.starts.size(), 1u);
  const StartHandler& start = handlers_.starts[0];
  EXPECT_EQ(start.attempt.token, claims[0].token);
  EXPECT_EQ(start.handler, "app/a");
  EXPECT_EQ(start.parameters_json, R"({"day":1})");
  EXPECT_EQ(start.env,
            (std::map<std::string, std::string>{{"PLAIN", "p"}, {"TOKEN", "x-open-sesame"}}));
  EXPECT_EQ(start.masked, std::vector<std::string>{"open-sesame"});
  EXPECT_TRUE(warden_.starts.empty());
}

TEST_F(DaemonHandlerTest, OnlyFreeSlotsOfItsHandlerAreClaimed) {
  Join();
  Offer({{"app/a", 1}, {"app/b", 1}});
  Publish({HandlerTask(1), HandlerTask(2), HandlerTask(3, "app/b"), HandlerTask(4, "app/unknown")});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 2u) << "a full handler does not delay the other one";
  for (const ClaimRequest& claim : claims) Answer(claim, ClaimVerdict::kAccepted);
  Heartbeat beat = LastBeat();
  EXPECT_EQ(beat.handlers.at("app/a"), (HandlerSlots{.slots = 1, .free = 0}));
  EXPECT_EQ(beat.running.size(), 2u);
  End(claims[0]);
  EXPECT_EQ(Claims().size(), 1u);
  EXPECT_TRUE(handlers_.forgotten.empty());
  Deliver(ResultsApplied{{HeldOf(claims[0])}});
  StepFor(100ms);
  EXPECT_EQ(handlers_.forgotten, std::vector<ClaimToken>{claims[0].token});
}

TEST_F(DaemonHandlerTest, LeasesAndCancelsReachTheWorker) {
  Join();
  Offer({{"app/a", 1}});
  const ClaimRequest claim = RunToAccepted(HandlerTask(1));
  HeartbeatReply beat;
  beat.sent_us = clock_.Steady().time_since_epoch().count();
  beat.renewed = {HeldOf(claim)};
  Deliver(beat);
  ASSERT_EQ(handlers_.renewed.size(), 1u);
  Deliver(CancelAttempts{{HeldOf(claim)}, CancelMode::kKill});
  EXPECT_EQ(handlers_.cancelled, std::vector<ClaimToken>{claim.token});
  EXPECT_TRUE(bus_.results.empty()) << "it is over when the function has returned";
  StepFor(30s);
  EXPECT_TRUE(bus_.results.empty()) << "the end of its lease ends nothing";
}

TEST_F(DaemonHandlerTest, ASilentOneIsNotReportedAsRunningUntilItsWorkerIsBack) {
  Join();
  Offer({{"app/a", 1}});
  const ClaimRequest claim = RunToAccepted(HandlerTask(1));
  EXPECT_EQ(LastBeat().running.size(), 1u);
  handlers_.events.push_back(AttemptSilent{.attempt = HeldOf(claim), .silent = true});
  EXPECT_TRUE(LastBeat().running.empty()) << "its lease is left to end";
  EXPECT_TRUE(bus_.results.empty());
  handlers_.events.push_back(AttemptSilent{.attempt = HeldOf(claim), .silent = false});
  EXPECT_EQ(LastBeat().running.size(), 1u);
  handlers_.events.push_back(AttemptSilent{.attempt = HeldOf(claim), .silent = true});
  End(claim);
  EXPECT_EQ(bus_.results.size(), 1u) << "its word counts whenever it comes";
}

TEST_F(DaemonHandlerTest, WhatAnEarlierDaemonStartedIsHeldAndCounted) {
  const HeldAttempt held{.key = {FromUnixMicros(1), ScheduleId(9), 0},
                         .segment = SegmentId(3),
                         .job_no = JobNo(9),
                         .attempt = 1,
                         .token = {1, 2}};
  handlers_.events.push_back(AttemptStarted{.attempt = held, .handler = "app/a"});
  Join();
  Offer({{"app/a", 1}});
  Heartbeat beat = LastBeat();
  ASSERT_EQ(beat.running.size(), 1u);
  EXPECT_EQ(beat.running[0].token, held.token);
  EXPECT_EQ(beat.handlers.at("app/a").free, 0);
  Publish({HandlerTask(1)});
  EXPECT_TRUE(Claims().empty());
  handlers_.events.push_back(AttemptEnded{held, {.state = RunState::kLost}, JobId("job")});
  Step();
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_EQ(bus_.results[0].report.token, held.token);
  // The worker repeats an end until it is confirmed.
  handlers_.events.push_back(AttemptEnded{held, {.state = RunState::kLost}, JobId("job")});
  Step();
  EXPECT_EQ(bus_.results.size(), 1u);
}

TEST_F(DaemonHandlerTest, AnEndThatIsInTheSpoolIsReportedOnce) {
  Join();
  Offer({{"app/a", 1}});
  const ClaimRequest claim = RunToAccepted(HandlerTask(1));
  End(claim);
  ASSERT_EQ(spool_.held.size(), 1u);
  Boot();
  handlers_.events.push_back(AttemptStarted{.attempt = HeldOf(claim), .handler = "app/a"});
  handlers_.events.push_back(AttemptEnded{HeldOf(claim), {.state = RunState::kLost}, JobId("job")});
  Join();
  StepFor(100ms);
  ASSERT_EQ(bus_.results.size(), 2u) << "once by each daemon";
  EXPECT_EQ(bus_.results[1].report.result.state, RunState::kCompleted);
}

}  // namespace
}  // namespace carillon::executor::daemon_handler_test
