// The warden on a disk that hangs or fails: attempts are ended in time, and each end is recorded
// and reported once.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "common/base/file_descriptor.h"
#include "executor/warden/process/process_tree.h"
#include "executor/warden/server/warden_server.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

class WardenDiskTest : public WardenFixture {
 protected:
  void SetUp() override {
    executable_ = "faulty-warden";
    Attach();
  }

  // Makes orders of this kind wait. Returns when one of them waits.
  void Stall(const std::string& order) {
    unlink((directory() + "/stalled-" + order).c_str());
    const std::string made = directory() + "/making-" + order;
    gate_ = FileDescriptor(open(made.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(flock(gate_.get(), LOCK_EX), 0);
    // The file is locked before it gets its name, so that every order that finds it must wait.
    ASSERT_EQ(rename(made.c_str(), (directory() + "/stall-" + order).c_str()), 0);
  }
  bool WaitStalled(const std::string& order) {
    const std::string path = directory() + "/stalled-" + order;
    return test::WaitUntil([&] { return std::filesystem::exists(path); });
  }
  void Release(const std::string& order) {
    unlink((directory() + "/stall-" + order).c_str());
    gate_.Close();
  }
  void Fail(const std::string& order) { test::WriteFile(directory() + "/fail-" + order, "1"); }
  void Mend(const std::string& order) { unlink((directory() + "/fail-" + order).c_str()); }

  StartAttempt Noting(const std::string& file) {
    return Command("trap '' TERM; echo $$ >> " + (scratch_ / file) + "; while :; do sleep 1; done");
  }
  bool WaitForStart(const std::string& file) { return WaitForFile(scratch_ / file); }
  bool WaitDead(const std::string& file) {
    return test::WaitUntil([&] {
      for (const pid_t pid : test::ReadPids(scratch_ / file)) {
        if (test::ProcessAlive(pid)) return false;
      }
      return true;
    });
  }
  // Waits for the next message in the log. The warden logs a failing disk repeatedly.
  bool WaitForComplaint() {
    const auto complaints = [&] { return test::ReadFile(directory() + "/" + kWardenLog).size(); };
    const size_t before = complaints();
    return test::WaitUntil([&] { return complaints() > before; });
  }
  // Keeps the device busy with an order that hangs: the end of an unrelated run.
  void HangInSync() {
    Stall("sync");
    hanging_ = Command("true");
    ASSERT_TRUE(client_->Start(hanging_).ok());
    ASSERT_TRUE(WaitStalled("sync"));
  }
  void KillWarden() {
    const pid_t warden = pid();
    kill(warden, SIGKILL);
    ASSERT_TRUE(WaitForAnother(warden));
  }
  // Waits for another warden. A new warden syncs the existing files before it listens, and exits if
  // that fails. The client starts one after the other and waits longer each time.
  bool WaitForAnother(pid_t warden) {
    return test::WaitUntil([&] {
      const int64_t now = client_->warden_pid();
      return now > 0 && now != warden;
    });
  }

  FileDescriptor gate_;
  StartAttempt hanging_;
};

TEST_F(WardenDiskTest, LeasesAndTimeoutsAreEnforcedWhileTheDiskHangs) {
  StartAttempt leased = Noting("leased");
  leased.lease_end = clock_.Steady() + kShortLease;
  StartAttempt timed = Noting("timed");
  timed.timeout = 1500ms;
  timed.kill_grace = 100ms;
  StartAttempt cancelled = Noting("cancelled");
  cancelled.kill_grace = {};
  for (const StartAttempt* start : {&leased, &timed, &cancelled}) {
    ASSERT_TRUE(client_->Start(*start).ok());
  }
  for (const char* file : {"leased", "timed", "cancelled"}) ASSERT_TRUE(WaitForStart(file));
  HangInSync();
  ASSERT_TRUE(client_->Cancel(cancelled.attempt, CancelMode::kGraceful).ok());
  EXPECT_TRUE(WaitDead("cancelled"));
  EXPECT_TRUE(WaitDead("timed"));
  EXPECT_TRUE(WaitDead("leased"));
  EXPECT_LT(clock_.Steady(), leased.lease_end);
  Pump();
  EXPECT_TRUE(ends_.empty());  // no end is on disk
  Release("sync");
  EXPECT_EQ(End(leased).reason, reason::kLeaseEnded);
  EXPECT_EQ(End(timed).state, RunState::kTimedOut);
  EXPECT_EQ(End(cancelled).state, RunState::kCancelled);
  EXPECT_EQ(End(hanging_).state, RunState::kCompleted);
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);  // now all earlier ends are reported
  for (const auto& [name, count] : end_counts_) EXPECT_EQ(count, 1);
  KillWarden();
  EXPECT_EQ(client_->List()->ended.size(), 5u);
}

TEST_F(WardenDiskTest, RenewalIsObeyedWhileTheDiskHangs) {
  StartAttempt start = Command("sleep 3");
  start.lease_end = clock_.Steady() + kShortLease;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(start.attempt); }));
  HangInSync();
  ASSERT_TRUE(client_->RenewLeases({start.attempt}, clock_.Steady() + 60s).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return DescendantsOf(pid(), ReadProcesses()).empty(); }));
  Release("sync");
  EXPECT_EQ(End(start).state, RunState::kCompleted);
}

