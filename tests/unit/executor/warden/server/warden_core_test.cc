// The warden without its server: the disk space that it reserves and releases.
#include "executor/warden/server/warden_core.h"

#include <cerrno>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"
#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

constexpr size_t kBytesMax = 64u << 20;

// A device that executes an order only at the second poll, as a device with its own thread may do.
// While `writes_fail`, writes fail with EIO.
class LateDevice : public JournalDevice {
 public:
  explicit LateDevice(const bool& writes_fail) : writes_fail_(writes_fail) {}
  void Submit(DeviceOrder* order) override {
    order_ = order;
    asked_ = 0;
  }
  bool Done() override {
    if (order_ != nullptr && ++asked_ > 1) Wait();
    return order_ == nullptr;
  }
  void Wait() override {
    DeviceOrder* const order = std::exchange(order_, nullptr);
    if (order == nullptr) return;
    if (writes_fail_ && order->kind == DeviceOrder::Kind::kWrite) {
      order->error = EIO;
    } else {
      ExecuteOrder(*order);
    }
  }

 private:
  const bool& writes_fail_;
  DeviceOrder* order_ = nullptr;
  int asked_ = 0;
};

class WardenCoreTest : public ::testing::Test {
 protected:
  WardenCoreTest() { std::filesystem::create_directory(work_); }

  std::unique_ptr<WardenJournal> Open(
      WardenJournal::Contents* contents,
      std::unique_ptr<JournalDevice> device = std::make_unique<InlineDevice>()) {
    auto journal =
        WardenJournal::Open(scratch_ / "journal", kBytesMax, std::move(device), contents);
    EXPECT_TRUE(journal.ok());
    return std::move(*journal);
  }
  // Writes the start of an attempt, as a warden leaves it that died before the end.
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

TEST_F(WardenCoreTest, EndOfWhatAnEarlierWardenStartedTakesNoRoomFromOthers) {
  for (uint64_t number = 1; number <= 3; ++number) LeaveStart(number);
  WardenJournal::Contents contents;
  std::unique_ptr<WardenJournal> journal = Open(&contents);
  ASSERT_EQ(contents.open_starts.size(), 3u);
  SegmentLog& log = journal->log();
  const Result<bool> others = log.Reserve(1u << 20);
  ASSERT_TRUE(others.ok() && *others);
  WardenCore core(clock_, std::move(journal), std::move(contents), {.work_directory = work_});
  int ended = 0;
  for (int turn = 0; turn < 100 && ended < 3; ++turn) {
    clock_.Advance(100ms);
    core.Tick(clock_.Steady());
    core.Commit(clock_.Steady());
    while (core.reporter().TakeEvent()) ++ended;
  }
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(log.reserved_bytes(), 1u << 20);
}

// A daemon that connects gets the inventory together with the readiness to claim. Both must be
// sent, no matter when during the disk's failure it connects.
TEST_F(WardenCoreTest, DiskThatFailsIsNotReadyHoweverOftenItIsAsked) {
  LeaveStart(1);
  bool writes_fail = false;
  WardenJournal::Contents contents;
  std::unique_ptr<WardenJournal> journal =
      Open(&contents, std::make_unique<LateDevice>(writes_fail));
  writes_fail = true;
  WardenCore core(clock_, std::move(journal), std::move(contents), {.work_directory = work_});
  const auto turn = [&] {
    clock_.Advance(20ms);
    core.Tick(clock_.Steady());
    core.Commit(clock_.Steady());
    const Result<bool> ready = core.Ready(clock_.Steady());
    for (int ring = 0; ring < 20; ++ring) core.StepJournal(clock_.Steady());
    return ready;
  };
  int refused = 0;
  for (int i = 0; i < 100; ++i) refused += turn().ok() ? 0 : 1;
  EXPECT_GE(refused, 90);
  writes_fail = false;
  const auto ready = [&] {
    const Result<bool> known = turn();
    return known.ok() && *known;
  };
  bool came = false;
  for (int i = 0; i < 100 && !came; ++i) came = ready();
  EXPECT_TRUE(came);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(ready());
}

}  // namespace
}  // namespace carillon::executor
