// The contract of the part of FiringStore that plans: due schedules, plans, the sweep (P1, P2).
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class PlanContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(PlanContract, StoreFactories);

TYPED_TEST(PlanContract, ScanFindsWhatIsDueEarliestFirst) {
  StoreDriver s = this->driver();
  const StoredJob slow = s.Create("slow", s.Every(10s));
  JobDefinition quick = s.Every(3s);
  quick.priority = 7;
  quick.misfire_policy = MisfirePolicy::kAll;
  quick.misfire_grace_s = 5;
  const StoredJob fast = s.Create("fast", quick);
  s.Create("later", s.Every(1h));
  const std::vector<DueSchedule> due = s.v(s.firing.ScanDue(s.All(), kT0 + 10s, 100));
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].job_no, fast.job_no);
  EXPECT_EQ(due[0].schedule_id, fast.schedules[0].schedule_id);
  EXPECT_EQ(due[0].segment, fast.segment);
  EXPECT_EQ(due[0].job_version, fast.version);
  EXPECT_EQ(due[0].next_fire, kT0 + 3s);
  EXPECT_EQ(due[0].spec, quick.schedules[0]);
  EXPECT_EQ(due[0].priority, 7);
  EXPECT_EQ(due[0].misfire.policy, MisfirePolicy::kAll);
  EXPECT_EQ(due[0].misfire.grace, 5s);
  EXPECT_EQ(due[1].job_no, slow.job_no);
}

TYPED_TEST(PlanContract, GraceOfNothingIsTheFloor) {
  StoreDriver s = this->driver();
  JobDefinition strict = s.Every(10s);
  strict.misfire_grace_s = 0;
  s.Create("strict", strict);
  const std::vector<DueSchedule> due = s.v(s.firing.ScanDue(s.All(), kT0 + 10s, 100));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].misfire.grace, kMisfireFloor);
}

TYPED_TEST(PlanContract, ScanKeepsToItsSegmentsAndItsLimit) {
  StoreDriver s = this->driver();
  const StoredJob a = s.Create("a", s.Every(1s));
  const StoredJob b = s.Create("b", s.Every(1s));
  ASSERT_NE(a.segment, b.segment);
  EXPECT_EQ(s.v(s.firing.ScanDue(s.All(), kT0 + 5s, 1)).size(), 1u);
  const std::vector<DueSchedule> due = s.v(s.firing.ScanDue({b.segment}, kT0 + 5s, 100));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].job_no, b.job_no);
}

TYPED_TEST(PlanContract, ScanLeavesOutPausedAndDeletedJobs) {
  StoreDriver s = this->driver();
  const StoredJob paused = s.Create("paused", s.Every(1s));
  const StoredJob deleted = s.Create("deleted", s.Every(1s));
  JobDefinition never = s.Every(1s);
  never.enabled = false;
  s.Create("disabled", never);
  s.Pause(paused, kT0);
  ASSERT_OK(s.jobs.DeleteJob(deleted.job_id, deleted.version, {.now = kT0}));
  EXPECT_TRUE(s.v(s.firing.ScanDue(s.All(), kT0 + 1h, 100)).empty());
}

TYPED_TEST(PlanContract, PlannedRunsArePendingAndTheScheduleMovesOn) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(1s);
  definition.priority = 42;
  const StoredJob job = s.Create("a", definition);
  s.Plan(kT0 + 3s, fence, kT0 + 100ms);
  const std::vector<RunRow> rows = s.Pending(kT0 + 3s);
  ASSERT_EQ(rows.size(), 3u);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].key.fire, kT0 + (i + 1) * 1s);
    EXPECT_EQ(rows[i].key.schedule_id, job.schedules[0].schedule_id);
    EXPECT_EQ(rows[i].due, rows[i].key.fire);
    EXPECT_EQ(rows[i].attempt, 1);
    EXPECT_EQ(rows[i].def_version, job.version);
    EXPECT_EQ(rows[i].priority, 42);
    EXPECT_EQ(rows[i].job_no, job.job_no);
    EXPECT_EQ(rows[i].segment, job.segment);
  }
  EXPECT_TRUE(s.v(s.firing.ScanDue(s.All(), kT0 + 3s, 100)).empty());
  EXPECT_EQ(s.v(s.firing.ScanDue(s.All(), kT0 + 4s, 100)).at(0).next_fire, kT0 + 4s);
  const RunDetail detail = s.Get(rows[0].key);
  EXPECT_EQ(detail.planned, kT0 + 100ms);
  EXPECT_EQ(detail.job_id, job.job_id);
}

