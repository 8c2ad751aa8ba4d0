// Attempts with limits and of other users, from the task to the start, and the features of
// their host.
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonIsolationTest : public DaemonFixture {
 protected:
  TaskMessage TaskAs(const std::string& user) {
    TaskMessage task = Task(1);
    task.run_as = user;
    return task;
  }
  void Accept(const TaskMessage& task) {
    Join();
    Publish({task});
    const auto claims = Claims();
    ASSERT_EQ(claims.size(), 1u);
    Answer(claims[0], ClaimVerdict::kAccepted);
  }
  static ProcessUser Alice() {
    return {.name = "alice", .uid = 1000, .gid = 100, .groups = {100, 20}, .home = "/home/alice"};
  }
};

TEST_F(DaemonIsolationTest, LimitsAndTheUserGoIntoTheStart) {
  users_.known.emplace("alice", Alice());
  TaskMessage task = TaskAs("alice");
  task.limits = Limits{.pids = 9};
  task.env = {{"HOME", "/elsewhere"}};
  Accept(task);
  ASSERT_EQ(warden_.starts.size(), 1u);
  const StartAttempt& start = warden_.starts[0];
  EXPECT_EQ(start.limits, task.limits);
  EXPECT_EQ(start.user, Alice());
  EXPECT_EQ(start.env.at("USER"), "alice");
  EXPECT_EQ(start.env.at("LOGNAME"), "alice");
  EXPECT_EQ(start.env.at("HOME"), "/elsewhere") << "the job's own";
}

TEST_F(DaemonIsolationTest, AUserWhoIsNotAllowedStartsNothing) {
  Accept(TaskAs("bert"));
  StepFor(1s);
  EXPECT_TRUE(warden_.starts.empty());
  ASSERT_FALSE(bus_.results.empty());
  const AttemptResult& result = bus_.results[0].report.result;
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kSpawn);
  EXPECT_EQ(result.started, WallTime{});
}

TEST_F(DaemonIsolationTest, AUserWhoIsNotKnownYetIsWaitedFor) {
  users_.known.emplace("alice", Error{ErrorCode::kUnavailable, "test"});
  Accept(TaskAs("alice"));
  StepFor(1s);
  EXPECT_TRUE(warden_.starts.empty());
  EXPECT_TRUE(bus_.results.empty());
  users_.known.at("alice") = Alice();
  Step();
  ASSERT_EQ(warden_.starts.size(), 1u);
  EXPECT_EQ(warden_.starts[0].user->uid, 1000u);
}

TEST_F(DaemonIsolationTest, AHeartbeatTellsWhatTheWardenCan) {
  warden_.isolation = {Feature::kLimits, Feature::kRunAs};
  Join();
  StepFor(3s);
  auto beats = link_.Take<Heartbeat>();
  ASSERT_FALSE(beats.empty());
  EXPECT_TRUE(beats.back().features.Has(Feature::kLimits));
  EXPECT_FALSE(beats.back().features.Has(Feature::kRunAs)) << "no user is allowed";
  EXPECT_FALSE(beats.back().features.Has(Feature::kMemoryLimit));
}

}  // namespace
}  // namespace carillon::executor
