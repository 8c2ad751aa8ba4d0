// The limit of open files of an executor.
#include "executor/server/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

namespace carillon::executor {
namespace {

TEST(OpenFilesTest, AreRaisedToTheHardLimitAndNeverLowered) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{512, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const OpenFiles raised = RaiseOpenFiles();
  EXPECT_EQ(raised.before, 512u);
  EXPECT_EQ(raised.now, std::min<uint64_t>(before.rlim_max, kOpenFilesWanted));
  rlimit now{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, raised.now);
  EXPECT_EQ(now.rlim_max, before.rlim_max);
  const OpenFiles again = RaiseOpenFiles();
  EXPECT_EQ(again.before, raised.now);
  EXPECT_EQ(again.now, raised.now);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace carillon::executor
