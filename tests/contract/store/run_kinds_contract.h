// The contract of the kinds of runs: every question of run_kind.h, asked of each store for
// every kind.
#pragma once

#include "common/domain/run/run_kind.h"
#include "tests/contract/store/store_driver.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {

template <typename Factory>
class RunKindsContract : public StoreContract<Factory> {
 protected:
  // A schedule that no job has any more.
  static ScheduleId Former(RunKind kind) {
    return ScheduleId(424'242 + static_cast<uint64_t>(kind));
  }

  RunKindsContract() { failpoint::Reset(); }
  ~RunKindsContract() override { failpoint::Reset(); }

  static StoredJob Job(StoreDriver& s, RunKind kind, const JobDefinition& definition) {
    return s.Create("of-" + std::string(Name(kind)), definition);
  }
  struct Wanted {
    RunKind kind = RunKind::kCron;
    WallTime fire = kT0;
    uint32_t flags = 0;
    ScheduleId schedule = {};  // 0 = that of the job
  };
  // A PENDING run of the kind, due at its fire.
  static RunRow Make(StoreDriver& s, const StoredJob& job, const Wanted& wanted,
                     const Fence& fence) {
    const ScheduleId schedule =
        wanted.schedule == ScheduleId{} ? job.schedules.at(0).schedule_id : wanted.schedule;
    const RunKey key{wanted.fire, schedule, 0};
    EXPECT_OK(s.firing.Plan({.runs = {{.key = key,
                                       .job_no = job.job_no,
                                       .segment = job.segment,
                                       .kind = wanted.kind,
                                       .due = wanted.fire,
                                       .priority = 7,
                                       .def_version = job.version,
                                       .flags = wanted.flags}}},
                            fence, kT0));
    return s.Get(key).row;
  }
  static RunRow End(StoreDriver& s, const RunRow& row, RunState state, const Fence& fence) {
    const RunRow started = s.Start(row, row.key.schedule_id.value(), fence, kT0 + 5s);
    s.Apply(s.ReportOf(started, state, kT0 + 9s), fence, kT0 + 9s);
    EXPECT_EQ(s.Get(row.key).row.state, state);
    return s.Get(row.key).row;
  }
};
TYPED_TEST_SUITE(RunKindsContract, StoreFactories);

TYPED_TEST(RunKindsContract, IsStoredAndFound) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const RunKind kind : kRunKinds) {
    const RunRow row = this->Make(s, this->Job(s, kind, s.Every(10h)), {.kind = kind}, fence);
    EXPECT_EQ(row.kind, kind);
    const auto found = s.v(s.runs.ListRuns({.kinds = {kind}}, kT0 + 1h)).runs;
    ASSERT_EQ(found.size(), 1u) << Name(kind);
    EXPECT_EQ(found[0].row.key, row.key);
    this->End(s, row, RunState::kCompleted, fence);
  }
}

TYPED_TEST(RunKindsContract, PlannedAhead) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const RunKind kind : kRunKinds) {
    const StoredJob job = this->Job(s, kind, s.Every(10h));
    const RunRow row = this->Make(s, job, {.kind = kind, .fire = kT0 + 10h}, fence);
    const bool ahead = IsPlannedAhead(kind);
    EXPECT_EQ(s.v(s.runs.ListRuns({.job_id = job.job_id}, kT0 + 1s)).runs.empty(), ahead)
        << Name(kind);
    s.Pause(job, kT0 + 1s);
    EXPECT_EQ(s.runs.GetRun(row.key).ok(), !ahead) << Name(kind);
  }
}

TYPED_TEST(RunKindsContract, SkippedByPause) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const RunKind kind : kRunKinds) {
    const StoredJob job = this->Job(s, kind, s.Every(10h));
    const RunRow row = this->Make(s, job, {.kind = kind}, fence);
    s.Pause(job, kT0 + 1s);
    const RunRow paused = s.Get(row.key).row;
    EXPECT_EQ(paused.state, IsSkippedByPause(kind) ? RunState::kSkipped : RunState::kPending)
        << Name(kind);
    EXPECT_EQ(paused.due == kNever, !IsSkippedByPause(kind)) << Name(kind);
  }
}

