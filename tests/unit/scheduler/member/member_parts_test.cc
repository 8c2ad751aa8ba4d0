// All rooms of a member, with jobs whose fires are done in parts.
#include <set>

#include "tests/unit/scheduler/member/member_harness.h"

namespace carillon::test {
namespace {

class MemberPartsTest : public MemberTest {
 protected:
  static TestExecutor::About WithShards() { return {.slots = 8, .features = {Feature::kShards}}; }
  RunKey OwnOf(RunKey key) {
    key.shard = 0;
    return key;
  }
};

TEST_F(MemberPartsTest, TheParametersOfARunSayHowManyPartsItHas) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register(8);
  Run(20ms);
  executor.BeatAbout(8, WithShards());
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.max = 5, .total_from = "{{params.n}}"};
  job.parameters["n"] = int64_t{2};
  world_.CreateJob("parts", job);
  each_step_ = [&] {
    const std::vector<TaskMessage> tasks = executor.TakeTasks();
    if (!tasks.empty()) executor.Claim(tasks);
    const std::vector<HeldAttempt> accepted = executor.TakeAccepted();
    if (!accepted.empty()) executor.Report(accepted);
  };
  const auto execute = [&](const std::string& parameters) {
    executor.BeatAbout(8, WithShards());
    const auto run = world_.stores.runs.ExecuteJob(
        {.job_id = JobId("parts"), .parameters_json = parameters}, {.now = world_.now()});
    EXPECT_TRUE(run.ok());
    member.member().Nudge({run->job_no, run->segment, run->key});
    Run(1s, 10ms);
    return Get(run->key);
  };
  EXPECT_EQ(execute("").row.shard_total, 2u);
  EXPECT_EQ(execute(R"({"n": 3})").row.shard_total, 3u);
  // As an output of another node is given.
  EXPECT_EQ(execute(R"({"n": "4", "$untrusted": ["n"]})").row.shard_total, 4u);
  const RunDetail none = execute(R"({"n": 0})");
  EXPECT_EQ(none.row.state, RunState::kCompleted);
  EXPECT_EQ(none.result.reason, reason::kZeroShards);
  for (const std::string wrong : {R"({"n": 6})", R"({"n": -1})", R"({"n": 1.5})", R"({"n": true})",
                                  R"({"n": "many"})", R"({"n": ""})"}) {
    const RunDetail run = execute(wrong);
    EXPECT_EQ(run.row.state, RunState::kFailed) << wrong;
    EXPECT_EQ(run.result.reason, reason::kBadShardTotal) << wrong;
    EXPECT_TRUE(run.result.error.starts_with("the number of its shards cannot be used: "))
        << run.result.error;
  }
}

TEST_F(MemberPartsTest, AFireIsDoneInPartsAndTheNextOneWaitsForIt) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register(8);
  Run(20ms);
  executor.BeatAbout(8, WithShards());
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.total = 4};
  job.overlap_policy = OverlapPolicy::kSkip;
  job.schedules = {
      {.kind = ScheduleKind::kRate, .every = 2s, .start = world_.now() + Duration(1s)}};
  world_.CreateJob("parts", job);
  JobDefinition after;
  after.type = JobType::kNoop;
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "parts"}};
  const StoredJob dependent = world_.CreateJob("after", after);

  std::vector<TaskMessage> tasks;
  std::vector<HeldAttempt> accepted;
  each_step_ = [&] {
    const std::vector<TaskMessage> some = executor.TakeTasks();
    if (!some.empty()) executor.Claim(some);
    tasks.insert(tasks.end(), some.begin(), some.end());
    for (HeldAttempt& held : executor.TakeAccepted()) accepted.push_back(std::move(held));
  };
  Run(1500ms, 5ms);
  ASSERT_EQ(accepted.size(), 4u);
  std::set<uint32_t> shards;
  for (const TaskMessage& task : tasks) {
    shards.insert(task.key.shard);
    EXPECT_EQ(task.shard_total, 4u);
  }
  EXPECT_EQ(shards, (std::set<uint32_t>{1, 2, 3, 4}));
  const RunKey first = OwnOf(tasks[0].key);
  EXPECT_EQ(Get(first).row.state, RunState::kRunning);
  EXPECT_TRUE(Get(first).row.executor.empty());

  Run(2s, 20ms);
  RunKey second = first;
  second.fire += 2s;
  EXPECT_EQ(Get(second).row.state, RunState::kSkipped);
  EXPECT_EQ(Get(second).result.reason, reason::kOverlap);
  EXPECT_EQ(tasks.size(), 4u);

  executor.Report({accepted[0], accepted[1], accepted[2]});
  Run(300ms, 5ms);
  EXPECT_EQ(Get(first).row.state, RunState::kRunning);
  executor.Report({accepted[3]});
  Run(300ms, 5ms);
  EXPECT_EQ(Get(first).row.state, RunState::kCompleted);
  ASSERT_EQ(tasks.size(), 5u);
  EXPECT_EQ(tasks[4].job_no, dependent.job_no);
  EXPECT_EQ(tasks[4].shard_total, 1u);

  Run(1s, 20ms);
  EXPECT_EQ(tasks.size(), 9u);  // the third fire has the slot
  EXPECT_EQ(tasks[8].key.fire, first.fire + 4s);
}

