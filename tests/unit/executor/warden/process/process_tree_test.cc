#include "executor/warden/process/process_tree.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

TEST(ProcessTreeTest, WhatWasLeftRunningIsASentence) {
  const std::vector<ProcessEntry> all = {{.pid = 1, .name = "init"}, {.pid = 2, .name = "sleep"},
                                         {.pid = 3, .name = "a\tb"}, {.pid = 4, .name = "x\xff"},
                                         {.pid = 5, .name = "数据"}, {.pid = 6, .name = "tail"},
                                         {.pid = 7, .name = "curl"}};
  EXPECT_EQ(LeftRunningText({}, all), "");
  EXPECT_EQ(LeftRunningText({2}, all),
            "1 process was still running when the command ended and was stopped: sleep");
  EXPECT_EQ(
      LeftRunningText({3, 4, 5}, all),
      "3 processes were still running when the command ended and were stopped: a?b, x?, 数据");
  EXPECT_EQ(LeftRunningText({2, 3, 4, 5, 6, 7, 8}, all),
            "7 processes were still running when the command ended and were stopped: sleep, a?b, "
            "x?, 数据, tail and 2 more");
  EXPECT_EQ(LeftRunningText({9}, all),
            "1 process was still running when the command ended and was stopped: ?");
}

}  // namespace
}  // namespace carillon::executor
