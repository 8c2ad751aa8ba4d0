#include "executor/link/member_sessions.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_link.h"
#include "tests/support/failpoint_on.h"

namespace carillon::executor {
namespace {

class MemberSessionsTest : public ::testing::Test {
 protected:
  // Returns the number of heartbeats sent within a minute.
  size_t BeatsOfAMinute() {
    sessions_.Sync(now_);
    for (Duration passed{}; passed < 60s; passed += 100ms) {
      now_ += 100ms;
      sessions_.SendHeartbeats(now_, MemberSessions::Cause::kTime,
                               [](const MemberId&, Heartbeat*) {});
    }
    size_t beats = 0;
    for (const ExecutorMessage& message : hub_->Receive(1000)) {
      if (std::holds_alternative<Heartbeat>(message.message)) ++beats;
    }
    return beats;
  }

  void Register(const Registered& message = {.heartbeat = 2s, .quiet_heartbeat = 15s}) {
    sessions_.Sync(now_);
    sessions_.OnRegistered(member_, message);
  }
  void Pass(Duration span) {
    for (const SteadyTime end = now_ + span; now_ < end; now_ += 20ms) {
      sessions_.SendHeartbeats(now_, MemberSessions::Cause::kTime,
                               [this](const MemberId&, Heartbeat* beat) {
                                 const int64_t sent = beat->sent_us;
                                 *beat = beat_;
                                 beat->sent_us = sent;
                                 beat->load = load_;
                               });
    }
  }
  // What the heartbeats since the last call announced.
  std::vector<Duration> Announced() {
    std::vector<Duration> announced;
    for (const ExecutorMessage& message : hub_->Receive(1000)) {
      const auto* beat = std::get_if<Heartbeat>(&message.message);
      if (beat != nullptr) announced.push_back(beat->next_in);
    }
    return announced;
  }

