// Contract of CompletionStore, and of the writes that end runs of delay schedules.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

// One job with one delay schedule, and short forms of what happens to its runs.
class DelayDriver : public StoreDriver {
 public:
  explicit DelayDriver(StoreHandle& store) : StoreDriver(store), fence(Take()) {}

  static JobDefinition After(Duration every, WallTime start = WallTime{}) {
    JobDefinition definition = Manual();
    definition.schedules = {{.kind = ScheduleKind::kDelay, .every = every, .start = start}};
    return definition;
  }
  void Make(const JobDefinition& definition) { job = Create("a", definition); }
  void Edit(const JobDefinition& definition, WallTime now) { job = Replace(job, definition, now); }

  // The next fire of the job's schedule; kNever if it has none now.
  WallTime NextFire() {
    const auto due = v(firing.ScanDue(All(), kT0 + 1000h, 10));
    return due.empty() ? kNever : due.front().next_fire;
  }
  // Plans the schedule's only fire, and returns its run.
  RunRow Planned(WallTime now) {
    Plan(kT0 + 100h, fence, now);
    return OnlyPending(kT0 + 100h);
  }
  RunRow Started(WallTime now) { return Start(Planned(now), ++token_, fence, now); }
  RunRow Again(const RunKey& key, WallTime now) {
    return Start(Get(key).row, ++token_, fence, now);
  }
  RunEffect End(const RunRow& row, RunState state, WallTime ended) {
    return Apply(ReportOf(row, state, ended), fence, ended + 1ms);
  }
  std::vector<RunCompletion> Ends() { return v(completions.ScanCompletions(All(), 100)); }
  // The only completion, which must be of this run.
  RunCompletion EndOf(const RunKey& key, RunState state, WallTime ended) {
    const std::vector<RunCompletion> ends = Ends();
    EXPECT_EQ(ends.size(), 1u);
    if (ends.size() != 1) return {};
    EXPECT_EQ(ends[0].key, key);
    EXPECT_EQ(ends[0].job_no, job.job_no);
    EXPECT_EQ(ends[0].segment, job.segment);
    EXPECT_EQ(Name(ends[0].state), Name(state));
    EXPECT_EQ(ends[0].ended, ended);
    return ends[0];
  }
  // Acts on all completions; returns how many of them were awaited.
  size_t ActOnEnds(WallTime now) {
    const std::vector<RunCompletion> ends = Ends();
    if (ends.empty()) return 0;
    const auto effects = v(completions.Apply(ends, fence, now));
    EXPECT_EQ(effects.size(), ends.size());
    EXPECT_TRUE(Ends().empty());
    return static_cast<size_t>(
        std::count_if(effects.begin(), effects.end(),
                      [](const CompletionEffect& effect) { return effect.awaited; }));
  }
  size_t Stuck() { return v(completions.ScanStuck(All(), 10)).size(); }

  StoredJob job;
  Fence fence;

 private:
  uint64_t token_ = 500;
};

template <typename Factory>
class DelayContract : public StoreContract<Factory> {
 protected:
  DelayDriver delays() { return DelayDriver(this->handle()); }
};
TYPED_TEST_SUITE(DelayContract, StoreFactories);

TYPED_TEST(DelayContract, FirstFireIsAtOnceOrAtTheStart) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  EXPECT_EQ(s.NextFire(), kT0 + 1us);
  s.Edit(s.After(10s, kT0 + 1h), kT0 + 1s);
  EXPECT_EQ(s.NextFire(), kT0 + 1h);
  s.Edit(s.After(10s, kT0 - 1h), kT0 + 2s);
  EXPECT_EQ(s.NextFire(), kT0 + 2s + 1us);
}

TYPED_TEST(DelayContract, PlannedRunIsAwaited) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Planned(kT0);
  EXPECT_EQ(row.kind, RunKind::kDelay);
  EXPECT_EQ(row.flags, run_flag::kDelay);
  EXPECT_EQ(s.NextFire(), kNever);
  EXPECT_TRUE(s.Ends().empty());
  EXPECT_EQ(s.Stuck(), 0u);
}

