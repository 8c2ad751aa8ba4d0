// The warden's book without its server: what it sets aside on the disk, and gives back.
#include "executor/warden/attempt_book.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"
#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

constexpr size_t kBytesMax = 64u << 20;

class AttemptBookTest : public ::testing::Test {
 protected:
  AttemptBookTest() { std::filesystem::create_directory(work_); }

  std::unique_ptr<WardenJournal> Open(WardenJournal::Contents* contents) {
    auto journal = WardenJournal::Open(scratch_ / "journal", kBytesMax,
                                       std::make_unique<InlineDevice>(), contents);
    EXPECT_TRUE(journal.ok());
    return std::move(*journal);
  }
  // A start whose warden died before its end.
  void LeaveStart(uint64_t number) {
    WardenJournal::Contents contents;
    const auto journal = Open(&contents);
    StartAttempt start;
    start.attempt.key = {.fire = clock_.Wall(), .schedule_id = ScheduleId(number)};
    start.attempt.token = {.high = 1, .low = number};
    start.output_bytes_max = 1024;
    const auto record = journal->PrepareStart(start, clock_.Wall(), WardenJournal::Asked::kFirst);
    ASSERT_TRUE(record.ok() && record->has_value());
    ASSERT_TRUE(journal->log().Commit().ok());
  }

  test::ScratchDirectory scratch_;
  const std::string work_ = scratch_ / "work";
  test::ManualClock clock_;
};

TEST_F(AttemptBookTest, EndOfWhatAnEarlierWardenStartedTakesNoRoomFromOthers) {
  for (uint64_t number = 1; number <= 3; ++number) LeaveStart(number);
  WardenJournal::Contents contents;
  std::unique_ptr<WardenJournal> journal = Open(&contents);
  ASSERT_EQ(contents.open_starts.size(), 3u);
  SegmentLog& log = journal->log();
  const Result<bool> others = log.Reserve(1u << 20);
  ASSERT_TRUE(others.ok() && *others);
  AttemptBook book(clock_, std::move(journal), std::move(contents), {.work_directory = work_});
  int ended = 0;
  for (int turn = 0; turn < 100 && ended < 3; ++turn) {
    clock_.Advance(100ms);
    book.Tick(clock_.Steady());
    book.Commit(clock_.Steady());
    while (book.TakeEvent()) ++ended;
  }
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(log.reserved_bytes(), 1u << 20);
}

}  // namespace
}  // namespace carillon::executor
