// The contract of JobStore: edits, pauses, deletes and their effect on unclaimed runs (P1, P8).
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class JobStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(JobStoreContract, StoreFactories);

inline ScheduleSpec Rate(Duration every) {
  return {.kind = ScheduleKind::kRate, .every = every, .start = kT0};
}

// The next fire of each schedule of the job, in the definition's order; kNever if a schedule is not
// due within a day.
inline std::vector<WallTime> NextFires(StoreDriver& s, const StoredJob& job) {
  std::vector<WallTime> next(job.schedules.size(), kNever);
  for (const DueSchedule& due : s.v(s.firing.ScanDue(s.All(), kT0 + 24h, 1000))) {
    for (size_t i = 0; i < job.schedules.size(); ++i) {
      if (job.schedules[i].schedule_id == due.schedule_id) next[i] = due.next_fire;
    }
  }
  return next;
}

TYPED_TEST(JobStoreContract, CreatedJobIsReadBackWhole) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Every(1s);
  definition.schedules.push_back(
      {.kind = ScheduleKind::kCron, .cron_expression = "0 3 * * *", .time_zone = "Europe/Paris"});
  definition.schedules.push_back({.kind = ScheduleKind::kOnce, .at = kT0 + 7s});
  definition.schedules.push_back({.kind = ScheduleKind::kCron,
                                  .cron_expression = "0 4 * * *",
                                  .start = kT0 + 1s,
                                  .end = kT0 + 24h * 365,
                                  .jitter = 90s});
  definition.parameters = {{"x", std::string("y")}, {"n", int64_t{4}}, {"b", true}, {"d", 1.5}};
  definition.env = {{"PATHLIKE", "a:b"}};
  definition.labels = {{"team", "bells"}};
  definition.retry_intervals_s = {1, 5, 10};
  definition.description = "ü";
  definition.user_id = "u1";
  const StoredJob created = s.Create("job-1", definition, kT0 + 1s);
  EXPECT_EQ(created.version, 1);
  EXPECT_EQ(created.job_id, JobId("job-1"));
  EXPECT_EQ(created.segment.value(), created.job_no.value() % kSegments);
  EXPECT_EQ(created.created, kT0 + 1s);
  EXPECT_EQ(created.updated, kT0 + 1s);
  EXPECT_EQ(created.definition, definition);
  ASSERT_EQ(created.schedules.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(created.schedules[i].spec, definition.schedules[i]);
  this->Reopen();
  StoreDriver again = this->driver();
  const StoredJob read = again.v(again.jobs.GetJob(JobId("job-1")));
  EXPECT_EQ(read.definition, definition);
  EXPECT_EQ(read.version, 1);
  EXPECT_EQ(read.created, kT0 + 1s);
  ASSERT_EQ(read.schedules.size(), 4u);
  EXPECT_EQ(read.schedules[1].schedule_id, created.schedules[1].schedule_id);
  // The planner reads the schedules on its own.
  for (const DueSchedule& due : again.v(again.firing.ScanDue(again.All(), kT0 + 48h, 100))) {
    const auto same =
        std::find_if(read.schedules.begin(), read.schedules.end(),
                     [&](const StoredSchedule& one) { return one.schedule_id == due.schedule_id; });
    ASSERT_NE(same, read.schedules.end());
    EXPECT_EQ(due.spec, same->spec);
  }
}

TYPED_TEST(JobStoreContract, FirstFiresAreStrictlyAfterNow) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Manual();
  definition.schedules = {Rate(10s),
                          {.kind = ScheduleKind::kOnce, .at = kT0 + 20s},
                          {.kind = ScheduleKind::kOnce, .at = kT0 + 21s}};
  const StoredJob job = s.Create("a", definition, kT0 + 20s);
  EXPECT_EQ(NextFires(s, job), (std::vector<WallTime>{kT0 + 30s, kNever, kT0 + 21s}));
}

TYPED_TEST(JobStoreContract, TakenIdsAreRefusedEvenAfterDeletion) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Manual());
  EXPECT_CODE(s.jobs.CreateJob(JobId("a"), s.Manual(), {.now = kT0}), ErrorCode::kExists);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0}));
  EXPECT_CODE(s.jobs.CreateJob(JobId("a"), s.Manual(), {.now = kT0}), ErrorCode::kExists);
}