TYPED_TEST(DelayContract, ResultOfEachKindTellsItsEndOnce) {
  DelayDriver s = this->delays();
  for (const RunState state :
       {RunState::kCompleted, RunState::kFailed, RunState::kTimedOut, RunState::kCancelled}) {
    SCOPED_TRACE(Name(state));
    s.job = s.Create(std::string("job-") + std::string(Name(state)), s.After(10s));
    const RunRow row = s.Started(kT0 + 1s);
    EXPECT_TRUE(s.End(row, state, kT0 + 4s).completed);
    s.EndOf(row.key, state, kT0 + 4s);
    s.End(row, state, kT0 + 5s);  // the same result again
    s.EndOf(row.key, state, kT0 + 4s);
    EXPECT_EQ(s.Stuck(), 0u);
    EXPECT_EQ(s.ActOnEnds(kT0 + 6s), 1u);
    EXPECT_EQ(s.NextFire(), kT0 + 14s);
    ASSERT_OK(s.jobs.DeleteJob(s.job.job_id, s.job.version, {.now = kT0 + 6s}));
  }
}

TYPED_TEST(DelayContract, EndBesidePlainResultsIsToldToo) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  const StoredJob other = s.Create("b", s.Manual());
  const RunRow plain = s.Start(s.Execute(other, kT0), 1, s.fence, kT0 + 1s);
  const auto effects = s.v(s.firing.ApplyResults(
      {s.ReportOf(plain, RunState::kCompleted), s.ReportOf(row, RunState::kCompleted)}, s.fence,
      kT0 + 9s));
  EXPECT_FALSE(effects.at(0).completed);
  EXPECT_TRUE(effects.at(1).completed);
  s.EndOf(row.key, RunState::kCompleted, kT0 + 9s);
}

TYPED_TEST(DelayContract, OnlyTheLastAttemptIsTheEnd) {
  DelayDriver s = this->delays();
  JobDefinition retried = s.After(10s);
  retried.retry_count = 1;
  retried.retry_interval_s = 1;
  s.Make(retried);
  const RunRow row = s.Started(kT0 + 1s);
  EXPECT_FALSE(s.End(row, RunState::kFailed, kT0 + 2s).completed);
  EXPECT_TRUE(s.Ends().empty());
  EXPECT_EQ(s.Stuck(), 0u);
  const RunRow second = s.Again(row.key, kT0 + 10s);
  s.End(second, RunState::kFailed, kT0 + 12s);
  s.EndOf(row.key, RunState::kFailed, kT0 + 12s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 13s), 1u);
  EXPECT_EQ(s.NextFire(), kT0 + 22s);
}

TYPED_TEST(DelayContract, LossSkipAndCancelAreEnds) {
  DelayDriver s = this->delays();
  JobDefinition definition = s.After(10s);
  definition.retry_count = 0;
  s.Make(definition);
  const RunRow lost = s.Started(kT0 + 1s);
  EXPECT_TRUE(s.Lose(lost, s.fence, kT0 + 30s).at(0).completed);
  s.EndOf(lost.key, RunState::kLost, kT0 + 30s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 31s), 1u);
  const RunRow skipped = s.Planned(kT0 + 40s);
  EXPECT_EQ(skipped.key.fire, kT0 + 40s);
  EXPECT_EQ(s.v(s.firing.Skip({{.key = skipped.key,
                                .segment = skipped.segment,
                                .job_no = skipped.job_no,
                                .def_version = skipped.def_version,
                                .reason = reason::kOverlap}},
                              s.fence, kT0 + 41s))
                .size(),
            1u);
  s.EndOf(skipped.key, RunState::kSkipped, kT0 + 41s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 42s), 1u);
  // Cancelled before it was due: the next fire is later than this one all the same.
  const RunRow cancelled = s.Planned(kT0 + 42s);
  EXPECT_EQ(cancelled.key.fire, kT0 + 51s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(cancelled.key, {.now = kT0 + 43s})));
  s.EndOf(cancelled.key, RunState::kCancelled, kT0 + 43s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 43s), 1u);
  EXPECT_EQ(s.NextFire(), kT0 + 53s);
}

TYPED_TEST(DelayContract, NextFireIsLaterThanTheLast) {
  DelayDriver s = this->delays();
  s.Make(s.After(1s, kT0 + 1h));
  const RunRow row = s.Planned(kT0);
  EXPECT_TRUE(s.v(s.runs.CancelRun(row.key, {.now = kT0 + 5s})));
  EXPECT_EQ(s.ActOnEnds(kT0 + 6s), 1u);
  EXPECT_EQ(s.NextFire(), kT0 + 1h + 1us);
}

