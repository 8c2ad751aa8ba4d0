// The contract of the counts of lists: a count equals the length of its list, up to its bound.
#pragma once

#include "common/domain/bulk.h"
#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class ListCountsContract : public StoreContract<Factory> {
 protected:
  // Returns the count, or -1 if there are more rows than were counted.
  static int64_t All(const Result<BoundedCount>& count) {
    const BoundedCount counted = StoreDriver::v(count);
    return counted.all ? static_cast<int64_t>(counted.seen) : -1;
  }
};
TYPED_TEST_SUITE(ListCountsContract, StoreFactories);

TYPED_TEST(ListCountsContract, AnEmptyStoreHasNone) {
  StoreDriver s = this->driver();
  EXPECT_EQ(this->All(s.jobs.CountJobs({})), 0);
  EXPECT_EQ(this->All(s.jobs.CountNamespaces()), 0);
  EXPECT_EQ(this->All(s.runs.CountRuns({}, kT0)), 0);
  EXPECT_EQ(this->All(s.runs.CountGaps({})), 0);
  EXPECT_EQ(this->All(s.runs.CountDeadLetters({})), 0);
  EXPECT_EQ(this->All(s.notices.CountDeliveries({})), 0);
  EXPECT_EQ(this->All(s.audit.CountAudit({})), 0);
  EXPECT_EQ(this->All(s.auth.CountUsers()), 0);
  EXPECT_EQ(this->All(s.auth.CountTokens({})), 0);
  EXPECT_EQ(this->All(s.secrets.CountSecrets()), 0);
  EXPECT_EQ(this->All(s.bulk.CountBulk({})), 0);
}

TYPED_TEST(ListCountsContract, JobsAreCountedAsTheyAreListed) {
  StoreDriver s = this->driver();
  JobDefinition annas = s.Manual();
  annas.user_id = "anna";
  annas.name_space = "pay";
  annas.name = "Backup";
  for (int i = 0; i < 7; ++i) s.Create("job-" + std::to_string(i), i < 3 ? annas : s.Manual());
  s.Pause(s.v(s.jobs.GetJob(JobId("job-1"))), kT0);
  const StoredJob gone = s.v(s.jobs.GetJob(JobId("job-6")));
  ASSERT_OK(s.jobs.DeleteJob(gone.job_id, gone.version, {.now = kT0}));
  const std::vector<JobFilter> filters = {
      {},
      {.enabled = true},
      {.enabled = false},
      {.user_id = "anna"},
      {.enabled = true, .user_id = "anna", .namespaces = {"pay"}},
      {.namespaces = {"pay"}},
      {.namespaces = {"pay", "default"}},
      {.name = "Backup"},
      {.name_contains = "BACK"},
      {.name_contains = "nothing"}};
  for (size_t i = 0; i < filters.size(); ++i) {
    const auto listed = static_cast<int64_t>(s.v(s.jobs.ListJobs(filters[i])).jobs.size());
    JobFilter paged = filters[i];  // counting ignores the position and size of the page
    paged.after = JobListPlace{.job_id = "job-3"};
    paged.limit = 1;
    EXPECT_EQ(this->All(s.jobs.CountJobs(paged)), listed) << i;
  }
  EXPECT_EQ(this->All(s.jobs.CountJobs({})), 6);
  EXPECT_EQ(this->All(s.jobs.CountNamespaces()), 2);
  EXPECT_EQ(this->All(s.jobs.CountVersions(JobId("job-1"))), 2);
}

