// The log on a device that is slow, fails or loses power: its state after that, and the records
// that the next process loads.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "executor/journal/segment_log.h"
#include "executor/journal/thread_device.h"
#include "tests/support/process_wait.h"

namespace carillon::executor {
namespace {

using Kind = DeviceOrder::Kind;

struct Faults {
  std::set<Kind> failing;
  bool held = false;         // while true, no order is executed
  size_t more = SIZE_MAX;    // orders until it is held
  bool keeps_tails = false;  // truncation has no effect
  Rng* random = nullptr;     // if set, one order in ten fails, and one poll in three gets an answer
  std::vector<Kind> done;
};

class FaultyDevice : public JournalDevice {
 public:
  explicit FaultyDevice(Faults& faults) : faults_(faults) {}
  void Submit(DeviceOrder* order) override { order_ = order; }
  bool Done() override {
    if (order_ == nullptr) return true;
    if (faults_.held || (faults_.random != nullptr && faults_.random->Below(3) > 0)) return false;
    Execute(*std::exchange(order_, nullptr));
    if (faults_.more != SIZE_MAX) faults_.held = --faults_.more == 0;
    return true;
  }
  void Wait() override {
    while (!Done()) {
    }
  }

 private:
  void Execute(DeviceOrder& order) {
    faults_.done.push_back(order.kind);
    const bool may_fail = order.kind != Kind::kSeal && order.kind != Kind::kDelete;
    if (faults_.failing.count(order.kind) > 0 ||
        (may_fail && faults_.random != nullptr && faults_.random->Below(10) == 0)) {
      order.error = EIO;
    } else if (order.kind == Kind::kSeal && faults_.keeps_tails) {
      close(order.fd);
    } else {
      ExecuteOrder(order);
    }
  }

  Faults& faults_;
  DeviceOrder* order_ = nullptr;
};

using Map = std::map<uint64_t, std::string>;

class SegmentLogDeviceTest : public ::testing::Test {
 protected:
  std::unique_ptr<SegmentLog> Open(size_t segment_bytes = 2u << 20) {
    auto log = SegmentLog::Open({.directory = scratch_ / "log", .segment_bytes = segment_bytes},
                                std::make_unique<FaultyDevice>(faults_));
    EXPECT_TRUE(log.ok());
    return std::move(*log);
  }
  Map Contents(SegmentLog& log) {
    Map contents;
    EXPECT_TRUE(
        log.ForEach([&](uint64_t id, std::string_view bytes) { contents[id] = bytes; }).ok());
    return contents;
  }
  // The content that the next process loads.
  Map Reloaded() {
    faults_ = {};
    return Contents(*Open());
  }
  std::string FirstSegment() { return scratch_ / "log/000000000001.log"; }

