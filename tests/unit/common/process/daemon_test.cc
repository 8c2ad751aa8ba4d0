#include "common/process/daemon.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/process_wait.h"

namespace carillon::process {
namespace {

struct Seen {
  std::atomic<bool> up = false;
  std::atomic<int> asked = 0;
  std::atomic<int> reloads = 0;
  std::atomic<bool> stopped = false;
};

class FakeDaemon final : public Daemon {
 public:
  FakeDaemon(Seen& seen, bool has_files) : seen_(seen), has_files_(has_files) {}
  std::string ReadyText() const override { return "ready"; }
  Status Supervise() override {
    seen_.up = true;
    return {};
  }
  bool Reload() override {
    ++seen_.asked;
    if (has_files_) ++seen_.reloads;
    return has_files_;
  }
  void BeginDrain() override {}
  bool drained() const override { return true; }
  void Stop() override { seen_.stopped = true; }

 private:
  Seen& seen_;
  const bool has_files_;
};

class DaemonTest : public ::testing::Test {
 protected:
  // Signals are blocked in every thread, so that only RunDaemon receives them.
  DaemonTest() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
    hangup_ = signal(SIGHUP, SIG_DFL);  // the tests may run under nohup
  }
  ~DaemonTest() override {
    signal(SIGHUP, hangup_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  // Runs a daemon, with or without files to reload, until it ends.
  std::thread Run(bool has_files, bool at_terminal = false) {
    return std::thread([this, has_files, at_terminal] {
      code_ = RunDaemon(
          "test", {},
          [&](const config::Config&, const Interrupted&) {
            return Result<std::unique_ptr<Daemon>>(std::make_unique<FakeDaemon>(seen_, has_files));
          },
          at_terminal);
    });
  }

  sigset_t before_{};
  sighandler_t hangup_ = SIG_DFL;
  Seen seen_;
  std::atomic<int> code_ = -1;
};

TEST_F(DaemonTest, AHangupReloadsWhereThereAreFiles) {
  std::thread running = Run(/*has_files=*/true);
  EXPECT_TRUE(test::WaitUntil([this] { return seen_.up.load(); }));
  kill(getpid(), SIGHUP);
  EXPECT_TRUE(test::WaitUntil([this] { return seen_.reloads == 1; }));
  EXPECT_FALSE(seen_.stopped);
  kill(getpid(), SIGTERM);
  running.join();
  EXPECT_TRUE(seen_.stopped);
  EXPECT_EQ(code_, 0);
}

TEST_F(DaemonTest, AHangupEndsNoneThatHasNoTerminal) {
  std::thread running = Run(/*has_files=*/false);
  EXPECT_TRUE(test::WaitUntil([this] { return seen_.up.load(); }));
  kill(getpid(), SIGHUP);
  EXPECT_TRUE(test::WaitUntil([this] { return seen_.asked > 0; }));
  EXPECT_FALSE(seen_.stopped);
  kill(getpid(), SIGTERM);
  running.join();
  EXPECT_EQ(code_, 0);
}

TEST_F(DaemonTest, AStartThatFindsTheSettingsWrongSaysSoByItsCode) {
  const auto start = [](Error error) {
    return [error](const config::Config&, const Interrupted&) {
      return Result<std::unique_ptr<Daemon>>(error);
    };
  };
  EXPECT_EQ(RunDaemon("test", {}, start({ErrorCode::kInvalid, "no certificate"}), false), 2);
  EXPECT_EQ(RunDaemon("test", {}, start({ErrorCode::kUnavailable, "port taken"}), false), 1);
}

TEST_F(DaemonTest, TheEndOfItsTerminalEndsIt) {
  std::thread running = Run(/*has_files=*/true, /*at_terminal=*/true);
  EXPECT_TRUE(test::WaitUntil([this] { return seen_.up.load(); }));
  kill(getpid(), SIGHUP);
  running.join();
  EXPECT_TRUE(seen_.stopped);
  EXPECT_EQ(code_, 0);
}

}  // namespace
}  // namespace carillon::process
