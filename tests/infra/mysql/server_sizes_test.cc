// Sizes of the private server, computed from the memory and the limits of control groups.
#include "common/adapters/mysql/schema/server_sizes.h"

#include <fstream>

#include "tests/support/mariadb.h"

namespace carillon::test {
namespace {

constexpr int64_t kMib = 1 << 20;

TEST(ServerSizesTest, TakesAnEighthOfTheMemoryWithinBounds) {
  const auto sizes = [](int64_t memory_mib) {
    const mysql::ServerSizes found = mysql::SizesOf(0, memory_mib * kMib);
    return std::make_pair(found.buffer_pool_bytes / kMib, found.redo_log_bytes / kMib);
  };
  EXPECT_EQ(sizes(512), std::make_pair(int64_t{128}, int64_t{128}));
  EXPECT_EQ(sizes(2'048), std::make_pair(int64_t{256}, int64_t{256}));
  EXPECT_EQ(sizes(6'144), std::make_pair(int64_t{768}, int64_t{512}));
  EXPECT_EQ(sizes(65'536), std::make_pair(int64_t{1'024}, int64_t{512}));
  EXPECT_EQ(mysql::SizesOf(0, 6'144 * kMib + 12'345).buffer_pool_bytes % kMib, 0);
}

TEST(ServerSizesTest, ASettingWinsOverTheMemory) {
  EXPECT_EQ(mysql::SizesOf(4'096, 512 * kMib).buffer_pool_bytes, 4'096 * kMib);
  EXPECT_EQ(mysql::SizesOf(4'096, 512 * kMib).redo_log_bytes, 512 * kMib);
  EXPECT_EQ(mysql::SizesOf(32, 65'536 * kMib).buffer_pool_bytes, 32 * kMib);
  EXPECT_EQ(mysql::SizesOf(32, 65'536 * kMib).redo_log_bytes, 128 * kMib);
  EXPECT_EQ(mysql::SizesOf(1, 65'536 * kMib).buffer_pool_bytes, 16 * kMib);
}

TEST(ServerSizesTest, TheSmallestLimitOfTheGroupsAroundHolds) {
  const ScratchDirectory scratch(ScratchPlace::kMemory);
  std::filesystem::create_directories(scratch.path() + "/a/b");
  const auto limit = [&](const std::string& group, const std::string& text) {
    std::ofstream(scratch.path() + group + "/memory.max") << text << "\n";
  };
  const auto within = [&](const std::string& group) {
    return mysql::WithinGroup(scratch.path(), group, 1'000 * kMib);
  };
  EXPECT_EQ(within("/a/b"), 1'000 * kMib);
  limit("/a/b", "max");
  limit("/a", std::to_string(300 * kMib));
  EXPECT_EQ(within("/a/b"), 300 * kMib);
  EXPECT_EQ(within("/"), 1'000 * kMib);
  limit("", std::to_string(200 * kMib));
  EXPECT_EQ(within("/a/b"), 200 * kMib);
  EXPECT_EQ(within("/"), 200 * kMib);
  limit("/a/b", std::to_string(100 * kMib));
  EXPECT_EQ(within("/a/b"), 100 * kMib);
}

TEST(ServerSizesTest, ThisMachineHasMemory) { EXPECT_GT(mysql::MemoryBytes(), 64 * kMib); }

}  // namespace
}  // namespace carillon::test
