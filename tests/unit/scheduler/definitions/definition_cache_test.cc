#include "scheduler/definitions/definition_cache.h"

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

}  // namespace
}  // namespace carillon::scheduler