TYPED_TEST(JobStoreContract, UnknownAndDeletedJobsAreNotFound) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Manual());
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0}));
  for (const char* id : {"a", "nobody"}) {
    const JobId job_id(id);
    EXPECT_CODE(s.jobs.GetJob(job_id), ErrorCode::kNotFound);
    EXPECT_CODE(s.jobs.ReplaceJob(job_id, 2, s.Manual(), {.now = kT0}), ErrorCode::kNotFound);
    EXPECT_CODE(s.jobs.PauseJob(job_id, "", {.now = kT0}), ErrorCode::kNotFound);
    EXPECT_CODE(s.jobs.ResumeJob(job_id, "", {.now = kT0}), ErrorCode::kNotFound);
    EXPECT_CODE(s.jobs.DeleteJob(job_id, 2, {.now = kT0}), ErrorCode::kNotFound);
    EXPECT_CODE(s.runs.ExecuteJob({.job_id = job_id}, {.now = kT0}), ErrorCode::kNotFound);
    EXPECT_CODE(s.runs.CancelJobRuns(job_id, {.now = kT0}), ErrorCode::kNotFound);
  }
}

TYPED_TEST(JobStoreContract, ListFiltersAndPagesById) {
  StoreDriver s = this->driver();
  for (const char* id : {"c", "a", "e", "b", "d"}) {
    JobDefinition definition = s.Manual();
    definition.name = std::string("Bell ") + id;
    definition.user_id = *id < 'c' ? "u1" : "u2";
    s.Create(id, definition);
  }
  s.Pause(s.v(s.jobs.GetJob(JobId("d"))), kT0);
  const StoredJob gone = s.v(s.jobs.GetJob(JobId("e")));
  ASSERT_OK(s.jobs.DeleteJob(gone.job_id, gone.version, {.now = kT0}));
  const auto ids = [&s](const JobFilter& filter) {
    std::string joined;
    for (const StoredJob& job : s.v(s.jobs.ListJobs(filter)).jobs) joined += job.job_id.value();
    return joined;
  };
  EXPECT_EQ(ids({}), "abcd");
  EXPECT_EQ(ids({.limit = 2}), "ab");
  EXPECT_EQ(ids({.after = JobListPlace{"b"}, .limit = 2}), "cd");
  EXPECT_EQ(ids({.enabled = true}), "abc");
  EXPECT_EQ(ids({.enabled = false}), "d");
  EXPECT_EQ(ids({.user_id = "u1"}), "ab");
  EXPECT_EQ(ids({.name = "Bell c"}), "c");
  EXPECT_EQ(ids({.name = "Bell c "}), "");
  EXPECT_EQ(ids({.name = "bell c"}), "");
  EXPECT_EQ(ids({.name_contains = "bELL C"}), "c");
  EXPECT_EQ(ids({.name_contains = "%"}), "");
}

// ---- edits --------------------------------------------------------------------------------------

TYPED_TEST(JobStoreContract, EditNeedsTheVersionItRead) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Manual());
  const StoredJob edited = s.Replace(job, job.definition, kT0 + 1s);
  EXPECT_EQ(edited.version, 2);
  EXPECT_EQ(edited.updated, kT0 + 1s);
  EXPECT_EQ(edited.created, kT0);
  EXPECT_CODE(s.jobs.ReplaceJob(job.job_id, 1, job.definition, {.now = kT0}), ErrorCode::kConflict);
  EXPECT_CODE(s.jobs.DeleteJob(job.job_id, 1, {.now = kT0}), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.jobs.GetJob(job.job_id)).version, 2);
}

