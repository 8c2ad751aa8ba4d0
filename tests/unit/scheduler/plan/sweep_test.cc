#include "scheduler/plan/sweep.h"

#include <set>

#include "scheduler/plan/skip_writer.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

// Counts the rows of pending runs that are read.
class CountingStore final : public test::FaultFiringStore {
 public:
  using FaultFiringStore::FaultFiringStore;
  Result<PendingPage> ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                  std::optional<std::pair<WallTime, RunKey>> after,
                                  size_t limit) override {
    return Counted(FaultFiringStore::ScanPending(segments, until, after, limit));
  }
  Result<JobPendingPage> ScanPendingOfJob(const JobWindow& window, std::optional<RunKey> after,
                                          size_t limit) override {
    return Counted(FaultFiringStore::ScanPendingOfJob(window, after, limit));
  }
  size_t rows_read = 0;

 private:
  template <typename Page>
  Result<Page> Counted(Result<Page> page) {
    if (page.ok()) rows_read += page->runs.size();
    return page;
  }
};

class SweepTest : public test::RoomTest {
 protected:
  Sweep Make(Sweep::Options options = {}) {
    return Sweep({.clock = clock_,
                  .store = store_,
                  .cluster = cluster_,
                  .segments = table_,
                  .feed = feed_,
                  .metrics = metrics_,
                  .in_memory = [this] { return in_memory_; }},
                 options);
  }
  std::multiset<RunKey> Fed() {
    std::multiset<RunKey> keys;
    for (const auto& batch : feed_.PopUpTo(1000)) {
      for (const PendingRun& run : batch) keys.insert(run.key);
    }
    return keys;
  }
  // Steps until the sweep waits. Returns the runs that it fed.
  std::multiset<RunKey> Finish(Sweep& sweep) {
    std::multiset<RunKey> fed;
    for (bool more = true; more;) {
      more = sweep.Step(clock_.Steady()) == clock_.Steady();
      fed.merge(Fed());
    }
    return fed;
  }
  // Plans `count` runs of one schedule, the first at `first`, the others one second apart.
  void PlanRuns(const StoredJob& job, WallTime first, int count,
                ScheduleId schedule = ScheduleId(99)) {
    PlanBatch batch;
    for (int i = 0; i < count; ++i) {
      const WallTime fire = first + Duration(1s) * i;
      batch.runs.push_back({.key = {.fire = fire, .schedule_id = schedule},
                            .job_no = job.job_no,
                            .segment = job.segment,
                            .due = fire,
                            .def_version = job.version});
    }
    ASSERT_TRUE(
        stores_.firing.Plan(batch, table_.View()->FenceFor({job.segment}), clock_.Wall()).ok());
  }

  CountingStore store_{stores_.firing, faults_.plan};
  size_t in_memory_ = 0;  // the number of due runs in the member's memory
};

// Jitter delays a run that was planned at the end of the horizon by up to an hour more.
TEST_F(SweepTest, TakeoverLooksAheadToTheHorizonAndItsJitterOnce) {
  const StoredJob job = CreateNoop("job");
  PlanRuns(job, clock_.Wall() - 5s, 6);
  PlanRuns(job, clock_.Wall() + 30s + kJitterMax - 9s, 20);
  Sweep sweep = Make();
  sweep.Step(clock_.Steady());
  const auto fed = Fed();
  EXPECT_EQ(std::set<RunKey>(fed.begin(), fed.end()).size(), 6u + 10u);
  clock_.Advance(500ms);
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 6u);  // only the runs that are due now
}

TEST_F(SweepTest, DueRunsAreFoundHoweverOldTheyAre) {
  PlanRuns(CreateNoop("job"), clock_.Wall() - 300 * 24h, 1);
  Sweep sweep = Make();
  sweep.Step(clock_.Steady());
  Fed();
  clock_.Advance(1s);
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 1u);
}

TEST_F(SweepTest, CursorWrapsThroughMoreThanAPage) {
  PlanRuns(CreateNoop("job"), clock_.Wall() - 100s, 25);
  Sweep sweep = Make({.page_rows = 10});
  sweep.Step(clock_.Steady());
  Fed();
  std::multiset<RunKey> seen;
  for (int i = 0; i < 100; ++i) {
    clock_.Advance(20ms);
    sweep.Step(clock_.Steady());
    for (const RunKey& key : Fed()) seen.insert(key);
  }
  EXPECT_EQ(std::set<RunKey>(seen.begin(), seen.end()).size(), 25u);
  for (const RunKey& key : seen) EXPECT_GE(seen.count(key), 2u);
}

