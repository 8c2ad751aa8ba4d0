#include "scheduler/definitions/definition_cache.h"

#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class DefinitionCacheTest : public test::RoomTest {
 protected:
  // Loads ten jobs like this one, and returns how many of them a cache of `bytes_max` keeps.
  size_t Held(const std::string& prefix, JobDefinition job, size_t bytes_max) {
    DefinitionCache cache(clock_, faults_.firing, {.bytes_max = bytes_max});
    job.command = "true";
    for (int i = 0; i < 10; ++i) {
      const StoredJob stored = CreateJob(prefix + std::to_string(i), job);
      EXPECT_TRUE(cache.Load({{.job = {stored.job_no, stored.version}}}).ok());
    }
    return cache.size();
  }
  // A workflow of the tasks `first` and `second`, a node of job x, and an approval.
  StoredJob CreateFlow() {
    CreateNoop("x");
    JobDefinition job;
    job.type = JobType::kWorkflow;
    job.user_id = "anna";
    job.workflow = WorkflowDefinition{.nodes = {{.id = "a", .task = TaskOf("first")},
                                                {.id = "b", .task = TaskOf("second")},
                                                {.id = "c", .job = JobId("x")},
                                                {.id = "d", .approval = Approval{}}}};
    return CreateJob("flow", job);
  }
  static TaskBox TaskOf(const std::string& command) {
    JobDefinition task;
    task.command = command;
    return TaskBox(task);
  }
  // The run of the node at this position of some run of the workflow.
  static RunKey NodeOf(size_t position, uint64_t run = 7) {
    return NodeKey(FromUnixMicros(1'000'000), {.workflow_run_no = run, .position = position})
        .value();
  }
  static RunDefinitionKey TaskKey(const StoredJob& flow, size_t position, std::string rules = "") {
    return DefinitionKeyOf({TaskJobOf(flow.job_no), flow.version}, NodeOf(position),
                           std::move(rules));
  }
};

TEST_F(DefinitionCacheTest, EveryPartOfADefinitionCounts) {
  const std::string kilobytes(20'000, 'x');
  const size_t limit = 50'000;  // enough for two definitions with 20,000 bytes of text
  EXPECT_EQ(Held("small", {}, limit), 10u);
  JobDefinition job;
  job.parameters["p"] = kilobytes;
  EXPECT_EQ(Held("parameters", job, limit), 2u);
  job = {};
  job.labels["l"] = kilobytes;
  EXPECT_EQ(Held("labels", job, limit), 2u);
  job = {};
  job.env["e"] = kilobytes;
  EXPECT_EQ(Held("env", job, limit), 2u);
  job = {};
  job.description = kilobytes;
  EXPECT_EQ(Held("description", job, limit), 2u);
  job = {};
  job.schedules = {{.kind = ScheduleKind::kRate, .every = 1h}};
  job.schedules[0].parameters["p"] = kilobytes;
  EXPECT_EQ(Held("schedule_parameters", job, limit), 2u);
  job = {};
  CreateJob("a", {});
  job.type = JobType::kWorkflow;
  job.workflow = WorkflowDefinition{.nodes = {{.id = "a", .job = JobId("a")}}};
  job.workflow->nodes[0].parameters["p"] = kilobytes;
  EXPECT_EQ(Held("node_parameters", job, limit), 2u);
  job.workflow->nodes[0].parameters.clear();
  job.workflow->nodes[0].after = {{.node = "b", .condition = kilobytes}};
  EXPECT_EQ(Held("conditions", job, limit), 2u);
  job.workflow->nodes[0].after.clear();
  job.workflow->nodes.push_back({.id = "b", .task = TaskOf(kilobytes)});
  EXPECT_EQ(Held("tasks", job, limit), 2u);
  job = {};
  job.schedules.assign(14, {.kind = ScheduleKind::kCron, .cron_expression = "0 0 * * *"});
  EXPECT_EQ(Held("schedules", job, limit), 2u);
}

// Two schedules that fire at the same instants: only the run's id tells which of them made it.
TEST_F(DefinitionCacheTest, ARunHasTheScheduleThatMadeIt) {
  JobDefinition job;
  job.command = "true";
  const ScheduleSpec hourly{.kind = ScheduleKind::kRate, .every = 1h};
  job.schedules = {hourly, hourly};
  job.schedules[1].jitter = 1h;
  job.schedules[1].parameters["x"] = int64_t{2};
  const StoredJob stored = CreateJob("job", job);
  DefinitionCache cache(clock_, faults_.firing, {});
  const RunDefinitionKey key{.job = {stored.job_no, stored.version}};
  const auto definition = cache.Load({key})->definitions.at(key);
  const WallTime fire = FromUnixMicros(3'600'000'000);
  for (size_t i = 0; i < 2; ++i) {
    const ScheduleId id = stored.schedules[i].schedule_id;
    EXPECT_EQ(*definition->SpecOf(id), job.schedules[i]);
    EXPECT_EQ(definition->ScheduleOf({fire, id})->jitter(), job.schedules[i].jitter);
  }
  const ScheduleId removed(999);
  EXPECT_EQ(definition->SpecOf(removed), nullptr);
  EXPECT_EQ(definition->ScheduleOf({fire, removed})->jitter(), 0s) << "one that fires then";
  EXPECT_FALSE(definition->ScheduleOf({fire + 1s, removed}).has_value());
}

TEST_F(DefinitionCacheTest, ForgottenOnesAreReadAgain) {
  const StoredJob job = CreateNoop("job");
  const RunDefinitionKey key{.job = {job.job_no, job.version}};
  DefinitionCache cache(clock_, faults_.firing, {});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cache.Load({key})->definitions.contains(key));
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 1);
  cache.Forget();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.Get(key), nullptr);
  EXPECT_TRUE(cache.Load({key})->definitions.contains(key));
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 2);
}

