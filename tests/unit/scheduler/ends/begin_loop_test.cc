#include "scheduler/ends/begin_loop.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/ends/workflow_room.h"

namespace carillon::scheduler {
namespace {

class BeginLoopTest : public WorkflowRoomTest {};

TEST_F(BeginLoopTest, ANestedRunEndsByTheTimeoutOfItsNode) {
  CreateFlow("inner");  // its own timeout is a minute
  JobDefinition outer;
  outer.type = JobType::kWorkflow;
  outer.workflow = WorkflowDefinition{
      .nodes = {{.id = "n", .job = JobId("inner"), .rules = {.timeout_s = 300}}}};
  const RunKey key = Begun(CreateJob("outer", outer));
  Step();
  const RunRow row = NodeRowOf(key, 0);
  ASSERT_TRUE(IsTime(row.due));
  DueWorkflow stale{ToPendingRun(row, EpochOf(row.segment))};
  stale.run.extras = nullptr;
  ASSERT_TRUE(begins_.Add(stale).ok());
  Step();
  EXPECT_EQ(StateOf(row.key), RunState::kPending);
  ASSERT_TRUE(begins_.Add({ToPendingRun(row, EpochOf(row.segment))}).ok());
  Step();
  ASSERT_EQ(StateOf(row.key), RunState::kRunning);
  const Duration left = View(row.key).deadline - clock_.Wall();
  EXPECT_GT(left, 290s);
  EXPECT_LE(left, 300s);
}

TEST_F(BeginLoopTest, ARunThatIsOfferedTwiceBeginsOnce) {
  const StoredJob flow = CreateFlow("flow");
  const DueWorkflow due = Due(flow);
  ASSERT_TRUE(begins_.Add(due).ok());
  ASSERT_TRUE(begins_.Add(due).ok());
  Step();
  EXPECT_EQ(faults_.plan.calls("Begin"), 1);
  ASSERT_TRUE(begins_.Add(due).ok());
  Step();
  EXPECT_EQ(faults_.plan.calls("Begin"), 2);
  EXPECT_EQ(metrics_.counter("carillon_workflow_begins_total", "accepted_again").value(), 1u);
  EXPECT_EQ(started_.size(), 1u);
}

TEST_F(BeginLoopTest, ABeginThatFailsIsCountedOnce) {
  faults_.plan.Arm("Begin", ErrorCode::kUnavailable);
  const RunKey key = Begun(CreateFlow("flow"));
  EXPECT_EQ(StateOf(key), RunState::kPending);
  EXPECT_EQ(metrics_.counter("carillon_store_errors_total", "unavailable").value(), 1u);
}

TEST_F(BeginLoopTest, NothingBeginsWhileTheClusterIsPaused) {
  Pause();
  const RunKey key = Begun(CreateFlow("flow"));
  EXPECT_EQ(StateOf(key), RunState::kPending);
  EXPECT_EQ(metrics_.counter("carillon_workflow_begins_total", "cluster_paused").value(), 1u);
}

TEST_F(BeginLoopTest, ARunOfASegmentThatIsLostIsDropped) {
  DueWorkflow due = Due(CreateFlow("flow"));
  due.run.epoch = Epoch(due.run.epoch.value() + 1);
  ASSERT_TRUE(begins_.Add(due).ok());
  Step();
  EXPECT_EQ(faults_.plan.calls("Begin"), 0);
}

TEST_F(BeginLoopTest, AFireInPartsBegins) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.total = 3};
  const DueWorkflow due = Due(CreateJob("a", job));
  const DueWorkflow in_parts = ToDue(due.run, job, {});
  EXPECT_TRUE(in_parts.fans_out);
  EXPECT_FALSE(in_parts.counts_hosts);
  ASSERT_TRUE(begins_.Add(in_parts).ok());
  Step();
  EXPECT_EQ(StateOf(due.run.key), RunState::kRunning);
  ASSERT_EQ(started_.size(), 1u);  // the sweep finds all parts by the fire of one
  RunKey part = due.run.key;
  part.shard = 1;
  EXPECT_EQ(started_[0].run, part);
  EXPECT_EQ(metrics_.counter("carillon_workflow_begins_total", "accepted").value(), 1u);
  EXPECT_EQ(begun_, std::vector<RunKey>{due.run.key});
  EXPECT_TRUE(not_begun_.empty());
  ASSERT_TRUE(begins_.Add(in_parts).ok());
  Step();
  EXPECT_EQ(begun_.size(), 1u);
  EXPECT_EQ(not_begun_, std::vector<RunKey>{due.run.key}) << "it has begun before";
}

TEST_F(BeginLoopTest, AFireWhoseBeginIsNotAnsweredMayHaveBegun) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.total = 3};
  const StoredJob stored = CreateJob("a", job);
  const DueWorkflow away = ToDue(Due(stored).run, job, {});
  const DueWorkflow unanswered = ToDue(Due(stored).run, job, {});
  faults_.plan.Arm("BeginParts", test::Fault::kUnavailable);
  ASSERT_TRUE(begins_.Add(away).ok());
  Step();
  EXPECT_EQ(not_begun_, std::vector<RunKey>{away.run.key}) << "nothing was done";
  EXPECT_TRUE(begun_.empty());
  faults_.plan.Arm("BeginParts", test::Fault::kTimeoutAfter);
  ASSERT_TRUE(begins_.Add(unanswered).ok());
  Step();
  EXPECT_EQ(StateOf(unanswered.run.key), RunState::kRunning);
  EXPECT_EQ(begun_, std::vector<RunKey>{unanswered.run.key});
  EXPECT_EQ(not_begun_.size(), 1u);
}

TEST_F(BeginLoopTest, AYoungMemberDoesNotCountHosts) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.alive = true};
  const DueWorkflow due = Due(CreateJob("a", job));
  const DueWorkflow alive = ToDue(due.run, job, {});
  EXPECT_TRUE(alive.counts_hosts);
  ASSERT_TRUE(begins_.Add(alive).ok());
  Step();
  EXPECT_EQ(StateOf(due.run.key), RunState::kPending);
  EXPECT_EQ(not_begun_, std::vector<RunKey>{due.run.key});
  StepFor(21s);
  ASSERT_TRUE(begins_.Add(alive).ok());  // as the firing loop does when the sweep offers it again
  Step();
  EXPECT_EQ(StateOf(due.run.key), RunState::kRunning);
}

TEST_F(BeginLoopTest, ABroadcastToNobodyEndsAtOnce) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.broadcast = Broadcast{};
  const DueWorkflow due = Due(CreateJob("a", job));
  ASSERT_TRUE(begins_.Add(ToDue(due.run, job, {})).ok());
  Step();
  EXPECT_EQ(StateOf(due.run.key), RunState::kSkipped);
  EXPECT_EQ(metrics_.counter("carillon_runs_total", "SKIPPED").value(), 1u);
  EXPECT_EQ(freed_, 1);
  EXPECT_TRUE(started_.empty());
  EXPECT_EQ(not_begun_, std::vector<RunKey>{due.run.key});
}

}  // namespace
}  // namespace carillon::scheduler