TEST_F(WardenDiskTest, NothingStartsBeforeItsMarkerIsWritten) {
  Stall("write");
  StartAttempt start = Command("echo 1 >> " + (scratch_ / "ran"));
  start.lease_end = clock_.Steady() + 4500ms;
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitStalled("write"));
  StartAttempt cancelled = Command("echo 1 >> " + (scratch_ / "ran"));
  ASSERT_TRUE(client_->Start(cancelled).ok());
  ASSERT_TRUE(client_->Cancel(cancelled.attempt, CancelMode::kGraceful).ok());
  EXPECT_TRUE(test::WaitUntil([&] { return clock_.Steady() > start.lease_end - 3s; }));
  EXPECT_TRUE(test::ReadFile(scratch_ / "ran").empty());
  Release("write");
  EXPECT_EQ(End(start).reason, reason::kNotStarted);  // checked again when the disk works
  EXPECT_EQ(End(cancelled).state, RunState::kCancelled);
  EXPECT_TRUE(test::ReadFile(scratch_ / "ran").empty());
}

TEST_F(WardenDiskTest, StartNeedsNoSyncAndItsMarkerSurvivesTheWarden) {
  // The marker is written separately; the sync that follows a little later hangs.
  Stall("sync");
  const StartAttempt start = Noting("ran");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForStart("ran"));
  ASSERT_TRUE(WaitStalled("sync"));
  const pid_t warden = pid();
  kill(warden, SIGKILL);
  EXPECT_TRUE(WaitDead("ran"));
  Release("sync");
  ASSERT_TRUE(WaitForAnother(warden));
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kWardenDied);
  StartAttempt again = start;
  again.attempt.token.low += 1000;
  ASSERT_TRUE(client_->Start(again).ok());
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
  EXPECT_EQ(test::ReadPids(scratch_ / "ran").size(), 1u);
}

TEST_F(WardenDiskTest, MarkerSurvivesAFailedSyncAndThenTheWarden) {
  Stall("sync");
  const StartAttempt start = Noting("ran");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForStart("ran"));
  ASSERT_TRUE(WaitStalled("sync"));
  Fail("sync");
  Fail("write");  // the record cannot be written again either
  Release("sync");
  ASSERT_TRUE(WaitForComplaint());
  const pid_t warden = pid();
  kill(warden, SIGKILL);
  EXPECT_TRUE(WaitDead("ran"));
  Mend("sync");
  // The new warden cannot write yet, but reports its attempts, and that it accepts no new ones.
  // It knows that when it has written for the first time: the end of the attempt, of which other
  // processes may still be dying.
  ASSERT_TRUE(WaitForAnother(warden));
  EXPECT_TRUE(test::WaitUntil([&] { return !client_->CanStart().ok(); }));
  StartAttempt again = start;
  again.attempt.token.low += 1000;
  ASSERT_TRUE(client_->Start(again).ok());
  Mend("write");
  EXPECT_EQ(End(start).reason, reason::kWardenDied);
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);  // all earlier orders are done
  EXPECT_EQ(test::ReadPids(scratch_ / "ran").size(), 1u);
}