TEST_F(DefinitionCacheTest, UnreadableOneIsAskedForAgainAfterAWhile) {
  const StoredJob job = CreateNoop("job");
  const RunDefinitionKey key{.job = {job.job_no, job.version}};
  DefinitionCache cache(clock_, faults_.firing, {});
  stores_.DamageDefinition(job.job_id, job.version, true);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cache.Load({key})->unreadable.contains(key));
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 1);
  stores_.DamageDefinition(job.job_id, job.version, false);
  clock_.Advance(kUnreadableRetry);
  EXPECT_TRUE(cache.Load({key})->definitions.contains(key));
}

TEST_F(DefinitionCacheTest, ATaskHasTheTextOfItsNode) {
  const StoredJob flow = CreateFlow();
  DefinitionCache cache(clock_, faults_.firing, {});
  const RunDefinitionKey first = TaskKey(flow, 0);
  const RunDefinitionKey second = TaskKey(flow, 1);
  const auto found = cache.Load({first, second, first});
  ASSERT_TRUE(found.ok());
  const Definition& of_first = *found->definitions.at(first);
  EXPECT_EQ(of_first.job().command, "first");
  EXPECT_EQ(of_first.job().user_id, "anna");
  EXPECT_EQ(of_first.record().job_id, JobId("flow"));
  EXPECT_EQ(of_first.record().job_no, TaskJobOf(flow.job_no));
  EXPECT_EQ(found->definitions.at(second)->job().command, "second");
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 1);
  EXPECT_EQ(cache.Get(first), found->definitions.at(first));
  // A part of the same node, and a node of another run of the workflow.
  RunKey part = NodeOf(0, 8);
  part.shard = 3;
  EXPECT_EQ(DefinitionKeyOf({TaskJobOf(flow.job_no), flow.version}, part, ""), first);
}

TEST_F(DefinitionCacheTest, NoRunWithoutAJobGetsTheWholeWorkflow) {
  const StoredJob flow = CreateFlow();
  DefinitionCache cache(clock_, faults_.firing, {});
  const JobVersionKey tasks{TaskJobOf(flow.job_no), flow.version};
  const RunKey other{.fire = clock_.Wall(), .schedule_id = ScheduleId(5)};
  const std::vector<RunDefinitionKey> wrong = {
      TaskKey(flow, 2),                   // it runs a job
      TaskKey(flow, 3),                   // an approval, which no executor may end
      TaskKey(flow, 3, "type=approval"),  //
      TaskKey(flow, 4),                   // there is no such node
      DefinitionKeyOf(tasks, other, ""),  // no node
      {.job = tasks}};
  for (int i = 0; i < 2; ++i) {  // once cached, too
    for (const RunDefinitionKey& key : wrong) {
      const auto found = cache.Load({key, TaskKey(flow, 0)});
      ASSERT_TRUE(found.ok());
      EXPECT_TRUE(found->unreadable.contains(key));
      EXPECT_FALSE(found->definitions.contains(key));
      EXPECT_EQ(cache.Get(key), nullptr);
    }
  }
}