TYPED_TEST(JobStoreContract, EditKeepsDueRunsOfARemovedSchedule) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 30s, fence);
  JobDefinition edited = job.definition;
  edited.schedules = {};
  const StoredJob after = s.Replace(job, edited, kT0 + 20s);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 2u);  // the fires at 10 and 20; the fire at 30 was not yet due
  EXPECT_EQ(rows[0].key.fire, kT0 + 10s);
  EXPECT_EQ(rows[1].key.fire, kT0 + 20s);
  EXPECT_EQ(rows[0].def_version, after.version);
  EXPECT_EQ(s.Claim(s.ClaimOf(rows[0], 1), fence, kT0 + 20s).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(JobStoreContract, FiresNotPlannedInTimeAreAGapWhenTheirScheduleIsRemoved) {
  StoreDriver s = this->driver();
  const StoredJob edited = s.Create("edited", s.Every(10s));
  const StoredJob deleted = s.Create("deleted", s.Every(10s));
  JobDefinition definition = edited.definition;
  definition.schedules = {Rate(7s)};
  s.Replace(edited, definition, kT0 + 35s);
  ASSERT_OK(s.jobs.DeleteJob(deleted.job_id, deleted.version, {.now = kT0 + 40s}));
  const std::vector<GapRecord> of_edited = s.Gaps(edited);
  ASSERT_EQ(of_edited.size(), 1u);
  EXPECT_EQ(of_edited[0].schedule_id, edited.schedules[0].schedule_id);
  EXPECT_EQ(of_edited[0].range, (GapRange{kT0 + 10s, kT0 + 30s, 3, GapReason::kEdited}));
  const std::vector<GapRecord> of_deleted = s.Gaps(deleted);
  ASSERT_EQ(of_deleted.size(), 1u);
  EXPECT_EQ(of_deleted[0].range, (GapRange{kT0 + 10s, kT0 + 40s, 4, GapReason::kDeleted}));
}

TYPED_TEST(JobStoreContract, EditCanPauseAndResume) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  StoredJob job = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 30s, fence);
  JobDefinition off = job.definition;
  off.enabled = false;
  job = s.Replace(job, off, kT0 + 5s);
  EXPECT_FALSE(job.definition.enabled);
  EXPECT_TRUE(s.Pending(kT0 + 24h).empty());
  EXPECT_EQ(NextFires(s, job), (std::vector<WallTime>{kNever}));
  JobDefinition on = job.definition;
  on.enabled = true;
  job = s.Replace(job, on, kT0 + 25s);
  EXPECT_TRUE(job.definition.enabled);
  EXPECT_EQ(NextFires(s, job), (std::vector<WallTime>{kT0 + 30s}));
  const std::vector<GapRecord> gaps = s.Gaps(job);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].range, (GapRange{kT0 + 10s, kT0 + 20s, 2, GapReason::kPaused}));
}

TYPED_TEST(JobStoreContract, AnotherReasonOfAPauseReplacesTheFirst) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob paused = s.Pause(s.Create("a", s.Manual()), kT0);
  const RunRow manual = s.Execute(paused, kT0 + 1s);
  const auto again = [&](const std::string& reason) {
    return s.v(s.jobs.PauseJob(paused.job_id, reason, {.now = kT0 + 2s}));
  };
  EXPECT_EQ(again("").version, paused.version);
  EXPECT_EQ(again("test").version, paused.version);
  const StoredJob other = again("other");
  EXPECT_EQ(other.pause_reason, "other");
  EXPECT_EQ(other.version, paused.version + 1);
  // A waiting run gets the new version and continues to wait.
  EXPECT_EQ(s.Get(manual.key).row.state, RunState::kPending);
  EXPECT_EQ(s.Claim(s.ClaimOf(s.Get(manual.key).row, 1), fence, kT0 + 3s).verdict,
            ClaimVerdict::kAccepted);
}

TYPED_TEST(JobStoreContract, EditOfAPausedJobStaysPausedAndLosesNoFire) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Manual();
  definition.schedules = {Rate(10s), Rate(15s)};
  StoredJob job = s.Pause(s.Create("a", definition), kT0 + 5s);
  JobDefinition edited = job.definition;
  edited.schedules = {Rate(15s)};
  job = s.Replace(job, edited, kT0 + 31s);
  EXPECT_EQ(NextFires(s, job), (std::vector<WallTime>{kNever}));
  job = s.Resume(job, kT0 + 46s);
  EXPECT_EQ(NextFires(s, job), (std::vector<WallTime>{kT0 + 60s}));
  std::vector<GapRecord> gaps = s.Gaps(job);  // newest first
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[1].range, (GapRange{kT0 + 10s, kT0 + 30s, 3, GapReason::kPaused}));
  EXPECT_EQ(gaps[0].range, (GapRange{kT0 + 15s, kT0 + 45s, 3, GapReason::kPaused}));
  EXPECT_EQ(gaps[0].schedule_id, job.schedules[0].schedule_id);
}

