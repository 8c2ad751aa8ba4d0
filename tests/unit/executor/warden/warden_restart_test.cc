// Restarts of daemon and warden, and a full disk: the attempts that are known afterwards.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "executor/warden/channel/daemon_channel.h"
#include "executor/warden/server/warden_server.h"
#include "tests/unit/executor/warden/warden_fixture.h"

namespace carillon::executor {
namespace {

class WardenRestartTest : public WardenFixture {
 protected:
  void KillWarden() {
    const pid_t warden = pid();
    ASSERT_GT(warden, 0);
    kill(warden, SIGKILL);
    ASSERT_TRUE(test::WaitUntil([&] {
      const int64_t now = client_->warden_pid();
      return now > 0 && now != warden;
    }));
  }
  StartAttempt Waiting() {
    return Command("echo $$ > " + (scratch_ / "pid") + "; echo before; while ! test -e " +
                   (scratch_ / "go") + "; do sleep 0.02; done; echo after");
  }
  int Starts(const std::string& file) {
    return static_cast<int>(test::ReadPids(scratch_ / file).size());
  }
};

TEST_F(WardenRestartTest, RunsGoOnWithoutTheDaemonAndComeBack) {
  const StartAttempt start = Waiting();
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  const pid_t warden = pid();
  Detach();
  Attach();
  EXPECT_EQ(pid(), warden);
  EXPECT_EQ(client_->restarts(), 0u);
  const auto inventory = client_->List();
  ASSERT_TRUE(inventory.ok());
  ASSERT_EQ(inventory->running.size(), 1u);
  EXPECT_EQ(inventory->running[0].attempt.token, start.attempt.token);
  EXPECT_GT(inventory->running[0].started, WallTime{});
  test::WriteFile(scratch_ / "go", "1");
  EXPECT_EQ(End(start).output, "before\nafter\n");
}

TEST_F(WardenRestartTest, EndsWithoutTheDaemonComeBackUntilForgotten) {
  const StartAttempt start = Waiting();
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  const pid_t first = test::ReadPids(scratch_ / "pid").at(0);
  Detach();
  test::WriteFile(scratch_ / "go", "1");
  ASSERT_TRUE(test::WaitUntil([&] { return !test::ProcessAlive(first); }));
  Attach();
  EXPECT_EQ(End(start).output, "before\nafter\n");
  ASSERT_EQ(client_->List()->ended.size(), 1u);
  ASSERT_TRUE(client_->Forget({start.attempt}).ok());
  EXPECT_TRUE(client_->List()->ended.empty());
  Detach();
  Attach();
  EXPECT_TRUE(client_->List()->ended.empty());
}

TEST_F(WardenRestartTest, SecondStartIsIgnored) {
  const StartAttempt start = Command("echo 1 >> " + (scratch_ / "starts"));
  ASSERT_TRUE(client_->Start(start).ok());
  StartAttempt again = start;
  again.attempt.token.low += 1000;
  ASSERT_TRUE(client_->Start(again).ok());
  EXPECT_EQ(End(start).state, RunState::kCompleted);
  ASSERT_TRUE(client_->Start(again).ok());
  ASSERT_TRUE(client_->Forget({start.attempt}).ok());
  ASSERT_TRUE(client_->Start(start).ok());
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);  // all earlier orders are done
  EXPECT_EQ(Starts("starts"), 1);
}

// A database restored from a dump may grant an attempt again although the attempt has ended. The
// attempt must not run again, and the claim must not wait for its end for ever.
TEST_F(WardenRestartTest, ForgottenAttemptUnderAnotherClaimIsLostNotStarted) {
  const StartAttempt start = Command("echo 1 >> " + (scratch_ / "starts"));
  ASSERT_EQ(Run(start).state, RunState::kCompleted);
  ASSERT_TRUE(client_->Forget({start.attempt}).ok());
  StartAttempt again = start;
  again.attempt.token.low += 1000;
  ends_.clear();
  const AttemptResult lost = Run(again);
  EXPECT_EQ(lost.state, RunState::kLost);
  EXPECT_EQ(lost.reason, reason::kLeaseEnded);
  EXPECT_EQ(Starts("starts"), 1);
  ASSERT_TRUE(client_->Forget({again.attempt}).ok());
  EXPECT_TRUE(client_->List()->ended.empty());
}

TEST_F(WardenRestartTest, SecondStartIsIgnoredAcrossARestartOfTheWarden) {
  const StartAttempt ended = Command("echo 1 >> " + (scratch_ / "starts"));
  ASSERT_EQ(Run(ended).state, RunState::kCompleted);
  KillWarden();
  EXPECT_EQ(client_->restarts(), 1u);
  ASSERT_TRUE(client_->Start(ended).ok());
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
  EXPECT_EQ(Starts("starts"), 1);
  const auto inventory = client_->List();
  ASSERT_TRUE(inventory.ok());
  EXPECT_EQ(inventory->ended.size(), 2u);
}

TEST_F(WardenRestartTest, KilledWardenTakesItsRunsAlongAndSaysSo) {
  const std::string pids = scratch_ / "pids";
  StartAttempt start = Command("trap '' TERM; echo $$ >> " + pids +
                               "; setsid sh -c 'trap \"\" TERM;"
                               " echo $$ >> " +
                               pids +
                               "; while :; do sleep 1; done' & "
                               "while :; do sleep 1; done");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return test::ReadPids(pids).size() == 2; }));
  KillWarden();
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kWardenDied);
  EXPECT_GT(result.started, WallTime{});
  EXPECT_EQ(ends_[NameOf(start.attempt)].job_id, start.job_id);
  for (const pid_t pid : test::ReadPids(pids)) EXPECT_FALSE(test::ProcessAlive(pid));
  ASSERT_TRUE(client_->Start(start).ok());
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
  EXPECT_EQ(test::ReadPids(pids).size(), 2u);
}