TEST_F(DefinitionCacheTest, RulesOfARunAreForRunsWithTheseRules) {
  const StoredJob job = CreateRate("job", 1h);
  DefinitionCache cache(clock_, faults_.firing, {});
  const JobVersionKey version{job.job_no, job.version};
  const RunDefinitionKey plain{.job = version};
  const RunDefinitionKey own =
      DefinitionKeyOf(version, NodeOf(0), "timeout=5;executor_selector=zone=a;items=4;as=file");
  EXPECT_EQ(own, DefinitionKeyOf(version, NodeOf(1), own.rules)) << "of whatever node";
  const auto found = cache.Load({own, plain});
  ASSERT_TRUE(found.ok());
  const Definition& resolved = *found->definitions.at(own);
  EXPECT_EQ(resolved.job().timeout_s, 5);
  ASSERT_NE(resolved.selector(), nullptr);
  EXPECT_TRUE(resolved.selector()->Matches({{"zone", "a"}}));
  EXPECT_FALSE(resolved.selector()->Matches({{"zone", "b"}}));
  EXPECT_EQ(resolved.items(), 4);
  EXPECT_EQ(resolved.item_parameter(), "file");
  EXPECT_NE(resolved.SpecOf(job.schedules[0].schedule_id), nullptr);
  const Definition& base = *found->definitions.at(plain);
  EXPECT_EQ(base.job(), stores_.jobs.GetJob(JobId("job"))->definition);
  EXPECT_EQ(base.selector(), nullptr);
  EXPECT_EQ(base.items(), std::nullopt);
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 1);
  // Without the store, as soon as the version is cached.
  const RunDefinitionKey later = DefinitionKeyOf(version, NodeOf(0), "timeout=6");
  ASSERT_NE(cache.Get(later), nullptr);
  EXPECT_EQ(cache.Get(later)->job().timeout_s, 6);
  EXPECT_EQ(cache.Get(later), cache.Load({later})->definitions.at(later));
}

TEST_F(DefinitionCacheTest, RulesThatCannotBeReadAreNotNoRules) {
  const StoredJob job = CreateNoop("job");
  DefinitionCache cache(clock_, faults_.firing, {});
  const JobVersionKey version{job.job_no, job.version};
  RunRow row{.key = NodeOf(0), .job_no = job.job_no, .def_version = job.version};
  EXPECT_EQ(DefinitionKeyOf(row), RunDefinitionKey{.job = version});
  row.flags = run_flag::kRules;  // but none were read
  for (const RunDefinitionKey& key :
       {DefinitionKeyOf(version, row.key, "of_tomorrow=1"), DefinitionKeyOf(row),
        DefinitionKeyOf(ToPendingRun(row, Epoch(1)))}) {
    EXPECT_TRUE(cache.Load({key})->unreadable.contains(key)) << key.rules;
    EXPECT_EQ(cache.Get(key), nullptr);
  }
  row.rules = "timeout=7";
  EXPECT_EQ(DefinitionKeyOf(row).rules, "timeout=7");
  EXPECT_EQ(DefinitionKeyOf(ToPendingRun(row, Epoch(1))), DefinitionKeyOf(row));
}

TEST_F(DefinitionCacheTest, ResolvedOnesAreForgottenAndEvictedLikeOthers) {
  const StoredJob flow = CreateFlow();
  DefinitionCache cache(clock_, faults_.firing, {.entries_max = 3});
  EXPECT_TRUE(cache.Load({TaskKey(flow, 0), TaskKey(flow, 1)}).ok());
  EXPECT_EQ(cache.size(), 3u) << "with that of the version";
  EXPECT_TRUE(cache.Load({TaskKey(flow, 1, "type=shell;timeout=9")}).ok());
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 1);
  cache.Forget();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.Get(TaskKey(flow, 0)), nullptr);
}

}  // namespace
}  // namespace carillon::scheduler