TYPED_TEST(PlanContract, PlanSurvivesARestart) {
  {
    StoreDriver s = this->driver();
    const Fence fence = s.Take();
    s.Create("a", s.Every(1s));
    s.Plan(kT0 + 2s, fence);
  }
  this->Reopen();
  EXPECT_EQ(this->driver().Pending(kT0 + 1h).size(), 2u);
}

TYPED_TEST(PlanContract, ScheduleWithoutMoreFiresIsNotDueAgain) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition once = s.Manual();
  once.schedules = {{.kind = ScheduleKind::kOnce, .at = kT0 + 5s}};
  s.Create("once", once);
  s.Plan(kT0 + 10s, fence);
  EXPECT_EQ(s.Pending(kT0 + 10s).size(), 1u);
  EXPECT_TRUE(s.v(s.firing.ScanDue(s.All(), kT0 + 24h, 100)).empty());
}

TYPED_TEST(PlanContract, GapsAreRecordedWithThePlan) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(1s);
  definition.misfire_policy = MisfirePolicy::kSkip;
  definition.misfire_grace_s = 6;
  const StoredJob job = s.Create("a", definition);
  s.Plan(kT0 + 14s, fence, kT0 + 14s);
  const std::vector<GapRecord> gaps = s.Gaps(job);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].schedule_id, job.schedules[0].schedule_id);
  EXPECT_EQ(gaps[0].job_id, job.job_id);
  EXPECT_EQ(gaps[0].range, (GapRange{kT0 + 1s, kT0 + 13s, 13, GapReason::kMisfire}));
  EXPECT_EQ(s.Pending(kT0 + 1h).size(), 1u);
}

TYPED_TEST(PlanContract, EmptyPlanIsNoError) {
  StoreDriver s = this->driver();
  EXPECT_OK(s.firing.Plan({}, s.Take(), kT0));
}

TYPED_TEST(PlanContract, TooLargeABatchIsRefusedWhole) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(1s));
  PlanBatch batch;
  for (size_t i = 0; i <= kBatchRowsMax; ++i) {
    batch.runs.push_back({.key = {kT0 + i * 1s, job.schedules[0].schedule_id, 0},
                          .job_no = job.job_no,
                          .segment = job.segment,
                          .due = kT0,
                          .def_version = 1});
  }
  EXPECT_CODE(s.firing.Plan(batch, fence, kT0), ErrorCode::kExhausted);
  EXPECT_TRUE(s.Pending(kT0 + 24h).empty());
}

// ---- conflicts: nothing of the batch is written -------------------------------------------------

// Plans `batch` and expects a conflict that leaves another job of the same batch unchanged.
inline void ExpectConflictWritesNothing(StoreDriver& s, const PlanBatch& batch,
                                        const Fence& fence) {
  const size_t pending = s.Pending(kT0 + 24h).size();
  const std::vector<DueSchedule> due = s.v(s.firing.ScanDue(s.All(), kT0 + 24h, 100));
  EXPECT_CODE(s.firing.Plan(batch, fence, kT0), ErrorCode::kConflict);
  EXPECT_EQ(s.Pending(kT0 + 24h).size(), pending);
  const std::vector<DueSchedule> after = s.v(s.firing.ScanDue(s.All(), kT0 + 24h, 100));
  ASSERT_EQ(after.size(), due.size());
  for (size_t i = 0; i < due.size(); ++i) EXPECT_EQ(after[i].next_fire, due[i].next_fire);
  EXPECT_TRUE(s.v(s.runs.ListGaps({})).gaps.empty());
}

TYPED_TEST(PlanContract, SecondPlannerOfTheSameFiresIsRefused) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("a", s.Every(1s));
  s.Create("b", s.Every(1s));
  PlanBatch batch = s.BatchOf(kT0 + 3s, kT0);
  ASSERT_OK(s.firing.Plan(batch, fence, kT0));
  ExpectConflictWritesNothing(s, batch, fence);
  // The batch conflicts even if it expects the current positions of the schedules, because the keys
  // of its runs already exist.
  for (ScheduleAdvance& advance : batch.advances) {
    advance.expected_next = advance.next_fire;
    advance.next_fire += 1s;
  }
  ExpectConflictWritesNothing(s, batch, fence);
}

