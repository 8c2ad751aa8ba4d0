// The contract of StreakStore: which runs count for pause_after_failures, and how it pauses a job.
#pragma once

#include "tests/contract/store/fire_driver.h"

namespace carillon::test {

template <typename Factory>
class StreakContract : public FireContract<Factory> {
 protected:
  static JobDefinition Hourly(int64_t pause_after_failures = 3) {
    JobDefinition job = StoreDriver::Every(1h);
    job.pause_after_failures = pause_after_failures;
    return job;
  }
  static WallTime At(int hour) { return kT0 + hour * 1h; }

  // Ends the run of the `hour`-th fire, a second after it.
  RunRow End(StoreDriver& s, int hour, RunState state, std::string_view reason = "") {
    s.Plan(At(hour), fence_, At(hour));
    const RunRow row = s.Start(s.OnlyPending(At(hour)), ++token_, fence_, At(hour));
    ResultReport report = s.ReportOf(row, state, At(hour) + 1s);
    if (!reason.empty()) report.result.reason = reason;
    s.Apply(report, fence_, At(hour) + 1s);
    return s.Get(row.key).row;
  }
  void Fail(StoreDriver& s, int first, int last) {
    for (int hour = first; hour <= last; ++hour) End(s, hour, RunState::kFailed);
  }
  // The same for a fire in two parts, of which the second ends so.
  RunRow EndFire(StoreDriver& s, const JobDefinition& job, int hour, RunState state) {
    s.Plan(At(hour), fence_, At(hour));
    const RunRow own = this->Begin(s, s.OnlyPending(At(hour)), job, fence_, At(hour));
    this->EndPart(s, own, 0, RunState::kCompleted, fence_, At(hour) + 1s);
    this->EndPart(s, own, 1, state, fence_, At(hour) + 1s);
    return this->Look(s, own, fence_, At(hour) + 1s);
  }
  static std::vector<FailingJob> Failing(StoreDriver& s, WallTime since = kT0) {
    return s.v(s.streaks.ScanFailing(s.All(), since, std::nullopt, 100));
  }
  static FailingJob OnlyFailing(StoreDriver& s) {
    const auto failing = Failing(s);
    EXPECT_EQ(failing.size(), 1u);
    return failing.empty() ? FailingJob{} : failing.front();
  }
  int64_t FailuresAt(StoreDriver& s, int hour) {
    return s.v(s.streaks.ReadStreak(OnlyFailing(s), At(hour) + 2s)).failures;
  }
  Result<bool> Pause(StoreDriver& s, const FailingJob& job, WallTime now) {
    return s.streaks.PauseFailing(job, fence_, {.now = now, .actor = "system"});
  }
  static StoredJob Read(StoreDriver& s) { return s.v(s.jobs.GetJob(JobId("j"))); }
  static size_t Listed(StoreDriver& s) {
    const JobFilter filter{.paused_by_failures = true};
    const size_t listed = s.v(s.jobs.ListJobs(filter)).jobs.size();
    EXPECT_EQ(s.v(s.jobs.CountJobs(filter)).seen, listed);
    return listed;
  }