TYPED_TEST(DelayContract, HostWithAWrongClockDelaysNothing) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  RunRow row = s.Started(kT0 + 1s);
  ResultReport report = s.ReportOf(row, RunState::kCompleted, kT0 + 5h);
  s.Apply(report, s.fence, kT0 + 3s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 4s), 1u);
  EXPECT_EQ(s.NextFire(), kT0 + 14s);
  row = s.Started(kT0 + 14s);
  report = s.ReportOf(row, RunState::kCompleted, kT0 - 5h);
  s.Apply(report, s.fence, kT0 + 16s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 17s), 1u);
  EXPECT_EQ(s.NextFire(), kT0 + 24s);
}

TYPED_TEST(DelayContract, HeldRunHasNotEnded) {
  DelayDriver s = this->delays();
  JobDefinition held = s.After(10s);
  held.on_lost = OnLost::kHold;
  s.Make(held);
  const RunRow row = s.Started(kT0 + 1s);
  EXPECT_FALSE(s.Lose(row, s.fence, kT0 + 30s).at(0).completed);
  EXPECT_TRUE(s.Ends().empty());
  EXPECT_EQ(s.Stuck(), 0u);
  EXPECT_TRUE(s.v(s.runs.CancelRun(row.key, {.now = kT0 + 60s, .confirm_overlap = true})));
  s.EndOf(row.key, RunState::kCancelled, kT0 + 60s);
}

TYPED_TEST(DelayContract, SecondEndOfARunDoesNothing) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  s.End(row, RunState::kFailed, kT0 + 2s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 3s), 1u);
  s.v(s.runs.RetryRun({.key = row.key}, {.now = kT0 + 4s}));
  const RunRow second = s.Again(row.key, kT0 + 5s);
  s.End(second, RunState::kCompleted, kT0 + 6s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 7s), 0u);
  EXPECT_EQ(s.NextFire(), kT0 + 12s);
  // Nor does it while the next run is awaited.
  const RunRow next = s.Started(kT0 + 12s);
  EXPECT_EQ(s.NextFire(), kNever);
  EXPECT_NE(next.key, row.key);
}

TYPED_TEST(DelayContract, RealEndAfterALossDoesNothing) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  s.Lose(row, s.fence, kT0 + 30s);
  s.End(row, RunState::kCompleted, kT0 + 35s);
  EXPECT_EQ(s.Get(row.key).row.state, RunState::kCompleted);
  EXPECT_EQ(s.Ends().size(), 2u);
  EXPECT_EQ(s.ActOnEnds(kT0 + 36s), 1u);
  EXPECT_EQ(s.NextFire(), kT0 + 40s);
}

TYPED_TEST(DelayContract, ActingTwiceOnACompletionChangesNothing) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  s.End(row, RunState::kCompleted, kT0 + 2s);
  const auto ends = s.Ends();
  s.ActOnEnds(kT0 + 3s);
  s.Started(kT0 + 12s);
  EXPECT_FALSE(s.v(s.completions.Apply(ends, s.fence, kT0 + 20s)).at(0).awaited);
  EXPECT_EQ(s.NextFire(), kNever);
  EXPECT_EQ(s.Stuck(), 0u);
}

TYPED_TEST(DelayContract, FormerOwnerChangesNothing) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  s.End(row, RunState::kCompleted, kT0 + 2s);
  const Fence old = s.fence;
  s.fence = s.Take(2, "m2", "i2");
  EXPECT_CODE(s.completions.Apply(s.Ends(), old, kT0 + 3s), ErrorCode::kFenced);
  s.EndOf(row.key, RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 4s), 1u);
}

TYPED_TEST(DelayContract, EndWhileThePauseLastsCountsFromTheResume) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  s.job = s.Pause(s.job, kT0 + 2s);
  s.End(row, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 4s), 1u);
  EXPECT_EQ(s.NextFire(), kNever);
  EXPECT_EQ(s.Stuck(), 0u);
  s.job = s.Resume(s.job, kT0 + 5s);
  EXPECT_EQ(s.NextFire(), kT0 + 13s);
  s.job = s.Pause(s.job, kT0 + 6s);
  s.job = s.Resume(s.job, kT0 + 60s);
  EXPECT_EQ(s.NextFire(), kT0 + 60s);
  EXPECT_TRUE(s.Gaps(s.job).empty());
}

TYPED_TEST(DelayContract, PauseTakesAPlannedRunBack) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s, kT0 + 1h));
  s.Planned(kT0);
  s.job = s.Pause(s.job, kT0 + 2s);
  EXPECT_TRUE(s.Pending(kT0 + 100h).empty());
  EXPECT_TRUE(s.Ends().empty());
  EXPECT_EQ(s.Stuck(), 0u);
  s.job = s.Resume(s.job, kT0 + 5s);
  EXPECT_EQ(s.NextFire(), kT0 + 1h);
  EXPECT_EQ(s.Planned(kT0 + 6s).key.fire, kT0 + 1h);
}