TYPED_TEST(ListCountsContract, RunsAreCountedAsTheyAreListed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition annas = s.Manual();
  annas.user_id = "anna";
  annas.name_space = "pay";
  const StoredJob hers = s.Create("hers", annas);
  const StoredJob his = s.Create("his", s.Every(10s));
  s.Plan(kT0 + 25s, fence);
  for (int i = 0; i < 20; ++i) {
    const RunRow run = s.Start(s.Execute(i % 3 == 0 ? hers : his, kT0), 1, fence, kT0 + 1s);
    s.Apply(s.ReportOf(run, i % 5 == 0 ? RunState::kFailed : RunState::kCompleted), fence,
            kT0 + 2s);
  }
  s.Execute(hers, kT0 + 3s);
  const std::vector<RunFilter> filters = {
      {},
      {.job_id = JobId("hers")},
      {.job_id = JobId("none")},
      {.states = {RunState::kFailed}},
      {.states = {RunState::kPending, RunState::kFailed}},
      {.states = {RunState::kCompleted}},
      {.job_id = JobId("hers"), .states = {RunState::kCompleted}},
      {.executor = ExecutorId("e1")},
      {.executor = ExecutorId("e9")},
      {.kinds = {RunKind::kManual}},
      {.namespaces = {"pay"}},
      {.states = {RunState::kFailed}, .kinds = {RunKind::kManual}, .user_id = "anna"},
      {.since = kT0 + 1s},
      {.until = kT0 + 1s}};
  for (size_t i = 0; i < filters.size(); ++i) {
    const auto listed = s.v(s.runs.ListRuns(filters[i], kT0 + 15s)).runs;
    RunFilter paged = filters[i];
    paged.before = RunKey{kT0, ScheduleId(1), 0};
    paged.limit = 1;
    EXPECT_EQ(this->All(s.runs.CountRuns(paged, kT0 + 15s)), static_cast<int64_t>(listed.size()))
        << i;
  }
  EXPECT_EQ(this->All(s.runs.CountRuns({}, kT0 + 15s)), 22);
}

TYPED_TEST(ListCountsContract, WhatNoIndexFindsIsCountedWithinTheBound) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  for (int i = 0; i < 10; ++i) {
    const RunRow run = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
    s.Apply(s.ReportOf(run, RunState::kCompleted), fence, kT0 + 2s);
  }
  RunFilter filter{.kinds = {RunKind::kManual}, .search_max = 4};
  const BoundedCount some = s.v(s.runs.CountRuns(filter, kT0 + 1h));
  EXPECT_FALSE(some.all);
  EXPECT_EQ(some.seen, 4u);
  filter.search_max = 11;
  EXPECT_EQ(this->All(s.runs.CountRuns(filter, kT0 + 1h)), 10);
}

TYPED_TEST(ListCountsContract, CountingEndsAtItsBound) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Manual());
  const auto note = [&] {
    ASSERT_OK(
        s.audit.RecordAudit({.at = kT0, .actor = "anna", .action = "job.pause", .object_id = "a"}));
  };
  for (size_t i = 0; i < kListedCountMax; ++i) note();
  EXPECT_EQ(this->All(s.audit.CountAudit({})), static_cast<int64_t>(kListedCountMax));
  note();
  for (const std::string object : {"", "a"}) {
    const BoundedCount many = s.v(s.audit.CountAudit({.object_id = object}));
    EXPECT_FALSE(many.all);
    EXPECT_EQ(many.seen, kListedCountMax);
  }
  EXPECT_EQ(this->All(s.audit.CountAudit({.object_id = "b"})), 0);
}

