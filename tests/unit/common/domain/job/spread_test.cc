#include "common/domain/job/spread.h"

#include <gtest/gtest.h>

#include <set>

namespace carillon {
namespace {

// The stored schedules of every installation depend on this value.
TEST(SpreadTest, TheSeedOfAnIdNeverChanges) {
  EXPECT_EQ(SpreadSeed(JobId("nightly-backup")), 4745596858541552442u);
}

TEST(SpreadTest, SeedsDifferAndFitTheColumn) {
  std::set<uint64_t> seeds;
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t seed = SpreadSeed(JobId("job-" + std::to_string(i)));
    EXPECT_GE(seed, 1u);
    EXPECT_LE(seed, static_cast<uint64_t>(INT64_MAX));
    seeds.insert(seed);
  }
  EXPECT_EQ(seeds.size(), 10'000u);
}

TEST(SpreadTest, OnlyCronSchedulesWithHHaveOne) {
  JobDefinition job;
  job.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "H 3 * * *"},
                   {.kind = ScheduleKind::kCron, .cron_expression = "0 3 * * THU", .spread = 5},
                   {.kind = ScheduleKind::kRate, .every = std::chrono::hours(1)}};
  const JobDefinition a = WithSpread(job, JobId("a"));
  EXPECT_EQ(a.schedules[0].spread, SpreadSeed(JobId("a")));
  EXPECT_EQ(a.schedules[1].spread, 0u);
  EXPECT_EQ(a.schedules[2].spread, 0u);
  EXPECT_EQ(WithSpread(a, JobId("b")).schedules[0].spread, SpreadSeed(JobId("b")));
}

}  // namespace
}  // namespace carillon
