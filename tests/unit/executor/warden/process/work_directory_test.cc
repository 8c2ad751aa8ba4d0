// The working directory of an attempt, no matter what the previous attempt left in it.
#include "executor/warden/process/work_directory.h"

#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

namespace fs = std::filesystem;

class WorkDirectoryTest : public ::testing::Test {
 protected:
  // Takes the directory, lets `attempt` use it, and returns it.
  template <typename Attempt>
  void Use(const Attempt& attempt) {
    WorkDirectory directory(place_);
    ASSERT_TRUE(directory.Take());
    ExpectFresh();
    attempt();
    directory.GiveBack();
    EXPECT_FALSE(fs::exists(fs::symlink_status(place_.path)));
  }
  void ExpectFresh() {
    struct stat info {};
    ASSERT_EQ(lstat(place_.path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode, mode_t{S_IFDIR | 0700});
    EXPECT_EQ(info.st_uid, geteuid());
    EXPECT_EQ(llistxattr(place_.path.c_str(), nullptr, 0), 0);
    EXPECT_TRUE(fs::is_empty(place_.path));
    inode_ = info.st_ino;
  }
  bool spare() { return fs::exists(place_.spare); }

  test::ScratchDirectory scratch_;
  const WorkDirectory::Place place_{scratch_ / "attempt", scratch_ / "spare"};
  ino_t inode_ = 0;
};

TEST_F(WorkDirectoryTest, UntouchedOneIsUsedAgain) {
  Use([] {});
  EXPECT_TRUE(spare());
  const ino_t first = inode_;
  Use([] {});
  EXPECT_EQ(inode_, first);
}

TEST_F(WorkDirectoryTest, TouchedOneIsNot) {
  const auto path = [this] { return place_.path.c_str(); };
  Use([&] { test::WriteFile(place_.path + "/file", "left"); });
  EXPECT_FALSE(spare());
  Use([&] { fs::create_directory(place_.path + "/empty"); });
  EXPECT_FALSE(spare());
  Use([&] { ASSERT_EQ(chmod(path(), 0711), 0); });
  EXPECT_FALSE(spare());
  Use([&] { ASSERT_EQ(chown(path(), 1234, static_cast<gid_t>(-1)), 0); });
  EXPECT_FALSE(spare());
  Use([&] {
    if (setxattr(path(), "user.note", "1", 1, 0) != 0) chmod(path(), 0);  // not supported here
  });
  EXPECT_FALSE(spare());
  Use([&] {
    for (int i = 0; i < 500; ++i) {
      const std::string name = place_.path + "/" + std::string(100, 'n') + std::to_string(i);
      test::WriteFile(name, "");
    }
    for (const auto& entry : fs::directory_iterator(place_.path)) fs::remove(entry.path());
  });
  struct stat grown {};
  struct stat fresh {};
  fs::create_directory(scratch_ / "fresh");
  ASSERT_EQ(stat((scratch_ / "fresh").c_str(), &fresh), 0);
  EXPECT_TRUE(stat(place_.spare.c_str(), &grown) != 0 || grown.st_size == fresh.st_size);
}

TEST_F(WorkDirectoryTest, OneThatWasReplacedIsNot) {
  const auto replaced_by = [&](const auto& make) {
    Use([&] {
      fs::rename(place_.path, scratch_ / "away");
      make();
    });
    EXPECT_FALSE(spare());
    fs::remove(scratch_ / "away");
  };
  replaced_by([&] { fs::create_directory(place_.path); });
  replaced_by([&] { fs::create_directory_symlink(scratch_ / "away", place_.path); });
  replaced_by([] {});
}

TEST_F(WorkDirectoryTest, RemainderAtItsPathGoesFirst) {
  fs::create_directories(place_.path + "/old");
  Use([] {});
  fs::create_directories(place_.path + "/old");
  ASSERT_TRUE(spare());
  Use([] {});
}

TEST_F(WorkDirectoryTest, WithoutASpareItIsDeleted) {
  const WorkDirectory::Place place{scratch_ / "alone"};
  WorkDirectory directory(place);
  ASSERT_TRUE(directory.Take());
  directory.GiveBack();
  EXPECT_FALSE(fs::exists(place.path));
}

}  // namespace
}  // namespace carillon::executor
