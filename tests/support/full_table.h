// A process whose table of descriptors is full.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

namespace carillon::test {

class FullTable {
 public:
  // `free` descriptors are left.
  explicit FullTable(size_t free = 0) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_GE(next, 0);
    rlimit tight = before_;
    tight.rlim_cur = static_cast<rlim_t>(next) + 64;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    for (int fd = next; fd >= 0; fd = fcntl(next, F_DUPFD_CLOEXEC, 0)) taken_.push_back(fd);
    for (size_t i = 0; i < free; ++i) {
      close(taken_.back());
      taken_.pop_back();
    }
  }
  ~FullTable() {
    for (const int fd : taken_) close(fd);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0);
  }
  FullTable(const FullTable&) = delete;
  FullTable& operator=(const FullTable&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace carillon::test
