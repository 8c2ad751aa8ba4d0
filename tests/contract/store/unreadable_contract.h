// The contract of all ports for rows that cannot be decoded, because they are damaged or written by
// a newer version. Such a row must not block others and must not be lost: after a repair all
// is as before.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class UnreadableContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(UnreadableContract, StoreFactories);

TYPED_TEST(UnreadableContract, DefinitionIsMarkedAndTheOthersAreLoaded) {
  StoreDriver s = this->driver();
  const StoredJob bad = s.Create("bad", s.Manual());
  const StoredJob good = s.Create("good", s.Manual());
  const std::vector<JobVersionKey> keys = {{bad.job_no, 1}, {good.job_no, 1}, {good.job_no, 7}};
  this->handle().DamageDefinition(bad, true);
  std::vector<JobVersionRecord> found = s.v(s.firing.LoadDefinitions(keys));
  ASSERT_EQ(found.size(), 2u);
  for (const JobVersionRecord& record : found) {
    EXPECT_EQ(record.readable, record.job_no == good.job_no);
  }
  this->handle().DamageDefinition(bad, false);
  found = s.v(s.firing.LoadDefinitions(keys));
  ASSERT_EQ(found.size(), 2u);
  for (const JobVersionRecord& record : found) EXPECT_EQ(record.definition.command, "true");
}

TYPED_TEST(UnreadableContract, ScheduleIsMarkedAndHidesNoOther) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  std::vector<StoredJob> bad;
  for (int i = 0; i < 40; ++i) {
    bad.push_back(s.Create("bad" + std::to_string(i), s.Every(10s)));
    this->handle().DamageSchedule(bad.back().schedules[0].schedule_id, true);
  }
  const StoredJob good = s.Create("good", s.Every(11s));
  const std::vector<DueSchedule> due = s.v(s.firing.ScanDue(s.All(), kT0 + 1min, 41));
  ASSERT_EQ(due.size(), 41u);
  for (const DueSchedule& one : due) EXPECT_EQ(one.readable, one.job_no == good.job_no);
  EXPECT_EQ(due.back().job_no, good.job_no);
  this->handle().DamageSchedule(bad[0].schedules[0].schedule_id, false);
  EXPECT_TRUE(s.v(s.firing.ScanDue({bad[0].segment}, kT0 + 1min, 41)).front().readable);
}

TYPED_TEST(UnreadableContract, JobIsLeftOutOfListsWhichStayWhole) {
  StoreDriver s = this->driver();
  std::vector<StoredJob> jobs;
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
    jobs.push_back(s.Create(id, s.Every(10s)));
    if (jobs.size() <= 3) this->handle().DamageDefinition(jobs.back(), true);
  }
  EXPECT_CODE(s.jobs.GetJob(JobId("a")), ErrorCode::kCorrupt);
  const std::vector<StoredJob> page = s.v(s.jobs.ListJobs({.limit = 2})).jobs;
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[0].job_id, JobId("d"));
  EXPECT_EQ(page[1].schedules.size(), 1u);
  EXPECT_EQ(s.v(s.jobs.ListJobs({.after = JobListPlace{"e"}, .limit = 2})).jobs.size(), 1u);
  for (size_t i = 0; i < 3; ++i) this->handle().DamageDefinition(jobs[i], false);
  EXPECT_EQ(s.v(s.jobs.ListJobs({.limit = 10})).jobs.size(), 6u);
}

TYPED_TEST(UnreadableContract, ListsShowWhatIsKnownOfTheJobIfTheyAreAsked) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Every(10s);
  definition.name = "Bad one";
  definition.user_id = "ann";
  definition.name_space = "team";
  definition.type = JobType::kShell;
  definition.command = "true";
  definition.labels = {{"kind", "node"}};
  const StoredJob bad = s.Create("bad", definition);
  const StoredJob paused = s.Pause(s.Create("paused", definition), kT0 + 1s);
  const StoredJob good = s.Create("good", s.Every(10s));
  for (const StoredJob& job : {bad, paused}) this->handle().DamageDefinition(job, true);
  const auto list = [&](JobFilter filter) {
    filter.unreadable = true;
    return s.v(s.jobs.ListJobs(filter)).jobs;
  };
  const std::vector<StoredJob> all = list({.limit = 10});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].job_id, good.job_id);
  EXPECT_TRUE(all[1].problem.empty());
  EXPECT_EQ(all[1].definition, good.definition);
  for (const size_t at : {0, 2}) {
    const StoredJob& job = all[at];
    const StoredJob& before = at == 0 ? bad : paused;
    EXPECT_TRUE(job.problem.starts_with("The definition of job " + before.job_id.value()))
        << job.problem;
    EXPECT_EQ(job.job_no, before.job_no);
    EXPECT_EQ(job.version, before.version);
    EXPECT_EQ(job.created, before.created);
    EXPECT_EQ(job.updated, before.updated);
    EXPECT_EQ(job.pause_reason, before.pause_reason);
    EXPECT_EQ(job.definition.name, "Bad one");
    EXPECT_EQ(job.definition.user_id, "ann");
    EXPECT_EQ(job.definition.name_space, "team");
    EXPECT_EQ(job.definition.type, JobType::kShell);
    EXPECT_EQ(job.definition.enabled, at == 0);
    EXPECT_TRUE(job.definition.command.empty());
    EXPECT_TRUE(job.schedules.empty());
    const JobHead head = s.v(s.jobs.GetJobHead(job.job_id));
    EXPECT_EQ(head.name, job.definition.name);
    EXPECT_EQ(head.type, job.definition.type);
    EXPECT_EQ(head.pause_reason, job.pause_reason);
    EXPECT_EQ(head.created, job.created);
    EXPECT_EQ(head.updated, job.updated);
  }
  EXPECT_EQ(list({.enabled = false, .limit = 10}).size(), 1u);
  EXPECT_EQ(list({.user_id = "ann", .limit = 10}).size(), 2u);
  EXPECT_EQ(list({.limit = 1}).at(0).job_id, bad.job_id);
  EXPECT_EQ(list({.after = JobListPlace{"bad"}, .limit = 10}).size(), 2u);
}

