// Attempts of type container with a real warden and an engine that is a script: their ends, whoever
// dies or hangs between the end of a container and its removal.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "executor/warden/container/container_driver.h"
#include "executor/warden/container/container_record.h"
#include "executor/warden/process/keeper.h"
#include "executor/warden/process/process_tree.h"
#include "tests/support/script_engine.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

class WardenContainerTest : public WardenFixture {
 protected:
  StartAttempt Contained(const std::string& command) {
    StartAttempt start = Command("");
    start.container = StartAttempt::Container{
        engine_.program(), {.image = "image", .command = {"sh", "-c"}, .args = {command}}};
    return start;
  }
  std::string RecordOf(const StartAttempt& start) const {
    return RecordsIn(directory()) + "/" + ContainerName(start.attempt);
  }
  bool EndWritten(const StartAttempt& start) const {
    return test::WaitUntil([&] { return ReadEnd(RecordOf(start)).ok(); });
  }
  std::vector<pid_t> Keepers() const {
    std::vector<pid_t> keepers;
    for (const ProcessEntry& entry : ReadProcesses()) {
      if (entry.parent == pid() && entry.name == kShimName) keepers.push_back(entry.pid);
    }
    return keepers;
  }
  // The driver of the only attempt.
  pid_t Driver() const {
    for (const pid_t keeper : Keepers()) {
      for (const ProcessEntry& entry : ReadProcesses()) {
        if (entry.parent == keeper) return entry.pid;
      }
    }
    return 0;
  }
  bool Listed() const {
    return test::WaitUntil([&] { return engine_.CallsOf("ps") > 0; });
  }
  std::string NameOf(const StartAttempt& start) const { return ContainerName(start.attempt); }
  bool Running(const StartAttempt& start) const {
    return test::WaitUntil([&] { return !engine_.ReadOf(NameOf(start), "pid").empty(); });
  }
  bool FilesGone(const StartAttempt& start) const {
    return test::WaitUntil([&] {
      return !std::filesystem::exists(RecordOf(start)) &&
             !std::filesystem::exists(EndFileOf(RecordOf(start)));
    });
  }

  test::ScriptEngine engine_;
};

void ExpectExit(const AttemptResult& result, int code) {
  EXPECT_EQ(result.state, code == 0 ? RunState::kCompleted : RunState::kFailed) << result.error;
  EXPECT_EQ(result.exit_code, code) << result.reason << " " << result.error;
}

TEST_F(WardenContainerTest, EndsWithItsCodeItsOutputsAndNothingLeft) {
  StartAttempt start = Contained("exit 0");
  ExpectExit(Run(start), 0);
  EXPECT_FALSE(engine_.Has(NameOf(start)));
  EXPECT_TRUE(FilesGone(start));
  EXPECT_EQ(engine_.CallsOf("kill"), 0) << "it had ended";
  ExpectExit(Run(Contained("exit 7")), 7);
}

TEST_F(WardenContainerTest, TimeoutLeaseAndCancelAfterTheEndChangeNothing) {
  engine_.Hold("ps");
  StartAttempt timed = Contained("exit 0");
  timed.timeout = 5s;
  StartAttempt leased = Contained("exit 3");
  leased.lease_end = clock_.Steady() + 8s;  // enforced 3 s before it
  leased.kill_at_lease_end = true;
  StartAttempt cancelled = Contained("exit 4");
  const SteadyTime late = leased.lease_end;
  for (const StartAttempt* start : {&timed, &leased, &cancelled})
    ASSERT_TRUE(client_->Start(*start).ok());
  for (const StartAttempt* start : {&timed, &leased, &cancelled}) ASSERT_TRUE(EndWritten(*start));
  ASSERT_TRUE(Listed());
  ASSERT_TRUE(client_->Cancel(cancelled.attempt, CancelMode::kGraceful).ok());
  ASSERT_TRUE(client_->Cancel(cancelled.attempt, CancelMode::kKill).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return clock_.Steady() > late; }));
  EXPECT_FALSE(Ended(timed.attempt)) << "the engine has not said that nothing is left";
  engine_.Release("ps");
  ExpectExit(End(timed), 0);
  ExpectExit(End(leased), 3);
  ExpectExit(End(cancelled), 4);
}

