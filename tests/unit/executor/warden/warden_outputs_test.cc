// Outputs of real processes: what their result has of the file that they wrote.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>

#include "executor/warden/channel/daemon_channel.h"
#include "executor/warden/process/process_tree.h"
#include "executor/warden/server/warden_server.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

constexpr const char* kTo = " >> \"$CARILLON_OUTPUT_FILE\"";

class WardenOutputsTest : public WardenFixture {
 protected:
  void ExpectBad(const AttemptResult& result, const std::string& why) {
    EXPECT_EQ(result.state, RunState::kFailed);
    EXPECT_EQ(result.reason, reason::kBadOutputs);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.error, "its outputs cannot be used: " + why);
    EXPECT_EQ(result.outputs, Outputs{});
  }
  // The entries of the directory in which the attempts work.
  std::vector<std::string> AtWork() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory() + "/work")) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("spare-")) names.push_back(name);
    }
    return names;
  }
  bool WaitTidy() {
    return test::WaitUntil([&] { return AtWork().empty(); });
  }
};

TEST_F(WardenOutputsTest, LinesOfTheFileAreInTheResult) {
  const StartAttempt start = Command(std::string("echo rows=12") + kTo +
                                     "; printf 'text<<END\\na\\nb\\nEND\\nrows=13'" + kTo);
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
  EXPECT_EQ(result.outputs, (Outputs{{"rows", "13"}, {"text", "a\nb"}}));
  EXPECT_TRUE(WaitTidy());
}

TEST_F(WardenOutputsTest, EachAttemptHasAFileOfItsOwnOutsideItsDirectory) {
  StartAttempt start = Command(std::string("ls -A; echo \"$CARILLON_OUTPUT_FILE\"; "
                                           "ls \"$CARILLON_OUTPUT_FILE\"; echo a=1") +
                               kTo);
  start.env[kOutputFileVariable] = "/forged";
  const AttemptResult first = Run(start);
  EXPECT_EQ(first.outputs, (Outputs{{"a", "1"}}));
  const std::string file = first.output.substr(0, first.output.find('\n'));
  EXPECT_EQ(std::filesystem::path(file).parent_path(), directory() + "/work");
  EXPECT_EQ(first.output.find("/forged"), std::string::npos);
  start.attempt.attempt = 2;
  start.attempt.token.low += 1000;
  const AttemptResult second = Run(start);
  EXPECT_EQ(second.output.find(file + "\n"), std::string::npos);
  EXPECT_EQ(second.outputs, (Outputs{{"a", "1"}}));
  EXPECT_EQ(Run(Command("true")).outputs, Outputs{});
}

TEST_F(WardenOutputsTest, LargestFileIsTakenAndALargerOneFailsTheRun) {
  const auto with = [&](size_t bytes) {
    return "(printf a=; head -c " + std::to_string(bytes) + " /dev/zero | tr '\\0' x)" + kTo;
  };
  const AttemptResult largest = Run(Command(with(kOutputsBytesMax - 2)));
  EXPECT_EQ(largest.state, RunState::kCompleted) << largest.error;
  EXPECT_EQ(largest.outputs.at("a").size(), kOutputsBytesMax - 2);
  ExpectBad(Run(Command(with(kOutputsBytesMax - 1))), "their file is too large");
  ExpectBad(Run(Command(with(4 << 20))), "their file is too large");
  EXPECT_TRUE(WaitTidy());
}

TEST_F(WardenOutputsTest, TextThatIsNotOutputsFailsTheRun) {
  ExpectBad(Run(Command(std::string("echo nonsense") + kTo)), "line 1 is not NAME=value");
  ExpectBad(Run(Command(std::string("printf 'a=\\377\\n'") + kTo)), "not UTF-8");
}

TEST_F(WardenOutputsTest, WhateverIsInItsPlaceIsNotFollowedAndNotWaitedFor) {
  test::WriteFile(scratch_ / "other", "a=1\n");
  const std::string not_a_file = "their file is not a regular file";
  ExpectBad(Run(Command("ln -s " + (scratch_ / "other") + " \"$CARILLON_OUTPUT_FILE\"")),
            not_a_file);
  ExpectBad(Run(Command("mkfifo \"$CARILLON_OUTPUT_FILE\"")), not_a_file);
  ExpectBad(Run(Command("mkdir -p \"$CARILLON_OUTPUT_FILE/x\"")), not_a_file);
  EXPECT_TRUE(WaitTidy());
  EXPECT_EQ(test::ReadFile(scratch_ / "other"), "a=1\n");
}

