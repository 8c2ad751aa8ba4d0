#include "executor/report/file_result_spool.h"

#include <sys/resource.h>

#include <csignal>

#include <gtest/gtest.h>

#include "executor/journal/attempt_codec.h"
#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

AttemptEnded End(uint64_t number, std::string output = "out") {
  AttemptEnded ended;
  ended.attempt.key = {FromUnixMicros(1), ScheduleId(number), 0};
  ended.attempt.token = {1, number};
  ended.job_id = JobId("job");
  ended.result = {.state = RunState::kCompleted, .exit_code = 0, .output = std::move(output)};
  return ended;
}

class FileResultSpoolTest : public ::testing::Test {
 protected:
  std::unique_ptr<FileResultSpool> Open(size_t bytes_max = 64u << 20) {
    auto spool =
        FileResultSpool::Open({.directory = scratch_ / "spool", .bytes_max = bytes_max}, metrics_);
    EXPECT_TRUE(spool.ok());
    return std::move(*spool);
  }
  std::vector<uint64_t> Numbers(FileResultSpool& spool) {
    std::vector<uint64_t> numbers;
    const auto results = spool.Load();
    EXPECT_TRUE(results.ok());
    for (const AttemptEnded& ended : *results) numbers.push_back(ended.attempt.token.low);
    return numbers;
  }
  test::ScratchDirectory scratch_;
  Metrics metrics_;
};

TEST_F(FileResultSpoolTest, ResultsComeBackInOrderUntilRemoved) {
  auto spool = Open();
  ASSERT_TRUE(spool->Append({End(3), End(1), End(2)}).ok());
  spool = Open();
  EXPECT_EQ(Numbers(*spool), (std::vector<uint64_t>{3, 1, 2}));
  ASSERT_TRUE(spool->Remove({End(1).attempt, End(99).attempt}).ok());
  EXPECT_EQ(Numbers(*spool), (std::vector<uint64_t>{3, 2}));
  ASSERT_TRUE(spool->Remove({End(3).attempt, End(2).attempt}).ok());
  spool = Open();
  EXPECT_TRUE(Numbers(*spool).empty());
}

TEST_F(FileResultSpoolTest, AppendTwiceKeepsOne) {
  auto spool = Open();
  ASSERT_TRUE(spool->Append({End(1)}).ok());
  ASSERT_TRUE(spool->Append({End(1), End(2)}).ok());
  EXPECT_EQ(Numbers(*spool), (std::vector<uint64_t>{1, 2}));
}

TEST_F(FileResultSpoolTest, AboveItsBoundTheWholeBatchIsRefused) {
  auto spool = Open(10'000);
  ASSERT_TRUE(spool->Append({End(1)}).ok());
  const Status refused = spool->Append({End(2), End(3, std::string(20'000, 'x'))});
  EXPECT_EQ(refused.code(), ErrorCode::kExhausted);
  ASSERT_TRUE(spool->Append({End(4)}).ok());
  EXPECT_EQ(Numbers(*spool), (std::vector<uint64_t>{1, 4}));
  EXPECT_EQ(Numbers(*Open()), (std::vector<uint64_t>{1, 4}));
}

TEST_F(FileResultSpoolTest, FullDiskRefusesAndHealsItself) {
  auto spool = Open();
  ASSERT_TRUE(spool->Append({End(1)}).ok());
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit full{16, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  EXPECT_EQ(spool->Append({End(2)}).code(), ErrorCode::kExhausted);
  setrlimit(RLIMIT_FSIZE, &limit);
  sigaction(SIGXFSZ, &before, nullptr);
  ASSERT_TRUE(spool->Append({End(2)}).ok());
  EXPECT_EQ(Numbers(*Open()), (std::vector<uint64_t>{1, 2}));
}

TEST_F(FileResultSpoolTest, RecordOfAnotherVersionStaysAndIsCounted) {
  ASSERT_TRUE(Open()->Append({End(1)}).ok());
  {
    auto log = SegmentLog::Open({.directory = scratch_ / "spool"});
    ASSERT_TRUE(log.ok());
    ByteWriter later;
    later.U32(kAttemptCodecVersion + 1);
    ASSERT_TRUE((*log)->Append(later.Take()).ok());
    ASSERT_TRUE((*log)->Commit().ok());
  }
  for (int opened = 0; opened < 2; ++opened) {
    auto spool = Open();
    EXPECT_EQ(metrics_.gauge("carillon_unreadable_records", "spool").value(), 1);
    EXPECT_EQ(Numbers(*spool), (std::vector<uint64_t>{1})) << "the others are reported";
  }
}

}  // namespace
}  // namespace carillon::executor