TEST_F(SweepTest, NudgeLooksAtOnceAndAhead) {
  const StoredJob job = CreateNoop("job");
  Sweep sweep = Make();
  sweep.Step(clock_.Steady());
  PlanRuns(job, clock_.Wall() + 10s, 3);
  sweep.Step(clock_.Steady());
  EXPECT_TRUE(Fed().empty());
  sweep.Nudge({job.job_no, job.segment});
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 3u);
}

TEST_F(SweepTest, NudgeOfARunLooksAtThisRunHoweverOldItsFireIs) {
  const StoredJob job = CreateNoop("job");
  Sweep sweep = Make();
  sweep.Step(clock_.Steady());
  const WallTime fire = clock_.Wall() - 24h;
  PlanRuns(job, fire, 10);
  store_.rows_read = 0;
  sweep.Nudge({job.job_no, job.segment, RunKey{.fire = fire + 4s, .schedule_id = ScheduleId(99)}});
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 1u);
  EXPECT_EQ(store_.rows_read, 1u);
}

// Two hundred edits while 50,000 runs are planned: the runs of other jobs are not read.
TEST_F(SweepTest, NudgesReadTheRowsOfTheirJobsAlone) {
  constexpr size_t kEdited = 200;
  constexpr int kRunsOfEach = 25;
  const StoredJob busy = CreateNoop("busy");
  for (int schedule = 0; schedule < 2'000; ++schedule) {
    PlanRuns(busy, clock_.Wall() + 1s, kRunsOfEach, ScheduleId(1'000 + schedule));
  }
  std::vector<StoredJob> edited;
  for (size_t i = 0; i < kEdited; ++i) {
    edited.push_back(CreateNoop("job" + std::to_string(i)));
    PlanRuns(edited.back(), clock_.Wall() + 1s, kRunsOfEach, ScheduleId(10'000 + i));
  }
  Sweep sweep = Make();
  EXPECT_EQ(Finish(sweep).size(), 50'000 + kEdited * kRunsOfEach);
  store_.rows_read = 0;
  for (const StoredJob& job : edited) sweep.Nudge({job.job_no, job.segment});
  EXPECT_EQ(Finish(sweep).size(), kEdited * kRunsOfEach);
  EXPECT_LE(store_.rows_read, kEdited * kRunsOfEach);
}

TEST_F(SweepTest, PlannerGetsItsTurnBetweenThePages) {
  constexpr size_t kPages = 3;
  const StoredJob job = CreateNoop("job");
  PlanRuns(job, clock_.Wall() + 1s, 25);
  for (int i = 0; i < 20; ++i) PlanRuns(job, clock_.Wall() + 1s, 25, ScheduleId(200 + i));
  Sweep sweep = Make({.page_rows = 10, .pages_per_step = kPages});
  const auto steps = [&] {
    size_t count = 0;
    for (bool more = true; more; ++count) {
      const int before = faults_.plan.calls("Scan*");
      more = sweep.Step(clock_.Steady()) == clock_.Steady();
      EXPECT_LE(faults_.plan.calls("Scan*") - before, static_cast<int>(kPages) + 1) << "one is due";
    }
    return count;
  };
  EXPECT_EQ(steps(), 18u) << "525 rows at a takeover";
  EXPECT_EQ(Fed().size(), 525u);
  sweep.Nudge({job.job_no, job.segment});
  EXPECT_EQ(steps(), 18u) << "525 rows of a job";
  EXPECT_EQ(Fed().size(), 525u);
}

TEST_F(SweepTest, TakeoverDuringALookGetsALookOfItsOwn) {
  PlanRuns(CreateNoop("job"), clock_.Wall() + 1s, 25);
  Sweep sweep = Make({.page_rows = 10, .pages_per_step = 1});
  sweep.Step(clock_.Steady());
  Fed();
  TakeAll();
  const auto fed = Finish(sweep);
  EXPECT_EQ(std::set<RunKey>(fed.begin(), fed.end()).size(), 25u);
}

TEST_F(SweepTest, NudgesBeyondTheLimitAreCountedAndTheirRunsFoundWhenDue) {
  const StoredJob first = CreateNoop("first");
  const StoredJob second = CreateNoop("second");
  Sweep sweep = Make({.nudges_max = 1});
  sweep.Step(clock_.Steady());
  PlanRuns(second, clock_.Wall(), 1);
  sweep.Nudge({first.job_no, first.segment});
  sweep.Nudge({first.job_no, first.segment});
  EXPECT_EQ(metrics_.counter("carillon_queue_rejections_total", "nudges").value(), 0u);
  sweep.Nudge({second.job_no, second.segment});
  EXPECT_EQ(metrics_.counter("carillon_queue_rejections_total", "nudges").value(), 1u);
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 1u);
}

TEST_F(SweepTest, NudgeIsKeptWhileTheStoreIsAway) {
  const StoredJob job = CreateNoop("job");
  Sweep sweep = Make();
  sweep.Step(clock_.Steady());
  PlanRuns(job, clock_.Wall() + 10s, 3);
  sweep.Nudge({job.job_no, job.segment});
  faults_.plan.Arm("Scan*", ErrorCode::kUnavailable);
  sweep.Step(clock_.Steady());
  EXPECT_TRUE(Fed().empty());
  clock_.Advance(100ms);
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 3u);
}

TEST_F(SweepTest, SegmentTakenAgainIsLookedAtAgain) {
  PlanRuns(CreateNoop("job"), clock_.Wall() + 10s, 3);
  Sweep sweep = Make();
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 3u);
  TakeAll();
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 3u);
}

TEST_F(SweepTest, LookAheadThatFailedIsRepeated) {
  PlanRuns(CreateNoop("job"), clock_.Wall() + 10s, 3);
  Sweep sweep = Make();
  faults_.plan.Arm("Scan*", ErrorCode::kUnavailable);
  sweep.Step(clock_.Steady());
  EXPECT_TRUE(Fed().empty());
  clock_.Advance(100ms);
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 3u);
}

