#include "executor/warden/container/container_record.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace carillon::executor {
namespace {

// Whoever must remove a container may drop its record only if it is none.
TEST(ContainerRecordTest, AFileThatCannotBeReadIsToldFromNone) {
  std::string folder = testing::TempDir() + "/container-record-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(ReadRecord(folder + "/absent").code(), ErrorCode::kNotFound);
  EXPECT_EQ(ReadRecord(folder).code(), ErrorCode::kUnavailable) << "a directory opens, but cannot be read";
  const ContainerRecord record{.engine = "/bin/engine", .name = "n", .warden_id = "w", .create = {"create"}};
  std::ofstream(folder + "/record") << EncodeRecord(record);
  const auto read = ReadRecord(folder + "/record");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, record);
  std::ofstream(folder + "/torn") << EncodeRecord(record).substr(0, 10);
  EXPECT_EQ(ReadRecord(folder + "/torn").code(), ErrorCode::kCorrupt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace carillon::executor