TYPED_TEST(DelayContract, PauseSkipsADueRunWhichIsAnEnd) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Planned(kT0);
  s.job = s.Pause(s.job, kT0 + 2s);
  s.EndOf(row.key, RunState::kSkipped, kT0 + 2s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 3s), 1u);
  s.job = s.Resume(s.job, kT0 + 4s);
  EXPECT_EQ(s.NextFire(), kT0 + 12s);
}

TYPED_TEST(DelayContract, EditOfTheDelayKeepsWaiting) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const ScheduleId id = s.job.schedules.at(0).schedule_id;
  const RunRow row = s.Started(kT0 + 1s);
  s.Edit(s.After(60s), kT0 + 2s);
  EXPECT_EQ(s.job.schedules.at(0).schedule_id, id);
  EXPECT_EQ(s.NextFire(), kNever);
  s.End(row, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 4s), 1u);
  EXPECT_EQ(s.NextFire(), kT0 + 63s);
}

TYPED_TEST(DelayContract, AnotherScheduleDoesNotWait) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  JobDefinition two = s.After(10s, kT0 + 1h);
  two.name = "edited";
  s.Edit(two, kT0 + 2s);
  EXPECT_NE(s.job.schedules.at(0).schedule_id, row.key.schedule_id);
  EXPECT_EQ(s.NextFire(), kT0 + 1h);
  s.End(row, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 4s), 0u);
  EXPECT_EQ(s.NextFire(), kT0 + 1h);
}

TYPED_TEST(DelayContract, SchedulesThatSwapTheirDelaysStayThemselves) {
  DelayDriver s = this->delays();
  JobDefinition two = s.After(10s);
  two.schedules.push_back(s.After(20s).schedules[0]);
  s.Make(two);
  const ScheduleId ten = s.job.schedules.at(0).schedule_id;
  const ScheduleId twenty = s.job.schedules.at(1).schedule_id;
  two.schedules[0].every = 30s;
  two.schedules[1].every = 10s;
  s.Edit(two, kT0 + 1s);
  EXPECT_EQ(s.job.schedules.at(0).schedule_id, twenty);
  EXPECT_EQ(s.job.schedules.at(1).schedule_id, ten);
}

TYPED_TEST(DelayContract, EndOfARunOfADeletedJobIsForgotten) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  ASSERT_OK(s.jobs.DeleteJob(s.job.job_id, s.job.version, {.now = kT0 + 2s}));
  s.End(row, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.ActOnEnds(kT0 + 4s), 0u);
  EXPECT_EQ(s.NextFire(), kNever);
  EXPECT_EQ(s.Stuck(), 0u);
}

TYPED_TEST(DelayContract, ScheduleThatWaitsForNothingIsFoundAndFires) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  PlanBatch batch = s.BatchOf(kT0 + 1h, kT0);
  batch.runs.clear();
  ASSERT_OK(s.firing.Plan(batch, s.fence, kT0));
  const auto stuck = s.v(s.completions.ScanStuck(s.All(), 10));
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_EQ(stuck[0].schedule_id, s.job.schedules.at(0).schedule_id);
  EXPECT_EQ(stuck[0].awaited, kT0 + 1us);
  EXPECT_TRUE(s.v(s.completions.Revive(stuck[0], s.fence, kT0 + 5s)));
  EXPECT_EQ(s.NextFire(), kT0 + 5s);
  EXPECT_EQ(s.Stuck(), 0u);
  EXPECT_FALSE(s.v(s.completions.Revive(stuck[0], s.fence, kT0 + 6s)));
}

TYPED_TEST(DelayContract, CompletionsKeepToTheirSegmentsAndTheLimit) {
  DelayDriver s = this->delays();
  s.Make(s.After(10s));
  const RunRow row = s.Started(kT0 + 1s);
  s.End(row, RunState::kCompleted, kT0 + 2s);
  const SegmentId other((row.segment.value() + 1) % kSegments);
  EXPECT_TRUE(s.v(s.completions.ScanCompletions({other}, 10)).empty());
  EXPECT_TRUE(s.v(s.completions.ScanCompletions(s.All(), 0)).empty());
  EXPECT_EQ(s.v(s.completions.ScanCompletions({row.segment}, 1)).size(), 1u);
}

}  // namespace carillon::test