TEST_F(WardenContainerTest, KeeperKilledAfterTheEndChangesNothing) {
  engine_.Hold("ps");
  const StartAttempt start = Contained("exit 0");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(EndWritten(start) && Listed());
  for (const pid_t keeper : Keepers()) kill(keeper, SIGKILL);
  engine_.Release("ps");
  ExpectExit(End(start), 0);
}

TEST_F(WardenContainerTest, WardenKilledAfterTheEndChangesNothing) {
  engine_.Hold("ps");
  const StartAttempt start = Contained("exit 0");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(EndWritten(start) && Listed());
  kill(pid(), SIGKILL);
  engine_.Release("ps");
  ExpectExit(End(start), 0);
  EXPECT_EQ(engine_.CallsOf("start"), 1);
  EXPECT_TRUE(FilesGone(start));
}

TEST_F(WardenContainerTest, KeeperKilledBeforeTheEndIsReadChangesNothing) {
  engine_.Hold("inspect");
  const StartAttempt start = Contained("exit 0");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return engine_.CallsOf("inspect") > 0; }));
  ASSERT_TRUE(WriteEnd(RecordOf(start), {.exit_code = 0}).ok());
  for (const pid_t keeper : Keepers()) kill(keeper, SIGKILL);
  engine_.Release("inspect");
  ExpectExit(End(start), 0);
}

// The driver cannot write the end, as on a full disk.
TEST_F(WardenContainerTest, EndThatCannotBeWrittenIsThatOfTheEngine) {
  for (const int code : {0, 7}) {
    const StartAttempt start = Contained(fmt::format("exit {}", code));
    std::filesystem::create_directory(EndFileOf(RecordOf(start)) + ".new");
    ExpectExit(Run(start), code);
  }
}

TEST_F(WardenContainerTest, EndThatCannotBeReadIsNoEnd) {
  engine_.Hold("inspect");
  const StartAttempt start = Contained("exit 7");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return engine_.CallsOf("inspect") > 0; }));
  std::filesystem::create_directory(EndFileOf(RecordOf(start)));
  engine_.Release("inspect");
  ASSERT_TRUE(test::WaitUntil([&] { return engine_.CallsOf("rm") > 0; }));
  EXPECT_FALSE(Ended(start.attempt)) << "it may be on the disk";
  std::filesystem::remove(EndFileOf(RecordOf(start)));
  ExpectExit(End(start), 7);
}

TEST_F(WardenContainerTest, StatusOfADriverIsNoResult) {
  for (const int signal_number : {SIGKILL, SIGSEGV}) {
    const StartAttempt start = Contained("sleep 1000");
    ASSERT_TRUE(client_->Start(start).ok());
    ASSERT_TRUE(Running(start));
    kill(Driver(), signal_number);
    const AttemptResult result = End(start);
    EXPECT_EQ(result.state, RunState::kLost);
    EXPECT_EQ(result.reason, reason::kWardenDied);
    EXPECT_EQ(result.exit_code, std::nullopt);
    EXPECT_FALSE(engine_.Has(NameOf(start)));
  }
}

TEST_F(WardenContainerTest, CancelOfWhatRunsIsACancel) {
  const StartAttempt start = Contained("sleep 1000");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(Running(start));
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kGraceful).ok());
  EXPECT_EQ(End(start).state, RunState::kCancelled);
  const StartAttempt killed = Contained("sleep 1000");
  ASSERT_TRUE(client_->Start(killed).ok());
  ASSERT_TRUE(Running(killed));
  ASSERT_TRUE(client_->Cancel(killed.attempt, CancelMode::kKill).ok());
  EXPECT_EQ(End(killed).state, RunState::kCancelled);
  EXPECT_FALSE(engine_.Has(NameOf(killed)));
}