  Heartbeat beat_{.free_slots = 4};
  ExecutorLoad load_;
  memory::MemorySwitchboard switchboard_;
  const MemberId member_{"m1"};
  std::unique_ptr<ExecutorHub> hub_ = switchboard_.OpenHub(member_);
  std::unique_ptr<ExecutorLink> link_ = switchboard_.OpenLink(ExecutorId("x1"), Incarnation("e1"));
  MemberSessions sessions_{*link_, {.id = ExecutorId("x1"), .incarnation = Incarnation("e1")}};
  SteadyTime now_{1s};
};

TEST_F(MemberSessionsTest, BeatsAsOftenAsItsMemberWants) {
  EXPECT_EQ(BeatsOfAMinute(), 0u) << "not registered";
  sessions_.OnRegistered(member_, {.heartbeat = 500ms});
  EXPECT_NEAR(static_cast<double>(BeatsOfAMinute()), 120, 1);
  sessions_.OnRegistered(member_, {.heartbeat = 10s});
  EXPECT_NEAR(static_cast<double>(BeatsOfAMinute()), 6, 1);
}

TEST_F(MemberSessionsTest, BeatsEveryTwoSecondsForAMemberThatDoesNotTell) {
  sessions_.Sync(now_);
  sessions_.OnRegistered(member_, {});
  EXPECT_NEAR(static_cast<double>(BeatsOfAMinute()), 30, 1);
}

// A member of a large fleet asks for few heartbeats, and the executor has nothing to tell.
TEST_F(MemberSessionsTest, QuietOneBeatsAsSeldomAsItsMemberWants) {
  Register();
  Pass(2100ms);
  EXPECT_EQ(Announced(), (std::vector<Duration>{2s, 15s})) << "the second one has nothing new";
  Pass(60s);
  EXPECT_EQ(Announced(), (std::vector<Duration>{15s, 15s, 15s, 15s}));
  load_.cpu = 0.9;
  Pass(14s);
  EXPECT_TRUE(Announced().empty()) << "load is no news";
}

TEST_F(MemberSessionsTest, NewsOfAQuietOneIsToldAtOnce) {
  Register();
  Pass(3s);
  Announced();
  beat_.free_slots = 3;
  Pass(100ms);
  EXPECT_EQ(Announced(), std::vector<Duration>{2s});
  beat_.free_slots = 4;
  Pass(1900ms);
  EXPECT_TRUE(Announced().empty()) << "it is not quiet any more";
  Pass(100ms);
  EXPECT_EQ(Announced(), std::vector<Duration>{2s});
  Pass(2s);
  EXPECT_EQ(Announced(), std::vector<Duration>{15s});
}

TEST_F(MemberSessionsTest, WhoHoldsAnAttemptIsNeverQuiet) {
  Register();
  Pass(3s);
  Announced();
  beat_.claiming.emplace_back();
  Pass(100ms);
  EXPECT_EQ(Announced(), std::vector<Duration>{2s});
  beat_.claiming.clear();
  beat_.running.emplace_back();
  Pass(10s);
  EXPECT_EQ(Announced(), std::vector<Duration>(5, 2s));
  failpoint::Break("quiet.with_attempts");
  Pass(10s);
  EXPECT_EQ(Announced().back(), 15s) << "the broken rule ends leases";
  failpoint::Reset();
}

TEST_F(MemberSessionsTest, SmallFleetBeatsAsAlways) {
  Register({.heartbeat = 2s, .quiet_heartbeat = 2s});
  Pass(7s);
  EXPECT_EQ(Announced(), std::vector<Duration>(4, 2s));
  EXPECT_EQ(sessions_.calm(), 0s);
  Register({.heartbeat = 2s});
  EXPECT_EQ(sessions_.calm(), 0s) << "an older member";
  Register();
  EXPECT_EQ(sessions_.calm(), 15s);
}

TEST_F(MemberSessionsTest, DrainingOneIsNotQuiet) {
  Register();
  Pass(3s);
  Announced();
  Register({.draining = true, .heartbeat = 2s, .quiet_heartbeat = 15s});
  Pass(6100ms);
  EXPECT_EQ(Announced(), std::vector<Duration>(4, 2s)) << "somebody waits for it to be empty";
  Register();
  Pass(100ms);
  EXPECT_EQ(Announced(), std::vector<Duration>{15s});
}

TEST_F(MemberSessionsTest, RegistrationIsRepeatedLessAndLessOften) {
  std::vector<SteadyTime> tries;
  for (const SteadyTime end = now_ + 60s; now_ < end; now_ += 10ms) {
    sessions_.Sync(now_);
    for (const ExecutorMessage& message : hub_->Receive(1000)) {
      if (std::holds_alternative<carillon::Register>(message.message)) tries.push_back(now_);
    }
  }
  ASSERT_GT(tries.size(), 10u);
  EXPECT_LE(tries[1] - tries[0], 1s + 10ms);
  EXPECT_GT(tries[2] - tries[1], 1s);
  EXPECT_LT(tries.size(), 31u);
  for (size_t i = 3; i + 1 < tries.size(); ++i) {
    EXPECT_GT(tries[i + 1] - tries[i], 2s);
    EXPECT_LE(tries[i + 1] - tries[i], 4s + 10ms);
  }
}

// The connection lives, but nobody at the other end answers.
TEST(MemberSessionsSilenceTest, StreamOfAMemberThatDoesNotAnswerIsClosed) {
  struct OneMember final : ExecutorLink {
    std::vector<MemberId> Members() override { return {MemberId("m1")}; }
    Status Send(const MemberId&, FromExecutor) override { return {}; }
    std::vector<MemberMessage> Receive(size_t) override { return {}; }
    void OnReadable(std::function<void()>) override {}
    void Close(const MemberId&) override { ++closed; }
    void MayWait(Duration) override {}
    int closed = 0;
  } link;
  MemberSessions sessions(link, {.id = ExecutorId("x1"), .incarnation = Incarnation("e1")});
  SteadyTime now{1s};
  const auto pass = [&](Duration span, bool answers) {
    for (const SteadyTime end = now + span; now < end;) {
      now += 100ms;
      sessions.Sync(now);
      sessions.SendHeartbeats(now, MemberSessions::Cause::kTime,
                              [](const MemberId&, Heartbeat*) {});
      if (answers) sessions.OnHeartbeatReply(MemberId("m1"), {});
    }
  };
  sessions.Sync(now);
  sessions.OnRegistered(MemberId("m1"), {.heartbeat = 2s});
  pass(60s, true);
  EXPECT_EQ(link.closed, 0);
  pass(2s, false);
  now += 1min;
  pass(2s, false);
  EXPECT_EQ(link.closed, 0) << "this process was stopped";
  pass(2s, true);
  pass(9s, false);
  EXPECT_EQ(link.closed, 0);
  pass(4s, false);
  EXPECT_EQ(link.closed, 1);
}

}  // namespace
}  // namespace carillon::executor