TEST_F(SweepTest, FullFeedIsCountedAndTheRunsComeAgain) {
  PlanRuns(CreateNoop("job"), clock_.Wall() - 5s, 3);
  while (feed_.Push({}).ok()) {
  }
  Sweep sweep = Make();
  sweep.Step(clock_.Steady());
  EXPECT_GE(metrics_.counter("carillon_queue_rejections_total", "feed").value(), 1u);
  Fed();
  clock_.Advance(1s);
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 3u);
}

// So many due runs are in memory that reading all of them again would take too much of
// the store's capacity.
class OverloadedSweepTest : public SweepTest {
 protected:
  OverloadedSweepTest() { in_memory_ = 5'000; }
  Sweep MakeOverloaded(Sweep::Options options = {}) { return Make(options); }
  void TakeOver(Sweep& sweep) { Finish(sweep); }
  // Steps the sweep for `time`, and returns the runs that it fed.
  std::multiset<RunKey> FedWithin(Sweep& sweep, Duration time) {
    std::multiset<RunKey> fed;
    for (Duration passed{}; passed < time; passed += 20ms) {
      clock_.Advance(20ms);
      sweep.Step(clock_.Steady());
      fed.merge(Fed());
    }
    return fed;
  }
};

TEST_F(OverloadedSweepTest, LeavesToMemoryWhatBecameDueJustNow) {
  Sweep sweep = MakeOverloaded();
  TakeOver(sweep);
  PlanRuns(CreateNoop("job"), clock_.Wall(), 10);
  store_.rows_read = 0;
  EXPECT_TRUE(FedWithin(sweep, 4900ms).empty());
  EXPECT_EQ(store_.rows_read, 0u);
  EXPECT_EQ(FedWithin(sweep, 500ms).size(), 1u) << "overdue for longer than memory takes";
}

TEST_F(OverloadedSweepTest, ReadsOnePageInHalfASecondOfWhatMemoryHas) {
  PlanRuns(CreateNoop("job"), clock_.Wall() - 100s, 80);
  Sweep sweep = MakeOverloaded({.page_rows = 10});
  TakeOver(sweep);
  store_.rows_read = 0;
  FedWithin(sweep, 5s);
  EXPECT_LE(store_.rows_read, 11 * 10u);
  EXPECT_GE(store_.rows_read, 9 * 10u);
}

TEST_F(OverloadedSweepTest, LooksFromNowOnceItIsOver) {
  Sweep sweep = MakeOverloaded();
  TakeOver(sweep);
  PlanRuns(CreateNoop("job"), clock_.Wall(), 1);
  EXPECT_TRUE(FedWithin(sweep, 1s).empty());
  in_memory_ = 900;  // now one page has more rows than there are runs in memory
  EXPECT_EQ(FedWithin(sweep, 600ms).size(), 1u);
}

TEST_F(OverloadedSweepTest, GoesOnAtOnceWhileItSeesMoreThanMemoryHas) {
  PlanRuns(CreateNoop("job"), clock_.Wall() - 100s, 80);
  in_memory_ = 15;
  Sweep sweep = MakeOverloaded({.page_rows = 10});
  TakeOver(sweep);
  EXPECT_EQ(FedWithin(sweep, 1500ms).size(), 80u) << "two pages at leisure, the rest at once";
}

TEST_F(OverloadedSweepTest, WhatTheFeedDroppedIsFoundWhenItIsDue) {
  const StoredJob job = CreateNoop("job");
  Sweep sweep = MakeOverloaded();
  TakeOver(sweep);
  PlanRuns(job, clock_.Wall() + 10s, 1);
  while (feed_.Push({}).ok()) {
  }
  Fed();
  EXPECT_TRUE(FedWithin(sweep, 9900ms).empty());
  EXPECT_GE(FedWithin(sweep, 600ms).size(), 1u);
}

TEST_F(OverloadedSweepTest, WhatJitterDelaysIsRememberedUntilItIsDue) {
  const StoredJob job = CreateNoop("job");
  Sweep sweep = MakeOverloaded();
  TakeOver(sweep);
  PlanRuns(job, clock_.Wall() + 40min, 1);
  feed_.NoteDropped(clock_.Wall() + 40min);
  EXPECT_TRUE(FedWithin(sweep, 1s).empty());
  clock_.Advance(39min);
  EXPECT_TRUE(FedWithin(sweep, 58s).empty());
  EXPECT_GE(FedWithin(sweep, 1600ms).size(), 1u);
}

TEST_F(OverloadedSweepTest, WhatMemoryHadNoRoomForIsFoundWhenItIsDue) {
  PlanRuns(CreateNoop("job"), clock_.Wall() + 1h, 1);
  const StoredJob job = CreateNoop("other");
  Sweep sweep = MakeOverloaded();
  TakeOver(sweep);
  PlanRuns(job, clock_.Wall(), 1);
  feed_.NoteDropped(clock_.Wall());
  EXPECT_GE(FedWithin(sweep, 600ms).size(), 1u);
  EXPECT_EQ(metrics_.counter("carillon_queue_rejections_total", "feed").value(), 0u);
}

// The firing loop forgets a run that was edited, so the sweep must find the run at once.
TEST_F(OverloadedSweepTest, NudgeLooksFromNowAtOnce) {
  Sweep sweep = MakeOverloaded();
  TakeOver(sweep);
  PlanRuns(CreateNoop("job"), clock_.Wall(), 1);
  sweep.Step(clock_.Steady());
  EXPECT_TRUE(Fed().empty());
  sweep.NudgeDue();
  sweep.Step(clock_.Steady());
  EXPECT_EQ(Fed().size(), 1u);
}

TEST_F(OverloadedSweepTest, PageThatTheFeedHasNoRoomForIsReadAgain) {
  PlanRuns(CreateNoop("job"), clock_.Wall() - 100s, 25);
  Sweep sweep = MakeOverloaded({.page_rows = 10});
  TakeOver(sweep);
  in_memory_ = 0;
  feed_.PopUpTo(1000);
  while (feed_.Offer({}).ok()) {
  }
  clock_.Advance(500ms);
  sweep.Step(clock_.Steady());
  const auto left = Fed();
  EXPECT_TRUE(left.empty());
  EXPECT_FALSE(feed_.TakeDropped().has_value()) << "the sweep knows by itself";
  EXPECT_EQ(FedWithin(sweep, 540ms).size(), 15u) << "the first ten were read before";
}

TEST_F(OverloadedSweepTest, TakeoverFeedsEverythingThatIsDueAtOnce) {
  const StoredJob job = CreateNoop("job");
  PlanRuns(job, clock_.Wall() - 5s, 100);
  PlanRuns(job, clock_.Wall() + 31s + kJitterMax, 10);  // beyond what anybody plans
  Sweep sweep = Make();
  sweep.Step(clock_.Steady());
  const auto fed = Fed();
  EXPECT_EQ(std::set<RunKey>(fed.begin(), fed.end()).size(), 100u);
}

class SkipWriterTest : public test::RoomTest {
 protected:
  SkipWriter writer_{{.clock = clock_,
                      .store = faults_.firing,
                      .cluster = cluster_,
                      .segments = table_,
                      .fences = fences_,
                      .queue = queue_,
                      .metrics = metrics_,
                      .written = [this](const SkipRequest& skip) { written_.push_back(skip.key); }},
                     1};
  SkipQueue queue_{"skips", 8};
  std::vector<RunKey> written_;