// One partition without a leader makes a topic silent; the others take what runs need.
TEST_F(MemberPartsTest, AFireWaitsForTheBusButNotForEachOfItsPartitions) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register(8);
  Run(20ms);
  executor.BeatAbout(8, WithShards());
  JobDefinition job;
  job.type = JobType::kNoop;
  job.overlap_policy = OverlapPolicy::kAllow;
  job.shards = Shards{.total = 2};
  world_.CreateJob("parts", job);
  const auto execute = [&] {
    const auto run =
        world_.stores.runs.ExecuteJob({.job_id = JobId("parts")}, {.now = world_.now()});
    EXPECT_TRUE(run.ok());
    member.member().Nudge({run->job_no, run->segment, run->key});
    Run(1s, 10ms);
    return run->key;
  };
  member.results().silent = true;
  EXPECT_EQ(Get(execute()).row.state, RunState::kRunning);
  executor.BeatAbout(8, WithShards());
  member.logs().silent = true;
  const RunKey later = execute();
  EXPECT_EQ(Get(later).row.state, RunState::kPending) << "the whole bus is silent";
  executor.BeatAbout(8, WithShards());
  member.logs().silent = false;
  Run(1s, 10ms);
  EXPECT_EQ(Get(later).row.state, RunState::kRunning);
}

TEST_F(MemberPartsTest, ABroadcastDoesNotWaitForAHostThatIsDown) {
  TestMember member(world_);
  TestExecutor one(world_, "x1");
  TestExecutor two(world_, "x2");
  Start(member);
  one.Register();
  two.Register();
  Run(20ms);
  two.BeatAbout(4, WithShards());
  one.BeatAbout(4, WithShards());
  std::vector<HeldAttempt> accepted;
  SteadyTime beat = world_.clock.Steady();
  each_step_ = [&] {
    if (world_.clock.Steady() - beat >= 1s) {
      beat = world_.clock.Steady();
      one.BeatAbout(4, WithShards(), accepted);
    }
    const std::vector<TaskMessage> tasks = one.TakeTasks();
    if (!tasks.empty()) one.Claim(tasks);
    for (HeldAttempt& held : one.TakeAccepted()) accepted.push_back(std::move(held));
  };
  Run(6s, 20ms);  // what the executors can do is in the store
  JobDefinition job;
  job.type = JobType::kNoop;
  job.broadcast = Broadcast{.wait_s = 1};
  world_.CreateJob("all", job);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("all")}, {.now = world_.now()});
  ASSERT_TRUE(run.ok());
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(1s, 20ms);
  ASSERT_EQ(accepted.size(), 1u);
  one.Report(accepted);
  accepted.clear();
  Run(15s, 20ms);
  RunKey part = run->key;
  part.shard = 2;
  EXPECT_EQ(Get(part).row.pinned_executor, ExecutorId("x2"));
  EXPECT_EQ(Get(part).row.state, RunState::kSkipped);
  EXPECT_EQ(Get(part).result.reason, reason::kHostDown);
  EXPECT_EQ(Get(run->key).row.state, RunState::kCompleted);
}

TEST_F(MemberPartsTest, APartThatWaitsForItsHostObeysAnEditOfTheSelector) {
  TestMember member(world_);
  TestExecutor one(world_, "x1");
  TestExecutor two(world_, "x2");
  Start(member);
  one.Register();
  two.Register();
  Run(20ms);
  int free_of_two = 0;
  std::vector<HeldAttempt> accepted;
  std::vector<HeldAttempt> accepted_by_two;
  SteadyTime beat{};
  each_step_ = [&] {
    if (world_.clock.Steady() - beat >= 1s) {
      beat = world_.clock.Steady();
      one.BeatAbout(4, WithShards(), accepted);
      two.BeatAbout(free_of_two, WithShards());
    }
    const std::vector<TaskMessage> tasks = one.TakeTasks();
    if (!tasks.empty()) one.Claim(tasks);
    for (HeldAttempt& held : one.TakeAccepted()) accepted.push_back(std::move(held));
    const std::vector<TaskMessage> more = two.TakeTasks();
    if (!more.empty()) two.Claim(more);
    for (HeldAttempt& held : two.TakeAccepted()) accepted_by_two.push_back(std::move(held));
  };
  Run(6s, 20ms);  // what the executors can do is in the store
  JobDefinition job;
  job.name = "all";
  job.command = "true";
  job.broadcast = Broadcast{};
  const StoredJob stored = world_.CreateJob("all", job);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("all")}, {.now = world_.now()});
  ASSERT_TRUE(run.ok());
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(1s, 20ms);
  ASSERT_EQ(accepted.size(), 1u);
  one.Report(accepted);
  accepted.clear();
  RunKey part = run->key;
  part.shard = 2;
  EXPECT_EQ(Get(part).row.pinned_executor, ExecutorId("x2"));
  EXPECT_EQ(Get(part).row.state, RunState::kPending);

  job.executor_selector = "zone=nowhere";
  ASSERT_TRUE(
      world_.stores.jobs.ReplaceJob(stored.job_id, stored.version, job, {.now = world_.now()})
          .ok());
  free_of_two = 4;
  Run(20s, 20ms);
  EXPECT_EQ(Get(part).row.state, RunState::kSkipped);
  EXPECT_EQ(Get(part).result.reason, reason::kNoExecutor);
  EXPECT_EQ(Get(run->key).row.state, RunState::kCompleted);
  EXPECT_TRUE(accepted_by_two.empty());
}

}  // namespace
}  // namespace carillon::test
