// The library that user-mode Linux needs (tests/infra/cgroup/whole_fpu_state.cc), linked into this
// program: a floating-point state is taken whole, whatever part of it the caller knows.
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace carillon {
namespace {

// Offset of the register xmm0 in the state, in bytes. It is the same on every processor.
constexpr size_t kXmm0 = 160;
constexpr size_t kMoreThanAnyState = 1 << 17;

class WholeFpuStateTest : public testing::Test {
 protected:
  void SetUp() override {
    child_ = fork();
    if (child_ == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child_, &status, 0), child_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  // The state of the child, no more than `bytes` of it.
  std::vector<char> Read(size_t bytes) {
    std::vector<char> state(bytes);
    iovec part{state.data(), state.size()};
    EXPECT_EQ(Request(PTRACE_GETREGSET, part), 0);
    state.resize(part.iov_len);
    return state;
  }
  long Write(std::vector<char> state) {
    iovec part{state.data(), state.size()};
    return Request(PTRACE_SETREGSET, part);
  }

 private:
  long Request(enum __ptrace_request request, iovec& part) {
    return ptrace(request, child_, reinterpret_cast<void*>(NT_X86_XSTATE), &part);
  }

  pid_t child_ = 0;
};

TEST_F(WholeFpuStateTest, APartIsCompleted) {
  std::vector<char> part = Read(832);  // up to AVX
  part[kXmm0] = static_cast<char>(part[kXmm0] + 1);
  ASSERT_EQ(Write(part), 0);
  std::vector<char> whole = Read(kMoreThanAnyState);
  EXPECT_EQ(whole[kXmm0], part[kXmm0]);
  EXPECT_TRUE(std::equal(part.begin() + kXmm0, part.begin() + 416, whole.begin() + kXmm0));
}

TEST_F(WholeFpuStateTest, ABufferLargerThanTheStateIsCut) {
  std::vector<char> state = Read(kMoreThanAnyState);
  ASSERT_LT(state.size(), kMoreThanAnyState);
  state[kXmm0] = static_cast<char>(state[kXmm0] + 1);
  state.resize(kMoreThanAnyState);
  ASSERT_EQ(Write(state), 0);
  EXPECT_EQ(Read(kMoreThanAnyState)[kXmm0], state[kXmm0]);
}

}  // namespace
}  // namespace carillon
