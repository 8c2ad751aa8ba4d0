// The environment in which a process runs, and the report of its end.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "executor/warden/process/process_tree.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

class WardenRunTest : public WardenFixture {};

TEST_F(WardenRunTest, CommandThatSucceeds) {
  const AttemptResult result = Run(Command("echo hello"));
  EXPECT_EQ(result.state, RunState::kCompleted);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "hello\n");
  EXPECT_FALSE(result.output_truncated);
  EXPECT_EQ(result.reason, "");
  EXPECT_GE(result.ended, result.started);
  EXPECT_GT(result.started, WallTime{});
}

TEST_F(WardenRunTest, EndCarriesWhatTheResultMessageNeeds) {
  const StartAttempt start = Command("true");
  Run(start);
  const AttemptEnded& ended = ends_[NameOf(start.attempt)];
  EXPECT_EQ(ended.job_id, start.job_id);
  EXPECT_EQ(ended.attempt.token, start.attempt.token);
  EXPECT_EQ(ended.attempt.job_no, start.attempt.job_no);
  EXPECT_EQ(starts_[NameOf(start.attempt)], 1);
}

TEST_F(WardenRunTest, ExitCodeAndSignal) {
  const AttemptResult code = Run(Command("exit 42"));
  EXPECT_EQ(code.state, RunState::kFailed);
  EXPECT_EQ(code.reason, reason::kExitCode);
  EXPECT_EQ(code.exit_code, 42);
  const AttemptResult killed = Run(Command("kill -SEGV $$"));
  EXPECT_EQ(killed.state, RunState::kFailed);
  EXPECT_EQ(killed.reason, reason::kSignal);
  EXPECT_EQ(killed.exit_code, std::nullopt);
}

TEST_F(WardenRunTest, CommandThatBeginsWithAMinus) {
  const AttemptResult result = Run(Command("-no-such-command"));
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.exit_code, 127);
}

TEST_F(WardenRunTest, CommandTooLongToExecuteFailsAsSpawn) {
  StartAttempt start = Command("true");
  start.env["HUGE"] = std::string(3 << 20, 'x');
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kSpawn);
  EXPECT_EQ(result.started, WallTime{});
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
}

TEST_F(WardenRunTest, EnvironmentIsExactlyWhatWasGiven) {
  setenv("CARILLON_TEST_LEAK", "1", 1);
  StartAttempt start = Command("cat /proc/self/environ | tr '\\0' '\\n' | sort");
  start.env["TEXT"] = "two words";
  const AttemptResult result = Run(start);
  std::string expected;
  start.env[kOutputFileVariable] =
      directory() + "/work" + fmt::format("/{}.1.outputs", EncodeRunId(start.attempt.key));
  for (const auto& [name, value] : start.env) expected += name + "=" + value + "\n";
  // The shell itself adds PWD to the environment.
  std::string got = result.output;
  const size_t pwd = got.find("PWD=");
  if (pwd != std::string::npos) got.erase(pwd, got.find('\n', pwd) - pwd + 1);
  EXPECT_EQ(got, expected);
  unsetenv("CARILLON_TEST_LEAK");
}

TEST_F(WardenRunTest, NoDescriptorIsInherited) {
  const AttemptResult result = Run(Command("ls /proc/self/fd | wc -l; readlink /proc/self/fd/0"));
  // The open descriptors are 0, 1, 2 and the one that ls opens.
  EXPECT_EQ(result.output, "4\n/dev/null\n");
}

TEST_F(WardenRunTest, WorkingDirectoryIsFreshAndRemoved) {
  const AttemptResult first = Run(Command("pwd; ls -A; umask; mkdir a; touch a/b; chmod 000 a"));
  const std::string directory = first.output.substr(0, first.output.find('\n'));
  EXPECT_EQ(first.output, directory + "\n0022\n");
  EXPECT_TRUE(test::WaitUntil([&] { return !std::filesystem::exists(directory); }));
  const AttemptResult second = Run(Command("pwd; ls -A"));
  EXPECT_NE(second.output, directory + "\n");
  EXPECT_EQ(std::count(second.output.begin(), second.output.end(), '\n'), 1);
}

