// Processes that the warden ends: timeouts, cancels, leases.
#include <signal.h>

#include <algorithm>

#include "executor/warden/process/process_tree.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

class WardenEndTest : public WardenFixture {
 protected:
  // Far below the grace period of 60 s, even on a busy machine.
  static constexpr Duration kKilledWithin = 30s;  // half of the grace that is cut short
  // A command that ignores SIGTERM, with a child that has forked twice, is in another session and
  // has an empty environment. All of these processes write down their process ids.
  std::string Stubborn() {
    const std::string pids = scratch_ / "pids";
    WriteScript("grandchild.sh",
                "trap '' TERM\necho $$ >> " + pids + "\nwhile :; do sleep 1; done");
    WriteScript("child.sh", "trap '' TERM\nenv -i setsid sh " + (scratch_ / "grandchild.sh") +
                                " >/dev/null 2>&1 &\n");
    return "trap '' TERM; echo $$ >> " + pids + "; sh " + (scratch_ / "child.sh") +
           "; while :; do sleep 1; done";
  }
  void WriteScript(const std::string& name, const std::string& text) {
    test::WriteFile(scratch_ / name, text);
  }
  bool WaitForPids(size_t count) {
    return test::WaitUntil([&] { return test::ReadPids(scratch_ / "pids").size() == count; });
  }
  bool AnyDead() {
    const auto pids = test::ReadPids(scratch_ / "pids");
    return std::any_of(pids.begin(), pids.end(),
                       [](pid_t pid) { return !test::ProcessAlive(pid); });
  }
  void ExpectAllDead() {
    for (const pid_t pid : test::ReadPids(scratch_ / "pids")) {
      EXPECT_FALSE(test::ProcessAlive(pid)) << pid;
    }
  }
};

TEST_F(WardenEndTest, TimeoutKillsTheWholeTree) {
  StartAttempt start = Command(Stubborn());
  start.timeout = 700ms;
  start.kill_grace = 100ms;
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kTimedOut);
  EXPECT_EQ(result.reason, reason::kTimeout);
  EXPECT_GE(result.ended - result.started, 800ms);
  EXPECT_EQ(test::ReadPids(scratch_ / "pids").size(), 2u);
  ExpectAllDead();
}

TEST_F(WardenEndTest, TimeoutGivesTheGraceItSays) {
  StartAttempt start = Command("trap 'echo asked; exit 0' TERM; while :; do sleep 0.05; done");
  start.timeout = 200ms;
  start.kill_grace = 60s;
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kTimedOut);
  // The sleep is in the same process group, so the signal ended it.
  EXPECT_NE(result.output.find("asked\n"), std::string::npos);
  EXPECT_LT(result.ended - result.started, kKilledWithin);
}

TEST_F(WardenEndTest, CancelKillsTheWholeTree) {
  StartAttempt start = Command(Stubborn());
  start.kill_grace = 50ms;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForPids(2));
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kGraceful).ok());
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kCancelled);
  EXPECT_EQ(result.reason, reason::kCancelRequested);
  ExpectAllDead();
}

TEST_F(WardenEndTest, KillGivesNoGrace) {
  StartAttempt start = Command(Stubborn());
  start.kill_grace = 60s;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForPids(2));
  const SteadyTime asked = clock_.Steady();
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kKill).ok());
  const AttemptResult result = End(start);
  EXPECT_LT(clock_.Steady() - asked, kKilledWithin);
  EXPECT_EQ(result.state, RunState::kCancelled);
  EXPECT_EQ(result.reason, reason::kCancelRequested);
  EXPECT_EQ(result.error, "killed on request");
  ExpectAllDead();
}