  SkipRequest Request(const RunRow& row) {
    return {row.key,     row.segment,     row.job_no, EpochOf(row.segment),
            row.attempt, row.def_version, row.due,    reason::kQueueTimeout};
  }
};

TEST_F(SkipWriterTest, WritesTheReason) {
  const RunRow row = Execute(CreateNoop("job"));
  ASSERT_TRUE(queue_.Push({Request(row)}).ok());
  writer_.Step(clock_.Steady());
  EXPECT_EQ(Row(row.key).state, RunState::kSkipped);
  EXPECT_EQ(stores_.runs.GetRun(row.key)->result.reason, reason::kQueueTimeout);
}

TEST_F(SkipWriterTest, TellsOfWhatItHasWritten) {
  const RunRow waits = Execute(CreateNoop("a"));
  const RunRow moved = Execute(CreateNoop("b"));
  const RunRow other = Execute(CreateNoop("c"));
  SkipRequest before_the_edit = Request(moved);
  --before_the_edit.def_version;
  SkipRequest before_the_epoch = Request(other);
  before_the_epoch.epoch = Epoch(before_the_epoch.epoch.value() - 1);
  ASSERT_TRUE(queue_.Push({Request(waits), before_the_edit, before_the_epoch}).ok());
  writer_.Step(clock_.Steady());
  EXPECT_EQ(written_, std::vector{waits.key});
}

TEST_F(SkipWriterTest, KeepsItWhileTheStoreIsAway) {
  const RunRow row = Execute(CreateNoop("job"));
  ASSERT_TRUE(queue_.Push({Request(row)}).ok());
  faults_.plan.Arm("Skip", ErrorCode::kUnavailable);
  writer_.Step(clock_.Steady());
  EXPECT_EQ(Row(row.key).state, RunState::kPending);
  clock_.Advance(1s);
  writer_.Step(clock_.Steady());
  EXPECT_EQ(Row(row.key).state, RunState::kSkipped);
}

TEST_F(SkipWriterTest, RowTheStoreRefusesHoldsUpNoOther) {
  std::vector<RunRow> rows;
  for (const char* name : {"a", "b", "c"}) rows.push_back(Execute(CreateNoop(name)));
  faults_.plan.Refuse<SkipItem>([&](const auto& item) { return item.key == rows[1].key; });
  ASSERT_TRUE(queue_.Push({Request(rows[0]), Request(rows[1]), Request(rows[2])}).ok());
  writer_.Step(clock_.Steady());
  EXPECT_EQ(Row(rows[0].key).state, RunState::kSkipped);
  EXPECT_EQ(Row(rows[1].key).state, RunState::kPending);
  EXPECT_EQ(Row(rows[2].key).state, RunState::kSkipped);
}

TEST_F(SkipWriterTest, ALostSegmentLeavesNoRowOfTheOthersToTheSweep) {
  const RunRow lost = Execute(CreateNoop("a"));
  const RunRow owned = Execute(CreateNoop("b"));
  faults_.plan.Arm("Skip", ErrorCode::kConflict);  // bisected
  faults_.plan.Arm("Skip", ErrorCode::kFenced);
  ASSERT_TRUE(queue_.Push({Request(lost), Request(owned)}).ok());
  writer_.Step(clock_.Steady());
  EXPECT_EQ(Row(lost.key).state, RunState::kPending);
  EXPECT_EQ(Row(owned.key).state, RunState::kSkipped);
}

TEST_F(SkipWriterTest, RowThatNeverAgreesIsLeftToTheSweepAndHoldsUpNoOther) {
  std::vector<RunRow> rows;
  for (const char* name : {"a", "b", "c"}) rows.push_back(Execute(CreateNoop(name)));
  faults_.plan.Refuse<SkipItem>([&](const auto& item) { return item.key == rows[1].key; },
                                ErrorCode::kConflict);
  ASSERT_TRUE(queue_.Push({Request(rows[0]), Request(rows[1]), Request(rows[2])}).ok());
  writer_.Step(clock_.Steady());
  EXPECT_EQ(Row(rows[0].key).state, RunState::kSkipped);
  EXPECT_EQ(Row(rows[2].key).state, RunState::kSkipped);
  const int calls = faults_.plan.calls("Skip");
  clock_.Advance(10s);
  writer_.Step(clock_.Steady());
  EXPECT_EQ(faults_.plan.calls("Skip"), calls);
}

TEST_F(SkipWriterTest, LeavesWhatWasDecidedUnderAnOlderEpoch) {
  const RunRow row = Execute(CreateNoop("job"));
  ASSERT_TRUE(queue_.Push({Request(row)}).ok());
  TakeAll();
  writer_.Step(clock_.Steady());
  EXPECT_EQ(Row(row.key).state, RunState::kPending);
}

}  // namespace
}  // namespace carillon::scheduler