  test::ScratchDirectory scratch_;
  Faults faults_;
};

TEST_F(SegmentLogDeviceTest, StepNeverWaitsAndKnowsHowFarTheDeviceIs) {
  auto log = Open();
  faults_.held = true;
  const uint64_t first = *log->Append("one");
  const auto at_first = log->last();
  ASSERT_TRUE(log->Step().ok());
  EXPECT_TRUE(log->busy());
  EXPECT_LT(log->written(), at_first);
  EXPECT_EQ(*log->Read(first), "one");
  faults_.held = false;
  ASSERT_TRUE(log->Step().ok());
  EXPECT_EQ(log->written(), at_first);
  EXPECT_LT(log->synced(), at_first);  // no sync was requested
  EXPECT_TRUE(log->dirty());
  log->WantSync(at_first);
  ASSERT_TRUE(log->Step().ok());
  EXPECT_EQ(log->synced(), at_first);
}

// A start is written, not synced: it must not wait for the sync that an end waits for. But ends do
// not wait for start after start.
TEST_F(SegmentLogDeviceTest, OneWriteAtMostIsDoneBeforeASyncThatIsDue) {
  auto log = Open();
  ASSERT_TRUE(log->Append("makes the segment").ok());
  ASSERT_TRUE(log->Commit().ok());
  ASSERT_TRUE(log->Step().ok());
  const auto go_on = [&](size_t orders) {
    faults_.held = false;
    faults_.more = orders;
    ASSERT_TRUE(log->Step().ok());
  };
  faults_.held = true;
  ASSERT_TRUE(log->Append("end").ok());
  const auto end = log->last();
  ASSERT_TRUE(log->Step().ok());
  log->WantSync(end);
  faults_.done.clear();
  for (const char* start : {"first", "second", "third"}) {
    ASSERT_TRUE(log->Append(start).ok());
    go_on(1);  // the write of the one before, and then the next order
  }
  EXPECT_EQ(faults_.done, (std::vector<Kind>{Kind::kWrite, Kind::kWrite, Kind::kSync}));
  EXPECT_GE(log->synced(), end);
  EXPECT_LT(log->written(), log->last());
  go_on(1);
  EXPECT_EQ(log->written(), log->last());
  EXPECT_EQ(faults_.done.back(), Kind::kWrite) << "nobody waits for a sync of these";
}

TEST_F(SegmentLogDeviceTest, OneReadIsEnoughHoweverOftenItIsAskedFor) {
  auto log = Open();
  const uint64_t id = *log->Append("one");
  const uint64_t next = *log->Append("two");
  ASSERT_TRUE(log->Commit().ok());
  faults_.held = true;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(log->TryRead(id));
    ASSERT_TRUE(log->Step().ok());
  }
  EXPECT_FALSE(log->TryRead(id));
  faults_.held = false;
  ASSERT_TRUE(log->Step().ok());
  EXPECT_EQ(**log->TryRead(id), "one");
  EXPECT_EQ(**log->TryRead(next), "two");  // the same order has read both records
  EXPECT_EQ(std::count(faults_.done.begin(), faults_.done.end(), Kind::kRead), 1);
}

TEST_F(SegmentLogDeviceTest, RemovalWhileItIsBeingWritten) {
  auto log = Open();
  ASSERT_TRUE(log->Append("active from here on").ok());
  ASSERT_TRUE(log->Commit().ok());
  faults_.held = true;
  const uint64_t id = *log->Append("short");
  ASSERT_TRUE(log->Step().ok());  // the order is in progress
  log->Remove(id);
  faults_.held = false;
  ASSERT_TRUE(log->Commit().ok());
  EXPECT_EQ(log->Read(id).code(), ErrorCode::kNotFound);
  log.reset();
  EXPECT_EQ(Reloaded().size(), 1u);
}

TEST_F(SegmentLogDeviceTest, WhatFailedToSyncIsReadableAndWrittenElsewhere) {
  for (const Kind kind : {Kind::kSync, Kind::kWrite}) {
    std::filesystem::remove_all(scratch_ / "log");
    auto log = Open();
    const uint64_t safe = *log->Append("safe");
    ASSERT_TRUE(log->Commit().ok());
    faults_.failing = {kind};
    const uint64_t id = *log->Append("tried twice");
    EXPECT_EQ(log->Commit().code(), ErrorCode::kUnavailable);
    EXPECT_LT(log->synced(), log->last());
    EXPECT_EQ(*log->Read(id), "tried twice");
    EXPECT_EQ(*log->Read(safe), "safe");
    EXPECT_EQ(log->Commit().code(), ErrorCode::kUnavailable);
    faults_.failing = {};
    ASSERT_TRUE(log->Commit().ok());
    EXPECT_EQ(log->index().live_bytes(), std::string("safetried twice").size());
    log.reset();
    EXPECT_EQ(Reloaded(), (Map{{safe, "safe"}, {id, "tried twice"}}));
  }
}

// A record that could not be synced must not be removed from its file: others may have acted on it,
// and this process may die before the record is written again.
TEST_F(SegmentLogDeviceTest, WhatFailedToSyncStaysInItsFileUntilItIsWrittenElsewhere) {
  uint64_t safe = 0;
  uint64_t acted_on = 0;
  Map found;
  {
    auto log = Open();
    safe = *log->Append("safe");
    ASSERT_TRUE(log->Commit().ok());
    acted_on = *log->Append("acted on");
    ASSERT_TRUE(log->Step().ok());
    ASSERT_EQ(log->written(), log->last());
    // Neither later records nor another failure may remove it.
    for (const Kind kind : {Kind::kSync, Kind::kWrite, Kind::kWrite}) {
      faults_.failing = {kind};
      EXPECT_FALSE(log->Commit().ok());
      EXPECT_NE(test::ReadFile(FirstSegment()).find("acted on"), std::string::npos);
    }
    std::filesystem::copy(scratch_ / "log", scratch_ / "copy");
    faults_.failing = {};
    ASSERT_TRUE(log->Commit().ok());
    EXPECT_EQ(test::ReadFile(FirstSegment()).find("acted on"), std::string::npos);
    EXPECT_EQ(Contents(*log), (Map{{safe, "safe"}, {acted_on, "acted on"}}));
  }
  EXPECT_EQ(Reloaded(), (Map{{safe, "safe"}, {acted_on, "acted on"}}));
  std::filesystem::remove_all(scratch_ / "log");
  std::filesystem::rename(scratch_ / "copy", scratch_ / "log");
  EXPECT_EQ(Reloaded(), (Map{{safe, "safe"}, {acted_on, "acted on"}}));
}

// The tail of a failed segment may contain records that were removed.
TEST_F(SegmentLogDeviceTest, RemovedAfterAFailedSyncDoesNotComeBackFromTheTail) {
  auto log = Open();
  faults_.keeps_tails = true;
  const uint64_t keeps = *log->Append("keeps the segment");
  ASSERT_TRUE(log->Commit().ok());
  faults_.failing = {Kind::kSync};
  const uint64_t removed = *log->Append("removed");
  EXPECT_FALSE(log->Commit().ok());
  log->Remove(removed);
  faults_.failing = {};
  ASSERT_TRUE(log->Commit().ok());
  EXPECT_NE(test::ReadFile(FirstSegment()).find("removed"), std::string::npos);
  log.reset();
  EXPECT_EQ(Reloaded(), (Map{{keeps, "keeps the segment"}}));
}

TEST_F(SegmentLogDeviceTest, WhatADeadProcessOnlyWroteIsSyncedWhenItIsLoaded) {
  {
    auto log = Open();
    ASSERT_TRUE(log->Append("only written").ok());
    ASSERT_TRUE(log->Step().ok());
    ASSERT_LT(log->synced(), log->last());
  }
  faults_.done.clear();
  EXPECT_EQ(Open()->index().live_records(), 1u);
  EXPECT_EQ(std::count(faults_.done.begin(), faults_.done.end(), Kind::kSync), 1);
  faults_.failing = {Kind::kSync};
  const auto log = SegmentLog::Open({.directory = scratch_ / "log", .segment_bytes = 2u << 20},
                                    std::make_unique<FaultyDevice>(faults_));
  EXPECT_EQ(log.code(), ErrorCode::kUnavailable);
}

TEST_F(SegmentLogDeviceTest, PowerCutLosesOnlyWhatWasNotSynced) {
  const std::string saved = scratch_ / "saved";
  uint64_t told = 0;
  uint64_t removed = 0;
  size_t synced_bytes = 0;
  std::string written;
  {
    auto log = Open();
    told = *log->Append("told");
    removed = *log->Append("removed after");
    ASSERT_TRUE(log->Commit().ok());
    synced_bytes = log->index().disk_bytes();
    ASSERT_TRUE(log->Append("a start").ok());
    log->Remove(removed);
    ASSERT_TRUE(log->Step().ok());
    ASSERT_GT(log->index().disk_bytes(), synced_bytes);
    written = test::ReadFile(FirstSegment());
    written.resize(log->index().disk_bytes());
  }
  for (size_t cut = synced_bytes; cut <= written.size(); ++cut) {
    // Space that is allocated but not written reads as zeros.
    test::WriteFile(FirstSegment(), written.substr(0, cut) + std::string(4096, '\0'));
    auto log = Open();
    const Map contents = Contents(*log);
    ASSERT_EQ(contents.count(told), 1u) << cut;
    ASSERT_EQ(contents.at(told), "told");
    ASSERT_EQ(contents.count(removed), cut < written.size() ? 1u : 0u) << cut;
    ASSERT_TRUE(log->Append("goes on").ok());
    ASSERT_TRUE(log->Commit().ok());
    log.reset();
    std::filesystem::remove_all(scratch_ / "log");
    std::filesystem::create_directory(scratch_ / "log");
  }
}

// The device may keep a later block and lose an earlier one.
TEST_F(SegmentLogDeviceTest, HoleBehindTheSyncedEndHidesOnlyWhatFollows) {
  uint64_t told = 0;
  size_t synced_bytes = 0;
  {
    auto log = Open();
    told = *log->Append("told");
    ASSERT_TRUE(log->Commit().ok());
    synced_bytes = log->index().disk_bytes();
    ASSERT_TRUE(log->Append("first").ok());
    ASSERT_TRUE(log->Append("second").ok());
    ASSERT_TRUE(log->Commit().ok());
  }
  std::string bytes = test::ReadFile(FirstSegment());
  std::fill_n(bytes.begin() + static_cast<long>(synced_bytes), 10, '\0');
  test::WriteFile(FirstSegment(), bytes);
  for (int load = 0; load < 3; ++load) {
    EXPECT_EQ(Contents(*Open()), (Map{{told, "told"}}));
  }
}

TEST_F(SegmentLogDeviceTest, SegmentStaysUntilWhatEmptiedItIsSynced) {
  auto log = Open();
  const uint64_t start = *log->Append(std::string(1u << 20, 's'));
  ASSERT_TRUE(log->Commit().ok());
  ASSERT_TRUE(log->Append(std::string(1u << 20, 'f')).ok());  // the next segment
  ASSERT_TRUE(log->Commit().ok());
  ASSERT_TRUE(log->Append("end").ok());
  log->Remove(start);
  ASSERT_TRUE(log->Step().ok());
  EXPECT_TRUE(std::filesystem::exists(FirstSegment()));
  ASSERT_TRUE(log->Commit().ok());
  EXPECT_FALSE(std::filesystem::exists(FirstSegment()));
}

TEST_F(SegmentLogDeviceTest, RoomIsMadeWithoutWaitingAndRefusedWhenItCannotBe) {
  auto log = Open();
  faults_.held = true;
  EXPECT_FALSE(*log->Reserve(100'000));
  EXPECT_FALSE(*log->Reserve(100'000));
  faults_.held = false;
  ASSERT_TRUE(log->Step().ok());
  EXPECT_TRUE(*log->Reserve(100'000));
  faults_.failing = {Kind::kCreate};
  EXPECT_EQ(log->Reserve(1u << 20).code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(*log->Reserve(100'000));  // within the existing space
  faults_.failing = {};
  EXPECT_TRUE(*log->Reserve(1u << 20));
}

TEST_F(SegmentLogDeviceTest, RoomThatAFailureTookIsMadeAgain) {
  auto log = Open();
  ASSERT_TRUE(log->Append("active").ok());
  ASSERT_TRUE(log->Commit().ok());
  ASSERT_TRUE(*log->Reserve(500'000));
  faults_.failing = {Kind::kSync, Kind::kCreate};
  ASSERT_TRUE(log->Append("fails").ok());
  EXPECT_FALSE(log->Commit().ok());
  EXPECT_TRUE(log->short_of_room());
  faults_.failing = {};
  log->ForgetRefusal();
  EXPECT_TRUE(*log->Reserve(1));
  ASSERT_TRUE(log->Commit().ok());
  EXPECT_FALSE(log->short_of_room());
}

TEST_F(SegmentLogDeviceTest, AgreesWithAMapOnADiskThatIsSlowAndFails) {
  constexpr size_t kSegmentBytes = 3u << 19;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    std::filesystem::remove_all(scratch_ / "log");
    Rng rng(seed);
    Rng device_rng(seed + 1000);
    Map model;
    for (int life = 0; life < 3; ++life) {
      auto log = Open(kSegmentBytes);
      ASSERT_EQ(Contents(*log), model) << "life " << life;
      faults_.random = &device_rng;
      for (int i = 0; i < 150; ++i) {
        const std::string payload(rng.Below(40'000), static_cast<char>('a' + rng.Below(26)));
        model[*log->Append(payload)] = payload;
        if (model.size() > 10 || rng.Below(4) == 0) {
          const auto victim = std::next(model.begin(), static_cast<long>(rng.Below(model.size())));
          log->Remove(victim->first);
          model.erase(victim);
        }
        if (rng.Below(3) == 0) log->WantSync(log->last());
        static_cast<void>(log->Step().ok());
        if (!model.empty()) {
          const auto any = std::next(model.begin(), static_cast<long>(rng.Below(model.size())));
          const auto read = log->TryRead(any->first);
          // The read is in progress or fails for now. The record is never missing and never
          // another one.
          ASSERT_TRUE(!read || !read->ok() || **read == any->second);
          ASSERT_TRUE(!read || read->ok() || read->code() == ErrorCode::kUnavailable);
        }
      }
      while (!log->Commit().ok()) {
      }
      ASSERT_EQ(log->index().live_records(), model.size());
      faults_.random = nullptr;
      EXPECT_LT(log->index().disk_bytes(), 3 * log->index().live_bytes() + 8 * kSegmentBytes);
    }
  }
}

TEST(ThreadDeviceTest, RingsForEachOrderOnceItIsOver) {
  auto device = *ThreadDevice::Create();
  test::ScratchDirectory scratch;
  DeviceOrder order;
  order.kind = Kind::kSpace;
  order.path = scratch.path();
  for (int i = 0; i < 1000; ++i) {
    order.free_bytes = 0;
    device->Submit(&order);
    pollfd rung{device->done_fd(), POLLIN, 0};
    ASSERT_EQ(poll(&rung, 1, 10'000), 1);
    device->Wait();
    ASSERT_TRUE(device->Done());
    ASSERT_GT(order.free_bytes, 0u);
  }
}

TEST(ThreadDeviceTest, LogOnAThreadOfItsOwn) {
  test::ScratchDirectory scratch;
  uint64_t id = 0;
  {
    auto log = SegmentLog::Open({.directory = scratch / "log"}, *ThreadDevice::Create());
    ASSERT_TRUE(log.ok());
    for (int i = 0; i < 200; ++i) {
      id = *(*log)->Append("record");
      ASSERT_TRUE((*log)->Commit().ok());
    }
    EXPECT_EQ(*(*log)->Read(id), "record");
  }
  auto log = SegmentLog::Open({.directory = scratch / "log"}, *ThreadDevice::Create());
  ASSERT_TRUE(log.ok());
  EXPECT_EQ((*log)->index().live_records(), 200u);
  EXPECT_EQ(*(*log)->Read(id), "record");
}

}  // namespace
}  // namespace carillon::executor