TYPED_TEST(RunKindsContract, QueuedWithoutSlot) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const RunKind kind : kRunKinds) {
    JobDefinition limited = s.Every(10h);
    limited.overlap_policy = OverlapPolicy::kSkip;
    const StoredJob job = this->Job(s, kind, limited);
    const auto claim = [&](const RunRow& row) {
      ClaimRequest request = s.ClaimOf(row, row.key.schedule_id.value());
      request.overlap = OverlapRulesOf(limited);
      return s.Claim(request, fence, kT0 + 1s).verdict;
    };
    EXPECT_EQ(claim(s.Execute(job, kT0)), ClaimVerdict::kAccepted);
    EXPECT_EQ(claim(this->Make(s, job, {.kind = kind}, fence)),
              IsQueuedWithoutSlot(kind) ? ClaimVerdict::kEnqueued : ClaimVerdict::kSkipped)
        << Name(kind);
  }
}

TYPED_TEST(RunKindsContract, KeepsPriority) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const RunKind kind : kRunKinds) {
    JobDefinition definition = s.Every(10h);
    const StoredJob job = this->Job(s, kind, definition);
    const RunRow row = this->Make(s, job, {.kind = kind}, fence);
    definition.priority = 3;
    s.Replace(job, definition, kT0 + 1s);
    EXPECT_EQ(s.Get(row.key).row.priority, KeepsPriority(kind) ? 7 : 3) << Name(kind);
  }
}

// The limit is in force when the run is queued, or comes with an edit afterwards.
TYPED_TEST(RunKindsContract, MayExpire) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  std::set<RunKey> expected;
  for (const bool edited : {false, true}) {
    for (const uint32_t flags : {uint32_t{0}, run_flag::kBackground}) {
      for (const RunKind kind : kRunKinds) {
        JobDefinition limited = s.Every(10h);
        limited.overlap_policy = OverlapPolicy::kQueueAll;
        if (!edited) limited.queue_timeout_s = 60;
        const StoredJob job = s.Create(
            std::string(Name(kind)) + (edited ? "-edited" : "") + (flags ? "-back" : ""), limited);
        const auto claim = [&](const RunRow& row) {
          ClaimRequest request = s.ClaimOf(row, row.key.schedule_id.value());
          request.overlap = OverlapRulesOf(limited);
          return s.Claim(request, fence, kT0 + 1s).verdict;
        };
        EXPECT_EQ(claim(s.Execute(job, kT0)), ClaimVerdict::kAccepted);
        const RunRow row = this->Make(s, job, {.kind = kind, .flags = flags}, fence);
        EXPECT_EQ(claim(row), ClaimVerdict::kEnqueued);
        if (edited) {
          limited.queue_timeout_s = 60;
          s.Replace(job, limited, kT0 + 2s);
        }
        if (MayExpire(kind, flags)) expected.insert(row.key);
      }
    }
  }
  std::set<RunKey> expired;
  for (const SkipItem& item : s.v(s.queues.ScanExpired(s.All(), kT0 + 2h, 1000))) {
    expired.insert(item.key);
  }
  EXPECT_EQ(expired, expected);
}

TYPED_TEST(RunKindsContract, MayBeLate) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  std::set<RunKey> expected;
  for (const uint32_t flags : {uint32_t{0}, run_flag::kBackground}) {
    for (const RunKind kind : kRunKinds) {
      const StoredJob job =
          s.Create(std::string(Name(kind)) + (flags ? "-background" : ""), s.Every(10h));
      const RunRow row = this->Make(s, job, {.kind = kind, .flags = flags}, fence);
      ClaimRequest request = s.ClaimOf(row, row.key.schedule_id.value());
      request.late_after = 10s;
      EXPECT_EQ(s.Claim(request, fence, kT0 + 1min).verdict, ClaimVerdict::kAccepted);
      if (MayBeLate(kind, flags)) expected.insert(row.key);
    }
  }
  std::set<RunKey> late;
  for (const OpenNotice& open : s.v(s.notices.ScanNotices(s.All(), 100))) {
    late.insert(open.notice.key);
  }
  EXPECT_EQ(late, expected);
}