TEST_F(WardenRestartTest, WardenThatHangsIsNoticedAndSoIsItsReturn) {
  const pid_t warden = pid();
  Gauge& answers = metrics_.gauge("carillon_warden_answers");
  ASSERT_TRUE(test::WaitUntil([&] { return answers.value() == 1; }));
  kill(warden, SIGSTOP);
  EXPECT_TRUE(
      test::WaitUntil([&] { return client_->CanStart().code() == ErrorCode::kUnavailable; }, 8s));
  EXPECT_FALSE(client_->answers());
  EXPECT_EQ(client_->List().code(), ErrorCode::kUnavailable) << "without waiting for it";
  EXPECT_TRUE(test::WaitUntil([&] { return answers.value() == 0; }));
  kill(warden, SIGCONT);
  EXPECT_TRUE(test::WaitUntil([&] { return client_->CanStart().ok(); }));
  EXPECT_EQ(pid(), warden);
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
}

TEST_F(WardenRestartTest, LeftoversOfAKilledKeeperAreFoundByTheirMark) {
  const std::string pids = scratch_ / "pids";
  StartAttempt start = Command("setsid sh -c 'echo $$ >> " + pids +
                               "; while :; do sleep 1; done' & while :; do sleep 1; done");
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(test::WaitUntil([&] { return test::ReadPids(pids).size() == 1; }));
  std::vector<pid_t> keepers;
  for (const ProcessEntry& entry : ReadProcesses()) {
    if (entry.parent == pid()) keepers.push_back(entry.pid);
  }
  const pid_t warden = pid();
  kill(warden, SIGSTOP);  // so that the warden does not notice the next kills
  for (const pid_t keeper : keepers) kill(keeper, SIGKILL);
  kill(warden, SIGKILL);
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kWardenDied);
  EXPECT_FALSE(test::ProcessAlive(test::ReadPids(pids).at(0)));
}

// After an upgrade, for example, the old warden's program has another path and command line.
TEST_F(WardenRestartTest, KeeperOfAWardenThatWasStartedOtherwiseIsWaitedFor) {
  const StartAttempt start = Waiting();
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  const pid_t process = test::ReadPids(scratch_ / "pid").at(0);
  const pid_t warden = pid();
  Detach();
  for (const ProcessEntry& entry : ReadProcesses()) {
    if (entry.parent == warden) kill(entry.pid, SIGSTOP);  // a stopped keeper cannot kill its run
  }
  kill(warden, SIGKILL);
  const std::string moved = scratch_ / "carillon-warden";
  std::filesystem::copy_file(test::BuiltExecutable("carillon-warden"), moved);
  client_ = std::make_unique<WardenClient>(
      WardenClient::Options{.directory = directory(), .executable = moved, .idle_exit = 61s},
      clock_, metrics_);
  const AttemptResult result = End(start);
  EXPECT_EQ(result.reason, reason::kWardenDied);
  EXPECT_FALSE(test::ProcessAlive(process)) << "before anybody hears that it was lost";
}

