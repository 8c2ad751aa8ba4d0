// Contract of nodes of workflows that wait for runs of other jobs.
#pragma once

#include "tests/contract/store/upstream_driver.h"

namespace carillon::test {

// A workflow in which b follows a, and both wait for the job "up".
inline RunKey BegunWithWaits(UpstreamDriver& s, WallTime now) {
  s.Create("up", s.Every(10h));
  s.Create("a", s.Waiting(s.Manual()));
  s.Create("b", s.Waiting(s.Manual()));
  return s.Begun(s.CreateFlow(s.Chain()), now);
}

TYPED_TEST(UpstreamContract, ANodeWaitsFirstAndIsBlockedAfterwards) {
  UpstreamDriver s = this->upstream_driver();
  const RunKey own = BegunWithWaits(s, kT0 + 1s);
  EXPECT_EQ(s.States(own), "a blocked, b blocked");
  EXPECT_EQ(s.RowOf(own, "a").due, kAwaiting);
  EXPECT_TRUE(s.NodeOf(own, "a").row.awaiting);
  EXPECT_EQ(s.Awaiting(kT0 + 1s).size(), 2u);
  EXPECT_TRUE(s.WakeUps().empty());
  EXPECT_TRUE(s.Rotate(kT0 + 2s).released.empty()) << "it is not released while it waits";
  // b first: it stays blocked behind a.
  WaitEffect effect = s.End(s.ItemOf(s.RowOf(own, "b")), kT0 + 2s);
  EXPECT_TRUE(effect.blocked);
  EXPECT_FALSE(effect.due || effect.failed || effect.completed);
  EXPECT_EQ(s.RowOf(own, "b").due, kBlocked);
  ASSERT_EQ(s.WakeUps().size(), 1u);
  EXPECT_EQ(s.WakeUps()[0].run, s.View(own).run);
  EXPECT_EQ(s.WakeUps()[0].segment, s.View(own).own.row.segment);
  EXPECT_TRUE(s.Steps(kT0 + 3s).released.empty());
  EXPECT_TRUE(s.End(s.ItemOf(s.RowOf(own, "a")), kT0 + 4s).blocked);
  EXPECT_EQ(s.KeysOf(s.Steps(kT0 + 4s).released), std::vector<RunKey>{s.RowOf(own, "a").key});
  EXPECT_EQ(s.RowOf(own, "a").due, kT0 + 4s);
  s.Finish(own, "a", kT0 + 5s);
  EXPECT_EQ(s.States(own), "a COMPLETED, b PENDING");
}

TYPED_TEST(UpstreamContract, ANodeThatWaitsIsSkippedWithItsUpstream) {
  UpstreamDriver s = this->upstream_driver();
  const RunKey own = BegunWithWaits(s, kT0 + 1s);
  const RunRow a = s.RowOf(own, "a");
  const RunRow b = s.RowOf(own, "b");
  EXPECT_TRUE(s.Expire(a, kT0 + 10min).completed) << "its workflow waits for its end";
  s.Steps(kT0 + 10min);
  EXPECT_EQ(s.States(own), "a FAILED, b SKIPPED upstream_failed");
  s.ExpectEnd(own, RunState::kFailed, reason::kNodeFailed);
  ASSERT_EQ(s.v(s.runs.ListDeadLetters({.limit = 10})).size(), 1u) << "that of the workflow";
  EXPECT_TRUE(s.IsNothing(s.End(s.ItemOf(b), kT0 + 10min + 1s)));
  // A retry: a person overrules the limit of a; b has not finished to wait.
  s.v(s.runs.RetryRun({.key = own}, {.now = kT0 + 3h}));
  EXPECT_EQ(s.RowOf(own, "a").due, kBlocked);
  EXPECT_EQ(s.RowOf(own, "b").due, kAwaiting);
  EXPECT_EQ(s.RowOf(own, "b").state, RunState::kPending);
  const std::vector<AwaitingRun> waiting = s.Awaiting(kNever);
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0].row.key, b.key);
  EXPECT_EQ(waiting[0].planned, kT0 + 3h) << "it has its whole time again";
}

TYPED_TEST(UpstreamContract, APauseLeavesANodeWaiting) {
  UpstreamDriver s = this->upstream_driver();
  const RunKey own = BegunWithWaits(s, kT0 + 1s);
  const StoredJob paused = s.Pause(s.v(s.jobs.GetJob(JobId("a"))), kT0 + 2s);
  EXPECT_EQ(s.RowOf(own, "a").due, kAwaiting);
  s.Resume(paused, kT0 + 3s);
  EXPECT_EQ(s.RowOf(own, "a").due, kAwaiting) << "a resume does not end the wait";
  s.Pause(s.v(s.jobs.GetJob(JobId("a"))), kT0 + 4s);
  EXPECT_TRUE(s.End(s.ItemOf(s.RowOf(own, "a")), kT0 + 5s).blocked);
  s.Steps(kT0 + 6s);
  EXPECT_EQ(s.RowOf(own, "a").due, kNever) << "its job is paused";
}

TYPED_TEST(UpstreamContract, ACancelEndsANodeThatWaits) {
  UpstreamDriver s = this->upstream_driver();
  const RunKey own = BegunWithWaits(s, kT0 + 1s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(own, {.now = kT0 + 2s})));
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.States(own), "a CANCELLED, b CANCELLED");
  s.ExpectEnd(own, RunState::kCancelled, reason::kCancelRequested);
  EXPECT_TRUE(s.Awaiting(kNever).empty());
}

TYPED_TEST(UpstreamContract, APersonReleasesANode) {
  UpstreamDriver s = this->upstream_driver();
  const RunKey own = BegunWithWaits(s, kT0 + 1s);
  const RunDetail released = s.v(s.upstream.ReleaseRun(s.RowOf(own, "a").key, {.now = kT0 + 2s}));
  EXPECT_EQ(released.row.due, kBlocked);
  EXPECT_EQ(s.Steps(kT0 + 2s).released.size(), 1u);
}

}  // namespace carillon::test