TEST_F(WardenDiskTest, PowerCutKeepsWhatWasToldAndForgetsAtMostAStart) {
  const StartAttempt told = Command("echo kept");
  ASSERT_EQ(Run(told).output, "kept\n");
  const std::string segment = directory() + "/journal/000000000001.log";
  // `before` is the file as it was synced. The rest of it is zeros, as in a newly allocated file.
  Stall("sync");
  const std::string before = test::ReadFile(segment);
  const StartAttempt lost = Noting("ran");
  ASSERT_TRUE(client_->Start(lost).ok());
  ASSERT_TRUE(WaitForStart("ran"));
  const std::string after = test::ReadFile(segment);
  ASSERT_EQ(after.size(), before.size());
  ASSERT_NE(after, before);
  ASSERT_TRUE(WaitStalled("sync"));
  const pid_t warden = pid();
  Detach();
  kill(warden, SIGKILL);
  ASSERT_TRUE(test::WaitUntil([&] { return !test::ProcessAlive(warden); }));
  ASSERT_TRUE(WaitDead("ran"));  // a power cut would also end the process
  test::WriteFile(segment, before);
  Release("sync");
  Attach();
  const auto inventory = client_->List();
  ASSERT_TRUE(inventory.ok());
  EXPECT_TRUE(inventory->running.empty());
  ASSERT_EQ(inventory->ended.size(), 1u);
  EXPECT_EQ(inventory->ended[0].attempt.token, told.attempt.token);
  EXPECT_EQ(inventory->ended[0].result.output, "kept\n");
}

TEST_F(WardenDiskTest, EndsOutlastADiskThatFails) {
  const StartAttempt start = Command("echo kept");
  Fail("sync");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return Started(start.attempt); }));
  ASSERT_TRUE(WaitForComplaint());
  Fail("write");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(WaitForComplaint());  // one may be of the last sync
  Mend("sync");
  ASSERT_TRUE(WaitForComplaint());
  EXPECT_FALSE(Ended(start.attempt));
  Mend("write");
  EXPECT_EQ(End(start).output, "kept\n");
  KillWarden();
  const auto inventory = client_->List();
  ASSERT_TRUE(inventory.ok());
  ASSERT_EQ(inventory->ended.size(), 1u);
  EXPECT_EQ(inventory->ended[0].result.output, "kept\n");
  Pump();
  EXPECT_EQ(end_counts_[NameOf(start.attempt)], 2);  // once from each warden
}

TEST_F(WardenDiskTest, HowAProcessExitedIsKnownWhileItsOutputsAreRead) {
  Stall("outputs");
  const std::string command = "echo a=1 >> \"$CARILLON_OUTPUT_FILE\"";
  StartAttempt cancelled = Command(command);
  ASSERT_TRUE(client_->Start(cancelled).ok());
  ASSERT_TRUE(WaitStalled("outputs"));
  ASSERT_TRUE(client_->Cancel(cancelled.attempt, CancelMode::kKill).ok());
  StartAttempt timed = Command(command);
  timed.timeout = 1000ms;
  ASSERT_TRUE(client_->Start(timed).ok());
  EXPECT_FALSE(
      test::WaitUntil([&] { return Ended(cancelled.attempt) || Ended(timed.attempt); }, 1500ms));
  Release("outputs");
  for (const StartAttempt* start : {&cancelled, &timed}) {
    const AttemptResult result = End(*start);
    EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
    EXPECT_EQ(result.outputs, (Outputs{{"a", "1"}}));
  }
}