TYPED_TEST(RunKindsContract, StartsDependents) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const uint32_t flags : {uint32_t{0}, run_flag::kBackground}) {
    for (const RunKind kind : kRunKinds) {
      const std::string id = std::string(Name(kind)) + (flags ? "-background" : "");
      const StoredJob job = s.Create(id, s.Every(10h));
      const RunRow row = this->Make(s, job, {.kind = kind, .flags = flags}, fence);
      JobDefinition waiting = s.Manual();
      waiting.schedules = {{.kind = ScheduleKind::kAfter, .upstream = id}};
      s.Create("after-" + id, waiting);
      const bool flagged = (s.Get(row.key).row.flags & run_flag::kDependents) != 0;
      EXPECT_EQ(flagged, MayStartDependents(kind, flags)) << id;
    }
  }
}

// A backfill finds the run of a fire by its kind: a run of a former schedule is that of the fire,
// and a run that something else started at this instant is not.
TYPED_TEST(RunKindsContract, FireOfASchedule) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const RunKind kind : kRunKinds) {
    JobDefinition hourly = s.Every(1h);
    const StoredJob job = s.Create("of-" + std::string(Name(kind)), hourly, kT0 + 30min);
    const RunRow row =
        this->End(s, this->Make(s, job, {.kind = kind, .schedule = this->Former(kind)}, fence),
                  RunState::kFailed, fence);
    BackfillTerms terms{.job_id = job.job_id,
                        .schedule_id = job.schedules.at(0).schedule_id,
                        .from = kT0,
                        .to = kT0 + 1s};
    const bool counts = IsFireOfASchedule(kind);
    EXPECT_EQ(s.v(s.backfills.PreviewBackfill(terms)).existing, counts ? 1 : 0) << Name(kind);
    terms.rerun = BackfillRerun::kAll;
    const Backfill made = s.v(s.backfills.CreateBackfill(terms, {}, {.now = kT0 + 40min}));
    const BackfillEffect effect = s.v(s.backfills.StepBackfill(
        {made.number, job.job_no, job.segment}, fence, kT0 + 40min, 14 * 24h));
    ASSERT_EQ(effect.due.size(), 1u) << Name(kind);
    EXPECT_EQ(effect.created, counts ? 0u : 1u) << Name(kind);
    EXPECT_EQ(effect.due[0].key == row.key, counts) << Name(kind);
    EXPECT_EQ(s.Get(row.key).row == row, !counts) << Name(kind);
  }
}

// The store of workflows alone makes a final run of a node PENDING again.
TYPED_TEST(RunKindsContract, MovedByWorkflow) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const RunKind kind : kRunKinds) {
    const StoredJob job = this->Job(s, kind, s.Every(10h));
    const RunRow row =
        this->End(s, this->Make(s, job, {.kind = kind}, fence), RunState::kFailed, fence);
    const auto retried = s.runs.RetryRun({.key = row.key}, {.now = kT0 + 10s});
    if (IsMovedByWorkflow(kind)) {
      EXPECT_CODE(retried, ErrorCode::kConflict);
      EXPECT_EQ(s.Get(row.key).row, row);
    } else {
      EXPECT_OK(retried);
    }
  }
}

// The failure of a part is told by the own run of its fire.
TYPED_TEST(RunKindsContract, TellsFailure) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  std::set<RunKey> expected;
  for (const RunKind kind : kRunKinds) {
    const StoredJob job = this->Job(s, kind, s.Every(10h));
    const RunRow row = this->Make(s, job, {.kind = kind}, fence);
    const RunRow started = s.Start(row, row.key.schedule_id.value(), fence, kT0 + 5s);
    const RunEffect effect =
        s.Apply(s.ReportOf(started, RunState::kFailed, kT0 + 9s), fence, kT0 + 9s);
    EXPECT_EQ(effect.dead_letter, TellsFailure(kind)) << Name(kind);
    if (TellsFailure(kind)) expected.insert(row.key);
  }
  std::set<RunKey> letters;
  for (const DeadLetter& letter : s.v(s.runs.ListDeadLetters({.limit = 100}))) {
    letters.insert(letter.key);
  }
  EXPECT_EQ(letters, expected);
  std::set<RunKey> notices;
  for (const OpenNotice& open : s.v(s.notices.ScanNotices(s.All(), 100))) {
    notices.insert(open.notice.key);
  }
  EXPECT_EQ(notices, expected);
}

