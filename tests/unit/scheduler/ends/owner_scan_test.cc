#include "scheduler/ends/owner_scan.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class OwnerScanTest : public test::RoomTest {
 protected:
  // Looks if that is due. Returns true if it was.
  bool Look() {
    if (!scan_.IsDue(clock_.Steady())) return false;
    return scan_.Begin(clock_.Steady()).has_value();
  }
  bool LookAfter(Duration time) {
    clock_.Advance(time);
    return Look();
  }
  // Writes to all segments; the store answers with `code`.
  Status Write(ErrorCode code, OwnerScan::Conflicts conflicts = OwnerScan::Conflicts::kReported) {
    clock_.Advance(OwnerScan::kEvery);
    const auto look = scan_.Begin(clock_.Steady());
    if (!look) return {ErrorCode::kNotFound, "no look"};
    return scan_.Write(
        "op", "item 7", *look, look->segments,
        [&](const Fence&, WallTime) { return Status(code, "refused"); }, conflicts);
  }
  uint64_t Errors(std::string_view code) {
    return metrics_.counter("carillon_store_errors_total", code).value();
  }

  OwnerScan scan_{"test", {cluster_, table_, fences_, settings_, signals_, metrics_}};
};

TEST_F(OwnerScanTest, LooksEverySecond) {
  EXPECT_TRUE(Look());
  EXPECT_EQ(scan_.Next(), clock_.Steady() + 1s);
  EXPECT_FALSE(LookAfter(999ms));
  EXPECT_TRUE(LookAfter(1ms));
}

TEST_F(OwnerScanTest, LooksSoonAfterANudge) {
  EXPECT_TRUE(Look());
  EXPECT_TRUE(scan_.Nudge());
  EXPECT_FALSE(scan_.Nudge());
  EXPECT_FALSE(LookAfter(19ms));
  EXPECT_TRUE(LookAfter(1ms));
  EXPECT_FALSE(LookAfter(20ms));
  EXPECT_TRUE(LookAfter(960ms));  // the nudge has not postponed the regular look
}

TEST_F(OwnerScanTest, LooksMoreOftenWhileThereIsWork) {
  EXPECT_TRUE(Look());
  scan_.SetBusy();
  EXPECT_FALSE(LookAfter(99ms));
  EXPECT_TRUE(LookAfter(1ms));
  EXPECT_FALSE(LookAfter(100ms));
}

TEST_F(OwnerScanTest, ANudgeDuringALookThatContinuesIsNotLost) {
  EXPECT_TRUE(Look());
  scan_.Continue();
  scan_.Nudge();  // of something that this look has passed
  EXPECT_TRUE(LookAfter(20ms));
  EXPECT_TRUE(LookAfter(20ms));
  EXPECT_FALSE(LookAfter(20ms));
}

TEST_F(OwnerScanTest, WaitsForTheClusterTimeToSettle) {
  clock_.StepWall(-5s);
  EXPECT_FALSE(Look());
  EXPECT_EQ(scan_.Next(), clock_.Steady() + 100ms);
  SampleClock();
  EXPECT_TRUE(LookAfter(100ms));
}

TEST_F(OwnerScanTest, WithoutSegmentsThereIsNoLook) {
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kReassigned);
  EXPECT_FALSE(Look());
  EXPECT_EQ(scan_.Next(), clock_.Steady() + 1s);
}

TEST_F(OwnerScanTest, AnErrorIsCountedOnce) {
  for (const ErrorCode code :
       {ErrorCode::kUnavailable, ErrorCode::kCorrupt, ErrorCode::kConflict}) {
    EXPECT_EQ(Write(code).code(), code);
    EXPECT_EQ(Errors(ErrorCodeName(code)), 1u);
  }
  EXPECT_FALSE(scan_.Succeeded(Status(ErrorCode::kExhausted, "too slow")));
  EXPECT_EQ(Errors("exhausted"), 1u);
}

TEST_F(OwnerScanTest, AnErrorNamesItsItem) {
  EXPECT_EQ(Write(ErrorCode::kCorrupt).error().message, "item 7: refused");
}

TEST_F(OwnerScanTest, ALookIsOverWhenTheClockWasSet) {
  const auto look = scan_.Begin(clock_.Steady());
  ASSERT_TRUE(look.has_value());
  clock_.StepWall(-5s);
  const Status written =
      scan_.Write("op", "item 7", *look, look->segments, [](const Fence&, WallTime) {
        ADD_FAILURE() << "written";
        return Status();
      });
  EXPECT_EQ(written.code(), ErrorCode::kFenced);  // of no item
}

TEST_F(OwnerScanTest, AConflictThatTheCallerHandlesIsNoError) {
  EXPECT_EQ(Write(ErrorCode::kConflict, OwnerScan::Conflicts::kLeftToCaller).code(),
            ErrorCode::kConflict);
  EXPECT_EQ(Errors("conflict"), 0u);
}

TEST_F(OwnerScanTest, NothingIsWrittenToSegmentsOfOthers) {
  const auto look = scan_.Begin(clock_.Steady());
  ASSERT_TRUE(look.has_value());
  const Status written = scan_.Write("op", "", *look, {SegmentId(99)}, [](const Fence&, WallTime) {
    ADD_FAILURE() << "written";
    return Status();
  });
  EXPECT_EQ(written.code(), ErrorCode::kFenced);
  EXPECT_EQ(Errors("fenced"), 0u);
}

TEST_F(OwnerScanTest, AnItemIsSetAsideForAWhile) {
  EXPECT_TRUE(Look());
  scan_.SetAside(7, "item 7", {ErrorCode::kCorrupt, "corrupt"}, clock_.Steady());
  EXPECT_TRUE(LookAfter(9s));
  EXPECT_TRUE(scan_.IsAside(7));
  EXPECT_FALSE(scan_.IsAside(8));
  EXPECT_TRUE(LookAfter(1s));
  EXPECT_FALSE(scan_.IsAside(7));
}

}  // namespace
}  // namespace carillon::scheduler