TYPED_TEST(PlanContract, EditPauseResumeAndDeleteWinAgainstAPlan) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("other", s.Every(1s));
  StoredJob job = s.Create("a", s.Every(1s));
  const PlanBatch before_edit = s.BatchOf(kT0 + 3s, kT0);
  ASSERT_EQ(before_edit.advances.size(), 2u);
  JobDefinition edited = job.definition;
  edited.command = "false";
  job = s.Replace(job, edited, kT0);
  ExpectConflictWritesNothing(s, before_edit, fence);
  const PlanBatch before_pause = s.BatchOf(kT0 + 3s, kT0);
  s.Pause(job, kT0);
  ExpectConflictWritesNothing(s, before_pause, fence);
  job = s.Resume(job, kT0);
  ExpectConflictWritesNothing(s, before_pause, fence);
  const PlanBatch before_delete = s.BatchOf(kT0 + 3s, kT0);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0}));
  ExpectConflictWritesNothing(s, before_delete, fence);
}

TYPED_TEST(PlanContract, PlanFromAnotherStandOfTheScheduleIsRefused) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("a", s.Every(1s));
  PlanBatch batch = s.BatchOf(kT0 + 3s, kT0);
  batch.advances[0].expected_next += 1s;
  ExpectConflictWritesNothing(s, batch, fence);
}

// ---- the sweep ----------------------------------------------------------------------------------

TYPED_TEST(PlanContract, SweepHasNoLowerBoundAndPagesInOrder) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("a", s.Every(2s));
  s.Create("b", s.Every(3s));
  s.Plan(kT0 + 12s, fence);
  const std::vector<RunRow> all = s.Pending(kT0 + 365 * 24h);
  ASSERT_EQ(all.size(), 10u);
  std::vector<RunKey> paged;
  std::optional<std::pair<WallTime, RunKey>> after;
  for (int page = 0; page < 20; ++page) {
    const PendingPage found = s.v(s.firing.ScanPending(s.All(), kT0 + 24h, after, 3));
    EXPECT_LE(found.runs.size(), 3u);
    for (const RunRow& row : found.runs) paged.push_back(row.key);
    after = found.next;
    if (!after) break;
  }
  EXPECT_FALSE(after.has_value());
  ASSERT_EQ(paged.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(paged[i], all[i].key);
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(std::make_pair(all[i - 1].due, all[i - 1].key),
              std::make_pair(all[i].due, all[i].key));
  }
}

TYPED_TEST(PlanContract, SweepEndsAtUntilAndKeepsToItsSegments) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob a = s.Create("a", s.Every(1s));
  const StoredJob b = s.Create("b", s.Every(1s));
  s.Plan(kT0 + 5s, fence);
  EXPECT_EQ(s.Pending(kT0 + 2s).size(), 4u);
  const PendingPage only = s.v(s.firing.ScanPending({a.segment}, kT0 + 2s, std::nullopt, 100));
  ASSERT_EQ(only.runs.size(), 2u);
  EXPECT_FALSE(only.next.has_value());
  EXPECT_EQ(only.runs[0].job_no, a.job_no);
}

TYPED_TEST(PlanContract, PendingRunsOfOneJobAreReadByItsFires) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition two = s.Every(1s);
  two.schedules.push_back(two.schedules.front());
  const StoredJob a = s.Create("a", two);
  s.Create("b", s.Every(1s));
  s.Plan(kT0 + 10s, fence);
  const JobWindow window{.job_no = a.job_no, .from = kT0 + 3s, .to = kT0 + 6s};
  std::vector<RunKey> keys;
  std::optional<RunKey> after;
  do {
    const JobPendingPage page = s.v(s.firing.ScanPendingOfJob(window, after, 3));
    EXPECT_LE(page.runs.size(), 3u);
    for (const RunRow& row : page.runs) {
      EXPECT_EQ(row.job_no, a.job_no);
      keys.push_back(row.key);
    }
    after = page.next;
  } while (after && keys.size() < 100);
  ASSERT_EQ(keys.size(), 8u) << "both ends included, of both schedules";
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(keys.front().fire, kT0 + 3s);
  EXPECT_EQ(keys.back().fire, kT0 + 6s);
  const JobWindow one{.job_no = a.job_no, .from = keys[0].fire, .to = keys[0].fire};
  EXPECT_EQ(s.v(s.firing.ScanPendingOfJob(one, std::nullopt, 100)).runs.size(), 2u);
  const RunKey before{.fire = kT0, .schedule_id = ScheduleId(~0u)};
  EXPECT_EQ(s.v(s.firing.ScanPendingOfJob(window, before, 100)).runs.size(), 8u);
  EXPECT_TRUE(s.v(s.firing.ScanPendingOfJob({}, std::nullopt, 100)).runs.empty());
}

