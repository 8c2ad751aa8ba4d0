#include "executor/warden/container/container_record.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

// Whoever must remove a container may drop its record only if it is none.
TEST(ContainerRecordTest, AFileThatCannotBeReadIsToldFromNone) {
  std::string folder = testing::TempDir() + "/container-record-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(ReadRecord(folder + "/absent").code(), ErrorCode::kNotFound);
  EXPECT_EQ(ReadRecord(folder).code(), ErrorCode::kUnavailable)
      << "a directory opens, but cannot be read";
  const ContainerRecord record{
      .engine = "/bin/engine", .name = "n", .warden_id = "w", .create = {"create"}};
  std::ofstream(folder + "/record") << EncodeRecord(record);
  const auto read = ReadRecord(folder + "/record");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, record);
  std::ofstream(folder + "/torn") << EncodeRecord(record).substr(0, 10);
  EXPECT_EQ(ReadRecord(folder + "/torn").code(), ErrorCode::kCorrupt);
  std::filesystem::remove_all(folder);
}

class ContainerFilesTest : public ::testing::Test {
 protected:
  test::ScratchDirectory folder_;
};

TEST_F(ContainerFilesTest, NothingInADirectoryThatCannotBeOpenedIsAbsent) {
  EXPECT_EQ(ReadRecord(folder_ / "gone/record").code(), ErrorCode::kUnavailable);
  EXPECT_EQ(ReadEnd(folder_ / "gone/record").code(), ErrorCode::kUnavailable);
  EXPECT_EQ(ReadEnd(folder_ / "record").code(), ErrorCode::kNotFound);
  EXPECT_FALSE(ListRecords(folder_ / "gone").ok());
}

TEST_F(ContainerFilesTest, FileThatIsTooLargeIsCorrupt) {
  std::ofstream(folder_ / "record") << std::string(9u << 20, 'x');
  errno = ENOENT;
  EXPECT_EQ(ReadRecord(folder_ / "record").code(), ErrorCode::kCorrupt);
}

TEST_F(ContainerFilesTest, IdThatCannotBeReadIsNotReplaced) {
  const auto first = WardenIdOf(folder_.path());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*WardenIdOf(folder_.path()), *first);
  std::filesystem::rename(folder_ / "id", folder_ / "kept");
  std::filesystem::create_symlink(
      "kept", folder_ / "id");  // an open that fails, other than for want of the file
  EXPECT_EQ(WardenIdOf(folder_.path()).code(), ErrorCode::kUnavailable);
  std::filesystem::remove(folder_ / "id");
  std::filesystem::rename(folder_ / "kept", folder_ / "id");
  EXPECT_EQ(*WardenIdOf(folder_.path()), *first);
}

TEST_F(ContainerFilesTest, FailedWriteLeavesNothing) {
  std::filesystem::create_directory(folder_ / "record.end");
  EXPECT_FALSE(WriteEnd(folder_ / "record", {.exit_code = 0}).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "record.end.new"));
}

}  // namespace
}  // namespace carillon::executor
