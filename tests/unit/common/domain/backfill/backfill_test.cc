#include "common/domain/backfill/backfill.h"

#include <gtest/gtest.h>

#include <functional>

#include "common/domain/run/returns.h"

namespace carillon {
namespace {

constexpr WallTime kBegin = FromUnixMicros(1'772'323'200'000'000);
constexpr ScheduleId kOwnSchedule{5};
constexpr ScheduleId kOtherSchedule{6};
constexpr ScheduleId kFormerSchedule{3};

RunRow RowOf(RunState state, ScheduleId id = kOwnSchedule, RunKind kind = RunKind::kRate) {
  return {.key = {kBegin, id, 0},
          .job_no = JobNo(1),
          .segment = SegmentId(0),
          .kind = kind,
          .state = state};
}

BackfillVerdict VerdictOn(std::vector<RunRow> runs, BackfillRerun rerun) {
  return DecideBackfill(runs, {.own = kOwnSchedule, .present = {kOwnSchedule, kOtherSchedule}},
                        rerun)
      .verdict;
}

Schedule EveryMinute() {
  return *Schedule::Compile({.kind = ScheduleKind::kRate, .every = 60s, .start = kBegin},
                            DstGap::kFire, DstRepeat::kAuto);
}

std::vector<int64_t> Minutes(const std::vector<WallTime>& fires) {
  std::vector<int64_t> minutes;
  for (const WallTime fire : fires) minutes.push_back((fire - kBegin) / Duration(60s));
  return minutes;
}

TEST(BackfillTest, VerdictDependsOnTheStateAndOnWhatIsRunAgain) {
  using enum BackfillVerdict;
  struct Case {
    RunState state;
    BackfillVerdict none, failed, all;
  };
  for (const Case& one : {Case{RunState::kPending, kRefused, kRefused, kRefused},
                          Case{RunState::kRunning, kRefused, kRefused, kRefused},
                          Case{RunState::kHeld, kRefused, kRefused, kRefused},
                          Case{RunState::kCompleted, kExisting, kExisting, kRunAgain},
                          Case{RunState::kFailed, kExisting, kRunAgain, kRunAgain},
                          Case{RunState::kTimedOut, kExisting, kRunAgain, kRunAgain},
                          Case{RunState::kLost, kExisting, kRunAgain, kRunAgain},
                          Case{RunState::kCancelled, kExisting, kRunAgain, kRunAgain},
                          Case{RunState::kSkipped, kRunAgain, kRunAgain, kRunAgain}}) {
    const RunRow row = RowOf(one.state);
    EXPECT_EQ(VerdictOn({row}, BackfillRerun::kNone), one.none) << Name(one.state);
    EXPECT_EQ(VerdictOn({row}, BackfillRerun::kFailed), one.failed) << Name(one.state);
    EXPECT_EQ(VerdictOn({row}, BackfillRerun::kAll), one.all) << Name(one.state);
  }
  EXPECT_EQ(VerdictOn({}, BackfillRerun::kNone), kInsert);
}

TEST(BackfillTest, ARunWhoseProcessMayStillRunIsRefused) {
  RunRow row = RowOf(RunState::kLost);
  row.may_still_run = true;
  EXPECT_EQ(VerdictOn({row}, BackfillRerun::kAll), BackfillVerdict::kRefused);
}

TEST(BackfillTest, RunsOfFormerSchedulesCountAndThoseOfOtherOnesDoNot) {
  EXPECT_EQ(VerdictOn({RowOf(RunState::kCompleted, kOtherSchedule)}, BackfillRerun::kNone),
            BackfillVerdict::kInsert);
  EXPECT_EQ(VerdictOn({RowOf(RunState::kCompleted, kFormerSchedule)}, BackfillRerun::kNone),
            BackfillVerdict::kExisting);
  EXPECT_EQ(VerdictOn({RowOf(RunState::kCompleted, kFormerSchedule, RunKind::kManual)},
                      BackfillRerun::kNone),
            BackfillVerdict::kInsert);
}

TEST(BackfillTest, OfSeveralRunsTheOneThatForbidsMostDecides) {
  const BackfillSchedules schedules{.own = kOwnSchedule, .present = {kOwnSchedule}};
  const RunRow skipped = RowOf(RunState::kSkipped);
  const RunRow done = RowOf(RunState::kCompleted, kFormerSchedule);
  const auto choice = DecideBackfill({skipped, done}, schedules, BackfillRerun::kAll);
  EXPECT_EQ(choice, (BackfillChoice{BackfillVerdict::kRunAgain, done.key}));
  const RunRow former = RowOf(RunState::kSkipped, kFormerSchedule);
  EXPECT_EQ(DecideBackfill({former, skipped}, schedules, BackfillRerun::kNone).run, skipped.key);
  EXPECT_EQ(DecideBackfill({skipped, former}, schedules, BackfillRerun::kNone).run, skipped.key);
}

TEST(BackfillTest, ARunThatIsRunAgainLosesItsToken) {
  RunRow row = RowOf(RunState::kFailed);
  row.attempt = 2;
  const JobRow job{.job_no = JobNo(1), .version = 9, .priority = 4};
  const RunChange change = RunAgainChange(row, job, {}, kBegin + 1h);
  EXPECT_EQ(change.state, RunState::kPending);
  EXPECT_EQ(change.attempt, 3);
  EXPECT_EQ(change.due, kBegin + 1h);
  EXPECT_EQ(change.def_version, 9);
  EXPECT_EQ(change.priority, 4);
  EXPECT_TRUE(change.record_attempt);
  row.state = RunState::kSkipped;
  EXPECT_FALSE(change.given_back);
  EXPECT_EQ(RunAgainChange(row, job, 8, kBegin).attempt, 3);
  EXPECT_TRUE(RunAgainChange(row, job, 8, kBegin).given_back);
  EXPECT_EQ(RunAgainChange(row, job, 8, kBegin).priority, 8);
  EXPECT_FALSE(RunAgainChange(row, job, 8, kBegin).record_attempt);
  row.claim_token = {1, 2};
  row.flags = run_flag::kNode;
  CountReturn(row);
  MarkBackfilled(row);
  EXPECT_EQ(row.kind, RunKind::kBackfill);
  EXPECT_EQ(row.flags, kRerunFlags | kOneReturn);
  EXPECT_EQ(row.claim_token, ClaimToken{});
}

TEST(BackfillTest, FiresInBothOrders) {
  const Schedule schedule = EveryMinute();
  BackfillSpan span{kBegin, kBegin + 5min, BackfillOrder::kAscending};
  EXPECT_EQ(Minutes(NextFiresOf(schedule, span, kNever, 3).fires), (std::vector<int64_t>{0, 1, 2}));
  span.order = BackfillOrder::kDescending;
  EXPECT_EQ(Minutes(NextFiresOf(schedule, span, kNever, 3).fires), (std::vector<int64_t>{4, 3, 2}));
  EXPECT_EQ(Minutes(NextFiresOf(schedule, span, kNever, 9).fires),
            (std::vector<int64_t>{4, 3, 2, 1, 0}));
  const NextFires next = NextFiresOf(schedule, span, kBegin + 3min, 9);
  EXPECT_EQ(Minutes(next.fires), (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(next.planners, 2);
}

TEST(BackfillTest, DaysAreKeptWholeUnlessTheJobHasARetentionOfItsOwn) {
  static_assert(kBegin.time_since_epoch() % Duration(24h) == Duration::zero());
  const WallTime now = kBegin + 3 * 24h + 5h;
  EXPECT_EQ(KeptFrom(now, 3 * 24h, 0), kBegin);
  EXPECT_EQ(KeptFrom(kBegin + 3 * 24h, 3 * 24h, 0), kBegin);
  EXPECT_EQ(KeptFrom(kBegin + 3 * 24h - 1us, 3 * 24h, 0), kBegin - 24h);
  EXPECT_EQ(KeptFrom(now, 3 * 24h, 2), now - 2 * 24h);
  EXPECT_EQ(KeptFrom(now, 3 * 24h, 9), now - 3 * 24h);
}

TEST(BackfillTest, FiresThatAreNotKeptAreLeftOut) {
  const Schedule schedule = EveryMinute();
  BackfillSpan span{kBegin, kBegin + 5min, BackfillOrder::kAscending, kBegin + 90s};
  NextFires next = NextFiresOf(schedule, span, kNever, 2);
  EXPECT_EQ(Minutes(next.fires), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(next.unkept, 2);
  span.order = BackfillOrder::kDescending;
  next = NextFiresOf(schedule, span, kNever, 9);
  EXPECT_EQ(Minutes(next.fires), (std::vector<int64_t>{4, 3, 2}));
  EXPECT_EQ(next.unkept, 2);
  span.kept_from = kBegin + 4min;  // the planner's fires among them are counted once
  next = NextFiresOf(schedule, span, kBegin + 3min, 9);
  EXPECT_TRUE(next.fires.empty());
  EXPECT_EQ(next.unkept, 3);
  EXPECT_EQ(next.planners, 2);
  span.kept_from = kBegin;
  EXPECT_EQ(NextFiresOf(schedule, span, kNever, 9).unkept, 0);
}

// Goes through a span with room for `runs` runs a step, and returns the minutes in the order in
// which they were run.
// `kept_from`: at a step.
std::vector<int64_t> WalkAll(
    BackfillSpan span, WallTime next_fire, int64_t runs, const RunsByFire& rows, int64_t* existing,
    const std::function<WallTime(int)>& kept_from = [](int) { return WallTime{}; }) {
  const Schedule schedule = EveryMinute();
  std::vector<WallTime> fires;
  BackfillPlan plan{.cursor = FirstCursor(span.from, span.until, span.order)};
  for (int step = 0; step < 100 && !plan.looked_at_all; ++step) {
    BackfillSpan left = SpanLeft(span.from, span.until, span.order, plan.cursor);
    left.kept_from = kept_from(step);
    const BackfillRoom room{.runs = runs, .looks = 4};
    plan = PlanBackfill(NextFiresOf(schedule, left, next_fire, room.looks), rows,
                        {.own = kOwnSchedule}, BackfillRerun::kNone, left, room);
    *existing += plan.existing;
    for (const auto& item : plan.items) fires.push_back(item.fire);
  }
  EXPECT_TRUE(plan.looked_at_all);
  return Minutes(fires);
}

TEST(BackfillTest, EachFireOfTheSpanIsLookedAtOnce) {
  const RunsByFire rows = {{kBegin + 2min, {RowOf(RunState::kCompleted)}}};
  for (const int64_t runs : {1, 2, 100}) {
    int64_t existing = 0;
    EXPECT_EQ(WalkAll({kBegin, kBegin + 6min, BackfillOrder::kAscending}, kBegin + 5min, runs, rows,
                      &existing),
              (std::vector<int64_t>{0, 1, 3, 4}));
    EXPECT_EQ(existing, 2);
    existing = 0;
    EXPECT_EQ(WalkAll({kBegin, kBegin + 6min, BackfillOrder::kDescending}, kBegin + 5min, runs,
                      rows, &existing),
              (std::vector<int64_t>{4, 3, 1, 0}));
    EXPECT_EQ(existing, 2);
  }
}

TEST(BackfillTest, ADayThatIsDroppedMeanwhileIsNotRunAgain) {
  const BackfillSpan ascending{kBegin, kBegin + 10min, BackfillOrder::kAscending};
  const BackfillSpan descending{kBegin, kBegin + 10min, BackfillOrder::kDescending};
  const auto from_third_step = [](WallTime kept) {
    return [kept](int step) { return step < 2 ? WallTime{} : kept; };
  };
  // In the third step the fires before minute 5 are not kept any more.
  const auto third = from_third_step(kBegin + 5min);
  int64_t existing = 0;
  EXPECT_EQ(WalkAll(ascending, kBegin + 9min, 1, {}, &existing, third),
            (std::vector<int64_t>{0, 1, 5, 6, 7, 8}));
  EXPECT_EQ(existing, 3 + 1);
  existing = 0;
  EXPECT_EQ(WalkAll(descending, kBegin + 9min, 1, {}, &existing, third),
            (std::vector<int64_t>{8, 7, 6, 5}));
  EXPECT_EQ(existing, 5 + 1);
  // In the third step none of them is kept any more, even those of the planner.
  const auto none = from_third_step(kBegin + 1h);
  existing = 0;
  EXPECT_EQ(WalkAll(ascending, kBegin + 9min, 1, {}, &existing, none),
            (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(existing, 8);
  existing = 0;
  EXPECT_EQ(WalkAll(descending, kBegin + 9min, 1, {}, &existing, none),
            (std::vector<int64_t>{8, 7}));
  EXPECT_EQ(existing, 8);
}

TEST(BackfillTest, PreviewCountsWhatTheStepsDo) {
  const RunsByFire rows = {{kBegin + 2min, {RowOf(RunState::kCompleted)}},
                           {kBegin + 3min, {RowOf(RunState::kRunning)}}};
  const auto preview =
      PreviewBackfill(EveryMinute(),
                      {.span = {kBegin, kBegin + 7h, BackfillOrder::kDescending},
                       .next_fire = kBegin + 6h,
                       .schedules = {.own = kOwnSchedule}},
                      [&](const std::vector<WallTime>&) -> Result<RunsByFire> { return rows; });
  ASSERT_TRUE(preview.ok());
  EXPECT_EQ(preview->fires, 420);
  EXPECT_EQ(preview->existing, 61);
  EXPECT_EQ(preview->refused, 1);
  EXPECT_EQ(preview->to_run, 358);
  ASSERT_EQ(preview->first.size(), kBackfillPreviewFires);
  EXPECT_EQ(preview->first.front(), kBegin + 359min);
}

TEST(BackfillTest, NamesAreParsed) {
  EXPECT_EQ(*ParseBackfillState("PAUSED"), BackfillState::kPaused);
  EXPECT_EQ(*ParseBackfillRerun("failed"), BackfillRerun::kFailed);
  EXPECT_EQ(*ParseBackfillOrder("descending"), BackfillOrder::kDescending);
  EXPECT_FALSE(ParseBackfillOrder("up").ok());
}

}  // namespace
}  // namespace carillon