  Fence fence_;
  uint64_t token_ = 0;
};
TYPED_TEST_SUITE(StreakContract, StoreFactories);

TYPED_TEST(StreakContract, SoManyFailuresInARowPauseTheJob) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const StoredJob job = s.Create("j", this->Hourly());
  this->Fail(s, 1, 2);
  EXPECT_FALSE(s.v(this->Pause(s, this->OnlyFailing(s), this->At(2) + 2s)));
  const RunRow last = this->End(s, 3, RunState::kTimedOut);
  const FailingJob failing = this->OnlyFailing(s);
  EXPECT_EQ(failing.job_no, job.job_no);
  EXPECT_EQ(failing.job_id, job.job_id);
  EXPECT_EQ(failing.segment, job.segment);
  EXPECT_EQ(failing.rule.version, job.version);
  EXPECT_EQ(failing.rule.since, job.updated);
  EXPECT_EQ(failing.rule.pause_after_failures, 3);
  EXPECT_EQ(failing.letters, 3);
  const Streak streak = s.v(s.streaks.ReadStreak(failing, this->At(3) + 2s));
  EXPECT_TRUE(streak.IsFull(failing.rule));
  EXPECT_EQ(streak.last_failed->key, last.key);
  EXPECT_EQ(streak.last_failed->state, RunState::kTimedOut);
  EXPECT_FALSE(s.v(s.streaks.ReadStreak(failing, this->At(3) - 1s)).IsFull(failing.rule))
      << "a later fire";
  EXPECT_EQ(this->Listed(s), 0u);
  const size_t notices = s.v(s.notices.ScanNotices(s.All(), 100)).size();

  EXPECT_TRUE(s.v(this->Pause(s, failing, this->At(3) + 2s)));
  const StoredJob paused = this->Read(s);
  EXPECT_FALSE(paused.definition.enabled);
  EXPECT_TRUE(paused.paused_by_failures);
  EXPECT_EQ(paused.pause_reason, "3 runs in a row have failed (pause_after_failures)");
  EXPECT_EQ(paused.version, job.version + 1);
  EXPECT_EQ(s.v(s.jobs.ListVersions(job.job_id, INT64_MAX, 1)).front().actor, "system");
  EXPECT_EQ(this->Listed(s), 1u);
  const auto audit = s.v(s.audit.ListAudit({.object_id = "j", .actor = "system"}));
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0].action, "job.pause");
  EXPECT_EQ(audit[0].reason, paused.pause_reason);
  EXPECT_EQ(audit[0].at, this->At(3) + 2s);
  const auto open = s.v(s.notices.ScanNotices(s.All(), 100));
  ASSERT_EQ(open.size(), notices + 1);
  const Notice& notice = open.back().notice;
  EXPECT_EQ(notice.kind, NoticeKind::kJobPaused);
  EXPECT_EQ(notice.key, last.key);
  EXPECT_EQ(notice.state, RunState::kTimedOut);
  EXPECT_EQ(notice.reason, reason::kTimeout);
  EXPECT_EQ(notice.fires, 3);

  EXPECT_FALSE(s.v(this->Pause(s, failing, this->At(3) + 3s)));
  EXPECT_TRUE(this->Failing(s).empty());
  EXPECT_EQ(this->Read(s).version, paused.version);
}

TYPED_TEST(StreakContract, ASuccessBeginsANewStreak) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  s.Create("j", this->Hourly());
  this->Fail(s, 1, 2);
  this->End(s, 3, RunState::kCompleted);
  EXPECT_EQ(this->FailuresAt(s, 3), 0);
  this->Fail(s, 4, 5);
  EXPECT_EQ(this->FailuresAt(s, 5), 2);
  this->Fail(s, 6, 6);
  EXPECT_EQ(this->FailuresAt(s, 6), 3);
}

TYPED_TEST(StreakContract, RunsByHandAndFaultsOfHostsNeitherCountNorEndIt) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const StoredJob job = s.Create("j", this->Hourly());
  this->End(s, 1, RunState::kFailed);
  this->End(s, 2, RunState::kFailed, reason::kSpawn);
  this->End(s, 3, RunState::kFailed, reason::kWorkerDied);
  EXPECT_EQ(this->FailuresAt(s, 3), 1);
  WallTime now = this->At(3);
  for (const RunState state : {RunState::kFailed, RunState::kCompleted}) {
    now += 5s;
    const RunRow row = s.Start(s.Execute(job, now), ++this->token_, this->fence_, now);
    s.Apply(s.ReportOf(row, state, now + 1s), this->fence_, now + 1s);
  }
  s.Plan(this->At(4), this->fence_, this->At(4));
  EXPECT_TRUE(s.v(s.runs.CancelRun(s.OnlyPending(this->At(4)).key, {.now = this->At(4)})));
  EXPECT_EQ(this->FailuresAt(s, 4), 1);
  this->Fail(s, 5, 5);
  EXPECT_EQ(this->FailuresAt(s, 5), 2);
}

