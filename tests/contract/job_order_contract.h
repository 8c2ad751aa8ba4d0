// The contract of JobStore::ListJobs in its orders, page by page.
#pragma once

#include <set>

#include "tests/contract/store_driver.h"

namespace carillon::test {

template <typename Factory>
class JobOrderContract : public StoreContract<Factory> {
 protected:
  // In pages of `size`, each going on after the last job of the one before.
  static std::string Walk(StoreDriver& s, JobFilter filter, size_t size) {
    std::string ids;
    filter.limit = size;
    for (int page = 0; page < 100; ++page) {
      const std::vector<StoredJob> jobs = s.v(s.jobs.ListJobs(filter));
      for (const StoredJob& job : jobs) ids += job.job_id.value();
      if (jobs.size() < size) break;
      const StoredJob& last = jobs.back();
      filter.after_job_id = last.job_id.value();
      filter.after_name = last.definition.name;
      filter.after_time = filter.order == JobOrder::kCreated ? last.created : last.updated;
    }
    return ids;
  }
};
TYPED_TEST_SUITE(JobOrderContract, StoreFactories);

TYPED_TEST(JobOrderContract, EachOrderIsTheSameInPagesOfAnySize) {
  StoreDriver s = this->driver();
  const auto create = [&](const std::string& id, const std::string& name, Duration at,
                          const std::string& name_space) {
    JobDefinition job = s.Manual();
    job.name = name;
    job.name_space = name_space;
    s.Create(id, job, kT0 + at);
  };
  create("d", "beta", 1s, "pay");
  create("b", "Beta", 2s, "default");
  create("a", "beta", 2s, "default");
  create("f", "\xc3\x84pfel", 3s, "pay");
  create("c", "alpha", 1us, "ops");
  create("e", "alph", 1s, "default");
  s.Pause(s.v(s.jobs.GetJob(JobId("c"))), kT0 + 1h);
  struct Case {
    JobOrder order;
    std::string ids;
  };
  const std::vector<Case> cases = {{JobOrder::kJobId, "abcdef"},
                                   {JobOrder::kName, "becadf"},
                                   {JobOrder::kCreated, "cdeabf"},
                                   {JobOrder::kUpdated, "deabfc"}};
  for (const Case& one : cases) {
    for (const size_t size : {1, 2, 5, 50}) {
      const std::string backwards(one.ids.rbegin(), one.ids.rend());
      EXPECT_EQ(this->Walk(s, {.order = one.order}, size), one.ids) << size;
      EXPECT_EQ(this->Walk(s, {.order = one.order, .descending = true}, size), backwards) << size;
      for (const std::vector<std::string>& spaces :
           std::vector<std::vector<std::string>>{{"pay"}, {"pay", "default"}}) {
        const std::set<char> left_out = {'c', spaces.size() == 1 ? 'a' : 'c',
                                         spaces.size() == 1 ? 'b' : 'c',
                                         spaces.size() == 1 ? 'e' : 'c'};
        std::string ids = one.ids;
        std::erase_if(ids, [&](char id) { return left_out.contains(id); });
        EXPECT_EQ(this->Walk(s, {.namespaces = spaces, .order = one.order}, size), ids) << size;
      }
    }
  }
}

// What the page before ended with may be gone, or be called otherwise, by then.
TYPED_TEST(JobOrderContract, APageGoesOnWhereTheLastOneWas) {
  StoreDriver s = this->driver();
  for (const std::string id : {"a", "b", "c"}) {
    JobDefinition job = s.Manual();
    job.name = "job " + id;
    s.Create(id, job);
  }
  const StoredJob b = s.v(s.jobs.GetJob(JobId("b")));
  ASSERT_OK(s.jobs.DeleteJob(b.job_id, b.version, {.now = kT0}));
  const auto rest =
      s.v(s.jobs.ListJobs({.order = JobOrder::kName, .after_job_id = "b", .after_name = "job b"}));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].job_id.value(), "c");
}

// The members' clocks may differ: the one that makes the next version may be behind the one before.
TYPED_TEST(JobOrderContract, TimesOfVersionsAscendThoughAMembersClockIsBehind) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Every(10s), kT0 + 10s);
  s.Create("b", s.Manual(), kT0 + 10s + 2us);
  const WallTime behind = kT0 + 5s;
  const StoredJob edited =
      s.v(s.jobs.ReplaceJob(job.job_id, 1, s.Every(20s), {.now = behind, .actor = "bob"}));
  EXPECT_EQ(edited.updated, kT0 + 10s + 1us);
  EXPECT_EQ(s.v(s.jobs.PauseJob(job.job_id, "moving", {.now = behind})).updated, kT0 + 10s + 2us);
  EXPECT_EQ(s.v(s.jobs.PauseJob(job.job_id, "moved", {.now = behind})).updated, kT0 + 10s + 3us);
  EXPECT_EQ(s.v(s.jobs.ResumeJob(job.job_id, "", {.now = kT0 + 20s})).updated, kT0 + 20s);
  this->Reopen();
  StoreDriver again = this->driver();
  std::vector<WallTime> times;
  for (const JobVersion& version : again.v(again.jobs.ListVersions(job.job_id, INT64_MAX, 10))) {
    times.push_back(version.created);
  }
  EXPECT_EQ(times, (std::vector<WallTime>{kT0 + 20s, kT0 + 10s + 3us, kT0 + 10s + 2us,
                                          kT0 + 10s + 1us, kT0 + 10s}));
  EXPECT_EQ(this->Walk(again, {.order = JobOrder::kUpdated}, 1), "ba");
  const StoredJob read = again.v(again.jobs.GetJob(job.job_id));
  EXPECT_EQ(read.updated, kT0 + 20s);
  EXPECT_EQ(read.created, kT0 + 10s);
}

}  // namespace carillon::test
