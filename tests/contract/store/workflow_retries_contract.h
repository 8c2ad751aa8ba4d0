// The contract of several retries in one workflow run, one after another, and of what its
// failures leave.
#pragma once

#include "common/domain/run/returns.h"
#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

// Three nodes that have failed, and one after each of the first two.
class RetriesDriver : public WorkflowDriver {
 public:
  using WorkflowDriver::WorkflowDriver;

  RunKey Failed() {
    const RunKey key =
        Begun(CreateFlow(Flow({Node("a"), Node("b"), Node("c"), Node("after-a", {{.node = "a"}}),
                               Node("after-b", {{.node = "b", .on = EdgeOn::kDone}})})),
              kT0);
    for (const char* node : {"a", "b", "c"}) Finish(key, node, kT0 + 1s, RunState::kFailed);
    Finish(key, "after-b", kT0 + 2s, RunState::kFailed);
    EXPECT_EQ(StateOf(key), RunState::kFailed);
    return key;
  }
  Result<RunDetail> RetryNode(const RunKey& key, const std::string& node, WallTime now) {
    return runs.RetryRun({.key = RowOf(key, node).key}, {.now = now});
  }
};

template <typename Factory>
class WorkflowRetriesContract : public StoreContract<Factory> {
 protected:
  RetriesDriver retries_driver() { return RetriesDriver(this->handle()); }
};
TYPED_TEST_SUITE(WorkflowRetriesContract, StoreFactories);

TYPED_TEST(WorkflowRetriesContract, FailedNodesOfOneRunAreRetriedOneByOne) {
  RetriesDriver s = this->retries_driver();
  const RunKey key = s.Failed();
  s.v(s.RetryNode(key, "a", kT0 + 10s));
  EXPECT_EQ(s.StateOf(key), RunState::kPending);
  EXPECT_EQ(s.States(key), "a blocked, b FAILED, c FAILED, after-a blocked, after-b FAILED");
  s.v(s.RetryNode(key, "after-b", kT0 + 10s));
  s.v(s.RetryNode(key, "b", kT0 + 11s));
  s.v(s.RetryNode(key, "c", kT0 + 12s));
  EXPECT_EQ(s.States(key), "a blocked, b blocked, c blocked, after-a blocked, after-b blocked");
  EXPECT_EQ(s.Get(key).row.attempt, 2);
  EXPECT_EQ(s.RowOf(key, "after-b").attempt, 2);
  s.ExpectBegin(key, kT0 + 13s);
  s.Steps(kT0 + 13s);
  for (const char* node : {"a", "b", "c"}) s.Finish(key, node, kT0 + 14s);
  s.Finish(key, "after-a", kT0 + 15s);
  EXPECT_EQ(s.Finish(key, "after-b", kT0 + 15s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowRetriesContract, RetryOfTheRunAmongItsNodesChangesNothingTwice) {
  RetriesDriver s = this->retries_driver();
  const RunKey key = s.Failed();
  s.v(s.RetryNode(key, "a", kT0 + 10s));
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 11s}));
  EXPECT_EQ(s.States(key), "a blocked, b blocked, c blocked, after-a blocked, after-b blocked");
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 12s}));
  for (const char* node : {"a", "b", "c", "after-b"}) {
    EXPECT_TRUE(s.v(s.workflows.PreviewRetry(s.RowOf(key, node).key, {})).changes.empty()) << node;
    s.v(s.RetryNode(key, node, kT0 + 12s));
    EXPECT_EQ(s.RowOf(key, node).attempt, 2) << node;
    EXPECT_EQ(s.Get(s.RowOf(key, node).key).attempts.size(), 1u) << node;
  }
  EXPECT_EQ(s.Get(key).row.attempt, 2);
  s.ExpectBegin(key, kT0 + 13s);
}

