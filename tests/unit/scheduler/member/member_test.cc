#include <set>

#include "tests/unit/scheduler/member/member_harness.h"

namespace carillon::test {
namespace {

TEST_F(MemberTest, TakesEverySegmentAndIsReady) {
  TestMember member(world_);
  EXPECT_FALSE(member.member().ready());
  Start(member);
  EXPECT_TRUE(member.member().ready());
  const scheduler::MemberStatus status = member.member().GetStatus();
  EXPECT_EQ(status.owned_segments.size(), 8u);
  EXPECT_TRUE(status.is_leader);
  EXPECT_TRUE(status.clock_trusted);
}

// Results that cannot be applied yet count as lag.
TEST_F(MemberTest, ShowsHowFarItIsBehind) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  executor.Beat(4);
  world_.CreateJob("tick", NoopEverySecond(world_.now() + 1s));
  std::vector<HeldAttempt> accepted;
  each_step_ = [&] {
    const std::vector<TaskMessage> tasks = executor.TakeTasks();
    if (!tasks.empty()) executor.Claim(tasks);
    for (HeldAttempt& held : executor.TakeAccepted()) accepted.push_back(std::move(held));
  };
  Run(1500ms);
  ASSERT_EQ(accepted.size(), 1u);
  EXPECT_EQ(member.member().GetStatus().topics["carillon.results"].behind, 0);
  executor.Report(accepted);
  EXPECT_EQ(member.member().GetStatus().topics["carillon.results"].behind, 1);
  EXPECT_EQ(member.member().GetStatus().topics["carillon.logs"].behind, 0);
  Run(1s);
  EXPECT_EQ(member.member().GetStatus().topics["carillon.results"].behind, 0);
  EXPECT_EQ(member.metrics().gauge("carillon_consumer_lag", "carillon.results").value(), 0);
  EXPECT_EQ(member.member().GetStatus().session, SessionState::kConnected);
}

TEST_F(MemberTest, FiresEachFireOnceInTimeAndCompletesIt) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  executor.Beat(4);
  const WallTime start = world_.now() + 1s;
  world_.CreateJob("tick", NoopEverySecond(start));
  std::multiset<RunKey> published;
  each_step_ = [&] {
    const std::vector<TaskMessage> tasks = executor.TakeTasks();
    for (const TaskMessage& task : tasks) {
      published.insert(task.key);
      EXPECT_GE(world_.now(), task.due);
      EXPECT_LE(world_.now() - task.due, 5ms);
    }
    if (!tasks.empty()) executor.Claim(tasks);
    const std::vector<HeldAttempt> accepted = executor.TakeAccepted();
    if (!accepted.empty()) executor.Report(accepted);
  };
  Run(5500ms);
  ASSERT_EQ(published.size(), 5u);
  size_t applied = 0;
  for (const ResultsApplied& message : executor.TakeAll<ResultsApplied>()) {
    applied += message.applied.size();
  }
  EXPECT_EQ(applied, 5u);
  for (const RunKey& key : published) {
    EXPECT_EQ(published.count(key), 1u);
    EXPECT_EQ(Get(key).row.state, RunState::kCompleted);
  }
  EXPECT_EQ(member.metrics().counter("carillon_runs_total", "COMPLETED").value(), 5u);
}

TEST_F(MemberTest, RunMadeByHandStartsAtOnceWithItsParameters) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  executor.Beat(4);
  JobDefinition job;
  job.command = "echo {{params.word}}";
  job.parameters = {{"word", std::string("none")}};
  world_.CreateJob("hello", job);
  const auto run = world_.stores.runs.ExecuteJob(
      {.job_id = JobId("hello"), .parameters_json = R"({"word": "ding"})"}, {.now = world_.now()});
  ASSERT_TRUE(run.ok());
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(10ms);
  const std::vector<TaskMessage> tasks = executor.TakeTasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].command, "echo ding");
  EXPECT_EQ(tasks[0].env.at("CARILLON_PARAM_WORD"), "ding");
}

TEST_F(MemberTest, PinnedRunWaitsForItsExecutorWithoutHoldingUpOthers) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  executor.Beat(4);
  JobDefinition job;
  job.command = "true";
  world_.CreateJob("pin", job);
  const auto pinned = world_.stores.runs.ExecuteJob(
      {.job_id = JobId("pin"), .executor = ExecutorId("x2")}, {.now = world_.now()});
  const auto any = world_.stores.runs.ExecuteJob({.job_id = JobId("pin")}, {.now = world_.now()});
  ASSERT_TRUE(pinned.ok() && any.ok());
  Run(700ms);
  std::vector<TaskMessage> tasks = executor.TakeTasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].key, any->key);
  TestExecutor wanted(world_, "x2");
  wanted.Register();
  Run(20ms);
  wanted.Beat(1);
  Run(20ms);
  tasks = wanted.TakeTasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].key, pinned->key);
}

TEST_F(MemberTest, UnclaimedTaskIsPublishedElsewhereAfterTheDispatchTimeout) {
  TestMember member(world_);
  TestExecutor silent(world_, "x1");
  TestExecutor lively(world_, "x2");
  Start(member);
  silent.Register();
  lively.Register();
  Run(20ms);
  silent.Beat(1);
  Run(2ms);
  JobDefinition job;
  job.command = "true";
  world_.CreateJob("move", job);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("move")}, {.now = world_.now()});
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(10ms);
  ASSERT_EQ(silent.TakeTasks().size(), 1u);
  lively.Beat(1);
  Run(4900ms, 10ms);
  EXPECT_TRUE(lively.TakeTasks().empty());
  silent.Beat(1);
  lively.Beat(1);
  Run(200ms, 10ms);
  ASSERT_EQ(lively.TakeTasks().size(), 1u);
  EXPECT_TRUE(silent.TakeTasks().empty());
}

