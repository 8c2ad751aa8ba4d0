// Decisions about control groups. What needs a kernel with delegated groups is in
// tests/infra/cgroup.
#include "executor/warden/process/cgroup.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

constexpr Features kAll = {Feature::kLimits, Feature::kMemoryLimit, Feature::kCpuLimit,
                           Feature::kPidsLimit};

TEST(CgroupTest, LimitsBecomeSettings) {
  const Limits limits{.memory_mb = 64, .cpu = 0.5, .pids = 9, .open_files = 99};
  const std::vector<CgroupSetting> expected = {{"memory.max", "67108864"},
                                               {"memory.oom.group", "1"},
                                               {"memory.swap.max", "0", true},
                                               {"cpu.max", "50000 100000"},
                                               {"pids.max", "9"}};
  EXPECT_EQ(CgroupSettings(limits, kAll), expected);
  EXPECT_EQ(CgroupSettings(limits, {Feature::kPidsLimit}),
            (std::vector<CgroupSetting>{{"pids.max", "9"}}));
  EXPECT_TRUE(CgroupSettings({.open_files = 99, .file_size_mb = 1}, kAll).empty());
  EXPECT_EQ(CgroupSettings({.cpu = 0.01}, kAll)[0].value, "1000 100000");
}

constexpr char kMounts[] =
    "25 30 0:23 / /sys rw,nosuid - sysfs sysfs rw\n"
    "32 25 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(CgroupTest, TheGroupIsFoundBelowItsMount) {
  EXPECT_EQ(CgroupPath("0::/system.slice/carillon-warden.service\n", kMounts),
            "/sys/fs/cgroup/system.slice/carillon-warden.service");
  EXPECT_EQ(CgroupPath("0::/\n", kMounts), "/sys/fs/cgroup");
}

TEST(CgroupTest, AMountMayShowAPartOfTheHierarchy) {
  constexpr char kPart[] = "32 25 0:28 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(CgroupPath("0::/docker/1/a\n", kPart), "/sys/fs/cgroup/a");
  EXPECT_EQ(CgroupPath("0::/docker/1\n", kPart), "/sys/fs/cgroup");
  EXPECT_EQ(CgroupPath("0::/docker/12\n", kPart), "");
}

TEST(CgroupTest, TheHybridHierarchyHasItsOwnMount) {
  constexpr char kHybrid[] =
      "40 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(CgroupPath("4:memory:/a\n0::/b\n", kHybrid), "/sys/fs/cgroup/unified/b");
  EXPECT_EQ(CgroupPath("4:memory:/a\n", kHybrid), "");
  EXPECT_EQ(
      CgroupPath("0::/b\n", "40 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
      "");
}

TEST(CgroupTest, EventsAreCounted) {
  constexpr char kEvents[] = "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n";
  EXPECT_EQ(CgroupCount(kEvents, "oom_kill"), 3);
  EXPECT_EQ(CgroupCount(kEvents, "oom"), 1);
  EXPECT_EQ(CgroupCount("", "oom_kill"), 0);
}

}  // namespace
}  // namespace carillon::executor
