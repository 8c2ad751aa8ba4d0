#include "common/process/data_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/process_wait.h"

namespace carillon::process {
namespace {

namespace fs = std::filesystem;

class DataDirectoryOwnerTest : public ::testing::Test {
 protected:
  // Returns a directory of another user. Root changes the owner of a new one; other users use "/".
  std::string SomebodyElses() {
    if (geteuid() != 0) return "/";
    const std::string path = scratch_ / "theirs";
    fs::create_directory(path);
    EXPECT_EQ(chown(path.c_str(), 65534, 65534), 0);
    return path;
  }
  std::string WithMode(mode_t mode) {
    const std::string path = scratch_ / "data";
    fs::create_directory(path);
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  static std::unique_ptr<DataDirectory> Opened(const std::string& path) {
    auto opened = DataDirectory::Open(path);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(opened).value();
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  test::ScratchDirectory scratch_;
};

TEST_F(DataDirectoryOwnerTest, IsMadeForItsOwnerOnly) {
  const mode_t before = umask(0);
  const auto directory = Opened(scratch_ / "a/b");
  const auto with_slash = Opened(std::string(scratch_ / "c") + "/");
  umask(before);
  EXPECT_EQ(ModeOf(directory->path()), 0700u);
  EXPECT_EQ(ModeOf(with_slash->path()), 0700u);
}

TEST_F(DataDirectoryOwnerTest, OneThatOthersCanWriteToIsRefused) {
  for (const mode_t mode : {0777, 0775, 0707, 01777}) {
    EXPECT_EQ(DataDirectory::Open(WithMode(mode)).code(), ErrorCode::kDenied) << mode;
    fs::remove(scratch_ / "data");
  }
  Opened(WithMode(0755));
}

TEST_F(DataDirectoryOwnerTest, OneOfSomebodyElseIsRefused) {
  EXPECT_EQ(DataDirectory::Open(SomebodyElses()).code(), ErrorCode::kDenied);
}

TEST_F(DataDirectoryOwnerTest, LinkToADirectoryIsFollowedUnlessSomebodyElsePutIt) {
  fs::create_directory_symlink(WithMode(0700), scratch_ / "link");
  Opened(scratch_ / "link");
  if (geteuid() != 0) return;  // only root can change the owner
  ASSERT_EQ(lchown((scratch_ / "link").c_str(), 65534, 65534), 0);
  EXPECT_EQ(DataDirectory::Open(scratch_ / "link").code(), ErrorCode::kDenied);
}

TEST_F(DataDirectoryOwnerTest, LockIsNotWrittenThroughALink) {
  test::WriteFile(scratch_ / "precious", "text");
  fs::create_symlink(scratch_ / "precious", WithMode(0700) + "/carillon.lock");
  EXPECT_EQ(DataDirectory::Open(scratch_ / "data").code(), ErrorCode::kDenied);
  EXPECT_EQ(test::ReadFile(scratch_ / "precious"), "text");
}

TEST_F(DataDirectoryOwnerTest, SecretIsNotWrittenThroughALink) {
  test::WriteFile(scratch_ / "precious", "text");
  const auto directory = Opened(scratch_ / "data");
  fs::create_symlink(scratch_ / "precious", directory->Sub("admin.token.new"));
  ASSERT_TRUE(directory->WriteSecret("admin.token", "secret").ok());
  EXPECT_EQ(test::ReadFile(scratch_ / "precious"), "text");
  EXPECT_EQ(*directory->ReadSecret("admin.token"), "secret");
}

TEST_F(DataDirectoryOwnerTest, SecretThatOthersCouldHavePlantedIsNotRead) {
  const auto directory = Opened(scratch_ / "data");
  const std::string path = directory->Sub("admin.token");
  EXPECT_EQ(*directory->ReadSecret("admin.token"), "");
  test::WriteFile(path, "secret");
  for (const mode_t mode : {0644, 0640, 0602}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(directory->ReadSecret("admin.token").code(), ErrorCode::kDenied) << mode;
  }
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(*directory->ReadSecret("admin.token"), "secret");
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(directory->ReadSecret("admin.token").code(), ErrorCode::kDenied);
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  fs::rename(path, scratch_ / "elsewhere");
  fs::create_symlink(scratch_ / "elsewhere", path);
  EXPECT_EQ(directory->ReadSecret("admin.token").code(), ErrorCode::kDenied);
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(directory->ReadSecret("admin.token").code(), ErrorCode::kDenied);
}

}  // namespace
}  // namespace carillon::process
