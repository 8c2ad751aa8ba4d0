// Contract of the values of `due` that are no times (common/domain/run/run.h): what each reader of
// open runs does with them.
#pragma once

#include <set>

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class DueValuesContract : public StoreContract<Factory> {
 protected:
  // One job with a run for each value; all fires are past at kNow_.
  struct Rows {
    StoredJob job;
    RunKey timed, awaiting, blocked, queued, paused, undecided, waits_for_time;
  };
  Rows Make(StoreDriver& s) {
    Rows rows{.job = s.Create("job", s.Every(10h))};
    const auto plan = [&](Duration after, WallTime due) {
      const RunKey key{kT0 + after, rows.job.schedules.front().schedule_id, 0};
      EXPECT_OK(s.firing.Plan({.runs = {{.key = key,
                                         .job_no = rows.job.job_no,
                                         .segment = rows.job.segment,
                                         .due = due,
                                         .def_version = rows.job.version}}},
                              fence_, kT0));
      return key;
    };
    rows.timed = plan(1s, kT0 + 1s);
    rows.awaiting = plan(2s, kAwaiting);
    rows.blocked = plan(3s, kBlocked);
    rows.queued = plan(4s, kQueued);
    rows.paused = plan(5s, kNever);
    rows.undecided = plan(6s, kUndecided);
    rows.waits_for_time = plan(7s, kTimed);
    return rows;
  }
  static std::vector<RunKey> KeysOf(const std::vector<RunRow>& rows) {
    std::vector<RunKey> keys;
    for (const RunRow& row : rows) keys.push_back(row.key);
    return keys;
  }
  static std::vector<RunKey> Listed(StoreDriver& s, const RunFilter& filter, WallTime now) {
    std::vector<RunKey> keys;
    for (const RunDetail& run : s.v(s.runs.ListRuns(filter, now)).runs) keys.push_back(run.row.key);
    EXPECT_EQ(s.v(s.runs.CountRuns(filter, now)).seen, keys.size());
    return keys;
  }

  Fence fence_;
  static constexpr WallTime kNow_ = kT0 + 1min;
};
TYPED_TEST_SUITE(DueValuesContract, StoreFactories);

TYPED_TEST(DueValuesContract, OnlyRunsWithATimeAreDue) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const auto rows = this->Make(s);
  const std::vector<RunKey> timed{rows.timed};
  for (const WallTime until : {this->kNow_, kTimed, kUndecided, kAwaiting, kBlocked, kNever}) {
    EXPECT_EQ(this->KeysOf(s.Pending(until)), timed);
  }
  const JobWindow window{.job_no = rows.job.job_no, .from = kT0, .to = this->kNow_};
  EXPECT_EQ(this->KeysOf(s.v(s.firing.ScanPendingOfJob(window, std::nullopt, 100)).runs), timed);
  const OverdueReport overdue = s.v(s.firing.ReadOverdue(this->kNow_));
  EXPECT_EQ(overdue.oldest_pending_due, kT0 + 1s);
  EXPECT_EQ(overdue.pending_due, 1);
  s.Start(s.Get(rows.timed).row, 1, this->fence_, this->kNow_);
  EXPECT_TRUE(s.Pending(kNever).empty());
  EXPECT_EQ(s.v(s.firing.ReadOverdue(this->kNow_)).oldest_pending_due, kNever);
  EXPECT_EQ(this->KeysOf(s.v(s.firing.ScanRunning(s.All(), std::nullopt, 100)).runs), timed);
}

TYPED_TEST(DueValuesContract, ClaimsAreRefusedUntilItIsATime) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const auto rows = this->Make(s);
  const std::vector<std::pair<RunKey, ClaimReason>> cases = {
      {rows.awaiting, ClaimReason::kNotDue},     {rows.blocked, ClaimReason::kNotDue},
      {rows.undecided, ClaimReason::kNotDue},    {rows.waits_for_time, ClaimReason::kNotDue},
      {rows.queued, ClaimReason::kWaitsForSlot}, {rows.paused, ClaimReason::kPaused}};
  for (const auto& [key, reason] : cases) {
    const ClaimReply reply = s.Claim(s.ClaimOf(s.Get(key).row, 1), this->fence_, this->kNow_);
    EXPECT_EQ(reply.verdict, ClaimVerdict::kRefused);
    EXPECT_EQ(reply.reason, reason) << Name(reply.reason);
  }
}