TYPED_TEST(PlanContract, OnlyWhatIsPendingIsReadOfAJob) {
  StoreDriver s = this->driver();
  s.Take();
  const StoredJob job = s.Create("job", s.Manual());
  const RunRow waits = s.Execute(job, kT0 + 1s);
  const RunRow ended = s.Execute(job, kT0 + 2s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(ended.key, {.now = kT0 + 2s})));
  const JobWindow window{.job_no = job.job_no, .from = kT0, .to = kT0 + 1min};
  const JobPendingPage page = s.v(s.firing.ScanPendingOfJob(window, std::nullopt, 100));
  ASSERT_EQ(page.runs.size(), 1u);
  EXPECT_EQ(page.runs[0].key, waits.key);
  EXPECT_EQ(page.runs[0].segment, job.segment);
}

TYPED_TEST(PlanContract, OverdueReportFindsTheOldest) {
  StoreDriver s = this->driver();
  const OverdueReport empty = s.v(s.firing.ReadOverdue(kT0));
  EXPECT_EQ(empty.oldest_pending_due, kNever);
  EXPECT_EQ(empty.oldest_unplanned_fire, kNever);
  EXPECT_EQ(empty.pending_due, 0);
  const Fence fence = s.Take();
  s.Create("a", s.Every(1s));
  const StoredJob paused = s.Create("b", s.Every(500ms));
  s.Pause(paused, kT0);
  s.Plan(kT0 + 3s, fence);
  const OverdueReport report = s.v(s.firing.ReadOverdue(kT0 + 2s));
  EXPECT_EQ(report.oldest_pending_due, kT0 + 1s);
  EXPECT_EQ(report.oldest_unplanned_fire, kT0 + 4s);
  EXPECT_EQ(report.pending_due, 2);
}

TYPED_TEST(PlanContract, OverdueReportNamesTheJobsThatAreNotPlannedForAMinute) {
  StoreDriver s = this->driver();
  s.Create("late", s.Every(10s));
  const StoredJob paused = s.Create("paused", s.Every(10s));
  s.Pause(paused, kT0);
  JobDefinition two = s.Every(1s);
  two.schedules.push_back(two.schedules[0]);
  two.schedules[1].every = 2s;
  s.Create("twice", two);
  const auto at = [&](Duration ahead) {
    std::string found;
    for (const UnplannedJob& job : s.v(s.firing.ReadOverdue(kT0 + ahead)).unplanned_jobs) {
      EXPECT_EQ(job.name, "job");
      found += fmt::format("{} {} ", job.job_id.value(), (job.fire - kT0) / 1s);
    }
    return found;
  };
  EXPECT_EQ(at(61s), "");
  EXPECT_EQ(at(62s), "twice 1 ");
  EXPECT_EQ(at(80s), "twice 1 late 10 ");
}

// ---- definitions --------------------------------------------------------------------------------

TYPED_TEST(PlanContract, EveryVersionOfADefinitionIsKept) {
  StoreDriver s = this->driver();
  const StoredJob first = s.Create("a", s.Manual());
  JobDefinition changed = first.definition;
  changed.command = "echo two";
  changed.env = {{"A", "b"}};
  const StoredJob second = s.Replace(first, changed, kT0 + 1s);
  ASSERT_OK(s.jobs.DeleteJob(second.job_id, second.version, {.now = kT0 + 2s}));
  const std::vector<JobVersionRecord> found =
      s.v(s.firing.LoadDefinitions({{first.job_no, first.version},
                                    {first.job_no, second.version},
                                    {first.job_no, 99},
                                    {JobNo(999'999), 1}}));
  ASSERT_EQ(found.size(), 2u);
  const bool in_order = found[0].version == first.version;
  const JobVersionRecord& old = in_order ? found[0] : found[1];
  const JobVersionRecord& fresh = in_order ? found[1] : found[0];
  EXPECT_EQ(old.job_id, first.job_id);
  EXPECT_EQ(old.definition, first.definition);
  EXPECT_EQ(fresh.definition, changed);
}

TYPED_TEST(PlanContract, WhatARequestSaidOfAManualRunIsLoaded) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRequest said{.parameters_json = R"({"x": "y"})",
                        .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"};
  const CreatedRun with = s.v(s.runs.ExecuteJob(
      {.job_id = job.job_id, .parameters_json = said.parameters_json, .trace_id = said.trace_id},
      {.now = kT0}));
  const CreatedRun without = s.v(s.runs.ExecuteJob({.job_id = job.job_id}, {.now = kT0}));
  EXPECT_EQ(s.v(s.firing.LoadRunRequest(with.key)), said);
  EXPECT_EQ(s.v(s.firing.LoadRunRequest(without.key)), RunRequest{});
  EXPECT_EQ(s.Get(with.key).trace_id, said.trace_id);
  EXPECT_EQ(s.Get(without.key).trace_id, "");
}

}  // namespace carillon::test