TEST_F(WardenContainerTest, ProcessesOfTheEngineAreLeftAlone) {
  engine_.LeaveProcesses();
  const StartAttempt start = Contained("sleep 1000");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(Running(start));
  const pid_t left = engine_.left_behind();
  ASSERT_GT(left, 0);
  const std::vector<pid_t> of_container = Keepers();
  const StartAttempt process =
      Command(fmt::format("echo $$ >{}; exec sleep 1000", scratch_ / "pid"));
  ASSERT_TRUE(client_->Start(process).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  for (const pid_t keeper : Keepers()) {
    if (std::find(of_container.begin(), of_container.end(), keeper) == of_container.end())
      kill(keeper, SIGKILL);
  }
  EXPECT_EQ(End(process).state, RunState::kLost);
  EXPECT_TRUE(test::ProcessAlive(left)) << "the strays of another attempt were killed";
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kKill).ok());
  EXPECT_EQ(End(start).state, RunState::kCancelled);
  EXPECT_TRUE(test::ProcessAlive(left));
  kill(left, SIGKILL);
}

TEST_F(WardenContainerTest, KilledWardenRemovesWhatRuns) {
  const StartAttempt start = Contained("sleep 1000");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(Running(start));
  kill(pid(), SIGKILL);
  EXPECT_EQ(End(start).state, RunState::kLost);
  EXPECT_FALSE(engine_.Has(NameOf(start)));
}

TEST_F(WardenContainerTest, WardenThatIsStoppedRemovesWhatRuns) {
  const StartAttempt start = Contained("sleep 1000");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(Running(start));
  kill(pid(), SIGTERM);
  EXPECT_EQ(End(start).state, RunState::kLost);
  EXPECT_FALSE(engine_.Has(NameOf(start)));
}

// Nobody asks the engine about each of them before it is killed: there may be many.
TEST_F(WardenContainerTest, WhatADeadWardenHasLeftIsKilledWithOneCall) {
  std::vector<StartAttempt> starts;
  for (int i = 0; i < 3; ++i) {
    starts.push_back(Contained("sleep 1000"));
    ASSERT_TRUE(client_->Start(starts.back()).ok());
    ASSERT_TRUE(Running(starts.back()));
  }
  const std::vector<pid_t> keepers = Keepers();
  const int inspected = engine_.CallsOf("inspect");
  engine_.Hold("ps");
  kill(pid(), SIGKILL);
  for (const pid_t keeper : keepers) kill(keeper, SIGKILL);
  ASSERT_TRUE(Listed());
  engine_.Release("ps");
  for (const StartAttempt& start : starts) EXPECT_EQ(End(start).state, RunState::kLost);
  EXPECT_EQ(engine_.CallsOf("inspect"), inspected);
  EXPECT_LE(engine_.CallsOf("kill"), 2) << "as many as rounds";
}

// The records may be unreadable when the next warden looks: the journal knows that there is a
// container.
TEST_F(WardenContainerTest, KilledWardenWhoseRecordsCannotBeSeenRemovesWhatRuns) {
  const StartAttempt start = Contained("sleep 1000");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(Running(start));
  engine_.Hold("ps");
  std::filesystem::rename(RecordsIn(directory()), RecordsIn(directory()) + ".away");
  const std::vector<pid_t> keepers = Keepers();
  kill(pid(), SIGKILL);
  for (const pid_t keeper : keepers) kill(keeper, SIGKILL);
  ASSERT_TRUE(test::WaitUntil([&] { return engine_.CallsOf("ps") > 0; }));
  EXPECT_FALSE(Ended(start.attempt)) << "its container runs";
  engine_.Release("ps");
  EXPECT_EQ(End(start).state, RunState::kLost);
  EXPECT_FALSE(engine_.Has(NameOf(start)));
}