TYPED_TEST(WorkflowRetriesContract, RunThatWasCancelledBeforeItBeganAgainIsReopened) {
  RetriesDriver s = this->retries_driver();
  const RunKey key = s.Failed();
  s.v(s.RetryNode(key, "a", kT0 + 10s));
  s.v(s.runs.CancelRun(key, {.now = kT0 + 11s}));
  EXPECT_EQ(s.StateOf(key), RunState::kCancelled);
  // No step has seen the cancel.
  s.v(s.RetryNode(key, "b", kT0 + 12s));
  EXPECT_EQ(s.StateOf(key), RunState::kPending);
  s.ExpectBegin(key, kT0 + 13s);
}

// The graph stays that of the version with which it began.
TYPED_TEST(WorkflowRetriesContract, RunBeginsAgainUnderThePresentRulesOfItsJob) {
  RetriesDriver s = this->retries_driver();
  JobDefinition definition = s.Chain();
  definition.schedules.push_back({.kind = ScheduleKind::kRate, .every = 1h, .start = kT0});
  const StoredJob flow = s.CreateFlow(definition);
  s.Plan(kT0 + 90min, s.fence);
  const RunKey key{.fire = kT0 + 1h, .schedule_id = flow.schedules[0].schedule_id};
  s.ExpectBegin(key, kT0 + 1h);
  s.Steps(kT0 + 1h);
  s.Finish(key, "a", kT0 + 1h, RunState::kFailed);
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  definition.priority = 77;
  const StoredJob edited = s.Replace(flow, definition, kT0 + 61min);
  s.Begun(edited, kT0 + 62min);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 63min}));
  EXPECT_EQ(s.Get(key).row.def_version, edited.version);
  EXPECT_EQ(s.Get(key).row.priority, 77);
  EXPECT_EQ(s.View(key).def_version, flow.version);
  EXPECT_EQ(s.Begin(key, kT0 + 64min).verdict, ClaimVerdict::kEnqueued);
}

TYPED_TEST(WorkflowRetriesContract, RunOfAJobThatIsNoWorkflowAnyMoreKeepsItsVersion) {
  RetriesDriver s = this->retries_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Begun(flow, kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  s.Replace(flow, s.Manual(), kT0 + 2s);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}));
  EXPECT_EQ(s.Get(key).row.def_version, flow.version);
  s.ExpectBegin(key, kT0 + 4s);
}

// Its job has not failed once more.
TYPED_TEST(WorkflowRetriesContract, NodeThatARetrySkipsIsNoFailure) {
  RetriesDriver s = this->retries_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.Finish(key, "a", kT0 + 1s);
  s.Finish(key, "b", kT0 + 2s, RunState::kFailed);
  const auto notices_of_b = [&] {
    const std::vector<OpenNotice> open = s.v(s.notices.ScanNotices(s.All(), 100));
    return std::ranges::count(open, s.RowOf(key, "b").key,
                              [](const OpenNotice& one) { return one.notice.key; });
  };
  EXPECT_EQ(notices_of_b(), 1);
  s.v(s.runs.RetryRun({.key = key, .workflow = {.from = RetryFrom::kStart}}, {.now = kT0 + 3s}));
  s.ExpectBegin(key, kT0 + 4s);
  s.Steps(kT0 + 4s);
  s.Finish(key, "a", kT0 + 5s, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a FAILED, b SKIPPED upstream_failed");
  EXPECT_EQ(notices_of_b(), 1);
}

TYPED_TEST(WorkflowRetriesContract, PreviewRefusesWhatTheRetryRefuses) {
  RetriesDriver s = this->retries_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Begun(flow, kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 2s}));
  EXPECT_CODE(s.workflows.PreviewRetry(key, {}), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}), ErrorCode::kNotFound);
}

