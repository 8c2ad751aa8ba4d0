// Limits of memory, CPU and processes by a real kernel with delegated control groups. Runs in
// user-mode Linux (in_uml.sh), because few hosts of tests can delegate a group.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include <fmt/format.h>

#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

constexpr char kGroups[] = "/sys/fs/cgroup/carillon-warden";

class WardenCgroupTest : public WardenFixture {
 protected:
  void SetUp() override {
    // As systemd would start its unit: alone, in a new group, when nothing of the one before
    // is left.
    const std::string start = scratch_ / "start";
    test::WriteFile(
        start,
        fmt::format("#!/bin/sh\n"
                    "while [ -d {0} ]; do\n"
                    "  echo 1 > {0}/cgroup.kill\n"
                    "  find {0} -depth -type d -exec rmdir {{}} + 2> /dev/null\n"
                    "done\n"
                    "mkdir {0}\n"
                    "(echo 0 > {0}/cgroup.procs && exec {1} --foreground \"$@\") > {2} 2>&1 &\n",
                    kGroups, test::BuiltExecutable("carillon-warden"), scratch_ / "log"));
    ASSERT_EQ(chmod(start.c_str(), 0700), 0);
    executable_ = start;
    WardenFixture::SetUp();
    ASSERT_TRUE(client_->WaitForHostChecks(test::kPatience));
  }
  void TearDown() override {
    WardenFixture::TearDown();
    EXPECT_EQ(GroupsLeft(), 0u);
  }
  // The groups of attempts.
  static size_t GroupsLeft() {
    size_t left = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kGroups)) {
      left += entry.is_directory() && entry.path().filename() != "warden" ? 1 : 0;
    }
    return left;
  }
  StartAttempt Limited(const std::string& command, const Limits& limits) {
    StartAttempt start = Command(command);
    start.limits = limits;
    return start;
  }
};

TEST_F(WardenCgroupTest, EverythingThatWasTriedIsOffered) {
  const Features features = client_->Isolation();
  EXPECT_TRUE(features.HasAll(
      {Feature::kLimits, Feature::kMemoryLimit, Feature::kCpuLimit, Feature::kPidsLimit}));
  const auto checks = client_->WaitForHostChecks(1s);
  EXPECT_EQ(checks->front().state, HostCheckState::kWorks)
      << checks->front().detail << checks->front().cure;
  EXPECT_EQ(GroupsLeft(), 0u) << "the trial";
}

TEST_F(WardenCgroupTest, AnAttemptThatUsesTooMuchMemoryEndsAsOom) {
  const Limits limits{.memory_mb = 16};
  const AttemptResult result =
      Run(Limited("sleep 1000 & exec python3 -c 'x = bytearray(64 << 20); print(len(x))'", limits));
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kOom) << result.error << result.output;
  EXPECT_NE(result.error.find("16 MiB"), std::string::npos) << result.error;
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(Run(Limited("echo fits", limits)).output, "fits\n");
  EXPECT_TRUE(test::WaitUntil([] { return GroupsLeft() == 0; }));
}

TEST_F(WardenCgroupTest, AKillThatIsNotTheKernelsIsNoOom) {
  const AttemptResult killed = Run(Limited("kill -KILL $$", {.memory_mb = 16}));
  EXPECT_EQ(killed.reason, reason::kSignal);
  const AttemptResult code = Run(Limited("exit 137", {.memory_mb = 16}));
  EXPECT_EQ(code.reason, reason::kExitCode);
}

TEST_F(WardenCgroupTest, ProcessesAreCounted) {
  const AttemptResult result = Run(
      Limited("for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; echo unreachable", {.pids = 5}));
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_NE(result.output.find("fork"), std::string::npos) << result.output;
}

TEST_F(WardenCgroupTest, TheShareOfTheCpuIsSet) {
  const AttemptResult result =
      Run(Limited("cat /sys/fs/cgroup$(sed s/^0::// /proc/self/cgroup)/cpu.max", {.cpu = 0.25}));
  EXPECT_EQ(result.output, "25000 100000\n");
}

TEST_F(WardenCgroupTest, AKillReachesEverythingInTheGroup) {
  const StartAttempt start =
      Limited("for i in 1 2 3; do setsid sleep 1000 & done; wait", {.pids = 50});
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(start.attempt); }));
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kKill).ok());
  EXPECT_EQ(End(start).state, RunState::kCancelled);
  EXPECT_TRUE(test::WaitUntil([] { return GroupsLeft() == 0; }));
}

TEST_F(WardenCgroupTest, AForkBombIsKilled) {
  StartAttempt bomb = Limited("b() { b | b & }; b; sleep 1000", {.pids = 200});
  bomb.timeout = 500ms;
  bomb.kill_grace = 0s;
  EXPECT_EQ(Run(bomb).state, RunState::kTimedOut);
  EXPECT_TRUE(test::WaitUntil([] { return GroupsLeft() == 0; }));
}

TEST_F(WardenCgroupTest, AnotherUserIsLimitedToo) {
  StartAttempt start =
      Limited("id -u; cat /proc/self/cgroup; echo 0 > /sys/fs/cgroup/cgroup.procs || echo refused",
              {.memory_mb = 64});
  start.user =
      ProcessUser{.name = "alice", .uid = 54'321, .gid = 54'321, .groups = {54'321}, .home = "/"};
  Detach();
  WardenFixture::TearDown();
  run_directory_ = scratch_ / "runs";
  std::filesystem::permissions(scratch_.path(), std::filesystem::perms(0711));
  Attach();
  ASSERT_TRUE(client_->WaitForHostChecks(test::kPatience));
  const AttemptResult result = Run(start);
  EXPECT_TRUE(result.output.starts_with("54321\n0::/carillon-warden/"))
      << result.output << result.error;
  EXPECT_NE(result.output.find("refused"), std::string::npos) << result.output;
}

TEST_F(WardenCgroupTest, ANewWardenLimitsLikeTheKilledOne) {
  const StartAttempt start = Limited("sleep 1000", {.memory_mb = 64});
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(start.attempt); }));
  EXPECT_EQ(GroupsLeft(), 1u);
  kill(pid(), SIGKILL);
  EXPECT_EQ(End(start).reason, reason::kWardenDied);
  ASSERT_TRUE(test::WaitUntil([&] { return client_->CanStart().ok(); }));
  EXPECT_EQ(GroupsLeft(), 0u);
  EXPECT_TRUE(client_->Isolation().Has(Feature::kMemoryLimit));
  EXPECT_EQ(Run(Limited("echo again", {.memory_mb = 64})).output, "again\n");
}

}  // namespace
}  // namespace carillon::executor