TEST_F(WardenDiskTest, OutputsThatAreNotReadInTimeAreUnusable) {
  Stall("outputs");
  StartAttempt good = Command("true");
  good.lease_end = clock_.Steady() + kShortLease;
  StartAttempt bad = Command("exit 3");
  bad.timeout = 1500ms;
  StartAttempt killed = Command("kill -KILL $$");
  for (const StartAttempt* start : {&good, &bad, &killed}) {
    ASSERT_TRUE(client_->Start(*start).ok());
  }
  EXPECT_EQ(End(killed).reason, reason::kSignal);  // waits for no outputs
  EXPECT_FALSE(Ended(good.attempt));
  const AttemptResult failed = End(good);
  EXPECT_EQ(failed.state, RunState::kFailed);
  EXPECT_EQ(failed.reason, reason::kBadOutputs);
  EXPECT_EQ(failed.exit_code, 0);
  EXPECT_EQ(failed.error, "its outputs cannot be used: their file was not read in time");
  const AttemptResult kept = End(bad);
  EXPECT_EQ(kept.reason, reason::kExitCode);
  EXPECT_EQ(kept.error, "exit code 3; its outputs cannot be used: their file was not read in time");
  Release("outputs");
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
  EXPECT_EQ(end_counts_[NameOf(good.attempt)], 1);
}

TEST_F(WardenDiskTest, KeeperThatIsKilledWhileItReadsOutputsDoesNotLoseTheRun) {
  Stall("outputs");
  const StartAttempt start = Command("exit 3");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitStalled("outputs"));
  for (const ProcessEntry& entry : ReadProcesses()) {
    if (entry.parent == pid()) kill(entry.pid, SIGKILL);
  }
  const AttemptResult result = End(start);
  EXPECT_EQ(result.reason, reason::kExitCode);
  EXPECT_EQ(result.exit_code, 3);
  Release("outputs");
  EXPECT_TRUE(test::WaitUntil([&] {
    for (const auto& entry : std::filesystem::directory_iterator(directory() + "/work")) {
      if (!entry.path().filename().string().starts_with("spare-")) return false;
    }
    return true;
  }));
}

TEST_F(WardenDiskTest, NothingIsClaimedWhileTheDiskHangs) {
  ASSERT_TRUE(test::WaitUntil([&] { return client_->CanStart().ok(); }));
  HangInSync();
  EXPECT_TRUE(test::WaitUntil([&] { return !client_->CanStart().ok(); }));
  Release("sync");
  EXPECT_TRUE(test::WaitUntil([&] { return client_->CanStart().ok(); }));
}

TEST_F(WardenDiskTest, SigtermKillsAtOnceAndLeavesOnceItIsOnRecord) {
  const StartAttempt start = Noting("ran");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForStart("ran"));
  HangInSync();
  const pid_t warden = pid();
  kill(warden, SIGTERM);
  EXPECT_TRUE(WaitDead("ran"));
  const StartAttempt late = Command("echo 1 >> " + (scratch_ / "late"));
  ASSERT_TRUE(client_->Start(late).ok());
  EXPECT_FALSE(test::WaitUntil([&] { return !test::ProcessAlive(warden); }, 300ms));
  EXPECT_TRUE(ends_.empty());
  Release("sync");
  EXPECT_TRUE(test::WaitUntil([&] { return !test::ProcessAlive(warden); }));
  EXPECT_EQ(End(start).reason, reason::kWardenDied);
  EXPECT_EQ(End(late).reason, reason::kNotStarted);
  EXPECT_EQ(End(hanging_).state, RunState::kCompleted);
  EXPECT_TRUE(test::ReadFile(scratch_ / "late").empty());
}

}  // namespace
}  // namespace carillon::executor
