// Driver of the contract of BackfillStore: one job, one backfill, and short forms of what happens
// to its runs.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

// The job fires every hour from kT0 on and is created at kNow, so the fires from kT0 to kNow have
// no run.
class BackfillDriver : public StoreDriver {
 public:
  static constexpr WallTime kNow = kT0 + 5h + 30min;

  explicit BackfillDriver(StoreHandle& store) : StoreDriver(store), fence(Take()) {}

  void Make(JobDefinition definition = Every(1h)) { job = Create("a", definition, kNow); }
  static WallTime Fire(int hour) { return kT0 + 1h * hour; }
  RunKey KeyOf(int hour) const { return {Fire(hour), job.schedules.at(0).schedule_id, 0}; }

  // The fires of the hours [from, to).
  BackfillTerms Terms(int from, int to) const {
    return {.job_id = job.job_id,
            .schedule_id = job.schedules.at(0).schedule_id,
            .from = Fire(from),
            .to = Fire(to)};
  }
  Backfill Begin(const BackfillTerms& terms) {
    const Backfill made = v(backfills.CreateBackfill(terms, {}, {.now = kNow, .actor = "anna"}));
    number = made.number;
    return made;
  }
  // Runs are kept for a day. The range is [kT0 - 3h, kT0 + 2h).
  void BeginAcrossMidnight(BackfillOrder order) {
    JobDefinition definition = Every(1h);
    definition.schedules[0].start = kT0 - 5h;
    Make(definition);
    retention = 24h;
    BackfillTerms terms = Terms(-3, 2);
    terms.order = order;
    Begin(terms);
  }
  Backfill Read() { return v(backfills.GetBackfill(number)); }
  OpenBackfill Open() const { return {number, job.job_no, job.segment}; }
  BackfillEffect Step(WallTime now) {
    return v(backfills.StepBackfill(Open(), fence, now, retention));
  }
  // Steps once and expects that exactly these runs become due.
  void ExpectDue(WallTime now, const std::vector<RunKey>& expected) {
    std::vector<RunKey> due;
    for (const RunRow& row : Step(now).due) due.push_back(row.key);
    EXPECT_EQ(due, expected);
  }
  void ExpectDueAt(WallTime now, const std::vector<int>& hours) {
    std::vector<RunKey> keys;
    for (const int hour : hours) keys.push_back(KeyOf(hour));
    ExpectDue(now, keys);
  }
  void ExpectCounts(const BackfillCounts& expected) {
    const BackfillCounts counts = Read().counts;
    EXPECT_EQ(counts.created, expected.created);
    EXPECT_EQ(counts.rerun, expected.rerun);
    EXPECT_EQ(counts.existing, expected.existing);
    EXPECT_EQ(counts.refused, expected.refused);
    EXPECT_EQ(counts.succeeded, expected.succeeded);
    EXPECT_EQ(counts.failed, expected.failed);
  }

  RunRow StartRun(const RunKey& key, WallTime now) {
    return Start(Get(key).row, ++token_, fence, now);
  }
  void EndRun(const RunKey& key, RunState state, WallTime now) {
    const RunRow row = StartRun(key, now);
    EXPECT_EQ(Apply(ReportOf(row, state, now), fence, now).verdict, ResultVerdict::kApplied);
  }
  // Gives the fires of the hours [0, 5) a run each that ended in another way: COMPLETED, FAILED,
  // SKIPPED, RUNNING and PENDING. Uses a job of its own, which was there when they were due.
  void MakeWithRuns() {
    JobDefinition definition = Every(1h);
    definition.misfire_policy = MisfirePolicy::kAll;
    definition.catch_up_window_s = 86'400;
    job = Create("a", definition, kT0 - 1s);
    Plan(Fire(4), fence, kT0);
    EndRun(KeyOf(0), RunState::kCompleted, kNow);
    EndRun(KeyOf(1), RunState::kFailed, kNow);
    const RunRow skipped = Get(KeyOf(2)).row;
    EXPECT_EQ(v(firing.Skip({{skipped.key, skipped.segment, skipped.job_no, skipped.attempt,
                              skipped.def_version, reason::kMisfire}},
                            fence, kNow))
                  .size(),
              1u);
    StartRun(KeyOf(3), kNow);
  }

  Fence fence;
  Duration retention = 14 * 24h;  // of the cluster
  StoredJob job;
  uint64_t number = 0;

 private:
  uint64_t token_ = 0;
};

}  // namespace carillon::test