TYPED_TEST(StreakContract, ALossForGoodDoesNotCount) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  JobDefinition definition = this->Hourly(1);
  definition.on_lost = OnLost::kFail;
  s.Create("j", definition);
  s.Plan(this->At(1), this->fence_, this->At(1));
  const RunRow row = s.Start(s.OnlyPending(this->At(1)), 1, this->fence_, this->At(1));
  s.Lose(row, this->fence_, this->At(1) + 30s);
  EXPECT_EQ(this->FailuresAt(s, 1), 0);
  EXPECT_FALSE(s.v(this->Pause(s, this->OnlyFailing(s), this->At(1) + 31s)));
}

TYPED_TEST(StreakContract, EveryVersionStartsAtZero) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const StoredJob job = s.Create("j", this->Hourly());
  this->Fail(s, 1, 3);
  const FailingJob failing = this->OnlyFailing(s);
  JobDefinition edited = job.definition;
  edited.command = "false";
  const StoredJob second = s.Replace(job, edited, this->At(3) + 5s);
  EXPECT_FALSE(s.v(this->Pause(s, failing, this->At(3) + 6s))) << "edited since the count";
  EXPECT_TRUE(this->Read(s).definition.enabled);
  EXPECT_EQ(this->FailuresAt(s, 3), 0);
  this->Fail(s, 4, 5);
  s.Pause(second, this->At(5) + 5s);
  EXPECT_TRUE(this->Failing(s).empty());
  s.Resume(second, this->At(5) + 6s);
  EXPECT_EQ(this->FailuresAt(s, 5), 0);
  this->Fail(s, 6, 8);
  EXPECT_TRUE(s.v(this->Pause(s, this->OnlyFailing(s), this->At(8) + 2s)));
}

TYPED_TEST(StreakContract, ARetryByHandOfAnOlderFireDoesNotCount) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const StoredJob job = s.Create("j", this->Hourly(1));
  const RunRow failed = this->End(s, 1, RunState::kFailed);
  EXPECT_TRUE(s.v(this->Pause(s, this->OnlyFailing(s), this->At(1) + 2s)));
  s.Resume(job, this->At(1) + 3s);
  s.v(s.runs.RetryRun({.key = failed.key}, {.now = this->At(1) + 4s}));
  const RunRow again =
      s.Start(s.Get(failed.key).row, ++this->token_, this->fence_, this->At(1) + 5s);
  s.Apply(s.ReportOf(again, RunState::kFailed, this->At(1) + 6s), this->fence_, this->At(1) + 6s);
  EXPECT_EQ(this->FailuresAt(s, 1), 0);
  EXPECT_FALSE(s.v(this->Pause(s, this->OnlyFailing(s), this->At(1) + 7s)));
}

// The fire has succeeded, and runs again because a person wants it to.
TYPED_TEST(StreakContract, ARetryOfPartsOfAFireThatSucceededDoesNotCount) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  const JobDefinition definition = this->Sharded(this->Hourly(2), 2);
  s.Create("j", definition);
  this->EndFire(s, definition, 1, RunState::kFailed);
  const RunRow own = this->EndFire(s, definition, 2, RunState::kCompleted);
  ASSERT_EQ(own.state, RunState::kCompleted);
  this->EndFire(s, definition, 3, RunState::kFailed);
  EXPECT_EQ(this->FailuresAt(s, 3), 1);
  const PartChoice first{.which = PartChoice::Which::kNamed, .indexes = {0}};
  const WallTime now = this->At(3) + 2s;
  const RunDetail again = s.v(s.runs.RetryRun({.key = own.key, .parts = first}, {.now = now}));
  ASSERT_EQ(again.row.state, RunState::kRunning);
  EXPECT_EQ(this->FailuresAt(s, 3), 1) << "while it runs";
  EXPECT_FALSE(s.v(this->Pause(s, this->OnlyFailing(s), now)));
  this->EndPart(s, own, 0, RunState::kFailed, this->fence_, now);
  EXPECT_EQ(this->Look(s, own, this->fence_, now).state, RunState::kFailed);
  EXPECT_EQ(this->FailuresAt(s, 3), 1) << "after it has failed";
  EXPECT_FALSE(s.v(this->Pause(s, this->OnlyFailing(s), now)));
}

