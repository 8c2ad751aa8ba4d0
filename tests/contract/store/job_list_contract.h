// The contract of JobStore for many jobs in one call: all of them are created or none, and they are
// found by their ids and names.
#pragma once

#include <set>
#include <utility>

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class JobListContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(JobListContract, StoreFactories);

TYPED_TEST(JobListContract, JobsCreatedTogetherAreAsIfCreatedAlone) {
  StoreDriver s = this->driver();
  JobDefinition full = s.Every(1s);
  full.name = "a \"name\" \\ ü 🔔";
  full.command = "echo 'a'\n\t\"b\" \\ 🔔";
  full.schedules.push_back(
      {.kind = ScheduleKind::kCron, .cron_expression = "0 3 * * *", .time_zone = "Europe/Paris"});
  full.parameters = {{"x", std::string("y\n")}, {"n", int64_t{4}}, {"b", true}, {"d", 1.5}};
  full.env = {{"PATHLIKE", "a:b"}};
  full.labels = {{"team", "bells"}};
  full.retry_intervals_s = {1, 5, 10};
  full.retry_on = {"exit:75", "signal"};
  full.no_retry_on = {"timeout"};
  full.user_id = "u1";
  full.name_space = "payroll";
  full.priority = -3;
  JobDefinition paused = s.Manual();
  paused.enabled = false;
  JobDefinition cron = s.Manual();
  cron.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "*/5 * * * *"}};
  const std::vector<NewJob> jobs = {
      {JobId("z"), full}, {JobId("paused"), paused}, {JobId("a"), cron}};
  const auto created =
      s.v(s.jobs.CreateJobs(jobs, {.now = kT0 + 1s, .actor = "anna", .reason = {}}));
  ASSERT_EQ(created.size(), 3u);
  const auto due = s.v(s.firing.ScanDue(s.All(), kT0 + 2s, 9));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].schedule_id, created[0].schedules[0].schedule_id);
  EXPECT_EQ(due[0].next_fire, kT0 + 2s);
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(created[i].job_id, jobs[i].job_id);
    EXPECT_EQ(created[i].definition, jobs[i].definition);
    EXPECT_EQ(created[i].segment.value(), created[i].job_no.value() % kSegments);
    const StoredJob read = s.v(s.jobs.GetJob(jobs[i].job_id));
    EXPECT_EQ(read.job_no, created[i].job_no);
    EXPECT_EQ(read.definition, jobs[i].definition);
    EXPECT_EQ(read.version, 1);
    EXPECT_EQ(read.created, kT0 + 1s);
    EXPECT_EQ(read.updated, kT0 + 1s);
    EXPECT_TRUE(read.pause_reason.empty());
    ASSERT_EQ(read.schedules.size(), jobs[i].definition.schedules.size());
    for (size_t k = 0; k < read.schedules.size(); ++k) {
      EXPECT_EQ(read.schedules[k].schedule_id, created[i].schedules[k].schedule_id);
    }
    const auto versions = s.v(s.jobs.ListVersions(jobs[i].job_id, 2, 10));
    ASSERT_EQ(versions.size(), 1u);
    EXPECT_EQ(versions[0].actor, "anna");
    EXPECT_EQ(versions[0].created, kT0 + 1s);
    EXPECT_EQ(versions[0].definition, jobs[i].definition);
    EXPECT_EQ(s.v(s.jobs.GetJobHead(jobs[i].job_id)).enabled, jobs[i].definition.enabled);
  }
  EXPECT_EQ(s.v(s.jobs.ListJobs({.namespaces = {"payroll"}, .name = full.name})).jobs.size(), 1u);
  ASSERT_OK(s.jobs.ReplaceJob(JobId("a"), 1, s.Every(2s), {.now = kT0 + 2s}));
  EXPECT_TRUE(s.v(s.jobs.CreateJobs({}, {.now = kT0})).empty());
}

TYPED_TEST(JobListContract, JobsAreCreatedTogetherOrNotAtAll) {
  StoreDriver s = this->driver();
  const StoredJob gone = s.Create("gone", s.Manual());
  ASSERT_OK(s.jobs.DeleteJob(gone.job_id, gone.version, {.now = kT0}));
  const auto create = [&](const char* one, const char* other) {
    return s.jobs.CreateJobs({{JobId(one), s.Every(1s)}, {JobId(other), s.Every(1s)}},
                             {.now = kT0});
  };
  EXPECT_CODE(create("new", "gone"), ErrorCode::kExists);
  EXPECT_CODE(create("twice", "twice"), ErrorCode::kExists);
  for (const char* id : {"new", "twice"}) {
    EXPECT_CODE(s.jobs.GetJobHead(JobId(id)), ErrorCode::kNotFound);
  }
  EXPECT_TRUE(s.v(s.firing.ScanDue(s.All(), kT0 + 24h, 1000)).empty());
  ASSERT_OK(create("new", "twice"));
}

TYPED_TEST(JobListContract, JobsAreFoundByIdsAndNamesAtOnce) {
  StoreDriver s = this->driver();
  const auto create = [&](const char* id, const std::string& name, const std::string& name_space) {
    JobDefinition definition = s.Every(1s);
    definition.name = name;
    definition.name_space = name_space;
    return s.Create(id, definition);
  };
  create("by-id", "one", "default");
  create("n1", "name", "default");
  create("n2", "name", "default");
  create("blank", "name ", "default");
  create("case", "Name", "default");
  create("elsewhere", "name", "payroll");
  const StoredJob gone = create("gone", "name", "default");
  ASSERT_OK(s.jobs.DeleteJob(gone.job_id, gone.version, {.now = kT0}));
  const FoundJobs found =
      s.v(s.jobs.FindJobs({.ids = {JobId("by-id"), JobId("gone"), JobId("none"), JobId("n1")},
                           .names = {{"default", "name"}, {"payroll", "one"}}}));
  EXPECT_EQ(found.taken, (std::set<JobId>{JobId("by-id"), JobId("gone"), JobId("n1")}));
  std::vector<std::string> ids;
  for (const StoredJob& job : found.jobs) {
    ids.push_back(job.job_id.value());
    EXPECT_EQ(job.schedules.size(), 1u);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"by-id", "n1", "n2"}));
  EXPECT_TRUE(s.v(s.jobs.FindJobs({})).jobs.empty());
}

TYPED_TEST(JobListContract, TooManyJobsOfANameAreNotFoundAtOnce) {
  StoreDriver s = this->driver();
  std::vector<NewJob> jobs;
  for (size_t i = 0; i <= kJobsFoundMax; ++i) {
    jobs.push_back({JobId("j" + std::to_string(i)), s.Manual()});
    if (jobs.size() < kJobsCreatedMax && i < kJobsFoundMax) continue;
    ASSERT_OK(s.jobs.CreateJobs(std::exchange(jobs, {}), {.now = kT0}));
  }
  const std::string name = s.Manual().name;
  EXPECT_CODE(s.jobs.FindJobs({.ids = {}, .names = {{"default", name}}}), ErrorCode::kExhausted);
  EXPECT_EQ(s.v(s.jobs.FindJobs({.ids = {JobId("j7")}})).jobs.size(), 1u);
}

}  // namespace carillon::test