TEST_F(WardenRunTest, OwnSessionAndDefaultSignals) {
  const AttemptResult result =
      Run(Command("test $(ps -o sid= -p $$) -eq $$ && echo session;"
                  "grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\\t'; ulimit -c"));
  // Signals 32 and 33 are reserved by the C library, so they cannot be reset if the
  // parent ignored them.
  const std::regex expected("session\nSigBlk:0{16}\nSigIgn:0{7}[01][08]0{7}\n0\n");
  EXPECT_TRUE(std::regex_match(result.output, expected)) << result.output;
}

TEST_F(WardenRunTest, StreamsAreMergedInTheOrderOfTheirWrites) {
  for (int i = 0; i < 20; ++i) {
    const AttemptResult result =
        Run(Command("echo 1; echo 2 >&2; echo 3; echo 4; echo 5 >&2; echo 6 >&2; echo 7"));
    ASSERT_EQ(result.output, "1\n2\n3\n4\n5\n6\n7\n") << i;
  }
}

// The end of another attempt makes the warden look for ended ones before it reads these two lines.
TEST_F(WardenRunTest, StreamsKeepTheirOrderIfTheEndIsNoticedBeforeThem) {
  const std::string go = scratch_ / "go";
  const StartAttempt other = Command("until [ -e " + go + " ]; do sleep 0.01; done");
  ASSERT_TRUE(client_->Start(other).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(other.attempt); }));
  const auto keepers = [&](bool dead) {
    std::vector<pid_t> found;
    for (const ProcessEntry& entry : ReadProcesses()) {
      if (entry.parent == pid() && (entry.state == 'Z') == dead) found.push_back(entry.pid);
    }
    return found;
  };
  ASSERT_EQ(keepers(false).size(), 1u);
  const StartAttempt start = Command(
      fmt::format("kill -STOP {}; touch {}; until grep -q '^State:.Z' /proc/{}/status; do :; done; "
                  "echo 1 >&2; echo 2",
                  pid(), go, keepers(false).at(0)));
  ASSERT_TRUE(client_->Start(start).ok());
  EXPECT_TRUE(test::WaitUntil([&] { return keepers(true).size() == 2; }));
  kill(pid(), SIGCONT);
  EXPECT_EQ(End(start).output, "1\n2\n");
}

TEST_F(WardenRunTest, EachStreamKeepsItsLastBytesWithAMarker) {
  StartAttempt start =
      Command("echo first >&2; head -c 300000 /dev/zero | tr '\\0' a; echo; echo last >&2");
  start.output_bytes_max = 1000;
  const AttemptResult result = Run(start);
  EXPECT_TRUE(result.output_truncated);
  // Beyond 64 KiB the order of the two streams is not kept: "last" may be anywhere.
  std::string output = result.output;
  const size_t last = output.find("last\n");
  ASSERT_NE(last, std::string::npos);
  output.erase(last, 5);
  EXPECT_EQ(output, "first\n[carillon: the first 299001 bytes of stdout were cut]\n" +
                        std::string(999, 'a') + "\n");
}

TEST_F(WardenRunTest, TenMegabytesInOneLine) {
  StartAttempt start = Command("head -c 10485760 /dev/zero | tr '\\0' x");
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kCompleted);
  EXPECT_TRUE(result.output_truncated);
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), 'x'), 64 * 1024);
}

TEST_F(WardenRunTest, AnyBytesAreKept) {
  const AttemptResult result = Run(Command("printf '\\377\\000\\200z'"));
  EXPECT_EQ(result.output, std::string("\xff\0\x80z", 4));
}

TEST_F(WardenRunTest, CommandThatClosesItsDescriptors) {
  const AttemptResult result = Run(Command("exec >&- 2>&- <&-; exit 3"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "");
}

TEST_F(WardenRunTest, BackgroundChildThatKeepsThePipeDoesNotHoldTheRun) {
  StartAttempt start = Command("sleep 1000 & echo $! > " + (scratch_ / "pid") + "; echo done");
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kCompleted);
  EXPECT_EQ(result.output, "done\n");
  const auto pids = test::ReadPids(scratch_ / "pid");
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_FALSE(test::ProcessAlive(pids[0]));
}

TEST_F(WardenRunTest, LeftoversThatIgnoreSigtermAreKilledToo) {
  const std::string pid_file = scratch_ / "pid";
  const AttemptResult result = Run(Command("setsid sh -c 'trap \"\" TERM; echo $$ > " + pid_file +
                                           "; sleep 1000' >/dev/null 2>&1 & "
                                           "while ! test -s " +
                                           pid_file + "; do sleep 0.01; done"));
  EXPECT_EQ(result.state, RunState::kCompleted);
  const auto pids = test::ReadPids(pid_file);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_FALSE(test::ProcessAlive(pids[0]));
}

