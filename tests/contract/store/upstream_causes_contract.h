// Contract of waits for jobs that run more than once at a fire: of several causes, of several runs
// of a workflow, and of one that began anew.
#pragma once

#include "tests/contract/store/upstream_driver.h"

namespace carillon::test {

class CausesDriver : public UpstreamDriver {
 public:
  static constexpr WallTime kNow = kT0 + 150min;

  explicit CausesDriver(StoreHandle& store) : UpstreamDriver(store) {}

  static JobDefinition Hourly(JobDefinition definition) {
    definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = kT0}};
    return definition;
  }
  static UpstreamWait Wait(const std::string& job, const std::string& in = "") {
    return {.job = JobId(job), .in = JobId(in), .window = {.back_s = 600}};
  }
  // Runs the fire of kT0 of the workflow's schedule by a backfill of its own, and begins it.
  RunKey Backfilled(const StoredJob& flow, BackfillRerun rerun) {
    const ScheduleId schedule = flow.schedules.at(0).schedule_id;
    const Backfill made = v(backfills.CreateBackfill({.job_id = flow.job_id,
                                                      .schedule_id = schedule,
                                                      .from = kT0,
                                                      .to = kT0 + 1h,
                                                      .rerun = rerun},
                                                     {}, {.now = kNow}));
    const OpenBackfill step{made.number, flow.job_no, flow.segment};
    v(backfills.StepBackfill(step, fence, kNow, 14 * 24h));
    const RunKey own{kT0, schedule, 0};
    ExpectBegin(own, kNow);
    Steps(kNow);
    last_ = step;
    return own;
  }
  // So that there may be another one.
  void EndBackfill() {
    for (int i = 0; i < 2; ++i) v(backfills.StepBackfill(*last_, fence, kNow, 14 * 24h));
    EXPECT_TRUE(HasEnded(v(backfills.GetBackfill(last_->number))));
  }
  std::vector<RunKey> KeysIn(const std::string& job, const std::string& in) {
    std::vector<RunKey> keys;
    for (const UpstreamRun& run : RunsOf(SourcesOf(job, in), kT0, kT0)) keys.push_back(run.key);
    return keys;
  }

 private:
  std::optional<OpenBackfill> last_;
};

template <typename Factory>
class UpstreamCausesContract : public StoreContract<Factory> {
 protected:
  CausesDriver causes_driver() { return CausesDriver(this->handle()); }
};
TYPED_TEST_SUITE(UpstreamCausesContract, StoreFactories);

// "up" runs once after each of the jobs "y" and "z", which have the same fires.
TYPED_TEST(UpstreamCausesContract, TheRunsOfAllCausesAreWaitedFor) {
  CausesDriver s = this->causes_driver();
  s.Create("y", s.Hourly(s.Manual()));
  s.Create("z", s.Hourly(s.Manual()));
  JobDefinition up = s.After("y");
  up.schedules.push_back({.kind = ScheduleKind::kAfter, .upstream = "z"});
  s.Create("up", up);
  s.Plan(kT0 + 1h, s.fence, kT0 + 1h);
  const std::vector<RunRow> rows = s.Pending(kT0 + 1h);
  ASSERT_EQ(rows.size(), 2u);
  const auto answer = [&] { return s.Judge(s.Wait("up"), kT0 + 1h); };
  EXPECT_EQ(answer().cause, WaitCause::kNotRun);
  s.Finished(rows[0], RunState::kCompleted, kT0 + 1h);
  std::vector<RunRow> started = s.Act(kT0 + 1h + 2s);
  ASSERT_EQ(started.size(), 1u);
  s.Finished(started[0], RunState::kCompleted, kT0 + 1h + 3s);
  EXPECT_EQ(answer().cause, WaitCause::kMoreToCome) << "the other job has not run";
  EXPECT_EQ(answer().run->key, rows[1].key);
  s.Finished(rows[1], RunState::kCompleted, kT0 + 1h + 5s);
  EXPECT_EQ(answer().cause, WaitCause::kMoreToCome) << "it has ended, and nobody has acted upon it";
  EXPECT_TRUE(answer().run->end_pending);
  started = s.Act(kT0 + 1h + 7s);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(answer().cause, WaitCause::kOpen);
  EXPECT_EQ(answer().run->key, started[0].key);
  s.Finished(started[0], RunState::kCompleted, kT0 + 1h + 8s);
  EXPECT_EQ(answer().verdict, WaitVerdict::kMet);
}

