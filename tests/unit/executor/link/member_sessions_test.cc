#include "executor/link/member_sessions.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_link.h"

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

}  // namespace
}  // namespace carillon::executor