TEST_F(WardenOutputsTest, FailedProcessKeepsItsReason) {
  const AttemptResult good = Run(Command(std::string("echo a=1") + kTo + "; exit 3"));
  EXPECT_EQ(good.reason, reason::kExitCode);
  EXPECT_EQ(good.error, "exit code 3");
  EXPECT_EQ(good.outputs, (Outputs{{"a", "1"}}));
  const AttemptResult bad = Run(Command(std::string("echo nonsense") + kTo + "; exit 3"));
  EXPECT_EQ(bad.reason, reason::kExitCode);
  EXPECT_EQ(bad.error, "exit code 3; its outputs cannot be used: line 1 is not NAME=value");
  EXPECT_EQ(bad.outputs, Outputs{});
}

TEST_F(WardenOutputsTest, KilledProcessHasNone) {
  const AttemptResult killed = Run(Command(std::string("echo a=1") + kTo + "; kill -KILL $$"));
  EXPECT_EQ(killed.reason, reason::kSignal);
  EXPECT_EQ(killed.outputs, Outputs{});
  StartAttempt late = Command(std::string("echo a=1") + kTo + "; sleep 60");
  late.timeout = 300ms;
  late.kill_grace = {};
  const AttemptResult result = Run(late);
  EXPECT_EQ(result.state, RunState::kTimedOut);
  EXPECT_EQ(result.outputs, Outputs{});
  EXPECT_TRUE(WaitTidy());
}

TEST_F(WardenOutputsTest, ValuesOfSecretsAreMaskedOnDiskToo) {
  StartAttempt start = Command(std::string("echo \"a=my $PASSWORD\"") + kTo);
  start.env["PASSWORD"] = "correct-horse-battery";
  start.masked = {"correct-horse-battery"};
  EXPECT_EQ(Run(start).outputs, (Outputs{{"a", "my ***"}}));
  EXPECT_TRUE(WaitTidy());
  std::string disk;
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory())) {
    if (file.is_regular_file()) disk += test::ReadFile(file.path());
  }
  EXPECT_NE(disk.find("my ***"), std::string::npos);
  EXPECT_EQ(disk.find("correct-horse-battery"), std::string::npos);
}

TEST_F(WardenOutputsTest, OutputsSurviveTheWardenAndTheDaemon) {
  const StartAttempt start = Command(std::string("echo a=1") + kTo);
  ASSERT_EQ(Run(start).outputs, (Outputs{{"a", "1"}}));
  kill(pid(), SIGKILL);  // right after the report, so the end must already be on disk
  Detach();
  Attach();
  const auto inventory = client_->List();
  ASSERT_TRUE(inventory.ok());
  ASSERT_EQ(inventory->ended.size(), 1u);
  EXPECT_EQ(inventory->ended[0].result.outputs, (Outputs{{"a", "1"}}));
  ends_.clear();
  EXPECT_EQ(End(start).outputs, (Outputs{{"a", "1"}}));
}

TEST_F(WardenOutputsTest, EndsWithoutADaemonKeepTheirOutputs) {
  const StartAttempt start = Command("echo $$ > " + (scratch_ / "pid") + "; while ! test -e " +
                                     (scratch_ / "go") + "; do sleep 0.02; done; echo a=1" + kTo);
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  const pid_t process = test::ReadPids(scratch_ / "pid").at(0);
  Detach();
  test::WriteFile(scratch_ / "go", "1");
  ASSERT_TRUE(test::WaitUntil([&] { return !test::ProcessAlive(process); }));
  Attach();
  EXPECT_EQ(End(start).outputs, (Outputs{{"a", "1"}}));
}

TEST_F(WardenOutputsTest, NothingIsLeftOfAKilledKeeper) {
  const StartAttempt start = Command(std::string("echo a=1") + kTo + "; echo > " +
                                     (scratch_ / "ready") + "; while :; do sleep 1; done");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "ready"));
  for (const ProcessEntry& entry : ReadProcesses()) {
    if (entry.parent == pid()) kill(entry.pid, SIGKILL);
  }
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.outputs, Outputs{});
  EXPECT_TRUE(WaitTidy());
}

}  // namespace
}  // namespace carillon::executor
