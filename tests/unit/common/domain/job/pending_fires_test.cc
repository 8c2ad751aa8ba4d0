#include "common/domain/job/pending_fires.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

const WallTime kStart = FromUnixMicros(1'800'000'000'000'000);

ScheduleSpec EverySecond() { return {.kind = ScheduleKind::kRate, .every = 1s, .start = kStart}; }

TEST(PendingFiresTest, FirstFireIsStrictlyAfter) {
  EXPECT_EQ(FirstFireAfter({}, EverySecond(), kStart), kStart + 1s);
  EXPECT_EQ(FirstFireAfter({}, EverySecond(), kStart - 1us), kStart);
}

TEST(PendingFiresTest, ScheduleThatIsOverOrUnknownNeverFires) {
  const ScheduleSpec once{.kind = ScheduleKind::kOnce, .at = kStart};
  EXPECT_EQ(FirstFireAfter({}, once, kStart), kNever);
  const ScheduleSpec newer{.kind = ScheduleKind::kCron, .cron_expression = "of a later version"};
  EXPECT_EQ(FirstFireAfter({}, newer, kStart), kNever);
}

TEST(PendingFiresTest, PassesOverWhatIsDueWithBothEnds) {
  WallTime next = kStart;
  const GapRange gap = PassOver({}, EverySecond(), GapReason::kPaused, kStart + 3s, &next);
  EXPECT_EQ(gap, (GapRange{kStart, kStart + 3s, 4, GapReason::kPaused}));
  EXPECT_EQ(next, kStart + 4s);
}

TEST(PendingFiresTest, NothingDueIsNoGap) {
  WallTime next = kStart + 1s;
  EXPECT_EQ(PassOver({}, EverySecond(), GapReason::kEdited, kStart, &next).count, 0);
  EXPECT_EQ(next, kStart + 1s);
}

TEST(PendingFiresTest, YearsOfFiresAreCountedExactly) {
  WallTime next = kStart;
  const WallTime now = kStart + 24h * 365 * 10;
  const GapRange gap = PassOver({}, EverySecond(), GapReason::kPaused, now, &next);
  EXPECT_EQ(gap.count, 3650LL * 86'400 + 1);
  EXPECT_EQ(next, now + 1s);
}

TEST(PendingFiresTest, ADelayScheduleFiresAtItsStartOrAtOnceAndMissesNothing) {
  ScheduleSpec spec{.kind = ScheduleKind::kDelay, .every = 10s};
  EXPECT_EQ(FirstFireAfter({}, spec, kStart), kStart + 1us);
  spec.start = kStart + 1h;
  EXPECT_EQ(FirstFireAfter({}, spec, kStart), kStart + 1h);
  WallTime next = kStart;
  EXPECT_EQ(PassOver({}, spec, GapReason::kPaused, kStart + 3s, &next).count, 0);
  EXPECT_EQ(next, kStart + 3s);
  EXPECT_EQ(PassOver({}, spec, GapReason::kPaused, kStart, &next).count, 0);
  EXPECT_EQ(next, kStart + 3s);
  next = kNever;  // a run is awaited
  PassOver({}, spec, GapReason::kPaused, kStart, &next);
  EXPECT_EQ(next, kNever);
}

TEST(PendingFiresTest, ATriggerOfEventsNeverFiresByItselfAndMissesNothing) {
  const ScheduleSpec spec{.kind = ScheduleKind::kEvent, .event_type = "order.*"};
  EXPECT_EQ(FirstFireAfter({}, spec, kStart), kNever);
  WallTime next = kNever;
  for (const GapReason why : {GapReason::kPaused, GapReason::kEdited, GapReason::kDeleted}) {
    EXPECT_EQ(PassOver({}, spec, why, kStart + 24h, &next).count, 0);
    EXPECT_EQ(next, kNever);
  }
}

TEST(PendingFiresTest, ATriggerWithAnotherFilterIsAnotherSchedule) {
  const ScheduleSpec before{
      .kind = ScheduleKind::kEvent, .event_type = "order.*", .event_source = "shop"};
  ScheduleSpec after = before;
  after.parameters = {{"n", std::string("{{event.data.n}}")}};
  using Indexes = std::vector<std::optional<size_t>>;
  EXPECT_EQ(ContinuedSchedules({&before}, {after}), (Indexes{0}));
  for (std::string ScheduleSpec::*field :
       {&ScheduleSpec::event_type, &ScheduleSpec::event_source, &ScheduleSpec::filter}) {
    ScheduleSpec other = before;
    other.*field = "x";
    EXPECT_EQ(ContinuedSchedules({&before}, {other}), (Indexes{std::nullopt}));
  }
}

TEST(PendingFiresTest, DelaySchedulesContinueEachOtherWhateverTheirDelay) {
  const auto continues = [](const ScheduleSpec& before, const ScheduleSpec& after) {
    return ContinuedSchedules({&before}, {after}).front().has_value();
  };
  const ScheduleSpec spec{.kind = ScheduleKind::kDelay, .every = 10s};
  ScheduleSpec other = spec;
  other.every = 1h;
  EXPECT_TRUE(continues(spec, other));
  other.start = kStart;
  EXPECT_FALSE(continues(spec, other));
  ScheduleSpec rate = EverySecond();
  rate.every = 1h;
  EXPECT_FALSE(continues(EverySecond(), rate));
}

TEST(PendingFiresTest, JitterDoesNotMoveWhatIsPassedOver) {
  ScheduleSpec spec = EverySecond();
  spec.jitter = 1h;
  WallTime next = kStart;
  EXPECT_EQ(PassOver({}, spec, GapReason::kPaused, kStart + 3s, &next).count, 4);
  EXPECT_EQ(next, kStart + 4s);
}

TEST(PendingFiresTest, TheEndOfAScheduleLeavesNothing) {
  ScheduleSpec spec = EverySecond();
  spec.end = kStart + 2s;
  WallTime next = kStart;
  EXPECT_EQ(PassOver({}, spec, GapReason::kPaused, kStart + 3s, &next).count, 2);
  EXPECT_EQ(next, kNever);
  EXPECT_EQ(FirstFireAfter({}, spec, kStart + 1s), kNever);
}

TEST(ContinuedSchedulesTest, AreThoseThatFireAlikeAndFirstThoseThatAreEqual) {
  const auto with = [](int64_t x) {
    ScheduleSpec spec = EverySecond();
    spec.parameters["x"] = x;
    return spec;
  };
  const ScheduleSpec once{.kind = ScheduleKind::kOnce, .at = kStart};
  const ScheduleSpec one = with(1);
  const ScheduleSpec two = with(2);
  using Indexes = std::vector<std::optional<size_t>>;
  EXPECT_EQ(ContinuedSchedules({&one, &two}, {one, two}), (Indexes{0, 1}));
  EXPECT_EQ(ContinuedSchedules({&one, &two}, {two, one}), (Indexes{1, 0}));
  EXPECT_EQ(ContinuedSchedules({&one, &two}, {two}), (Indexes{1}));
  EXPECT_EQ(ContinuedSchedules({&one, &two}, {with(3), one}), (Indexes{1, 0}));
  EXPECT_EQ(ContinuedSchedules({&one}, {with(3), with(4), once}),
            (Indexes{0, std::nullopt, std::nullopt}));
  EXPECT_EQ(ContinuedSchedules({nullptr, &once}, {one, once}), (Indexes{std::nullopt, 1}));
}

TEST(PendingFiresTest, LastFirePassedOverLeavesNothing) {
  WallTime next = kStart;
  const ScheduleSpec once{.kind = ScheduleKind::kOnce, .at = kStart};
  EXPECT_EQ(PassOver({}, once, GapReason::kDeleted, kStart + 1s, &next).count, 1);
  EXPECT_EQ(next, kNever);
}

}  // namespace
}  // namespace carillon