TEST_F(WardenRunTest, ManyQuickProcesses) {
  constexpr int kRuns = 500;
  std::vector<StartAttempt> starts;
  for (int i = 0; i < kRuns; ++i) {
    starts.push_back(Command("echo " + std::to_string(i)));
    ASSERT_TRUE(client_->Start(starts.back()).ok());
  }
  for (int i = 0; i < kRuns; ++i) {
    const AttemptResult result = End(starts[static_cast<size_t>(i)]);
    EXPECT_EQ(result.state, RunState::kCompleted);
    EXPECT_EQ(result.output, std::to_string(i) + "\n");
  }
  for (const auto& [name, count] : end_counts_) EXPECT_EQ(count, 1);
}

// ---- scripts ------------------------------------------------------------------------------------

TEST_F(WardenRunTest, AScriptRunsAsAFileWithItsArguments) {
  StartAttempt start = Command("cat \"$0\"; echo; ls -l \"$0\"; printf '<%s>' \"$@\"; cat");
  start.script = {.interpreter = "/bin/sh", .suffix = ".sh", .args = {"-a", "b c", ""}};
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
  EXPECT_NE(result.output.find(start.command), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("-r-------- 1"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("<-a><b c><>"), std::string::npos) << result.output;
  const std::string work = directory() + "/work";
  EXPECT_TRUE(test::WaitUntil([&] {
    const std::filesystem::directory_iterator files(work);
    return std::none_of(begin(files), end(files),
                        [](const auto& file) { return file.path().extension() == ".sh"; });
  })) << "the script is removed at the end";
}

TEST_F(WardenRunTest, AScriptOfFullSizeRuns) {
  StartAttempt start = Command(std::string(256u << 10, '#') + "\nexit 3\n");
  start.script = {.interpreter = "/bin/sh", .suffix = ".sh", .args = {}};
  EXPECT_EQ(Run(start).exit_code, 3);
}

TEST_F(WardenRunTest, AScriptWithoutItsInterpreterFailsAsSpawn) {
  StartAttempt start = Command("print(1)");
  start.script = {.interpreter = "/no/such/python3", .suffix = ".py", .args = {}};
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kSpawn);
  EXPECT_NE(result.error.find("exec /no/such/python3"), std::string::npos) << result.error;
}

TEST_F(WardenRunTest, AScriptShowsNoSecrets) {
  StartAttempt start = Command("echo \"$1 $KEY\"");
  start.env["KEY"] = "open-sesame";
  start.masked = {"open-sesame"};
  start.script = {.interpreter = "/bin/sh", .suffix = ".sh", .args = {"open"}};
  EXPECT_EQ(Run(start).output, "open ***\n");
}

// ---- usage --------------------------------------------------------------------------------------

TEST_F(WardenRunTest, UsageIsThatOfAllProcesses) {
  // A grandchild that is left behind burns CPU time and memory until it is killed.
  const StartAttempt start = Command(
      "(setsid perl -e '$x = \"a\" x 50_000_000; open F, \">\", \"ready\"; close F; 1 while 1' &) "
      "; "
      "while [ ! -e ready ]; do :; done; "
      "dd if=/dev/zero of=big bs=1M count=4 conv=fsync 2>/dev/null");
  const AttemptResult result = Run(start);
  ASSERT_EQ(result.state, RunState::kCompleted) << result.error;
  ASSERT_TRUE(result.usage);
  EXPECT_GT(result.usage->cpu_us, 50'000) << "half a second passes before the rest is killed";
  EXPECT_LT(result.usage->cpu_us, 30'000'000);
  EXPECT_GT(result.usage->memory_bytes, 50'000'000);
}

TEST_F(WardenRunTest, AKilledAttemptHasItsUsageToo) {
  StartAttempt start = Command("while :; do :; done");
  start.timeout = 1s;
  start.kill_grace = 0s;
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kTimedOut);
  ASSERT_TRUE(result.usage);
  EXPECT_GT(result.usage->cpu_us, 10'000) << "of a second, on however busy a machine";
}

}  // namespace
}  // namespace carillon::executor