TYPED_TEST(UpstreamCausesContract, OnlyEndsForOtherJobsArePending) {
  CausesDriver s = this->causes_driver();
  JobDefinition z = s.Manual();
  z.schedules = {{.kind = ScheduleKind::kDelay, .every = 1min}};
  s.Create("z", z);
  s.Create("up", s.After("z"));
  s.Plan(kT0 + 10s, s.fence, kT0 + 1s);
  s.Finished(s.OnlyPending(kT0 + 10s), RunState::kCompleted, kT0 + 2s);
  const auto pending = [&](const std::string& job) {
    size_t count = 0;
    for (const UpstreamRun& run : s.RunsOf(s.SourcesOf(job), kT0, kT0 + 1h)) {
      count += run.end_pending ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(pending("up"), 1u);
  EXPECT_EQ(pending("z"), 0u) << "asked for alone, nothing follows its end";
  // The end for its own schedule is left.
  const auto ends = s.v(s.completions.ScanCompletions(s.All(), 100));
  ASSERT_EQ(ends.size(), 2u);
  for (const RunCompletion& end : ends) {
    if (end.target != CompletionTarget::kDependents) continue;
    s.v(s.completions.Apply({end}, s.fence, kT0 + 5s));
  }
  EXPECT_EQ(s.v(s.completions.ScanCompletions(s.All(), 100)).size(), 1u);
  EXPECT_EQ(pending("up"), 0u);
}

// A job that is a node of a workflow also runs by it, at the same fire.
TYPED_TEST(UpstreamCausesContract, AWorkflowIsACauseUntilItHasBegun) {
  CausesDriver s = this->causes_driver();
  s.Create("z", s.Hourly(s.Manual()));
  s.Create("a", s.After("z"));
  s.CreateFlow(s.Hourly(s.Chain()));
  s.Plan(kT0 + 1h, s.fence, kT0 + 1h);
  const JobNo flow = s.v(s.jobs.GetJob(JobId("flow"))).job_no;
  RunKey own;
  for (const RunRow& row : s.Pending(kT0 + 1h)) {
    if (row.job_no == flow) {
      own = row.key;
    } else {
      s.Finished(row, RunState::kCompleted, kT0 + 1h);
    }
  }
  const std::vector<RunRow> started = s.Act(kT0 + 1h + 2s);
  ASSERT_EQ(started.size(), 1u);
  s.Finished(started[0], RunState::kCompleted, kT0 + 1h + 3s);
  EXPECT_EQ(s.Judge(s.Wait("a"), kT0 + 1h).cause, WaitCause::kMoreToCome);
  EXPECT_EQ(s.Judge(s.Wait("a"), kT0 + 1h).run->key, own);
  s.ExpectBegin(own, kT0 + 1h + 4s);
  s.Steps(kT0 + 1h + 4s);
  EXPECT_EQ(s.Judge(s.Wait("a"), kT0 + 1h).cause, WaitCause::kOpen);
  s.Finish(own, "a", kT0 + 1h + 5s);
  EXPECT_EQ(s.Judge(s.Wait("a"), kT0 + 1h).verdict, WaitVerdict::kMet) << "b does not matter";
}

TYPED_TEST(UpstreamCausesContract, TwoRunsOfAWorkflowAtOneFireBothCount) {
  CausesDriver s = this->causes_driver();
  JobDefinition definition = s.Hourly(s.Chain());
  definition.schedules.push_back({.kind = ScheduleKind::kRate, .every = 2h, .start = kT0 - 1h});
  s.CreateFlow(definition);
  s.Plan(kT0 + 1h, s.fence, kT0 + 1h);
  const std::vector<RunRow> rows = s.Pending(kT0 + 1h);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].key.fire, rows[1].key.fire);
  for (const RunRow& row : rows) {
    s.ExpectBegin(row.key, kT0 + 1h);
    s.Steps(kT0 + 1h);
  }
  s.Finish(rows[0].key, "a", kT0 + 1h + 1s, RunState::kFailed);
  s.Finish(rows[1].key, "a", kT0 + 1h + 2s);
  const WaitAnswer answer = s.Judge(s.Wait("a", "flow"), kT0 + 1h);
  EXPECT_EQ(answer.cause, WaitCause::kEndedOtherwise);
  EXPECT_EQ(answer.run->key, s.RowOf(rows[0].key, "a").key);
  s.v(s.runs.RetryRun({.key = rows[0].key}, {.now = kT0 + 1h + 3s}));
  s.ExpectBegin(rows[0].key, kT0 + 1h + 4s);
  s.Steps(kT0 + 1h + 4s);
  EXPECT_EQ(s.Judge(s.Wait("a", "flow"), kT0 + 1h).cause, WaitCause::kOpen);
  s.Finish(rows[0].key, "a", kT0 + 1h + 5s);
  EXPECT_EQ(s.Judge(s.Wait("a", "flow"), kT0 + 1h).verdict, WaitVerdict::kMet);
}