// Two clusters on one host may use the same schedule ids.
TEST_F(WardenRestartTest, RunOfTheSameNameOfAnotherWardenIsNoLeftover) {
  const StartAttempt start = Waiting();
  Metrics metrics;
  WardenClient other({.directory = scratch_ / "other",
                      .executable = test::BuiltExecutable("carillon-warden"),
                      .idle_exit = 1s},
                     clock_, metrics);
  ASSERT_TRUE(test::WaitUntil([&] { return other.warden_pid() > 0; }));
  ASSERT_TRUE(other.Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  StartAttempt own = start;
  own.command = "echo $$ > " + (scratch_ / "own") + "; while :; do sleep 1; done";
  ASSERT_TRUE(client_->Start(own).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "own"));
  KillWarden();
  EXPECT_EQ(End(own).reason, reason::kWardenDied);
  EXPECT_FALSE(test::ProcessAlive(test::ReadPids(scratch_ / "own").at(0)));
  test::WriteFile(scratch_ / "go", "1");
  std::vector<AttemptEvent> events;
  ASSERT_TRUE(test::WaitUntil([&] {
    for (AttemptEvent& event : other.Receive(10)) {
      if (!std::holds_alternative<AttemptOutput>(event)) events.push_back(std::move(event));
    }
    return events.size() == 2;
  }));
  EXPECT_EQ(std::get<AttemptEnded>(events[1]).result.state, RunState::kCompleted);
  ASSERT_TRUE(other.Forget({start.attempt}).ok());
  other.Leave();
}

TEST_F(WardenRestartTest, EndIsOnDiskBeforeItIsTold) {
  const StartAttempt start = Command("echo kept");
  ASSERT_EQ(Run(start).state, RunState::kCompleted);
  KillWarden();  // right after the report, so the end must already be on disk
  const auto inventory = client_->List();
  ASSERT_TRUE(inventory.ok());
  ASSERT_EQ(inventory->ended.size(), 1u);
  EXPECT_EQ(inventory->ended[0].result.output, "kept\n");
}

TEST_F(WardenRestartTest, SigtermEndsEverythingOnRecord) {
  const StartAttempt start = Waiting();
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  kill(pid(), SIGTERM);
  const AttemptResult result = End(start);
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kWardenDied);
  EXPECT_FALSE(test::ProcessAlive(test::ReadPids(scratch_ / "pid").at(0)));
}

TEST_F(WardenRestartTest, OneWardenADirectory) {
  const pid_t warden = pid();
  // A second warden would exit at once and remove the socket.
  EXPECT_EQ(test::RunProgram({test::BuiltExecutable("carillon-warden"), "--foreground",
                              "--idle-exit-ms", "0", "--directory", directory()}),
            0);
  Detach();
  Attach();
  EXPECT_EQ(pid(), warden);
}

TEST_F(WardenRestartTest, LeavesOnceNobodyNeedsIt) {
  const pid_t warden = pid();
  client_->Leave();
  Detach();
  EXPECT_TRUE(test::WaitUntil([&] { return !test::ProcessAlive(warden); }));
  Attach();
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
}

TEST_F(WardenRestartTest, StaysWhileSomethingIsUnreported) {
  const pid_t warden = pid();
  ASSERT_EQ(Run(Command("true")).state, RunState::kCompleted);
  client_->Leave();
  Detach();
  EXPECT_FALSE(test::WaitUntil([&] { return !test::ProcessAlive(warden); }, 300ms));
}