TYPED_TEST(UnreadableContract, RunsOfTheJobStayPlannedAndDueUntilItIsMended) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob bad = s.Create("bad", s.Every(10s));
  this->handle().DamageDefinition(bad, true);
  s.Plan(kT0 + 10s, fence);
  const RunRow run = s.OnlyPending(kT0 + 10s);
  EXPECT_CODE(s.jobs.PauseJob(bad.job_id, "x", {.now = kT0}), ErrorCode::kCorrupt);
  EXPECT_CODE(s.runs.ExecuteJob({.job_id = bad.job_id}, {.now = kT0}), ErrorCode::kCorrupt);
  EXPECT_EQ(s.OnlyPending(kT0 + 10s), run);
  this->handle().DamageDefinition(bad, false);
  s.Start(run, 1, fence, kT0 + 11s);
}

TYPED_TEST(UnreadableContract, JobIsMendedByAReplacement) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob bad = s.Create("bad", s.Every(10s));
  s.Plan(kT0 + 10s, fence);
  this->handle().DamageDefinition(bad, true);
  this->handle().DamageSchedule(bad.schedules[0].schedule_id, true);
  const StoredJob mended = s.Replace(bad, s.Every(10s), kT0 + 5s);
  EXPECT_EQ(s.v(s.jobs.GetJob(bad.job_id)).definition, s.Every(10s));
  const std::vector<DueSchedule> due = s.v(s.firing.ScanDue(s.All(), kT0 + 1min, 10));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_TRUE(due[0].readable);
  EXPECT_EQ(due[0].next_fire, kT0 + 10s);
  EXPECT_EQ(mended.version, 2);
}

TYPED_TEST(UnreadableContract, HeadOfAJobIsReadWithoutItsDefinition) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Every(10s);
  definition.user_id = "ann";
  const StoredJob job = s.Replace(s.Create("a", s.Manual()), definition, kT0 + 1s);
  this->handle().DamageDefinition(job, true);
  EXPECT_CODE(s.jobs.GetJob(job.job_id), ErrorCode::kCorrupt);
  const JobHead head = s.v(s.jobs.GetJobHead(job.job_id));
  EXPECT_EQ(head.job_no, job.job_no);
  EXPECT_EQ(head.segment, job.segment);
  EXPECT_EQ(head.version, 2);
  EXPECT_EQ(head.user_id, "ann");
  EXPECT_TRUE(head.enabled);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, head.version, {.now = kT0 + 2s}));
  EXPECT_TRUE(s.v(s.jobs.GetJobHead(job.job_id)).deleted);
  EXPECT_CODE(s.jobs.GetJobHead(JobId("never")), ErrorCode::kNotFound);
}

TYPED_TEST(UnreadableContract, JobCanBeCancelledAndDeleted) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob bad = s.Create("bad", s.Every(10s));
  const StoredJob also = s.Create("also", s.Manual());
  s.Plan(kT0 + 10s, fence);
  const RunRow due = s.OnlyPending(kT0 + 10s);
  const RunRow waiting = s.Execute(also, kT0 + 1s);
  this->handle().DamageDefinition(bad, true);
  this->handle().DamageDefinition(also, true);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(also.job_id, {.now = kT0 + 2s})), 1);
  EXPECT_EQ(s.Get(waiting.key).row.state, RunState::kCancelled);
  ASSERT_OK(s.jobs.DeleteJob(bad.job_id, bad.version, {.now = kT0 + 11s}));
  EXPECT_EQ(s.Get(due.key).row.state, RunState::kSkipped);
  EXPECT_CODE(s.jobs.GetJob(bad.job_id), ErrorCode::kNotFound);
  EXPECT_TRUE(s.v(s.firing.ScanDue(s.All(), kT0 + 1min, 10)).empty());
}

TYPED_TEST(UnreadableContract, LossUnderAnUnreadableVersionIsLeftToAPerson) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 3;
  const StoredJob job = s.Create("a", definition);
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  s.Replace(job, definition, kT0 + 2s);
  this->handle().DamageDefinition(job, true);
  s.Lose(running, fence, kT0 + 30s);
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kHeld);
}

TYPED_TEST(UnreadableContract, VersionThatCannotBeReadIsListedWithoutItsDefinition) {
  StoreDriver s = this->driver();
  const StoredJob bad = s.Create("bad", s.Every(10s));
  this->handle().DamageDefinition(bad, true);
  const StoredJob mended = s.Replace(bad, s.Every(20s), kT0 + 5s);
  const auto versions = s.v(s.jobs.ListVersions(bad.job_id, INT64_MAX, 10));
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_EQ(versions[0].definition, mended.definition);
  EXPECT_EQ(versions[1].version, 1);
  EXPECT_FALSE(versions[1].definition.has_value());
}

}  // namespace carillon::test
