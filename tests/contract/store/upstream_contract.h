// Contract of runs that wait for runs of other jobs: which are written so, how their waits end.
#pragma once

#include <algorithm>

#include "tests/contract/store/upstream_driver.h"

namespace carillon::test {

TYPED_TEST(UpstreamContract, RunsOfAScheduleWaitFromTheirPlanOn) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  const StoredJob job = s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 25s, s.fence);
  EXPECT_TRUE(s.Pending(kNever).empty());
  const std::vector<AwaitingRun> waiting = s.Awaiting(kT0 + 25s);
  ASSERT_EQ(waiting.size(), 2u);
  EXPECT_EQ(waiting[0].row.key.fire, kT0 + 10s);
  EXPECT_EQ(waiting[1].row.key.fire, kT0 + 20s);
  EXPECT_EQ(waiting[0].row.due, kAwaiting);
  EXPECT_EQ(waiting[0].row.flags, 0u) << "the mark of the schedule is not one of the run";
  EXPECT_EQ(waiting[0].row.job_no, job.job_no);
  EXPECT_EQ(waiting[0].planned, kT0);
  EXPECT_EQ(waiting[0].kept_zone, "");
  EXPECT_EQ(s.Awaiting(kT0 + 19s).size(), 1u);
  EXPECT_EQ(s.Execute(job, kT0 + 1s).due, kT0 + 1s) << "who asks for a run does not wait";
}

TYPED_TEST(UpstreamContract, WaitingRunsAreReadInPages) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  std::vector<RunKey> expected;
  for (int i = 0; i < 6; ++i) {
    JobDefinition definition = s.Waiting(s.Every(10s));
    definition.name = "job" + std::to_string(i);
    s.Create("job" + std::to_string(i), definition);
  }
  s.Plan(kT0 + 35s, s.fence);
  for (const AwaitingRun& run : s.Awaiting(kT0 + 1h)) {
    expected.push_back(run.row.key);
  }
  ASSERT_EQ(expected.size(), 18u);
  EXPECT_TRUE(std::is_sorted(expected.begin(), expected.end()));
  for (const size_t limit : {1, 4, 17, 18}) {
    std::vector<RunKey> found;
    std::optional<RunKey> after;
    do {
      const AwaitingPage page = s.v(s.upstream.ScanAwaiting(s.All(), kT0 + 1h, after, limit));
      for (const AwaitingRun& run : page.runs) found.push_back(run.row.key);
      ASSERT_LE(page.runs.size(), limit);
      after = page.next;
    } while (after);
    EXPECT_EQ(found, expected) << limit;
  }
  size_t sum = 0;
  for (const SegmentId segment : s.All()) {
    sum += s.v(s.upstream.ScanAwaiting({segment}, kT0 + 1h, std::nullopt, 100)).runs.size();
  }
  EXPECT_EQ(sum, expected.size());
  EXPECT_TRUE(s.v(s.upstream.ScanAwaiting({}, kT0 + 1h, std::nullopt, 100)).runs.empty());
}

TYPED_TEST(UpstreamContract, ADependentWaitsWithTheFireOfTheRunBeforeIt) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  s.Create("first", s.Every(10s));
  const StoredJob job = s.Create("job", s.Waiting(s.After("first")));
  s.Plan(kT0 + 15s, s.fence);
  s.Finished(s.OnlyPending(kT0 + 15s), RunState::kCompleted, kT0 + 11s);
  const std::vector<RunRow> started = s.Act(kT0 + 15s);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].due, kAwaiting);
  EXPECT_EQ(s.OnlyAwaiting(kT0 + 1h), started[0]);
  EXPECT_EQ(started[0].key.fire, kT0 + 10s);
  EXPECT_EQ(started[0].job_no, job.job_no);
}

