// The contract of JobStore::ListJobs for each order, page by page.
#pragma once

#include <set>

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class JobOrderContract : public StoreContract<Factory> {
 protected:
  // Lists in pages of `size`. Each page continues where the previous page ended.
  static std::string Walk(StoreDriver& s, JobFilter filter, size_t size) {
    std::string ids;
    filter.limit = size;
    for (int round = 0; round < 100; ++round) {
      const JobPage page = s.v(s.jobs.ListJobs(filter));
      EXPECT_TRUE(page.jobs.size() < size || !page.searched_to);
      for (const StoredJob& job : page.jobs) ids += job.job_id.value();
      filter.after = PlaceAfter(page, filter);
      if (!filter.after) return ids;
    }
    ADD_FAILURE() << "the list does not come to its end";
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

TYPED_TEST(JobOrderContract, ASearchThatIsGoneOnWithFindsEachJobOnce) {
  StoreDriver s = this->driver();
  for (int i = 0; i < 26; ++i) {
    JobDefinition job = s.Manual();
    job.name = i % 4 == 0 ? "Backup " + std::to_string(i % 3) : "report";
    job.user_id = i % 3 == 0 ? "anna" : "bob";
    job.name_space = i % 5 == 0 ? "pay" : i % 5 == 1 ? "ops" : "default";
    s.Create(std::string(1, static_cast<char>('a' + i)), job, kT0 + (i * 7 % 10) * 1s);
  }
  s.Pause(s.v(s.jobs.GetJob(JobId("m"))), kT0 + 1h);
  s.Pause(s.v(s.jobs.GetJob(JobId("e"))), kT0 + 1h);
  const StoredJob gone = s.v(s.jobs.GetJob(JobId("i")));
  ASSERT_OK(s.jobs.DeleteJob(gone.job_id, gone.version, {.now = kT0}));
  const std::vector<JobFilter> filters = {
      {.name_contains = "BACK"},
      {.name_contains = "z"},
      {.name_contains = "nothing"},
      {.enabled = false},
      {.user_id = "anna"},
      {.enabled = true, .user_id = "anna", .name_contains = "p"},
      {.namespaces = {"pay"}, .name_contains = "backup"},
      {.namespaces = {"default"}, .name_contains = "backup"},
      {.namespaces = {"pay", "ops"}},
      {.namespaces = {"default"}},
      {.namespaces = {"pay", "default"}, .name_contains = "report"}};
  for (size_t i = 0; i < filters.size(); ++i) {
    for (const JobOrder order :
         {JobOrder::kJobId, JobOrder::kName, JobOrder::kCreated, JobOrder::kUpdated}) {
      for (const bool descending : {false, true}) {
        JobFilter filter = filters[i];
        filter.order = order;
        filter.descending = descending;
        const JobPage whole = s.v(s.jobs.ListJobs(filter));
        EXPECT_FALSE(whole.searched_to);
        std::string expected;
        for (const StoredJob& job : whole.jobs) expected += job.job_id.value();
        for (const size_t search_max : {1, 7, 40}) {
          filter.search_max = search_max;
          EXPECT_EQ(this->Walk(s, filter, 3), expected)
              << i << " " << static_cast<int>(order) << descending << " " << search_max;
        }
      }
    }
  }
  EXPECT_EQ(s.v(s.jobs.ListJobs({.name_contains = "BACK"})).jobs.size(), 6u);
  const JobPage none = s.v(s.jobs.ListJobs({.name_contains = "nothing", .search_max = 3}));
  EXPECT_TRUE(none.jobs.empty());
  ASSERT_TRUE(none.searched_to);
  EXPECT_EQ(none.searched_to->job_id, "c");
}

// The last job of the previous page may have been deleted or renamed since.
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
      s.v(s.jobs.ListJobs({.order = JobOrder::kName, .after = JobListPlace{"b", "job b"}}));
  ASSERT_EQ(rest.jobs.size(), 1u);
  EXPECT_EQ(rest.jobs[0].job_id.value(), "c");
}

// The clocks of members differ: the member that writes the next version may have a clock behind.
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