// The script reads its environment before its first line.
TEST_F(WardenContainerTest, VariablesOfTheJobRunNothingOnTheHost) {
  const std::string proof = scratch_ / "proof";
  StartAttempt start = Contained("exit 0");
  start.env["BASH_ENV"] = fmt::format("$(id >{})", proof);
  start.env["SHELLOPTS"] = "xtrace";
  start.env["PS4"] = fmt::format("$(id >{})", proof);
  start.env["PATH"] = "/nowhere";
  start.env["LD_PRELOAD"] = "/nowhere";
  start.env["CARILLON_PARAM_TEXT"] = "one\ntwo";
  engine_.Hold("inspect");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return engine_.CallsOf("inspect") > 0; }));
  const std::string given = engine_.ReadOf(NameOf(start), "env");
  const std::string client = engine_.ReadOf(NameOf(start), "client");
  const std::string driver = ReadEnvironment(Driver());
  engine_.Release("inspect");
  ExpectExit(End(start), 0);
  EXPECT_FALSE(std::filesystem::exists(proof)) << test::ReadFile(proof);
  for (const char* name : {"BASH_ENV=", "PS4=", "PATH=/nowhere", "LD_PRELOAD="}) {
    EXPECT_NE(given.find(name), std::string::npos) << name;
    EXPECT_EQ(client.find(name), std::string::npos) << name;
    EXPECT_EQ(driver.find(name), std::string::npos) << name;
  }
  EXPECT_NE(client.find("CARILLON_PARAM_TEXT=one\ntwo"), std::string::npos)
      << "a line cannot have it";
}

TEST_F(WardenContainerTest, VariableThatNoEngineTakesIsRefused) {
  StartAttempt start = Contained("exit 0");
  start.env["TEXT"] = "one\ntwo";
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.reason, reason::kSpawn);
  EXPECT_NE(result.error.find("TEXT"), std::string::npos);
}

TEST_F(WardenContainerTest, LimitThatTheEngineIgnoresIsRefused) {
  StartAttempt start = Contained("exit 0");
  start.limits = Limits{.memory_mb = 64, .pids = 9};
  test::WriteFile(std::filesystem::path(engine_.program()).parent_path() / "limits",
                  "67108864 0 0 0\n");
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.reason, reason::kSpawn);
  EXPECT_NE(result.error.find("pids"), std::string::npos) << result.error;
  EXPECT_EQ(engine_.CallsOf("start"), 0);
  start = Contained("exit 0");
  start.limits = Limits{.memory_mb = 64};
  ExpectExit(Run(start), 0);
}

TEST_F(WardenContainerTest, DriverWithoutARecordHasStartedNothing) {
  const std::string record = scratch_ / "none";
  EXPECT_EQ(RunContainerDriver(record), 0);
  const auto end = ReadEnd(record);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->kind, ContainerEnd::Kind::kNotStarted);
}

// A process may set this variable itself; only the record of the start says that it is in a
// container.
TEST_F(WardenContainerTest, ProcessThatSaysItIsInAContainerIsKilledWithItsAttempt) {
  StartAttempt start = Command(fmt::format("echo $$ >{}; exec sleep 1000", scratch_ / "pid"));
  start.env["CARILLON_CONTAINER"] = "x";
  start.command = "setsid sh -c '" + start.command + "' & wait";
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  const pid_t process = test::ReadPids(scratch_ / "pid").at(0);
  const std::vector<pid_t> keepers = Keepers();
  kill(pid(), SIGKILL);
  for (const pid_t keeper : keepers) kill(keeper, SIGKILL);
  EXPECT_EQ(End(start).state, RunState::kLost);
  EXPECT_FALSE(test::ProcessAlive(process));
}

}  // namespace
}  // namespace carillon::executor