// Raw connections to a warden, without a client. A warden serves only the newest connection, so a
// client and a raw connection would replace each other all the time.
class WardenCallerTest : public WardenRestartTest {
 protected:
  void SetUp() override {
    Attach();
    warden_ = pid();
    Detach();
    directory_ = FileDescriptor(open(directory().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  FileDescriptor Call() {
    const Result<int> connected = ConnectInDirectory(directory_.get(), kWardenSocket);
    EXPECT_TRUE(connected.ok());
    return FileDescriptor(connected.ok() ? *connected : -1);
  }
  void Say(const FileDescriptor& caller, const std::string& bytes) {
    EXPECT_EQ(send(caller.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  bool Answers(const FileDescriptor& caller) {
    Say(caller, EncodeFrame(warden_message::Hello{}));
    return test::WaitUntil([&] { return Read(caller) > 0; });
  }
  bool HangsUp(const FileDescriptor& caller) {
    return test::WaitUntil([&] { return Read(caller) == 0; });
  }
  void ExpectSameWardenWorks() {
    Attach();
    EXPECT_EQ(pid(), warden_);
    EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
  }
  static ssize_t Read(const FileDescriptor& caller) {
    char bytes[4096];
    return recv(caller.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
  }

  pid_t warden_ = 0;
  FileDescriptor directory_;
};

TEST_F(WardenCallerTest, HangsUpOnNonsense) {
  const std::string nonsense(64, '\xff');
  const FileDescriptor stranger = Call();
  Say(stranger, nonsense);
  EXPECT_TRUE(HangsUp(stranger));
  const FileDescriptor daemon = Call();
  EXPECT_TRUE(Answers(daemon));
  Say(daemon, nonsense);
  EXPECT_TRUE(HangsUp(daemon));
  const FileDescriptor later = Call();
  EXPECT_TRUE(Answers(later));
  Say(later, std::string("\x01\0\0\0\x7f", 5));  // a message of an unknown type
  EXPECT_TRUE(HangsUp(later));
  ExpectSameWardenWorks();
}

TEST_F(WardenCallerTest, TakesTheNewestCaller) {
  const FileDescriptor first = Call();
  EXPECT_TRUE(Answers(first));
  const FileDescriptor second = Call();
  EXPECT_TRUE(HangsUp(first));
  EXPECT_TRUE(Answers(second));
  ExpectSameWardenWorks();
}

class WardenLongPathTest : public WardenRestartTest {
 protected:
  void SetUp() override {}
};

TEST_F(WardenLongPathTest, DirectoryOfAnyLength) {
  const std::string deep = scratch_ / (std::string(120, 'd') + "/" + std::string(120, 'e'));
  std::filesystem::create_directories(deep);
  client_ = std::make_unique<WardenClient>(
      WardenClient::Options{.directory = deep,
                            .executable = test::BuiltExecutable("carillon-warden")},
      clock_, metrics_);
  ASSERT_TRUE(WaitAttached());
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
}

// The warden's output goes to a full pipe, which blocks like a disk that hangs.
class WardenFullPipeTest : public WardenRestartTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(mkdir(directory().c_str(), 0700), 0);
    const std::string log = directory() + "/" + kWardenLog;
    ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
    pipe_ = FileDescriptor(open(log.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(pipe_.open());
    Attach();
  }
  void TearDown() override {
    char buffer[4096];
    while (read(pipe_.get(), buffer, sizeof(buffer)) > 0) continue;
    WardenRestartTest::TearDown();
  }
  void Fill() {
    while (write(pipe_.get(), "f", 1) > 0) continue;
  }
  FileDescriptor Connect() {
    const FileDescriptor place(open(directory().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const Result<int> connected = ConnectInDirectory(place.get(), kWardenSocket);
    EXPECT_TRUE(connected.ok());
    return FileDescriptor(connected.ok() ? *connected : -1);
  }
  FileDescriptor pipe_;
};

TEST_F(WardenFullPipeTest, LoopGoesOnAfterItHungUpOnNonsense) {
  Detach();
  Fill();
  const FileDescriptor talker = Connect();
  const std::string nonsense(8, '\0');
  ASSERT_EQ(send(talker.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL), 8);
  char byte = 0;
  ASSERT_TRUE(test::WaitUntil([&] { return recv(talker.get(), &byte, 1, 0) == 0; }))
      << "hung up on";
  const FileDescriptor next = Connect();
  const std::string hello = EncodeFrame(warden_message::Hello{});
  ASSERT_GT(send(next.get(), hello.data(), hello.size(), MSG_NOSIGNAL), 0);
  EXPECT_TRUE(test::WaitUntil([&] { return recv(next.get(), &byte, 1, 0) == 1; })) << "welcomed";
}

class WardenFullDiskTest : public WardenRestartTest {
 protected:
  static constexpr int kDiskMib = 40;
  void SetUp() override {
    mkdir(directory().c_str(), 0700);
    const std::string size = "size=" + std::to_string(kDiskMib) + "m";
    mounted_ = mount("tmpfs", directory().c_str(), "tmpfs", 0, size.c_str()) == 0;
    ASSERT_TRUE(mounted_) << "needs to mount a tmpfs: run the tests as root";
    Attach();
  }
  void TearDown() override {
    if (mounted_) WardenRestartTest::TearDown();
    if (mounted_) umount2(directory().c_str(), MNT_DETACH);
  }
  void Fill() {
    const FileDescriptor file(
        open((directory() + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const std::string block(1 << 20, 'f');
    int blocks = 2 * kDiskMib;  // never much more than the test's own file system
    while (write(file.get(), block.data(), block.size()) > 0 && --blocks > 0) continue;
  }
  bool mounted_ = false;
};

TEST_F(WardenFullDiskTest, EndsAreRecordedAndNothingNewIsClaimed) {
  const StartAttempt start = Waiting();
  ASSERT_TRUE(client_->Start(start).ok());
  ASSERT_TRUE(WaitForFile(scratch_ / "pid"));
  Fill();
  EXPECT_TRUE(test::WaitUntil([&] { return client_->CanStart().ok() == false; }));
  EXPECT_EQ(client_->CanStart().code(), ErrorCode::kExhausted);
  test::WriteFile(scratch_ / "go", "1");
  EXPECT_EQ(End(start).output, "before\nafter\n");
  KillWarden();
  const auto inventory = client_->List();
  ASSERT_TRUE(inventory.ok());
  ASSERT_EQ(inventory->ended.size(), 1u);
  EXPECT_EQ(inventory->ended[0].result.output, "before\nafter\n");
  unlink((directory() + "/filler").c_str());
  EXPECT_TRUE(test::WaitUntil([&] { return client_->CanStart().ok(); }));
  EXPECT_EQ(Run(Command("true")).state, RunState::kCompleted);
}

}  // namespace
}  // namespace carillon::executor