TYPED_TEST(RunKindsContract, APartThatIsSkippedAfterItWasTriedTellsNoFailure) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(10h);
  definition.retry_count = 1;
  const StoredJob job = this->Job(s, RunKind::kShard, definition);
  const RunRow row = this->Make(s, job, {.kind = RunKind::kShard}, fence);
  const RunRow started = s.Start(row, row.key.schedule_id.value(), fence, kT0 + 5s);
  s.Apply(s.ReportOf(started, RunState::kFailed, kT0 + 9s), fence, kT0 + 9s);
  const RunRow again = s.Get(row.key).row;
  ASSERT_EQ(again.state, RunState::kPending);
  s.v(s.firing.Skip({{.key = again.key,
                      .segment = again.segment,
                      .job_no = again.job_no,
                      .attempt = again.attempt,
                      .def_version = again.def_version,
                      .reason = reason::kMisfire}},
                    fence, kT0 + 20s));
  EXPECT_EQ(s.Get(row.key).row.state, RunState::kSkipped);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 100})).empty());
  EXPECT_TRUE(s.v(s.notices.ScanNotices(s.All(), 100)).empty());
}

// The last part says it with the first one: an edit of the job changes no fire that has begun.
TYPED_TEST(RunKindsContract, APartKeepsItsPlaceAndTheirNumber) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(10h));
  const RunKey key{kT0, job.schedules.at(0).schedule_id, 1'000};
  const uint32_t flags = run_flag::kPart | run_flag::kHasRequest;
  ASSERT_OK(s.firing.Plan({.runs = {{.key = key,
                                     .job_no = job.job_no,
                                     .segment = job.segment,
                                     .kind = RunKind::kShard,
                                     .due = kT0,
                                     .def_version = job.version,
                                     .flags = flags,
                                     .shard_total = 1'000}}},
                          fence, kT0));
  const auto is_whole = [&](const RunRow& row) {
    return row.key == key && row.kind == RunKind::kShard && row.shard_total == 1'000 &&
           row.flags == flags;
  };
  EXPECT_TRUE(is_whole(s.Get(key).row));
  const auto pending = s.v(s.firing.ScanPending(s.All(), kT0, std::nullopt, 10)).runs;
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_TRUE(is_whole(pending[0]));
  const RunRow started = s.Start(pending[0], 7, fence, kT0 + 1s);
  EXPECT_TRUE(is_whole(started));
  EXPECT_TRUE(
      s.Apply(s.ReportOf(started, RunState::kCompleted, kT0 + 9s), fence, kT0 + 9s).completed);
  EXPECT_TRUE(is_whole(s.Get(key).row));
  EXPECT_EQ(s.Get(key).row.state, RunState::kCompleted);
}

TYPED_TEST(RunKindsContract, ABackfillThatTakesANodeIsRefused) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(1h), kT0 + 30min);
  const RunKind node = RunKind::kWorkflow;
  const RunRow row =
      this->End(s, this->Make(s, job, {.kind = node, .schedule = this->Former(node)}, fence),
                RunState::kCompleted, fence);
  const BackfillTerms terms{.job_id = job.job_id,
                            .schedule_id = job.schedules.at(0).schedule_id,
                            .from = kT0,
                            .to = kT0 + 1s,
                            .rerun = BackfillRerun::kAll};
  const Backfill made = s.v(s.backfills.CreateBackfill(terms, {}, {.now = kT0 + 40min}));
  failpoint::Break("backfill.any_kind");
  EXPECT_CODE(s.backfills.StepBackfill({made.number, job.job_no, job.segment}, fence, kT0 + 40min,
                                       14 * 24h),
              ErrorCode::kConflict);
  EXPECT_EQ(s.Get(row.key).row, row);
}

}  // namespace carillon::test