// A nested workflow run that is to continue worked with what a node before it had left.
TYPED_TEST(WorkflowRetriesContract, NestedRunBeginsAnewOnceANodeBeforeItIsRetriedToo) {
  RetriesDriver s = this->retries_driver();
  s.CreateFlow(s.Flow({s.Node("x"), s.Node("y", {{.node = "x"}})}), "inner");
  const RunKey key = s.Begun(
      s.CreateFlow(s.Flow({s.Node("a"), s.Node("inner", {{.node = "a", .on = EdgeOn::kDone}})})),
      kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  const RunKey inner = s.RowOf(key, "inner").key;
  s.ExpectBegin(inner, kT0 + 2s);
  s.Steps(kT0 + 2s);
  s.Finish(inner, "x", kT0 + 3s);
  s.Finish(inner, "y", kT0 + 4s, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a FAILED, inner FAILED");
  const WorkflowRunId before = s.View(inner).run;
  const WorkflowRetry only{.from = RetryFrom::kNodes, .nodes = {"inner"}};
  s.v(s.runs.RetryRun({.key = key, .workflow = only}, {.now = kT0 + 5s}));
  EXPECT_EQ(s.States(inner), "x COMPLETED, y blocked");
  s.v(s.RetryNode(key, "a", kT0 + 6s));
  s.ExpectBegin(key, kT0 + 7s);
  s.Steps(kT0 + 7s);
  s.Finish(key, "a", kT0 + 8s);
  EXPECT_EQ(s.Begin(inner, kT0 + 9s).kind, BeginKind::kAnew);
  EXPECT_NE(s.View(inner).run, before);
  EXPECT_EQ(s.RowOf(key, "inner").attempt, 2);
}

// Its host is away, so nobody knows whether its process has ended.
TYPED_TEST(WorkflowRetriesContract, HeldNodeIsEndedByACancelThatConfirmsTheOverlap) {
  RetriesDriver s = this->retries_driver();
  JobDefinition held = s.Manual();
  held.on_lost = OnLost::kHold;
  s.Create("a", held);
  JobDefinition definition = s.Chain();
  definition.timeout_s = 60;
  const StoredJob flow = s.CreateFlow(definition);
  for (const bool timed_out : {false, true}) {
    const WallTime begun = timed_out ? kT0 + 1h : kT0;
    const RunKey key = s.Begun(flow, begun);
    EXPECT_EQ(s.Lose(s.StartNode(key, "a", begun + 1s), s.fence, begun + 2s).size(), 1u);
    if (!timed_out) s.v(s.runs.CancelRun(key, {.now = begun + 3s}));
    s.Rotate(begun + 61s);
    EXPECT_EQ(s.States(key), "a HELD, b CANCELLED");
    EXPECT_EQ(s.StateOf(key), RunState::kRunning);
    const auto retried =
        s.runs.RetryRun({.key = key}, {.now = begun + 62s, .confirm_overlap = true});
    EXPECT_CODE(retried, ErrorCode::kConflict);
    EXPECT_NE(retried.error().message.find("confirm_overlap"), std::string::npos);
    const auto skipped = s.workflows.SkipNode({.key = key, .node = "a"}, {.now = begun + 62s});
    EXPECT_CODE(skipped, ErrorCode::kConflict);
    EXPECT_NE(skipped.error().message.find("confirm_overlap"), std::string::npos);
    s.v(s.runs.CancelRun(key, {.now = begun + 63s, .confirm_overlap = true}));
    EXPECT_EQ(s.States(key), "a CANCELLED, b CANCELLED");
    EXPECT_EQ(s.Steps(begun + 64s).ended, RunState::kCancelled);
  }
}

TYPED_TEST(WorkflowRetriesContract, PriorityOfTheRunIsTheLeastOfItsNodes) {
  RetriesDriver s = this->retries_driver();
  JobDefinition urgent = s.Manual();
  urgent.priority = 95;
  urgent.retry_count = 1;
  s.Create("b", urgent);
  JobDefinition plain = s.Manual();
  plain.retry_count = 1;
  const StoredJob a = s.Create("a", plain);
  const StoredJob flow = s.CreateFlow(s.Flow({s.Node("a"), s.Node("b")}));
  const RunKey key =
      s.v(s.runs.ExecuteJob({.job_id = flow.job_id, .priority = 90}, {.now = kT0})).key;
  s.ExpectBegin(key, kT0);
  s.Steps(kT0);
  EXPECT_EQ(s.RowOf(key, "a").priority, 90);
  EXPECT_EQ(s.RowOf(key, "b").priority, 95);
  // An edit, and the next attempt, keep it.
  plain.description = "edited";
  s.Replace(a, plain, kT0 + 1s);
  EXPECT_EQ(s.RowOf(key, "a").priority, 90);
  s.EndRun(s.StartNode(key, "a", kT0 + 2s), RunState::kFailed, kT0 + 3s);
  EXPECT_EQ(s.RowOf(key, "a").priority, 90);
  // Without one of its own, a run takes nothing from its nodes.
  EXPECT_EQ(s.RowOf(s.Begun(flow, kT0 + 9s), "b").priority, 95);
}

TYPED_TEST(WorkflowRetriesContract, FailuresOfNodesLeaveTheDeadLetterOfTheirWorkflow) {
  RetriesDriver s = this->retries_driver();
  JobDefinition retried = s.Manual();
  retried.retry_count = 1;
  s.Create("c", retried);
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Node("b"), s.Node("c")})), kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  ResultReport report = s.ReportOf(a, RunState::kFailed, kT0 + 2s);
  EXPECT_FALSE(s.Apply(report, s.fence, kT0 + 2s).dead_letter);
  // Lost, and skipped after an attempt: failures, too.
  const RunRow b = s.StartNode(key, "b", kT0 + 2s);
  const auto lost = s.v(s.firing.MarkLost({{.key = b.key,
                                            .segment = b.segment,
                                            .job_no = b.job_no,
                                            .attempt = b.attempt,
                                            .token = b.claim_token}},
                                          s.fence, kT0 + 3s));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].state, RunState::kLost);
  EXPECT_FALSE(lost[0].dead_letter);
  s.EndRun(s.StartNode(key, "c", kT0 + 3s), RunState::kFailed, kT0 + 4s);
  const RunRow waiting = s.RowOf(key, "c");
  s.v(s.firing.Skip({{.key = waiting.key,
                      .segment = waiting.segment,
                      .job_no = waiting.job_no,
                      .attempt = waiting.attempt,
                      .def_version = waiting.def_version,
                      .reason = reason::kQueueTimeout}},
                    s.fence, kT0 + 5s));
  s.Steps(kT0 + 6s);
  EXPECT_EQ(s.States(key), "a FAILED, b LOST, c SKIPPED queue_timeout");
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].key, key);
}

