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

TEST_F(DaemonIsolationTest, AProcessHasTheHomeOfTheUserAsWhomItRuns) {
  users_.own = ProcessUser{.name = "carillon", .home = "/var/lib/carillon"};
  Accept(Task(1));
  const StartAttempt& start = warden_.starts.at(0);
  EXPECT_FALSE(start.user) << "no change of users";
  EXPECT_EQ(start.env.at("HOME"), "/var/lib/carillon");
  EXPECT_EQ(start.env.at("USER"), "carillon");
  EXPECT_EQ(start.env.at("LOGNAME"), "carillon");
  EXPECT_EQ(start.env.at("SHELL"), "/bin/sh");
  EXPECT_EQ(start.env.at("PYTHONUNBUFFERED"), "1");
}

TEST_F(DaemonIsolationTest, TheHomeOfAnotherUserTakesThePlaceOfItsOwn) {
  users_.own = ProcessUser{.name = "root", .home = "/root"};
  users_.known.emplace("alice", Alice());
  TaskMessage task = TaskAs("alice");
  task.working_directory = "~/app";
  Accept(task);
  EXPECT_EQ(warden_.starts.at(0).env.at("HOME"), "/home/alice");
  EXPECT_EQ(warden_.starts.at(0).working_directory, "/home/alice/app");
}

TEST_F(DaemonIsolationTest, AVariableOfTheJobTakesPrecedence) {
  users_.own = ProcessUser{.name = "carillon", .home = "/var/lib/carillon"};
  TaskMessage task = Task(1);
  task.env = {{"HOME", "/elsewhere"}, {"SHELL", "/bin/bash"}, {"PYTHONUNBUFFERED", ""}};
  task.working_directory = "~";
  Accept(task);
  const StartAttempt& start = warden_.starts.at(0);
  EXPECT_EQ(start.env.at("HOME"), "/elsewhere");
  EXPECT_EQ(start.env.at("SHELL"), "/bin/bash");
  EXPECT_EQ(start.env.at("PYTHONUNBUFFERED"), "");
  EXPECT_EQ(start.working_directory, "/elsewhere");
}

TEST_F(DaemonIsolationTest, AUserWithoutAnEntryHasNoHome) {
  users_.own = Error{ErrorCode::kNotFound, "this host has no user with the id 4711"};
  Accept(Task(1));
  EXPECT_FALSE(warden_.starts.at(0).env.contains("HOME"));
  EXPECT_FALSE(warden_.starts.at(0).env.contains("USER"));
  TaskMessage at_home = Task(2);
  at_home.working_directory = "~";
  Publish({at_home});
  Answer(Claims().at(0), ClaimVerdict::kAccepted);
  EXPECT_EQ(warden_.starts.size(), 1u);
  ASSERT_FALSE(bus_.results.empty());
  const AttemptResult& result = bus_.results[0].report.result;
  EXPECT_EQ(result.reason, reason::kSpawn);
  EXPECT_NE(result.error.find("working directory ~: the process has no HOME"), std::string::npos)
      << result.error;
}

TEST_F(DaemonIsolationTest, ItsOwnUserIsWaitedForWhileTheDatabaseIsSilent) {
  users_.own = Error{ErrorCode::kUnavailable, "look up user: I/O error"};
  Accept(Task(1));
  StepFor(1s);
  EXPECT_TRUE(warden_.starts.empty());
  EXPECT_TRUE(bus_.results.empty());
  users_.own = ProcessUser{.name = "carillon", .home = "/var/lib/carillon"};
  Step();
  ASSERT_EQ(warden_.starts.size(), 1u);
}

TEST_F(DaemonIsolationTest, ARunIsGivenBackIfTheDatabaseStaysSilent) {
  users_.own = Error{ErrorCode::kUnavailable, "look up user: I/O error"};
  Accept(Task(1));
  StepFor(9s);
  EXPECT_TRUE(bus_.results.empty());
  StepFor(2s);
  ASSERT_FALSE(bus_.results.empty());
  const AttemptResult& result = bus_.results[0].report.result;
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kHost) << "it uses up no retry, and may start elsewhere";
  EXPECT_EQ(result.error, "the user database of its host does not answer: look up user: I/O error");
  users_.own = ProcessUser{.name = "carillon", .home = "/var/lib/carillon"};
  StepFor(2s);
  EXPECT_TRUE(warden_.starts.empty());
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