TYPED_TEST(UpstreamCausesContract, NodesOfARunThatBeganAnewAreHistory) {
  CausesDriver s = this->causes_driver();
  s.Create("a", s.Manual());
  s.Create("b", s.Manual());
  const StoredJob flow = s.Create("flow", s.Hourly(s.Chain()), s.kNow);
  const RunKey own = s.Backfilled(flow, BackfillRerun::kNone);
  s.Finish(own, "a", s.kNow + 1s, RunState::kFailed);
  s.EndBackfill();
  const RunKey before = s.RowOf(own, "a").key;
  EXPECT_EQ(s.KeysIn("a", "flow"), (std::vector<RunKey>{own, before}));
  EXPECT_EQ(s.Judge(s.Wait("a", "flow"), kT0).cause, WaitCause::kEndedOtherwise);
  EXPECT_EQ(s.Backfilled(flow, BackfillRerun::kAll), own);
  const RunKey after = s.RowOf(own, "a").key;
  ASSERT_NE(after, before);
  EXPECT_EQ(s.Get(before).row.state, RunState::kFailed) << "it is still there";
  EXPECT_EQ(s.KeysIn("a", "flow"), (std::vector<RunKey>{own, after}));
  EXPECT_EQ(s.KeysIn("a", ""), (std::vector<RunKey>{own, after}));
  s.Finish(own, "a", s.kNow + 3s);
  EXPECT_EQ(s.Judge(s.Wait("a", "flow"), kT0).verdict, WaitVerdict::kMet);
  EXPECT_EQ(s.Judge(s.Wait("a"), kT0).verdict, WaitVerdict::kMet);
}

TYPED_TEST(UpstreamCausesContract, SoAreNodesOfAWorkflowWithinIt) {
  CausesDriver s = this->causes_driver();
  s.CreateFlow(s.Chain(), "inner");
  const StoredJob outer = s.Create("outer", s.Hourly(s.Flow({s.Node("inner")})), s.kNow);
  const auto begin_inner = [&](const RunKey& own) {
    const RunKey inner = s.RowOf(own, "inner").key;
    s.ExpectBegin(inner, s.kNow);
    s.Steps(s.kNow);
    return inner;
  };
  const RunKey own = s.Backfilled(outer, BackfillRerun::kNone);
  const RunKey before = begin_inner(own);
  const RunKey a_before = s.RowOf(before, "a").key;
  s.Finish(before, "a", s.kNow + 1s);
  s.Finish(before, "b", s.kNow + 2s);
  s.EndBackfill();
  EXPECT_EQ(s.KeysIn("a", "inner"), (std::vector<RunKey>{own, before, a_before}));
  s.Backfilled(outer, BackfillRerun::kAll);
  const RunKey after = s.RowOf(own, "inner").key;
  ASSERT_NE(after, before);
  EXPECT_EQ(s.KeysIn("a", "inner"), (std::vector<RunKey>{own, after}));
  EXPECT_EQ(s.Judge(s.Wait("a", "inner"), kT0).cause, WaitCause::kNotRun);
  begin_inner(own);
  EXPECT_EQ(s.KeysIn("a", "inner"), (std::vector<RunKey>{own, after, s.RowOf(after, "a").key}));
  EXPECT_EQ(s.KeysIn("a", ""), (std::vector<RunKey>{own, after, s.RowOf(after, "a").key}));
}

}  // namespace carillon::test