// ---- pause and resume ---------------------------------------------------------------------------

TYPED_TEST(JobStoreContract, PauseUnplansTheFutureSkipsTheDueAndLeavesTheRunning) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  StoredJob job = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 40s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 4u);
  const RunRow running = s.Start(rows[0], 1, fence, kT0 + 10s);
  job = s.Pause(job, kT0 + 20s);
  EXPECT_EQ(job.version, 2);
  EXPECT_FALSE(job.definition.enabled);
  EXPECT_EQ(job.pause_reason, "test");
  EXPECT_EQ(s.Get(rows[0].key).row, running);
  EXPECT_EQ(s.Get(rows[1].key).row.state, RunState::kSkipped);
  EXPECT_EQ(s.Get(rows[1].key).result.reason, reason::kPaused);
  EXPECT_CODE(s.runs.GetRun(rows[2].key), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.GetRun(rows[3].key), ErrorCode::kNotFound);
  // The schedule went back to the fire at 30; resuming before that plans it again.
  job = s.Resume(job, kT0 + 25s);
  EXPECT_EQ(job.version, 3);
  EXPECT_TRUE(job.definition.enabled);
  EXPECT_EQ(job.pause_reason, "");
  EXPECT_TRUE(s.Gaps(job).empty());
  EXPECT_EQ(NextFires(s, job), (std::vector<WallTime>{kT0 + 30s}));
  s.Plan(kT0 + 40s, fence, kT0 + 25s);
  EXPECT_EQ(s.Pending(kT0 + 24h).size(), 2u);
}

TYPED_TEST(JobStoreContract, ResumeRecordsOneGapAScheduleAndGoesOnStrictlyAfterNow) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Manual();
  definition.schedules = {Rate(10s), Rate(25s), Rate(1h)};
  StoredJob job = s.Pause(s.Create("a", definition), kT0 + 5s);
  job = s.Resume(job, kT0 + 50s);
  EXPECT_EQ(NextFires(s, job), (std::vector<WallTime>{kT0 + 60s, kT0 + 75s, kT0 + 1h}));
  const std::vector<GapRecord> gaps = s.Gaps(job);
  ASSERT_EQ(gaps.size(), 2u);
  for (const GapRecord& gap : gaps) {
    if (gap.schedule_id == job.schedules[0].schedule_id) {
      EXPECT_EQ(gap.range, (GapRange{kT0 + 10s, kT0 + 50s, 5, GapReason::kPaused}));
    } else {
      EXPECT_EQ(gap.schedule_id, job.schedules[1].schedule_id);
      EXPECT_EQ(gap.range, (GapRange{kT0 + 25s, kT0 + 50s, 2, GapReason::kPaused}));
    }
  }
}

TYPED_TEST(JobStoreContract, FiresNotPlannedInTimeAreInTheGapOfThePauseThatFollowed) {
  StoreDriver s = this->driver();
  StoredJob job = s.Create("a", s.Every(10s));
  job = s.Pause(job, kT0 + 25s);
  job = s.Resume(job, kT0 + 31s);
  const std::vector<GapRecord> gaps = s.Gaps(job);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].range, (GapRange{kT0 + 10s, kT0 + 30s, 3, GapReason::kPaused}));
}

TYPED_TEST(JobStoreContract, PauseAndResumeAreIdempotent) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(10s));
  const StoredJob resumed = s.Resume(job, kT0 + 15s);
  EXPECT_TRUE(resumed.definition.enabled);
  EXPECT_TRUE(s.Gaps(job).empty());  // never paused: the fire at 10 is planned later
  EXPECT_EQ(NextFires(s, resumed), (std::vector<WallTime>{kT0 + 10s}));
  s.Pause(job, kT0 + 15s);
  const StoredJob again = s.Pause(job, kT0 + 16s);
  EXPECT_FALSE(again.definition.enabled);
  s.Resume(job, kT0 + 21s);
  EXPECT_EQ(s.Gaps(job).size(), 1u);
}

