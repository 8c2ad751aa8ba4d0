// Lives of processes: what cannot be looked at is neither alive nor dead.
#include "executor/worker/process_watch.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <thread>

#include "tests/support/full_table.h"

namespace carillon::executor {
namespace {

class ProcessWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(pipe_.data()), 0);
    child_ = fork();
    if (child_ == 0) {
      pause();
      _exit(0);
    }
  }
  void TearDown() override {
    Kill();
    for (const int fd : pipe_) close(fd);
  }
  void Kill() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  WorkerProcess Child() {
    const Result<SeenProcess> seen = LookAtProcess(child_);
    EXPECT_TRUE(seen.ok()) << seen.error().message;
    return seen.ok() ? seen->process : WorkerProcess{};
  }

  std::array<int, 2> pipe_{};
  pid_t child_ = 0;
  ProcessWatch watch_;
};

TEST_F(ProcessWatchTest, WithoutFreeDescriptorsALivingProcessIsNotDead) {
  const WorkerProcess process = Child();
  {
    const test::FullTable full;
    EXPECT_EQ(watch_.Add(process), Life::kUnknown);
    EXPECT_EQ(LifeOf(process, 0), Life::kUnknown);
    EXPECT_EQ(LookAtProcess(child_).code(), ErrorCode::kUnavailable);
  }
  {
    const test::FullTable full(1);
    EXPECT_EQ(watch_.Add(process), Life::kUnknown) << "its number alone says nothing";
  }
  EXPECT_FALSE(watch_.Watches(process));
  EXPECT_EQ(watch_.Add(process), Life::kAlive);
  EXPECT_TRUE(watch_.Watches(process));
  Kill();
  const test::FullTable full;
  EXPECT_EQ(ProcessWatch().Add(process), Life::kDead) << "that needs no descriptor";
  EXPECT_EQ(LifeOf(process, 0), Life::kDead);
}

TEST_F(ProcessWatchTest, AnotherProcessWithItsNumberIsNotTheSame) {
  WorkerProcess process = Child();
  ++process.start_ticks;
  EXPECT_EQ(watch_.Add(process), Life::kDead);
  process = Child();
  process.boot_id = "another";
  EXPECT_EQ(watch_.Add(process), Life::kDead);
}

TEST_F(ProcessWatchTest, AnotherProgramInItIsNotTheSame) {
  const pid_t program = fork();
  if (program == 0) {
    char byte = 0;
    if (read(pipe_[0], &byte, 1) != 1) _exit(1);
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  const Result<SeenProcess> before = LookAtProcess(program);
  ASSERT_TRUE(before.ok());
  ASSERT_NE(before->image, 0u);
  EXPECT_EQ(LifeOf(before->process, before->image), Life::kAlive);
  ASSERT_EQ(write(pipe_[1], "x", 1), 1);
  while (LifeOf(before->process, before->image) == Life::kAlive) std::this_thread::yield();
  EXPECT_EQ(LifeOf(before->process, before->image), Life::kDead);
  EXPECT_EQ(LifeOf(before->process, 0), Life::kAlive) << "the process itself lives";
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
}

TEST_F(ProcessWatchTest, ASystemWithoutItIsNoticed) {
  EXPECT_TRUE(CheckProcessWatch().ok());
  {
    const test::FullTable full;
    EXPECT_TRUE(CheckProcessWatch().ok()) << "that passes";
  }
  const pid_t sandbox = fork();
  if (sandbox == 0) {
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{.len = program.size(), .filter = program.data()};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) _exit(2);
    _exit(CheckProcessWatch().code() == ErrorCode::kUnavailable ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(sandbox, &status, 0), sandbox);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace carillon::executor