TYPED_TEST(DueValuesContract, AllOfThemAreListedAndCounted) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const auto rows = this->Make(s);
  const std::vector<RunKey> all = {rows.waits_for_time, rows.undecided, rows.paused, rows.queued,
                                   rows.blocked,        rows.awaiting,  rows.timed};
  EXPECT_EQ(this->Listed(s, {}, this->kNow_), all);
  EXPECT_EQ(this->Listed(s, {.states = {RunState::kPending}}, this->kNow_), all);
  EXPECT_EQ(this->Listed(s, {.job_id = rows.job.job_id}, this->kNow_), all);
  EXPECT_EQ(s.v(s.runs.CountOpenRuns()).pending, 7);
}

TYPED_TEST(DueValuesContract, RunsThatWaitForOtherJobsAreListedAlone) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const auto rows = this->Make(s);
  const std::vector<RunKey> awaiting{rows.awaiting};
  EXPECT_EQ(this->Listed(s, {.awaiting = true}, this->kNow_), awaiting);
  EXPECT_EQ(this->Listed(s, {.job_id = rows.job.job_id, .awaiting = true}, this->kNow_), awaiting);
  EXPECT_EQ(this->Listed(s, {.states = {RunState::kPending, RunState::kFailed}, .awaiting = true},
                         this->kNow_),
            awaiting);
  EXPECT_TRUE(
      this->Listed(s, {.states = {RunState::kFailed}, .awaiting = true}, this->kNow_).empty());
  EXPECT_TRUE(this->Listed(s, {.job_id = JobId("other"), .awaiting = true}, this->kNow_).empty());
  EXPECT_TRUE(this->Listed(s, {.since = kT0 + 3s, .awaiting = true}, this->kNow_).empty());
  EXPECT_EQ(this->Listed(s, {.awaiting = true, .oldest_first = true}, this->kNow_), awaiting);
  // Until its fire it is only planned.
  EXPECT_EQ(this->Listed(s, {.awaiting = true}, kT0 + 2s), awaiting);
  EXPECT_TRUE(this->Listed(s, {.awaiting = true}, kT0 + 2s - 1us).empty());
}

TYPED_TEST(DueValuesContract, OpenNodesAreListedByWhatTheyWaitFor) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const auto rows = this->Make(s);
  EXPECT_EQ(this->Listed(s, {.opened = kUndecided}, this->kNow_), std::vector{rows.undecided});
  EXPECT_EQ(this->Listed(s, {.opened = kTimed}, this->kNow_), std::vector{rows.waits_for_time});
  EXPECT_TRUE(
      this->Listed(s, {.states = {RunState::kFailed}, .opened = kTimed}, this->kNow_).empty());
  EXPECT_TRUE(this->Listed(s, {.since = kT0 + 8s, .opened = kTimed}, this->kNow_).empty());
  // A job that is no workflow has no such nodes.
  EXPECT_TRUE(this->Listed(s, {.job_id = rows.job.job_id, .opened = kTimed}, this->kNow_).empty());
}

TYPED_TEST(DueValuesContract, RunsThatEndWhileTheyWaitStayInTheList) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const auto rows = this->Make(s);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(rows.job.job_id, {.now = this->kNow_})), 7);
  const std::vector<RunKey> all = {rows.waits_for_time, rows.undecided, rows.paused, rows.queued,
                                   rows.blocked,        rows.awaiting,  rows.timed};
  for (const RunKey& key : all) {
    EXPECT_EQ(s.Get(key).row.state, RunState::kCancelled);
  }
  EXPECT_EQ(this->Listed(s, {}, this->kNow_), all);
  EXPECT_TRUE(this->Listed(s, {.awaiting = true}, this->kNow_).empty());
  EXPECT_TRUE(this->Listed(s, {.opened = kUndecided}, this->kNow_).empty());
  EXPECT_EQ(s.v(s.runs.CountOpenRuns()).pending, 0);
}

TYPED_TEST(DueValuesContract, OnlyAPausedJobHoldsThemBack) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const auto rows = this->Make(s);
  const StoredJob paused = s.Pause(rows.job, this->kNow_);
  // Runs of a schedule that never started end; a blocked one is left to its workflow.
  for (const RunKey& key : {rows.timed, rows.awaiting, rows.queued, rows.paused}) {
    EXPECT_EQ(s.Get(key).row.state, RunState::kSkipped);
    EXPECT_EQ(s.Get(key).result.reason, reason::kPaused);
  }
  EXPECT_EQ(s.Get(rows.blocked).row.due, kBlocked);
  s.Resume(paused, this->kNow_ + 1s);
  EXPECT_EQ(s.Get(rows.blocked).row.due, kBlocked);
}

}  // namespace carillon::test