TYPED_TEST(JobStoreContract, RunCancelledAheadOfTimeIsNotPlannedAgainAfterAPause) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 30s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(s.v(s.runs.CancelRun(rows[1].key, {.now = kT0 + 1s})));
  s.Pause(job, kT0 + 2s);
  s.Resume(job, kT0 + 3s);
  s.Plan(kT0 + 30s, fence, kT0 + 3s);
  // Fire 10 is planned again or recorded as skipped, 20 stays cancelled, 30 is planned again.
  const RunState first = s.Get(rows[0].key).row.state;
  EXPECT_TRUE(first == RunState::kPending || first == RunState::kSkipped);
  EXPECT_EQ(s.Get(rows[1].key).row.state, RunState::kCancelled);
  EXPECT_EQ(s.Get(rows[2].key).row.state, RunState::kPending);
}

TYPED_TEST(JobStoreContract, PriorityOfAnEditReachesWhatIsPlannedAndRetried) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(10s);
  definition.retry_count = 1;
  const StoredJob job = s.Create("a", definition);
  s.Plan(kT0 + 30s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].priority, 0);
  const RunRow running = s.Start(rows[0], 1, fence, kT0 + 11s);
  const CreatedRun manual =
      s.v(s.runs.ExecuteJob({.job_id = job.job_id, .priority = 7}, {.now = kT0 + 11s}));
  definition.priority = 90;
  const StoredJob edited = s.Replace(job, definition, kT0 + 12s);
  EXPECT_EQ(s.Get(rows[1].key).row.priority, 90);
  EXPECT_EQ(s.Get(rows[2].key).row.priority, 90);
  EXPECT_EQ(s.Get(manual.key).row.priority, 7);
  EXPECT_EQ(s.Get(running.key).row.priority, 0);  // still the priority of the running attempt
  const RunEffect effect = s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 13s);
  EXPECT_EQ(effect.again.value().priority, 90);
  EXPECT_EQ(s.Get(running.key).row, effect.again);
  definition.priority = 20;
  definition.enabled = false;
  const StoredJob paused = s.Replace(edited, definition, kT0 + 14s);
  s.Resume(paused, kT0 + 15s);
  EXPECT_EQ(s.Get(running.key).row.priority, 20);
  s.Start(s.Get(running.key).row, 2, fence, kT0 + 2h);
  s.Apply(s.ReportOf(s.Get(running.key).row, RunState::kFailed), fence, kT0 + 2h);
  EXPECT_EQ(s.v(s.runs.RetryRun({.key = running.key}, {.now = kT0 + 3h})).row.priority, 20);
}

TYPED_TEST(JobStoreContract, EditOfTheRulesForClockChangesPlansAnew) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(10s);
  definition.schedules.push_back(
      {.kind = ScheduleKind::kCron, .cron_expression = "30 2 * * *", .time_zone = "Europe/Paris"});
  const WallTime before = kT0 + 28 * 24h + 59min;  // 2026-03-29 00:59 UTC; the gap is at 01:00
  const StoredJob job = s.Create("a", definition, before);
  s.Plan(before + 2min, fence, before);
  const auto of = [&](ScheduleId id) {
    const std::vector<RunRow> rows = s.Pending(before + 24h);
    return std::count_if(rows.begin(), rows.end(),
                         [&](const RunRow& row) { return row.key.schedule_id == id; });
  };
  const ScheduleId rate = job.schedules[0].schedule_id;
  const ScheduleId cron = job.schedules[1].schedule_id;
  const auto planned = of(rate);
  EXPECT_GT(planned, 0);
  EXPECT_EQ(of(cron), 1);  // right after the jump
  definition.dst_gap = DstGap::kSkip;
  const StoredJob edited = s.Replace(job, definition, before + 1s);
  EXPECT_EQ(of(cron), 0);
  EXPECT_EQ(of(rate), planned);
  EXPECT_EQ(edited.schedules[0].schedule_id, rate);
  EXPECT_NE(edited.schedules[1].schedule_id, cron);
}

// ---- delete -------------------------------------------------------------------------------------

