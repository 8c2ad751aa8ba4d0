#include "executor/checkpoints/disk_run_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "common/domain/run/run_save.h"
#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

class DiskRunFilesTest : public ::testing::Test {
 protected:
  static RunFile FileOf(RunFileKind kind, int attempt = 1) {
    return {{FromUnixMicros(1'772'323'200'000'000), ScheduleId(5), 0}, attempt, kind};
  }
  std::string path(const RunFile& file) const { return files_->PathOf(file); }
  ErrorCode CodeOf(const RunFile& file) {
    const auto read = files_->Read(file);
    EXPECT_FALSE(read.ok());
    return read.ok() ? ErrorCode::kExists : read.code();
  }

  test::ScratchDirectory scratch_;
  const std::unique_ptr<DiskRunFiles> files_ = DiskRunFiles::Open(scratch_ / "saves").value();
  const RunFile checkpoint_ = FileOf(RunFileKind::kCheckpoint);
  const RunFile progress_ = FileOf(RunFileKind::kProgress);
};

TEST_F(DiskRunFilesTest, WhatIsWrittenIsReadWithTheMarkOfTheList) {
  EXPECT_EQ(files_->Read(checkpoint_).value(), std::nullopt);
  EXPECT_EQ(files_->Look(checkpoint_), std::nullopt);
  const std::string bytes("\0\xff\n", 3);
  ASSERT_TRUE(files_->Write(checkpoint_, bytes).ok());
  const auto content = files_->Read(checkpoint_).value();
  ASSERT_TRUE(content);
  EXPECT_EQ(content->bytes, bytes);
  const auto found = files_->ListNext(100).value();
  ASSERT_EQ(found.size(), 1u) << "nothing is left beside it";
  EXPECT_EQ(found[0].attempt, (std::pair{checkpoint_.key, 1}));
  EXPECT_EQ(found[0].kind, RunFileKind::kCheckpoint);
  EXPECT_EQ(files_->Look(checkpoint_), content->mark);
  ASSERT_TRUE(files_->Write(checkpoint_, "x").ok());
  EXPECT_FALSE(files_->Look(checkpoint_) == content->mark);
}

TEST_F(DiskRunFilesTest, ListIsReadInPiecesAndBeginsAgain) {
  for (int i = 0; i < 5; ++i) test::WriteFile(scratch_ / ("saves/other" + std::to_string(i)), "1");
  for (int round = 0; round < 2; ++round) {
    std::set<std::string> names;
    for (const size_t expected : {2u, 2u, 1u}) {
      const auto found = files_->ListNext(2).value();
      EXPECT_EQ(found.size(), expected);
      for (const RunFiles::Found& one : found) names.insert(one.name);
    }
    EXPECT_EQ(names.size(), 5u);
  }
}

TEST_F(DiskRunFilesTest, NamesTellTheAttempt) {
  test::WriteFile(path(FileOf(RunFileKind::kProgress, 12)), "1");
  test::WriteFile(path(progress_) + ".tmp", "1");
  test::WriteFile(scratch_ / "saves/other", "1");
  const std::vector<RunFiles::Found> all = files_->ListNext(100).value();
  EXPECT_EQ(all.size(), 3u);
  for (const RunFiles::Found& found : all) {
    if (found.name == "other") {
      EXPECT_FALSE(found.attempt);
    } else {
      ASSERT_TRUE(found.attempt) << found.name;
      EXPECT_EQ(found.attempt->second, found.kind ? 12 : 1);
    }
    EXPECT_TRUE(files_->Remove(found.name).ok());
  }
  EXPECT_TRUE(files_->ListNext(100).value().empty());
  EXPECT_TRUE(files_->Remove("other").ok());
}

TEST_F(DiskRunFilesTest, LinkToAnotherFileIsRefused) {
  test::WriteFile(scratch_ / "secret", "secret");
  ASSERT_EQ(symlink((scratch_ / "secret").c_str(), path(checkpoint_).c_str()), 0);
  EXPECT_EQ(CodeOf(checkpoint_), ErrorCode::kInvalid);
  // A file that is put into place replaces the link and not what it leads to.
  ASSERT_TRUE(files_->Write(checkpoint_, "x").ok());
  EXPECT_EQ(test::ReadFile(scratch_ / "secret"), "secret");
  EXPECT_EQ(test::ReadFile(path(checkpoint_)), "x");
}

TEST_F(DiskRunFilesTest, HardLinkToAFileOfAnotherUserIsRefused) {
  test::WriteFile(scratch_ / "shadow", "secret");
  // Only root gives files away. The file of somebody else cannot even be linked by another user,
  // unless the kernel allows it.
  if (chown((scratch_ / "shadow").c_str(), 65534, 65534) != 0) return;
  ASSERT_EQ(link((scratch_ / "shadow").c_str(), path(checkpoint_).c_str()), 0);
  EXPECT_EQ(CodeOf(checkpoint_), ErrorCode::kInvalid);
}

TEST_F(DiskRunFilesTest, OtherThanARegularFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(mkfifo(path(checkpoint_).c_str(), 0600), 0);
  EXPECT_EQ(CodeOf(checkpoint_), ErrorCode::kInvalid);
  ASSERT_EQ(mkdir(path(progress_).c_str(), 0700), 0);
  EXPECT_EQ(CodeOf(progress_), ErrorCode::kInvalid);
}

TEST_F(DiskRunFilesTest, SizesAreLimited) {
  test::WriteFile(path(checkpoint_), std::string(kCheckpointBytesMax, 'x'));
  EXPECT_EQ(files_->Read(checkpoint_).value()->bytes.size(), kCheckpointBytesMax);
  test::WriteFile(path(checkpoint_), std::string(kCheckpointBytesMax + 1, 'x'));
  EXPECT_EQ(CodeOf(checkpoint_), ErrorCode::kInvalid);
  test::WriteFile(path(progress_), std::string(kProgressBytesMax + 1, ' '));
  EXPECT_EQ(CodeOf(progress_), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace carillon::executor
