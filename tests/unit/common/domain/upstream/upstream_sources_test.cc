#include "common/domain/upstream/upstream_sources.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/failpoint_on.h"

namespace carillon::upstream_sources_test {
namespace {

struct Job {
  bool has_times = false;
  std::vector<uint64_t> before = {};
  std::vector<uint64_t> by_end = {};
};

class UpstreamSourcesTest : public testing::Test {
 protected:
  void TearDown() override { failpoint::Reset(); }

  UpstreamSources Find(uint64_t start, const std::map<uint64_t, Job>& jobs) {
    UpstreamSources found;
    const auto read = [&](const std::vector<JobNo>& wanted) -> Result<std::vector<JobCauses>> {
      ++reads_;
      std::vector<JobCauses> causes;
      for (const JobNo job_no : wanted) {
        const auto job = jobs.find(job_no.value());
        if (job == jobs.end()) continue;
        JobCauses one{.job_no = job_no, .has_times = job->second.has_times};
        for (const uint64_t before : job->second.before) one.before.emplace_back(before);
        for (const uint64_t before : job->second.by_end) one.by_end.emplace_back(before);
        causes.push_back(std::move(one));
      }
      return causes;
    };
    EXPECT_TRUE(FindSources(JobNo(start), read, &found).ok());
    return found;
  }
  std::vector<uint64_t> JobsOf(uint64_t start, const std::map<uint64_t, Job>& jobs) {
    std::vector<uint64_t> numbers;
    for (const JobNo job_no : Find(start, jobs).jobs) numbers.push_back(job_no.value());
    return numbers;
  }
  // Job 1 starts after 2, which starts after 3, and so on: `before` jobs are before it.
  static std::map<uint64_t, Job> Chain(uint64_t before) {
    std::map<uint64_t, Job> jobs;
    for (uint64_t i = 1; i <= before; ++i) jobs[i] = {.before = {i + 1}};
    jobs[before + 1] = {.has_times = true};
    return jobs;
  }

  int reads_ = 0;
};

using Numbers = std::vector<uint64_t>;

TEST_F(UpstreamSourcesTest, AJobWithTimesIsItsOwnSource) {
  EXPECT_EQ(JobsOf(1, {{1, {.has_times = true, .before = {2}}}, {2, {.has_times = true}}}),
            Numbers{1});
}

TEST_F(UpstreamSourcesTest, WithoutTimesTheJobsBeforeItCount) {
  EXPECT_EQ(JobsOf(1, {{1, {.before = {7, 3}}},
                       {3, {.before = {2}}},
                       {7, {.has_times = true, .before = {9}}},
                       {2, {.has_times = true}}}),
            (Numbers{1, 2, 3, 7}));
}

TEST_F(UpstreamSourcesTest, JobsWhoseEndsStartOthersAreToldApart) {
  const auto by_end = [&](uint64_t start, const std::map<uint64_t, Job>& jobs) {
    Numbers numbers;
    for (const JobNo job_no : Find(start, jobs).by_end) numbers.push_back(job_no.value());
    return numbers;
  };
  EXPECT_EQ(by_end(1, {{1, {.before = {7, 3}, .by_end = {7, 3}}},
                       {3, {.before = {2, 4}, .by_end = {4}}},
                       {7, {.has_times = true, .before = {9}, .by_end = {9}}},
                       {2, {.has_times = true}}}),
            (Numbers{3, 4, 7}))
      << "neither a workflow nor one before a job with times";
  std::map<uint64_t, Job> wide;
  for (uint64_t i = 2; i <= 22; ++i) wide[1].before.push_back(i);
  wide[1].by_end = wide[1].before;
  EXPECT_EQ(by_end(1, wide), Numbers{}) << "too many";
}

TEST_F(UpstreamSourcesTest, TheWorkflowsAroundItAreToldApart) {
  const auto workflows = [&](const std::map<uint64_t, Job>& jobs) {
    Numbers numbers;
    for (const JobNo job_no : Find(1, jobs).workflows) numbers.push_back(job_no.value());
    return numbers;
  };
  EXPECT_EQ(workflows({{1, {.before = {7, 3}, .by_end = {7}}},
                       {3, {.before = {2, 4}, .by_end = {4}}},
                       {7, {.before = {9}}},
                       {2, {.has_times = true}}}),
            (Numbers{1, 2, 3}))
      << "neither a job after which it starts, nor a workflow of that one";
  // One that is found by an end first.
  EXPECT_EQ(
      workflows(
          {{1, {.before = {2, 3}, .by_end = {2}}}, {2, {.before = {4}}}, {3, {.before = {2}}}}),
      (Numbers{1, 2, 3, 4}));
}

TEST_F(UpstreamSourcesTest, AJobThatNothingCausesIsAlone) {
  EXPECT_EQ(JobsOf(1, {}), Numbers{1});
  EXPECT_EQ(JobsOf(1, {{1, {}}}), Numbers{1});
}

TEST_F(UpstreamSourcesTest, ACircleAndADiamondEnd) {
  EXPECT_EQ(JobsOf(1, {{1, {.before = {2}}}, {2, {.before = {1}}}}), (Numbers{1, 2}));
  reads_ = 0;
  EXPECT_EQ(JobsOf(1, {{1, {.before = {2, 3}}},
                       {2, {.before = {4}}},
                       {3, {.before = {4}}},
                       {4, {.has_times = true}}}),
            (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(reads_, 3);  // one a level
}

TEST_F(UpstreamSourcesTest, TwentyJobsMayBeBeforeIt) {
  EXPECT_FALSE(Find(1, Chain(20)).too_many);
  EXPECT_EQ(Find(1, Chain(20)).jobs.size(), 21u);
  EXPECT_TRUE(Find(1, Chain(21)).too_many);
  std::map<uint64_t, Job> wide;
  for (uint64_t i = 2; i <= 22; ++i) wide[1].before.push_back(i);
  EXPECT_TRUE(Find(1, wide).too_many);
}

TEST_F(UpstreamSourcesTest, AnErrorIsPassedOn) {
  UpstreamSources found;
  const auto read = [](const std::vector<JobNo>&) -> Result<std::vector<JobCauses>> {
    return Error{ErrorCode::kUnavailable, "away"};
  };
  EXPECT_EQ(FindSources(JobNo(1), read, &found).code(), ErrorCode::kUnavailable);
}

TEST_F(UpstreamSourcesTest, SwitchingTheChainOffIsVisible) {
  failpoint::Break("await.chain");
  EXPECT_EQ(JobsOf(1, Chain(3)), Numbers{1});
}

}  // namespace
}  // namespace carillon::upstream_sources_test