TYPED_TEST(UpstreamContract, ARunThatWaitsKeepsTheZoneOfItsFire) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  JobDefinition definition = s.Waiting(s.Every(10s));
  definition.time_zone = "Asia/Tokyo";
  const StoredJob job = s.Create("job", definition);
  s.Plan(kT0 + 15s, s.fence);
  definition.time_zone = "Europe/Berlin";
  s.v(s.jobs.ReplaceJob(job.job_id, job.version, definition,
                        {.now = kT0 + 11s, .keep_zones = true}));
  const std::vector<AwaitingRun> waiting = s.Awaiting(kT0 + 1h);
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0].kept_zone, "Asia/Tokyo");
}

TYPED_TEST(UpstreamContract, AMetRunIsDue) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 15s, s.fence);
  const RunRow row = s.OnlyAwaiting(kT0 + 15s);
  const WaitEffect effect = s.End(s.ItemOf(row), kT0 + 12s);
  EXPECT_EQ(effect.key, row.key);
  ASSERT_TRUE(effect.due);
  EXPECT_EQ(effect.due->due, kT0 + 12s);
  EXPECT_EQ(*effect.due, s.Get(row.key).row);
  EXPECT_FALSE(effect.blocked || effect.failed || effect.completed);
  EXPECT_TRUE(s.Awaiting(kNever).empty());
  EXPECT_EQ(s.OnlyPending(kT0 + 12s).key, row.key);
  s.Finished(s.Get(row.key).row, RunState::kCompleted, kT0 + 12s);
  EXPECT_TRUE(s.IsNothing(s.End(s.ItemOf(row), kT0 + 13s)));
}

TYPED_TEST(UpstreamContract, ARunThatIsMetBeforeItsFireIsDueAtIt) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 15s, s.fence);
  const WaitEffect effect = s.End(s.ItemOf(s.OnlyAwaiting(kT0 + 15s)), kT0 + 1s);
  ASSERT_TRUE(effect.due);
  EXPECT_EQ(effect.due->due, kT0 + 10s);
}

TYPED_TEST(UpstreamContract, ARunWhoseLimitIsOverFails) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 15s, s.fence);
  const RunRow row = s.OnlyAwaiting(kT0 + 15s);
  const size_t notices = s.v(s.notices.ScanNotices(s.All(), 100)).size();
  const WaitEffect effect = s.Expire(row, kT0 + 2h);
  EXPECT_TRUE(effect.failed);
  EXPECT_FALSE(effect.due || effect.blocked || effect.completed);
  const RunDetail run = s.Get(row.key);
  EXPECT_EQ(run.row.state, RunState::kFailed);
  EXPECT_EQ(run.row.attempt, 1);
  EXPECT_EQ(run.result.reason, reason::kUpstreamTimeout);
  EXPECT_EQ(run.result.error, "Waits for up, which has no fire in the window, until 01:00.");
  EXPECT_EQ(run.result.ended, kT0 + 2h);
  EXPECT_EQ(run.result.started, WallTime{});
  EXPECT_TRUE(run.attempts.empty());
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({.limit = 10}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].key, row.key);
  EXPECT_EQ(letters[0].reason, reason::kUpstreamTimeout);
  EXPECT_EQ(s.v(s.notices.ScanNotices(s.All(), 100)).size(), notices + 1);
  EXPECT_TRUE(s.Awaiting(kNever).empty());
  EXPECT_TRUE(s.IsNothing(s.Expire(row, kT0 + 3h)));
  // A retry starts it.
  const RunDetail again = s.v(s.runs.RetryRun({.key = row.key}, {.now = kT0 + 3h}));
  EXPECT_EQ(again.row.state, RunState::kPending);
  EXPECT_EQ(again.row.due, kT0 + 3h);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 10})).empty());
}

TYPED_TEST(UpstreamContract, AnEndThatOthersWaitForIsTold) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  s.Create("job", s.Waiting(s.Every(10s)));
  s.Create("behind", s.After("job", AfterOutcome::kFailure));
  s.Plan(kT0 + 15s, s.fence);
  EXPECT_TRUE(s.Expire(s.OnlyAwaiting(kT0 + 15s), kT0 + 2h).completed);
  EXPECT_EQ(s.Act(kT0 + 2h + 1s).size(), 1u);
}

