// Limits of processes, and processes that run as another user. Needs root.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

constexpr uid_t kUser = 54'321;
constexpr gid_t kGroup = 54'322;
constexpr gid_t kOtherGroup = 54'323;

class WardenIsolationTest : public WardenFixture {
 protected:
  void SetUp() override {
    ASSERT_EQ(geteuid(), 0u) << "these tests change users";
    std::filesystem::permissions(runs_.path(), std::filesystem::perms(0711));
    run_directory_ = runs_ / "runs";
    WardenFixture::SetUp();
  }

  StartAttempt AsUser(const std::string& command) {
    StartAttempt start = Command(command);
    start.user = ProcessUser{.name = "alice",
                             .uid = kUser,
                             .gid = kGroup,
                             .groups = {kGroup, kOtherGroup},
                             .home = "/nowhere"};
    return start;
  }
  // The directories of attempts that are still there.
  size_t DirectoriesLeft() const {
    size_t left = 0;
    for (const auto& own : std::filesystem::directory_iterator(run_directory_)) {
      for (const auto& one : std::filesystem::directory_iterator(own.path()))
        left += one.exists() ? 1 : 0;
    }
    return left;
  }

  test::ScratchDirectory runs_;
};

TEST_F(WardenIsolationTest, OpenFilesAndFileSizeAreLimited) {
  StartAttempt start =
      Command("ulimit -n; ulimit -Hn; head -c 3000000 /dev/zero > big; echo $?; stat -c %s big");
  start.limits = Limits{.open_files = 77, .file_size_mb = 1};
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.output,
            fmt::format("77\n77\nFile size limit exceeded\n{}\n1048576\n", 128 + SIGXFSZ));
  EXPECT_TRUE(result.limits_not_enforced.empty());
  StartAttempt writer = Command("exec head -c 3000000 /dev/zero > big");
  writer.limits = Limits{.file_size_mb = 1};
  const AttemptResult killed = Run(writer);
  EXPECT_EQ(killed.state, RunState::kFailed);
  EXPECT_EQ(killed.reason, reason::kSignal);
  EXPECT_NE(killed.error.find("SIGXFSZ"), std::string::npos) << killed.error;
}

TEST_F(WardenIsolationTest, AProcessOfAnotherUser) {
  const AttemptResult result =
      Run(AsUser("id -u; id -g; id -G; stat -c '%u:%g %a' .; cd \"$PWD\" && pwd; touch x && "
                 "grep NoNewPrivs /proc/self/status"));
  EXPECT_EQ(result.state, RunState::kCompleted) << result.error << result.output;
  EXPECT_TRUE(
      result.output.starts_with(fmt::format("{}\n{}\n{} {}\n{}:{} 700\n{}/", kUser, kGroup, kGroup,
                                            kOtherGroup, kUser, kGroup, run_directory_)))
      << result.output;
  EXPECT_NE(result.output.find("NoNewPrivs:\t1"), std::string::npos) << result.output;
  EXPECT_TRUE(test::WaitUntil([&] { return DirectoriesLeft() == 0; }));
}

TEST_F(WardenIsolationTest, ItOpensItsOutputByName) {
  EXPECT_EQ(Run(AsUser("echo one > /dev/stdout; echo two > /dev/stderr")).output, "one\ntwo\n");
}

TEST_F(WardenIsolationTest, ItsScriptAndItsOutputsAreItsOwn) {
  StartAttempt start = AsUser(
      "stat -c '%u %a' \"$0\"; echo a=1 >> \"$CARILLON_OUTPUT_FILE\"; "
      "stat -c %u \"$CARILLON_OUTPUT_FILE\"\n");
  start.script = {.interpreter = "/bin/sh", .suffix = ".sh", .args = {}};
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.output, fmt::format("{} 400\n{}\n", kUser, kUser));
  EXPECT_EQ(result.outputs, (Outputs{{"a", "1"}}));
}

TEST_F(WardenIsolationTest, OutputsThatAreALinkToAFileOfRootAreNotRead) {
  const std::string secret = runs_ / "secret";
  test::WriteFile(secret, "a=stolen\n");
  ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
  const AttemptResult linked =
      Run(AsUser(fmt::format("ln -s {} \"$CARILLON_OUTPUT_FILE\"", secret)));
  EXPECT_EQ(linked.reason, reason::kBadOutputs);
  EXPECT_TRUE(linked.outputs.empty());
  // Nor can a link take the place of the directory of that file.
  EXPECT_EQ(
      Run(AsUser(
              "d=$(dirname \"$CARILLON_OUTPUT_FILE\"); mv \"$d\" \"$d.x\" 2> /dev/null; echo $?"))
          .output,
      "1\n");
}