TYPED_TEST(StreakContract, ASuccessBetweenTheCountAndThePauseSavesTheJob) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  s.Create("j", this->Hourly(2));
  this->Fail(s, 1, 2);
  const FailingJob failing = this->OnlyFailing(s);
  this->End(s, 3, RunState::kCompleted);
  EXPECT_FALSE(s.v(this->Pause(s, failing, this->At(3) + 2s)));
  EXPECT_TRUE(this->Read(s).definition.enabled);
}

TYPED_TEST(StreakContract, OnlyWatchedJobsWithLettersOfTheTimeAreFound) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  std::vector<JobNo> all;
  for (const char* id : {"a", "b", "c"}) {
    JobDefinition definition = s.Manual();
    definition.pause_after_failures = 1;
    const StoredJob job = s.Create(id, definition);
    all.push_back(job.job_no);
    const RunRow row = s.Start(s.Execute(job, kT0), ++this->token_, this->fence_, kT0);
    s.Apply(s.ReportOf(row, RunState::kFailed, kT0 + 1s), this->fence_, kT0 + 1s);
  }
  const StoredJob never = s.Create("never", s.Manual());
  const RunRow row = s.Start(s.Execute(never, kT0), ++this->token_, this->fence_, kT0);
  s.Apply(s.ReportOf(row, RunState::kFailed, kT0 + 1s), this->fence_, kT0 + 1s);
  const auto numbers = [](const std::vector<FailingJob>& jobs) {
    std::vector<JobNo> found;
    for (const FailingJob& job : jobs) found.push_back(job.job_no);
    return found;
  };
  EXPECT_EQ(numbers(this->Failing(s)), all);
  EXPECT_EQ(numbers(this->Failing(s, kT0 + 1s)), all);
  EXPECT_TRUE(this->Failing(s, kT0 + 2s).empty());
  EXPECT_EQ(numbers(s.v(s.streaks.ScanFailing(s.All(), kT0, all[0], 1))), std::vector{all[1]});
  EXPECT_TRUE(s.v(s.streaks.ScanFailing({}, kT0, std::nullopt, 100)).empty());
  const FailingJob second = this->Failing(s)[1];
  EXPECT_EQ(numbers(s.v(s.streaks.ScanFailing({second.segment}, kT0, all[0], 1))),
            std::vector{all[1]});
  ASSERT_OK(s.jobs.DeleteJob(JobId("b"), second.rule.version, {.now = kT0 + 3s}));
  EXPECT_EQ(numbers(this->Failing(s)), (std::vector{all[0], all[2]}));
  EXPECT_CODE(this->Pause(s, second, kT0 + 4s), ErrorCode::kNotFound);
}

TYPED_TEST(StreakContract, AnotherOwnerPausesNothing) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  s.Create("j", this->Hourly(1));
  this->Fail(s, 1, 1);
  const FailingJob failing = this->OnlyFailing(s);
  s.Take(2, "m2", "i2");
  EXPECT_CODE(this->Pause(s, failing, this->At(1) + 2s), ErrorCode::kFenced);
  EXPECT_TRUE(this->Read(s).definition.enabled);
}