TEST_F(WardenEndTest, KillCutsARunningGraceShort) {
  StartAttempt start = Command(Stubborn());
  start.kill_grace = 60s;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForPids(2));
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kGraceful).ok());
  EXPECT_FALSE(test::WaitUntil([&] { return AnyDead(); }, 200ms));
  const SteadyTime asked = clock_.Steady();
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kKill).ok());
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kGraceful).ok());  // no effect any more
  const AttemptResult result = End(start);
  EXPECT_LT(clock_.Steady() - asked, kKilledWithin);
  EXPECT_EQ(result.state, RunState::kCancelled);
  EXPECT_EQ(result.error, "killed on request");
  ExpectAllDead();
}

TEST_F(WardenEndTest, KillCutsTheGraceOfATimeoutShortAndKeepsItsReason) {
  StartAttempt start = Command(Stubborn());
  start.timeout = 700ms;
  start.kill_grace = 60s;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForPids(2));
  EXPECT_FALSE(test::WaitUntil([&] { return AnyDead(); }, 900ms));
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kKill).ok());
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kTimedOut);
  EXPECT_EQ(result.reason, reason::kTimeout);
  EXPECT_LT(result.ended - result.started, kKilledWithin);
  ExpectAllDead();
}

TEST_F(WardenEndTest, KillComesThroughAnotherDaemonThanTheGrace) {
  StartAttempt start = Command(Stubborn());
  start.kill_grace = 60s;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForPids(2));
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kGraceful).ok());
  Detach();
  Attach();
  ASSERT_TRUE(test::WaitUntil([&] {
    return client_->Cancel(start.attempt, CancelMode::kKill).ok();  // fails until it is connected
  }));
  EXPECT_EQ(End(start).state, RunState::kCancelled);
  ExpectAllDead();
}

TEST_F(WardenEndTest, CancelBeforeTheStartIsDurable) {
  StartAttempt start = Command("touch " + (scratch_ / "ran") + "; sleep 100");
  start.kill_grace = {};
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kGraceful).ok());
  EXPECT_EQ(End(start).state, RunState::kCancelled);
}

TEST_F(WardenEndTest, CancelWithAnotherTokenIsIgnored) {
  StartAttempt start = Command("while ! test -e " + (scratch_ / "go") + "; do sleep 0.02; done");
  ASSERT_TRUE(client_->Start(start).ok());
  HeldAttempt other = start.attempt;
  other.token.low += 1;
  ASSERT_TRUE(client_->Cancel(other, CancelMode::kGraceful).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(start.attempt); }));
  test::WriteFile(scratch_ / "go", "1");
  EXPECT_EQ(End(start).state, RunState::kCompleted);
}

TEST_F(WardenEndTest, RefusesToStartAfterTheLease) {
  StartAttempt start = Command("touch " + (scratch_ / "ran"));
  start.lease_end = clock_.Steady() + 2900ms;
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kNotStarted);
  EXPECT_EQ(result.started, WallTime{});
  EXPECT_FALSE(
      test::WaitUntil([&] { return access((scratch_ / "ran").c_str(), F_OK) == 0; }, 200ms));
}

TEST_F(WardenEndTest, LeaseThatEndsKillsWithoutGrace) {
  StartAttempt start = Command(Stubborn());
  start.kill_grace = 60s;
  start.lease_end = clock_.Steady() + kShortLease;
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kLeaseEnded);
  EXPECT_LT(clock_.Steady(), start.lease_end);
  ExpectAllDead();
}

TEST_F(WardenEndTest, LeaseThatIsRenewedDoesNotKill) {
  StartAttempt start = Command("sleep 3");
  start.lease_end = clock_.Steady() + kShortLease;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(client_->RenewLeases({start.attempt}, clock_.Steady() + 60s).ok());
  // A lease is never shortened.
  ASSERT_TRUE(client_->RenewLeases({start.attempt}, clock_.Steady() + 1s).ok());
  EXPECT_EQ(End(start).state, RunState::kCompleted);
}

TEST_F(WardenEndTest, LeaseWithoutAKillPolicyLetsItFinish) {
  StartAttempt start = Command("sleep 3");
  start.lease_end = clock_.Steady() + kShortLease;
  start.kill_at_lease_end = false;
  EXPECT_EQ(Run(start).state, RunState::kCompleted);
}