TYPED_TEST(ListCountsContract, WhatPeopleKeepIsCounted) {
  StoreDriver s = this->driver();
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    ASSERT_OK(s.auth.CreateUser({.user_id = "user-" + n,
                                 .name = "anna" + n,
                                 .role = "user",
                                 .password_hash = "x",
                                 .created = kT0,
                                 .updated = kT0}));
    ASSERT_OK(s.auth.CreateToken({.token_hash = "hash-" + n,
                                  .name = "ci",
                                  .role = "user",
                                  .created = kT0,
                                  .token_id = "tok-" + n,
                                  .user_id = i == 0 ? "user-0" : "user-1"}));
    ASSERT_OK(s.secrets.CreateSecret(
        {.record = {.name = "secret-" + n, .user_id = "user-0", .key_id = "k"},
         .value = {.key_id = "k", .nonce = "n", .ciphertext = "c"}}));
    s.v(s.bulk.CreateBulk({.bulk_id = "bulk-" + n,
                           .action = "run",
                           .kind = "job",
                           .user_id = i == 0 ? "user-0" : "user-1",
                           .role = "user",
                           .created = kT0},
                          {"a", "b"}, std::nullopt));
  }
  s.v(s.bulk.CancelBulk("bulk-2", kT0));
  EXPECT_EQ(this->All(s.auth.CountUsers()), 3);
  EXPECT_EQ(this->All(s.auth.CountTokens({})), 3);
  EXPECT_EQ(this->All(s.auth.CountTokens({.user_id = "user-1"})), 2);
  EXPECT_EQ(this->All(s.auth.CountTokens({.user_id = "n\xc3\xb6"})), 0);
  EXPECT_EQ(this->All(s.secrets.CountSecrets()), 3);
  EXPECT_EQ(this->All(s.bulk.CountBulk({})), 3);
  EXPECT_EQ(this->All(s.bulk.CountBulk({.user_id = "user-1"})), 2);
  EXPECT_EQ(this->All(s.bulk.CountBulk({.state = BulkState::kRunning})), 2);
  EXPECT_EQ(this->All(s.bulk.CountBulk({.state = BulkState::kRunning, .user_id = "user-1"})), 1);
  EXPECT_EQ(this->All(s.bulk.CountBulkItems("bulk-0", {})), 2);
  EXPECT_EQ(this->All(s.bulk.CountBulkItems("bulk-2", {.result = BulkResult::kSkipped})), 2);
  EXPECT_EQ(this->All(s.bulk.CountBulkItems("bulk-2", {.result = BulkResult::kPending})), 0);
}

TYPED_TEST(ListCountsContract, GapsDeadLettersAndDeliveriesAreCounted) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  StoredJob job = s.Create("a", s.Every(10s));
  s.Create("b", s.Manual());
  for (int i = 1; i <= 2; ++i) {
    job = s.Pause(job, kT0 + i * 1min);
    job = s.Resume(job, kT0 + i * 1min + 30s);
    const RunRow run = s.Start(s.Execute(job, kT0 + i * 1min), 1, fence, kT0 + i * 1min);
    s.Apply(s.ReportOf(run, RunState::kFailed, kT0 + i * 1min + 9s), fence, kT0 + i * 1min + 9s);
  }
  for (const OpenNotice& open : s.v(s.notices.ScanNotices(s.All(), 10))) {
    ASSERT_OK(s.notices.DecideNotices({{.notice = open.notice,
                                        .verdict = NoticeVerdict::kTell,
                                        .deliveries = {{.message = "{}"}}}},
                                      fence, kT0 + 5min));
  }
  const auto listed = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  EXPECT_GT(this->All(s.runs.CountGaps({})), 0);
  EXPECT_EQ(this->All(s.runs.CountGaps({})), listed(s.v(s.runs.ListGaps({})).gaps));
  EXPECT_EQ(this->All(s.runs.CountGaps({.job_id = JobId("b")})), 0);
  EXPECT_EQ(this->All(s.runs.CountDeadLetters({})), 2);
  EXPECT_EQ(this->All(s.runs.CountDeadLetters({.job_id = JobId("a")})), 2);
  EXPECT_EQ(this->All(s.runs.CountDeadLetters({.job_id = JobId("b")})), 0);
  EXPECT_EQ(this->All(s.notices.CountDeliveries({})), 2);
  EXPECT_EQ(this->All(s.notices.CountDeliveries({.job_id = JobId("a")})), 2);
  EXPECT_EQ(this->All(s.notices.CountDeliveries({.job_id = JobId("b")})), 0);
  EXPECT_EQ(this->All(s.notices.CountDeliveries({.kind = NoticeKind::kFailed})), 2);
  EXPECT_EQ(this->All(s.notices.CountDeliveries(
                {.state = DeliveryState::kDelivered, .kind = NoticeKind::kFailed})),
            0);
}

}  // namespace carillon::test