// An executor whose answers were lost goes on asking for the attempt that it was offered, with
// its parameters.
TYPED_TEST(WorkflowRetriesContract, ClaimFromBeforeASkipDoesNotStartWhatIsRetried) {
  RetriesDriver s = this->retries_driver();
  JobDefinition job = s.Manual();
  job.retry_count = 1;
  s.Create("a", job);
  const RunKey key =
      s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Node("b", {{.node = "a"}})})), kT0);
  const ClaimRequest offered = s.ClaimOf(s.RowOf(key, "a"), 1);
  s.v(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 1s}));
  s.Steps(kT0 + 1s);
  s.Finish(key, "b", kT0 + 2s);
  EXPECT_EQ(s.States(key), "a SKIPPED skipped_by_hand, b COMPLETED");
  const WorkflowRetry all{.from = RetryFrom::kStart};
  s.v(s.runs.RetryRun({.key = key, .workflow = all}, {.now = kT0 + 3s}));
  s.ExpectBegin(key, kT0 + 4s);
  s.Steps(kT0 + 4s);
  const ClaimReply late = s.Claim(offered, s.fence, kT0 + 5s);
  EXPECT_EQ(late.verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(late.reason, ClaimReason::kAttemptMoved);
  EXPECT_EQ(s.RowOf(key, "a").attempt, 2);
  EXPECT_EQ(TriesOf(s.RowOf(key, "a")), 1);
  // It has all its retries.
  s.EndRun(s.StartNode(key, "a", kT0 + 6s), RunState::kFailed, kT0 + 7s);
  EXPECT_EQ(s.RowOf(key, "a").attempt, 3);
  EXPECT_EQ(s.Finish(key, "a", kT0 + 1h).ended, std::nullopt);
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING");
}

}  // namespace carillon::test
