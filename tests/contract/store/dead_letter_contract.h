// The contract of RunStore for dead letters and the jobs that have them.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class DeadLetterContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(DeadLetterContract, StoreFactories);

TYPED_TEST(DeadLetterContract, DeadLettersOfOneJob) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  uint64_t token = 0;
  for (const char* id : {"a", "b"}) {
    const StoredJob job = s.Create(id, s.Manual());
    for (int i = 0; i < 3; ++i) {
      const RunRow running = s.Start(s.Execute(job, kT0), ++token, fence, kT0 + 1s);
      s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 2s);
    }
  }
  const auto page = s.v(s.runs.ListDeadLetters({.job_id = JobId("a"), .limit = 2}));
  ASSERT_EQ(page.size(), 2u);
  const auto rest =
      s.v(s.runs.ListDeadLetters({.before_id = page[1].id, .job_id = JobId("a"), .limit = 2}));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_LT(rest[0].id, page[1].id);
  EXPECT_EQ(rest[0].job_id, JobId("a"));
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.job_id = JobId("c")})).empty());
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.job_id = JobId("a\xc3\xa9")})).empty());
}

TYPED_TEST(DeadLetterContract, JobsWithDeadLettersComeOnceByTheirNewest) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  uint64_t token = 0;
  const auto fail = [&](const StoredJob& job) {
    const RunRow running = s.Start(s.Execute(job, kT0), ++token, fence, kT0 + 1s);
    s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 2s);
  };
  EXPECT_TRUE(s.v(s.runs.ListDeadLetterJobs({})).jobs.empty());
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  const StoredJob gone = s.Create("gone", s.Manual());
  JobDefinition named = s.Manual();
  named.name = "Export";
  const StoredJob c = s.Create("c", named);
  s.Create("fine", s.Manual());
  for (const StoredJob& job : {a, a, b, gone, c, a}) fail(job);
  ASSERT_OK(s.jobs.DeleteJob(gone.job_id, gone.version, {.now = kT0 + 3s}));

  const DeadLetterJobPage whole = s.v(s.runs.ListDeadLetterJobs({}));
  ASSERT_EQ(whole.jobs.size(), 3u);
  EXPECT_FALSE(whole.next);
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({}));
  EXPECT_EQ(whole.jobs[0].job_id, a.job_id);
  EXPECT_EQ(whole.jobs[0].newest_id, letters.at(0).id);
  EXPECT_EQ(whole.jobs[1].job_id, c.job_id);
  EXPECT_EQ(whole.jobs[1].job_name, "Export");
  EXPECT_EQ(whole.jobs[2].job_id, b.job_id);

  std::vector<JobId> paged;
  uint64_t before = UINT64_MAX;
  for (int pages = 0; pages < 10; ++pages) {
    const DeadLetterJobPage page =
        s.v(s.runs.ListDeadLetterJobs({.before_id = before, .limit = 1}));
    for (const DeadLetterJob& job : page.jobs) paged.push_back(job.job_id);
    if (!page.next) break;
    before = *page.next;
  }
  EXPECT_EQ(paged, (std::vector<JobId>{a.job_id, c.job_id, b.job_id}));
  for (const DeadLetter& letter : letters) {
    if (letter.job_id == a.job_id) ASSERT_OK(s.runs.DiscardDeadLetter(letter.id));
  }
  EXPECT_EQ(s.v(s.runs.ListDeadLetterJobs({})).jobs.at(0).job_id, c.job_id);
}

TYPED_TEST(DeadLetterContract, ASkipMaySayWhy) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow row = s.Execute(s.Create("a", s.Manual()), kT0);
  const SkipItem item{.key = row.key,
                      .segment = row.segment,
                      .job_no = row.job_no,
                      .def_version = row.def_version,
                      .reason = reason::kBadDefinition,
                      .error = "the command has 300000 bytes"};
  EXPECT_EQ(s.v(s.firing.Skip({item}, fence, kT0 + 1s)).size(), 1u);
  EXPECT_EQ(s.Get(row.key).result.reason, reason::kBadDefinition);
  EXPECT_EQ(s.Get(row.key).result.error, "the command has 300000 bytes");
}

}  // namespace carillon::test