TEST_F(WardenIsolationTest, AProcessBeginsInTheDirectoryOfItsJob) {
  ASSERT_TRUE(client_->WaitForHostChecks(test::kPatience));
  EXPECT_TRUE(client_->Isolation().Has(Feature::kWorkingDirectory));
  const std::string place = runs_ / "my app";
  std::filesystem::create_directory(place);
  StartAttempt start = Command("pwd; echo x > kept; echo a=1 >> \"$CARILLON_OUTPUT_FILE\"");
  start.working_directory = place;
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.output, place + "\n");
  EXPECT_EQ(result.outputs, (Outputs{{"a", "1"}}));
  EXPECT_EQ(test::ReadFile(place + "/kept"), "x\n") << "nobody removes it";
  StartAttempt script = Command("pwd\n");
  script.script = {.interpreter = "/bin/sh", .suffix = ".sh", .args = {}};
  script.working_directory = place;
  EXPECT_EQ(Run(script).output, place + "\n");
}

TEST_F(WardenIsolationTest, ADirectoryThatCannotBeEnteredIsNamedWithTheCause) {
  const std::string closed = runs_ / "closed";
  const std::string file = runs_ / "file";
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(closed, std::filesystem::perms(0700));
  test::WriteFile(file, "");
  const auto error = [this](StartAttempt start, const std::string& place) {
    start.working_directory = place;
    const AttemptResult result = Run(start);
    EXPECT_EQ(result.state, RunState::kFailed);
    EXPECT_EQ(result.reason, reason::kSpawn);
    return result.error;
  };
  const std::string begin = "could not enter its working directory ";
  EXPECT_EQ(error(Command("true"), runs_ / "none"),
            begin + (runs_ / "none") + ": No such file or directory");
  EXPECT_EQ(error(Command("true"), file), begin + file + ": Not a directory");
  EXPECT_EQ(error(AsUser("true"), closed), begin + closed + ": Permission denied");
  StartAttempt start = Command("true");
  start.masked = {"hunter22"};
  EXPECT_EQ(error(start, "/hunter22/app"), begin + "/***/app: No such file or directory");
}

TEST_F(WardenIsolationTest, AnotherUserBeginsInADirectoryOfItsOwn) {
  const std::string place = runs_ / "home";
  std::filesystem::create_directory(place);
  ASSERT_EQ(chown(place.c_str(), kUser, kGroup), 0);
  StartAttempt start = AsUser("pwd; touch mine && stat -c %u mine");
  start.working_directory = place;
  EXPECT_EQ(Run(start).output, fmt::format("{}\n{}\n", place, kUser));
  EXPECT_TRUE(test::WaitUntil([&] { return DirectoriesLeft() == 0; }));
  EXPECT_TRUE(std::filesystem::exists(place + "/mine"));
}

TEST_F(WardenIsolationTest, ACancelAndATimeoutKillIt) {
  const StartAttempt cancelled = AsUser("sleep 1000 & wait");
  ASSERT_TRUE(client_->Start(cancelled).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(cancelled.attempt); }));
  ASSERT_TRUE(client_->Cancel(cancelled.attempt, CancelMode::kKill).ok());
  EXPECT_EQ(End(cancelled).state, RunState::kCancelled);
  StartAttempt late = AsUser("trap '' TERM; while :; do sleep 0.01; done");
  late.timeout = 100ms;
  late.kill_grace = 100ms;
  EXPECT_EQ(Run(late).state, RunState::kTimedOut);
}

TEST_F(WardenIsolationTest, ADeadWardenTakesItWithIt) {
  const std::string file = runs_ / "pid";
  test::WriteFile(file, "");
  ASSERT_EQ(chown(file.c_str(), kUser, kGroup), 0);
  const StartAttempt start = AsUser(fmt::format("echo $$ > {}; sleep 1000", file));
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(file));
  const pid_t process = static_cast<pid_t>(std::stoi(test::ReadFile(file)));
  kill(pid(), SIGKILL);
  EXPECT_TRUE(test::WaitUntil([&] { return !test::ProcessAlive(process); }));
  EXPECT_EQ(End(start).reason, reason::kWardenDied);
  EXPECT_TRUE(test::WaitUntil([&] { return DirectoriesLeft() == 0; }));
}

TEST_F(WardenIsolationTest, WithoutARunDirectoryItDoesNotStart) {
  Detach();
  TearDown();
  run_directory_.clear();
  directory_name_ = "other";
  Attach();
  ASSERT_TRUE(client_->WaitForHostChecks(test::kPatience));
  EXPECT_FALSE(client_->Isolation().Has(Feature::kRunAs));
  const AttemptResult refused = Run(AsUser("id -u"));
  EXPECT_EQ(refused.reason, reason::kSpawn);
  EXPECT_EQ(refused.output, "");
}

TEST_F(WardenIsolationTest, ARunDirectoryThatOthersCanWriteToIsRefused) {
  Detach();
  TearDown();
  ASSERT_EQ(chmod(run_directory_.c_str(), 0777), 0);
  directory_name_ = "other";
  Attach();
  const auto checks = client_->WaitForHostChecks(test::kPatience);
  ASSERT_TRUE(checks);
  EXPECT_FALSE(client_->Isolation().Has(Feature::kRunAs));
  EXPECT_EQ(checks->back().state, HostCheckState::kNo);
  EXPECT_FALSE(checks->back().cure.empty());
}

}  // namespace
}  // namespace carillon::executor