TEST_F(WardenEndTest, LeaseIsEnforcedWhileNobodyIsAttached) {
  StartAttempt start = Command(Stubborn());
  start.lease_end = clock_.Steady() + kShortLease;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForPids(2));
  Detach();
  EXPECT_TRUE(test::WaitUntil([&] {
    for (const pid_t pid : test::ReadPids(scratch_ / "pids")) {
      if (test::ProcessAlive(pid)) return false;
    }
    return true;
  }));
  EXPECT_LT(clock_.Steady(), start.lease_end);
  Attach();
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kLeaseEnded);
}

// As after a suspended virtual machine: the warden is late with its deadlines, and the processes
// have ended in time.
TEST_F(WardenEndTest, EndsReportedWhileTheWardenWasStoppedAreKept) {
  const std::string go = scratch_ / "go";
  const std::string waits = "; while [ ! -e " + go + " ]; do sleep 0.05; done; exit 3";
  StartAttempt timed = Command("echo $$ >> " + (scratch_ / "pids") + waits);
  timed.timeout = 4s;
  timed.kill_grace = {};
  StartAttempt leased = Command("echo $$ >> " + (scratch_ / "pids") + waits);
  leased.lease_end = clock_.Steady() + kShortLease;
  for (const StartAttempt* start : {&timed, &leased}) ASSERT_TRUE(client_->Start(*start).ok());
  ASSERT_TRUE(WaitForPids(2));
  const pid_t warden = pid();
  kill(warden, SIGSTOP);
  test::WriteFile(go, "x");
  EXPECT_TRUE(test::WaitUntil([&] {
    const auto processes = ReadProcesses();
    return std::none_of(processes.begin(), processes.end(), [&](const ProcessEntry& entry) {
      return entry.parent == warden && entry.state != 'Z';
    });
  }));
  EXPECT_TRUE(test::WaitUntil([&] { return clock_.Steady() > leased.lease_end; }));
  kill(warden, SIGCONT);
  for (const StartAttempt* start : {&timed, &leased}) {
    const AttemptResult result = End(*start);
    EXPECT_EQ(result.state, RunState::kFailed) << result.reason << ": " << result.error;
    EXPECT_EQ(result.exit_code, 3);
  }
}

TEST_F(WardenEndTest, KeeperThatWasStoppedDoesNotSaveItsTree) {
  StartAttempt start = Command(Stubborn());
  start.kill_grace = {};
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForPids(2));
  for (const ProcessEntry& entry : ReadProcesses()) {
    if (entry.parent == pid()) kill(entry.pid, SIGSTOP);
  }
  ASSERT_TRUE(client_->Cancel(start.attempt, CancelMode::kGraceful).ok());
  EXPECT_EQ(End(start).state, RunState::kCancelled);
  ExpectAllDead();
}

TEST_F(WardenEndTest, KeeperThatWasKilledLosesTheRunAndNothingElse) {
  StartAttempt start = Command(Stubborn());
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForPids(2));
  for (const ProcessEntry& entry : ReadProcesses()) {
    if (entry.parent == pid()) kill(entry.pid, SIGKILL);
  }
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kWardenDied);
  ExpectAllDead();
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
}

TEST_F(WardenEndTest, CommandThatForksAllTheTimeDies) {
  WriteScript("bomb.sh", "while :; do (sleep 0.02; sleep 0.02) & sleep 0.005; done");
  StartAttempt start =
      Command("setsid sh " + (scratch_ / "bomb.sh") + " & sh " + (scratch_ / "bomb.sh"));
  start.timeout = 300ms;
  start.kill_grace = {};
  const AttemptResult result = Run(start);
  EXPECT_EQ(result.state, RunState::kTimedOut) << result.error << "\n" << result.output;
  const pid_t warden = pid();
  EXPECT_TRUE(test::WaitUntil([&] { return DescendantsOf(warden, ReadProcesses()).empty(); }));
}

}  // namespace
}  // namespace carillon::executor
