#include "executor/warden/process/spawn_fault.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace carillon::executor {
namespace {

TEST(SpawnFaultTest, WhatTheHostLacksIsItsFault) {
  for (const int error : {ENOSPC, EROFS, EIO, ESTALE, EMFILE, ENFILE}) {
    EXPECT_TRUE(IsFaultOfHost(SpawnStep::kDirectory, error, false)) << error;
    EXPECT_TRUE(IsFaultOfHost(SpawnStep::kExec, error, true)) << error;
  }
  EXPECT_TRUE(IsFaultOfHost(SpawnStep::kFork, EAGAIN, false));
  EXPECT_TRUE(IsFaultOfHost(SpawnStep::kFork, ENOMEM, false));
  EXPECT_TRUE(IsFaultOfHost(SpawnStep::kCgroup, EBUSY, true));
}

TEST(SpawnFaultTest, WhatTheJobAsksForIsNot) {
  for (const int error : {E2BIG, ENOENT, EACCES, EPERM, ENOEXEC, EAGAIN}) {
    EXPECT_FALSE(IsFaultOfHost(SpawnStep::kExec, error, false)) << error;
  }
  EXPECT_FALSE(IsFaultOfHost(SpawnStep::kUser, EPERM, false));
  EXPECT_FALSE(IsFaultOfHost(SpawnStep::kUser, EAGAIN, false)) << "too many processes of that user";
  EXPECT_FALSE(IsFaultOfHost(SpawnStep::kDirectory, EDQUOT, false)) << "the quota of its user";
  EXPECT_FALSE(IsFaultOfHost(SpawnStep::kFork, EAGAIN, true)) << "its own limit";
  EXPECT_FALSE(IsFaultOfHost(SpawnStep::kFork, ENOMEM, true));
}

}  // namespace
}  // namespace carillon::executor