TYPED_TEST(StreakContract, WhatPeopleDoWithAPausedJobChangesWhoPausedIt) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  s.Create("j", this->Hourly(1));
  this->Fail(s, 1, 1);
  EXPECT_TRUE(s.v(this->Pause(s, this->OnlyFailing(s), this->At(1) + 2s)));
  JobDefinition edited = this->Read(s).definition;
  edited.command = "false";
  EXPECT_TRUE(s.Replace(this->Read(s), edited, this->At(1) + 3s).paused_by_failures);
  EXPECT_TRUE(this->Read(s).paused_by_failures);
  EXPECT_FALSE(s.Pause(this->Read(s), this->At(1) + 4s).paused_by_failures);
  EXPECT_EQ(this->Listed(s), 0u);
  EXPECT_FALSE(s.Resume(this->Read(s), this->At(1) + 5s).paused_by_failures);
  this->Fail(s, 2, 2);
  EXPECT_TRUE(s.v(this->Pause(s, this->OnlyFailing(s), this->At(2) + 2s)));
  EXPECT_EQ(this->Listed(s), 1u);
  EXPECT_FALSE(s.Resume(this->Read(s), this->At(2) + 3s).paused_by_failures);
  EXPECT_FALSE(this->Read(s).paused_by_failures);
  EXPECT_EQ(this->Listed(s), 0u);
}

TYPED_TEST(StreakContract, ALimitIsCommonToJobsWithoutRulesOfTheirOwn) {
  StoreDriver s = this->driver();
  this->fence_ = s.Take();
  JobDefinition own = this->Hourly(1);
  own.notify.mail_to = {"team@example.org"};
  for (const auto& [id, definition] : std::map<std::string, JobDefinition>{
           {"j", this->Hourly(1)}, {"k", this->Hourly(1)}, {"own", own}}) {
    s.Create(id, definition);
  }
  s.Plan(this->At(1), this->fence_, this->At(1));
  for (const RunRow& row : s.Pending(this->At(1))) {
    const RunRow started = s.Start(row, ++this->token_, this->fence_, this->At(1));
    s.Apply(s.ReportOf(started, RunState::kFailed, this->At(1) + 1s), this->fence_,
            this->At(1) + 1s);
  }
  for (const FailingJob& job : this->Failing(s)) {
    EXPECT_TRUE(s.v(this->Pause(s, job, this->At(1) + 2s)));
  }
  std::map<JobId, OpenNotice> open;
  const auto read = [&] {
    open.clear();
    for (const OpenNotice& one : s.v(s.notices.ScanNotices(s.All(), 100))) {
      if (one.notice.kind == NoticeKind::kJobPaused) open[one.job_id] = one;
    }
  };
  const auto decide = [&](const char* id, NoticeVerdict verdict) {
    const OpenNotice& one = open.at(JobId(id));
    ASSERT_OK(s.notices.DecideNotices({{.notice = one.notice,
                                        .verdict = verdict,
                                        .shares_memory = SharesMemory(one.notice, one.rules)}},
                                      this->fence_, this->At(2)));
  };
  read();
  ASSERT_EQ(open.size(), 3u);
  decide("j", NoticeVerdict::kTell);
  read();
  EXPECT_EQ(open.at(JobId("k")).memory.told, this->At(2));
  EXPECT_EQ(open.at(JobId("own")).memory.told, WallTime{});
  decide("k", NoticeVerdict::kHoldBack);
  decide("own", NoticeVerdict::kTell);
  s.Resume(s.v(s.jobs.GetJob(JobId("k"))), this->At(2) + 1s);
  this->End(s, 3, RunState::kFailed);
  EXPECT_TRUE(s.v(this->Pause(s, this->OnlyFailing(s), this->At(3) + 2s)));
  read();
  EXPECT_EQ(open.at(JobId("k")).memory.told, this->At(2));
  EXPECT_EQ(open.at(JobId("k")).memory.held_back, 1);
}

}  // namespace carillon::test