TEST_F(MemberTest, FailedAttemptIsTriedAgainUntilNoneIsLeft) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  executor.Beat(4);
  JobDefinition job;
  job.command = "false";
  job.retry_count = 1;
  job.retry_interval_s = 2;
  world_.CreateJob("again", job);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("again")}, {.now = world_.now()});
  member.member().Nudge({run->job_no, run->segment, run->key});
  std::vector<int> attempts;
  each_step_ = [&] {
    const auto tasks = executor.TakeTasks();
    for (const TaskMessage& task : tasks) attempts.push_back(task.attempt);
    if (!tasks.empty()) executor.Claim(tasks);
    const std::vector<HeldAttempt> accepted = executor.TakeAccepted();
    if (!accepted.empty()) executor.Report(accepted, RunState::kFailed);
  };
  Run(1900ms);
  EXPECT_EQ(attempts, std::vector<int>{1});
  Run(1s);
  EXPECT_EQ(attempts, (std::vector<int>{1, 2}));
  EXPECT_EQ(Get(run->key).row.state, RunState::kFailed);
  EXPECT_EQ(world_.stores.runs.ListDeadLetters({.limit = 10})->size(), 1u);
}

// The wheel has the waiting attempt with its old due time, but in the store it is due now.
TEST_F(MemberTest, AttemptThatWaitsStartsWithinSecondsOfARetryByHand) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  executor.Beat(4);
  JobDefinition job;
  job.command = "false";
  job.retry_count = 3;
  job.retry_interval_s = 20;
  world_.CreateJob("again", job);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("again")}, {.now = world_.now()});
  const ChangedWork of_run{run->job_no, run->segment, run->key};
  const ChangedWork of_job{run->job_no, run->segment};
  member.member().Nudge(of_run);
  std::vector<int> attempts;
  each_step_ = [&] {
    const auto tasks = executor.TakeTasks();
    for (const TaskMessage& task : tasks) attempts.push_back(task.attempt);
    if (!tasks.empty()) executor.Claim(tasks);
    const std::vector<HeldAttempt> accepted = executor.TakeAccepted();
    if (!accepted.empty()) executor.Report(accepted, RunState::kFailed);
  };
  Run(1s);
  member.member().Nudge(of_job);  // as an edit does; this puts the attempt into the wheel
  Run(1s);
  ASSERT_EQ(attempts, std::vector<int>{1});
  ASSERT_TRUE(world_.stores.runs.RetryRun({.key = run->key}, {.now = world_.now()}).ok());
  member.member().Nudge(of_run);
  Run(200ms);
  EXPECT_EQ(attempts, (std::vector<int>{1, 2}));

  // The retry is requested from another member: the owner is not notified and finds the row itself.
  Run(1s);
  member.member().Nudge(of_job);
  Run(1s);
  ASSERT_EQ(attempts, (std::vector<int>{1, 2}));
  ASSERT_TRUE(world_.stores.runs.RetryRun({.key = run->key}, {.now = world_.now()}).ok());
  Run(2s);
  EXPECT_EQ(attempts, (std::vector<int>{1, 2, 3}));
}

TEST_F(MemberTest, CancelIsRepeatedUntilTheRunIsFinal) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  executor.Beat(4);
  JobDefinition job;
  job.command = "sleep 100";
  world_.CreateJob("long", job);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("long")}, {.now = world_.now()});
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(10ms);
  const auto held = executor.Claim(executor.TakeTasks());
  Run(10ms);
  ASSERT_EQ(Get(run->key).row.state, RunState::kRunning);
  ASSERT_TRUE(world_.stores.runs.CancelRun(run->key, {.now = world_.now()}).ok());
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(3ms);
  ASSERT_EQ(executor.TakeAll<CancelAttempts>().size(), 1u);
  Run(2600ms, 10ms);
  EXPECT_EQ(executor.TakeAll<CancelAttempts>().size(), 1u);
  executor.Report(held, RunState::kCancelled);
  Run(10ms);
  EXPECT_EQ(Get(run->key).row.state, RunState::kCancelled);
  Run(3s, 10ms);
  EXPECT_TRUE(executor.TakeAll<CancelAttempts>().empty());
}

TEST_F(MemberTest, DueRunOfAWorkflowWakesTheLoopThatBeginsIt) {
  TestMember member(world_);
  Start(member);
  JobDefinition node;
  node.type = JobType::kNoop;
  world_.CreateJob("node", node);
  JobDefinition flow;
  flow.type = JobType::kWorkflow;
  flow.workflow = WorkflowDefinition{.nodes = {{.id = "n", .job = JobId("node")}}};
  world_.CreateJob("flow", flow);
  int woken = 0;
  for (const scheduler::NamedStepper& named : member.member().steppers()) {
    if (named.name == "workflow") named.wake->Set([&woken] { ++woken; });
  }
  woken = 0;  // Set has reported the wake-ups of the start
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("flow")}, {.now = world_.now()});
  ASSERT_TRUE(run.ok());
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(50ms);
  EXPECT_EQ(Get(run->key).row.state, RunState::kRunning);
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace carillon::test
