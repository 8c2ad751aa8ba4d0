// Tasks that the executor daemon cannot read: their runs end, and the others go on.
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonUnreadableTest : public DaemonFixture {
 protected:
  TaskMessage TooLarge(uint64_t number) {
    TaskMessage task = Task(number);
    task.command = std::string((256u << 10) + 1, 'x');
    return task;
  }
};

TEST_F(DaemonUnreadableTest, TheRunIsClaimedAndFailsAndOthersStart) {
  Join();
  Publish({TooLarge(1), Task(2)});
  EXPECT_EQ(Rejected("corrupt"), 1u);
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 2u);
  for (const ClaimRequest& claim : claims) Answer(claim, ClaimVerdict::kAccepted);
  ASSERT_EQ(warden_.starts.size(), 1u);
  EXPECT_EQ(warden_.starts[0].attempt.key, Task(2).key);
  ASSERT_EQ(bus_.results.size(), 1u);
  const ResultReport& report = bus_.results[0].report;
  EXPECT_EQ(report.key, TooLarge(1).key);
  EXPECT_EQ(report.result.state, RunState::kFailed);
  EXPECT_EQ(report.result.reason, reason::kBadDefinition);
  EXPECT_NE(report.result.error.find("262145 bytes"), std::string::npos) << report.result.error;
  EXPECT_TRUE(report.result.no_retry);
  EXPECT_EQ(report.result.started, WallTime{});
}

// It needs none of what the job needs.
TEST_F(DaemonUnreadableTest, ItWaitsForNoSlotAndNoWarden) {
  warden_.can_start = {ErrorCode::kUnavailable, "test"};
  Join();
  Publish({Task(1), TooLarge(2)});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  Answer(claims[0], ClaimVerdict::kAccepted);
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_EQ(bus_.results[0].report.key, TooLarge(2).key);
}

TEST_F(DaemonUnreadableTest, ARunThatWasCancelledEndsWithTheRefusal) {
  Join();
  Publish({TooLarge(1)});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  Answer(claims[0], ClaimVerdict::kRefused);
  EXPECT_TRUE(bus_.results.empty());
  StepFor(2s);
  EXPECT_TRUE(Claims().empty());
}

}  // namespace
}  // namespace carillon::executor
