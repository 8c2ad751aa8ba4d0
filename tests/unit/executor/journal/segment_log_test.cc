#include "executor/journal/segment_log.h"
#include "executor/journal/segment_record.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

class SegmentLogTest : public ::testing::Test {
 protected:
  std::unique_ptr<SegmentLog> Open(size_t segment_bytes = 8u << 20, size_t bytes_max = 1u << 30) {
    auto log = SegmentLog::Open(
        {.directory = scratch_ / "log", .segment_bytes = segment_bytes, .bytes_max = bytes_max});
    EXPECT_TRUE(log.ok());
    return std::move(*log);
  }
  std::map<uint64_t, std::string> Contents(SegmentLog& log) {
    std::map<uint64_t, std::string> contents;
    EXPECT_TRUE(
        log.ForEach([&](uint64_t id, std::string_view bytes) { contents[id] = std::string(bytes); })
            .ok());
    return contents;
  }
  std::vector<std::string> Segments() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_ / "log")) {
      if (entry.path().extension() == ".log") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  test::ScratchDirectory scratch_;
};

// Journals outlive an upgrade of the executor, so the bytes of a record must not change.
TEST(SegmentRecordTest, KnownBytes) {
  std::string bytes;
  AppendRecord(&bytes, {.id = 7, .kind = RecordKind::kPut, .payload = "123456789"});
  std::string hex;
  for (const unsigned char c : bytes) hex += fmt::format("{:02x}", c);
  EXPECT_EQ(hex, "f2bf532509000000070000000000000001313233343536373839");
}

TEST_F(SegmentLogTest, CommittedRecordsComeBackUncommittedDoNot) {
  uint64_t first = 0;
  {
    auto log = Open();
    first = *log->Append("one");
    const uint64_t second = *log->Append("two");
    ASSERT_TRUE(log->Commit().ok());
    log->Remove(first);
    ASSERT_TRUE(log->Commit().ok());
    EXPECT_EQ(*log->Read(second), "two");
    EXPECT_EQ(log->Read(first).code(), ErrorCode::kNotFound);
    ASSERT_TRUE(log->Append("never committed").ok());
  }
  auto log = Open();
  const auto contents = Contents(*log);
  ASSERT_EQ(contents.size(), 1u);
  EXPECT_EQ(contents.begin()->second, "two");
  EXPECT_GT(*log->Append("three"), contents.begin()->first);
}

TEST_F(SegmentLogTest, TornTailLosesOnlyWhatWasNeverCommitted) {
  {
    auto log = Open();
    ASSERT_TRUE(log->Append(std::string(100, 'a')).ok());
    ASSERT_TRUE(log->Commit().ok());
  }
  const std::string path = Segments().at(0);
  const std::string good = test::ReadFile(path);
  {
    auto log = Open();
    ASSERT_TRUE(log->Append(std::string(100, 'b')).ok());
    ASSERT_TRUE(log->Commit().ok());
  }
  // The second record follows the first and is cut off at every length.
  const std::string second = test::ReadFile(Segments().back());
  for (size_t cut = 0; cut < second.size(); cut += 7) {
    std::filesystem::remove_all(scratch_ / "log");
    std::filesystem::create_directory(scratch_ / "log");
    test::WriteFile(path, good + second.substr(0, cut));
    auto log = Open();
    const auto contents = Contents(*log);
    ASSERT_EQ(contents.size(), 1u) << cut;
    EXPECT_EQ(contents.begin()->second, std::string(100, 'a'));
  }
}

TEST_F(SegmentLogTest, AnyFlippedByteIsNoticed) {
  {
    auto log = Open();
    ASSERT_TRUE(log->Append("payload").ok());
    ASSERT_TRUE(log->Commit().ok());
  }
  const std::string path = Segments().at(0);
  const std::string good = test::ReadFile(path);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    test::WriteFile(path, bad);
    auto log = Open();
    EXPECT_EQ(Contents(*log).size(), 0u) << at;
    EXPECT_EQ(log->corrupt_segments(), 1u) << at;
    log.reset();
    std::filesystem::remove_all(scratch_ / "log");
    std::filesystem::create_directory(scratch_ / "log");
  }
}

TEST_F(SegmentLogTest, AgreesWithAMapThroughCrashesAndStaysSmall) {
  constexpr size_t kSegmentBytes = 3u << 19;  // 1.5 MiB: rotates often
  Rng rng(42);
  std::map<uint64_t, std::string> model;
  const uint64_t oldest = [&] {
    auto log = Open(kSegmentBytes);
    const uint64_t id = *log->Append("lives on");
    EXPECT_TRUE(log->Commit().ok());
    return id;
  }();
  model[oldest] = "lives on";
  for (int life = 0; life < 6; ++life) {
    auto log = Open(kSegmentBytes);
    ASSERT_EQ(Contents(*log), model) << "life " << life;
    for (int i = 0; i < 60; ++i) {
      for (int j = 0; j < 4; ++j) {
        std::string payload(rng.Below(40'000), static_cast<char>('a' + rng.Below(26)));
        model[*log->Append(payload)] = payload;
      }
      while (model.size() > 12) {
        const auto victim = std::next(model.begin(), 1 + static_cast<long>(rng.Below(4)));
        log->Remove(victim->first);
        model.erase(victim);
      }
      ASSERT_TRUE(log->Commit().ok());
    }
    EXPECT_LT(log->index().disk_bytes(), 3 * log->index().live_bytes() + 4 * kSegmentBytes);
  }
}

TEST_F(SegmentLogTest, RefusesAboveItsBound) {
  auto log = Open(8u << 20, 1000);
  ASSERT_TRUE(log->Append(std::string(900, 'x')).ok());
  EXPECT_EQ(log->Append(std::string(200, 'x')).code(), ErrorCode::kExhausted);
}

// Reserved space needs no new file. (warden_restart_test.cc uses a device that is really full.)
TEST_F(SegmentLogTest, WhatWasReservedFitsIntoFilesThatExist) {
  const auto files = [this] {
    return std::distance(std::filesystem::directory_iterator(scratch_ / "log"),
                         std::filesystem::directory_iterator());
  };
  auto log = Open(4u << 20);
  ASSERT_TRUE(log->Append("start").ok());
  ASSERT_TRUE(log->Commit().ok());
  EXPECT_EQ(files(), 1);
  ASSERT_TRUE(*log->Reserve(5u << 20));
  EXPECT_EQ(files(), 2);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(log->Append(std::string(512 * 1024 - 100, 'r')).ok());
    ASSERT_TRUE(log->Commit().ok());
  }
  EXPECT_EQ(files(), 2);
  log->Unreserve(5u << 20);
  log.reset();
  EXPECT_EQ(Contents(*Open()).size(), 11u);
}

TEST_F(SegmentLogTest, FailedCommitKeepsEverythingForTheNext) {
  auto log = Open(2u << 20);
  ASSERT_TRUE(log->Append("first").ok());
  ASSERT_TRUE(log->Commit().ok());
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit full{16, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  ASSERT_TRUE(log->Append("second").ok());
  EXPECT_EQ(log->Commit().code(), ErrorCode::kExhausted);
  EXPECT_TRUE(log->dirty());
  setrlimit(RLIMIT_FSIZE, &limit);
  sigaction(SIGXFSZ, &before, nullptr);
  EXPECT_TRUE(log->Commit().ok());
  log.reset();
  EXPECT_EQ(Contents(*Open()).size(), 2u);
}

}  // namespace
}  // namespace carillon::executor