TYPED_TEST(UpstreamContract, ARunThatHasChangedIsLeftAlone) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  const StoredJob job = s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 35s, s.fence);
  const std::vector<AwaitingRun> waiting = s.Awaiting(kT0 + 35s);
  ASSERT_EQ(waiting.size(), 3u);
  EXPECT_TRUE(s.v(s.runs.CancelRun(waiting[0].row.key, {.now = kT0 + 11s})));
  EXPECT_TRUE(s.IsNothing(s.End(s.ItemOf(waiting[0].row), kT0 + 12s)));
  s.Replace(job, s.Waiting(s.Every(10s), "up", ""), kT0 + 13s);
  EXPECT_TRUE(s.IsNothing(s.End(s.ItemOf(waiting[1].row), kT0 + 14s))) << "of an old version";
  EXPECT_EQ(s.Get(waiting[1].row.key).row.due, kAwaiting);
  WaitItem gone = s.ItemOf(waiting[2].row);
  gone.key.fire += 1us;
  EXPECT_TRUE(s.IsNothing(s.End(gone, kT0 + 14s)));
  const RunRow now = s.Get(waiting[1].row.key).row;
  const auto effects =
      s.v(s.upstream.EndWaits({gone, s.ItemOf(now), s.ItemOf(waiting[0].row)}, s.fence, kT0 + 21s));
  ASSERT_EQ(effects.size(), 3u);
  EXPECT_TRUE(s.IsNothing(effects[0]));
  EXPECT_TRUE(effects[1].due.has_value());
  EXPECT_TRUE(s.IsNothing(effects[2]));
}

TYPED_TEST(UpstreamContract, OnlyTheOwnerEndsWaits) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 15s, s.fence);
  const RunRow row = s.OnlyAwaiting(kT0 + 15s);
  const Fence old = s.fence;
  s.fence = s.Take(2, "m2", "i2");
  EXPECT_CODE(s.upstream.EndWaits({s.ItemOf(row)}, old, kT0 + 12s), ErrorCode::kFenced);
  EXPECT_EQ(s.Get(row.key).row.due, kAwaiting);
  Fence others;
  for (const FencedSegment& held : s.fence) {
    if (held.segment != row.segment) others.push_back(held);
  }
  EXPECT_CODE(s.upstream.EndWaits({s.ItemOf(row)}, others, kT0 + 12s), ErrorCode::kInvalid);
  EXPECT_TRUE(s.v(s.upstream.EndWaits({}, s.fence, kT0 + 12s)).empty());
  const std::vector<WaitItem> many(kBatchRowsMax + 1, s.ItemOf(row));
  EXPECT_CODE(s.upstream.EndWaits(many, s.fence, kT0 + 12s), ErrorCode::kExhausted);
}

TYPED_TEST(UpstreamContract, APersonReleasesARun) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 15s, s.fence);
  const RunRow row = s.OnlyAwaiting(kT0 + 15s);
  const RunDetail released = s.v(s.upstream.ReleaseRun(row.key, {.now = kT0 + 12s}));
  EXPECT_EQ(released.row.key, row.key);
  EXPECT_EQ(released.row.due, kT0 + 12s);
  EXPECT_EQ(released.job_id, JobId("job"));
  EXPECT_EQ(s.OnlyPending(kT0 + 12s), released.row);
  EXPECT_CODE(s.upstream.ReleaseRun(row.key, {.now = kT0 + 13s}), ErrorCode::kConflict);
  RunKey other = row.key;
  other.fire += 1us;
  EXPECT_CODE(s.upstream.ReleaseRun(other, {.now = kT0 + 13s}), ErrorCode::kNotFound);
}

}  // namespace carillon::test