TYPED_TEST(JobStoreContract, DeleteUnplansSkipsAndCancelsButLeavesTheRunning) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(10s);
  definition.retry_count = 1;
  const StoredJob job = s.Create("a", definition);
  s.Plan(kT0 + 40s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 4u);
  const RunRow running = s.Start(rows[0], 1, fence, kT0 + 30s);
  const RunRow failed = s.Start(rows[1], 2, fence, kT0 + 30s);
  s.Apply(s.ReportOf(failed, RunState::kFailed), fence, kT0 + 30s);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 31s}));
  EXPECT_EQ(s.Get(rows[0].key).row.state, RunState::kRunning);
  EXPECT_EQ(s.Get(rows[1].key).row.state, RunState::kCancelled);
  EXPECT_EQ(s.Get(rows[1].key).result.reason, reason::kDeleted);
  EXPECT_EQ(s.Get(rows[2].key).row.state, RunState::kSkipped);
  EXPECT_EQ(s.Get(rows[2].key).result.reason, reason::kDeleted);
  EXPECT_CODE(s.runs.GetRun(rows[3].key), ErrorCode::kNotFound);
  EXPECT_TRUE(s.v(s.firing.ScanDue(s.All(), kT0 + 24h, 10)).empty());
  s.Apply(s.ReportOf(running, RunState::kCompleted), fence, kT0 + 35s);
  const RunDetail done = s.Get(running.key);
  EXPECT_EQ(done.row.state, RunState::kCompleted);
  EXPECT_EQ(done.job_id, job.job_id);
}

TYPED_TEST(JobStoreContract, DeleteUnplansAlsoBeforeARunThatIsPastRecall) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 30s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(s.v(s.runs.CancelRun(rows[2].key, {.now = kT0 + 1s})));
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 2s}));
  EXPECT_CODE(s.runs.GetRun(rows[0].key), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.GetRun(rows[1].key), ErrorCode::kNotFound);
  EXPECT_EQ(s.Get(rows[2].key).row.state, RunState::kCancelled);
}

TYPED_TEST(JobStoreContract, RemovedScheduleIsUnplannedAlsoBeforeARunThatIsPastRecall) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 30s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(s.v(s.runs.CancelRun(rows[2].key, {.now = kT0 + 1s})));
  s.Replace(job, s.Every(7s), kT0 + 2s);
  EXPECT_CODE(s.runs.GetRun(rows[0].key), ErrorCode::kNotFound);
  EXPECT_EQ(s.Get(rows[2].key).row.state, RunState::kCancelled);
}

TYPED_TEST(JobStoreContract, VersionsAreNewestFirstWithWhoAndWhen) {
  StoreDriver s = this->driver();
  const StoredJob job =
      s.v(s.jobs.CreateJob(JobId("a"), s.Every(10s), {.now = kT0, .actor = "ann"}));
  JobDefinition urgent = s.Every(10s);
  urgent.priority = 7;
  s.v(s.jobs.ReplaceJob(job.job_id, 1, urgent, {.now = kT0 + 1s, .actor = "bob"}));
  s.v(s.jobs.PauseJob(job.job_id, "moving", {.now = kT0 + 2s, .actor = "cy"}));
  s.Create("b", s.Manual());
  const auto all = s.v(s.jobs.ListVersions(job.job_id, INT64_MAX, 10));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].version, 3);
  EXPECT_EQ(all[0].actor, "cy");
  EXPECT_EQ(all[0].created, kT0 + 2s);
  ASSERT_TRUE(all[0].definition.has_value());
  EXPECT_FALSE(all[0].definition->enabled);
  EXPECT_EQ(all[1].definition, urgent);
  EXPECT_EQ(all[1].actor, "bob");
  EXPECT_EQ(all[2].definition, s.Every(10s));
  EXPECT_EQ(all[2].created, kT0);
  EXPECT_EQ(all[2].actor, "ann");
  const auto below = s.v(s.jobs.ListVersions(job.job_id, 3, 1));
  ASSERT_EQ(below.size(), 1u);
  EXPECT_EQ(below[0].version, 2);
  EXPECT_TRUE(s.v(s.jobs.ListVersions(job.job_id, 1, 10)).empty());
  EXPECT_CODE(s.jobs.ListVersions(JobId("never"), INT64_MAX, 10), ErrorCode::kNotFound);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, 3, {.now = kT0 + 3s}));
  EXPECT_CODE(s.jobs.ListVersions(job.job_id, INT64_MAX, 10), ErrorCode::kNotFound);
}

}  // namespace carillon::test
