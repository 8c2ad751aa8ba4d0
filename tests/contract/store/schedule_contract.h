// The contract of JobStore on the schedules of a job: which of them an edit keeps, and what
// is stored.
#pragma once

#include <utility>

#include "common/domain/job/spread.h"
#include "tests/contract/store/job_store_contract.h"

namespace carillon::test {

template <typename Factory>
class ScheduleContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(ScheduleContract, StoreFactories);

TYPED_TEST(ScheduleContract, EditKeepsEqualSchedulesAndTheirPlace) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.schedules = {Rate(10s), Rate(7s)};
  const StoredJob job = s.Create("a", definition);
  s.Plan(kT0 + 20s, fence);
  JobDefinition edited = definition;
  edited.command = "false";
  edited.schedules = {Rate(5s), Rate(10s)};
  const StoredJob after = s.Replace(job, edited, kT0 + 1s);
  ASSERT_EQ(after.schedules.size(), 2u);
  EXPECT_EQ(after.schedules[1].schedule_id, job.schedules[0].schedule_id);
  EXPECT_NE(after.schedules[0].schedule_id, job.schedules[0].schedule_id);
  EXPECT_NE(after.schedules[0].schedule_id, job.schedules[1].schedule_id);
  // The unchanged schedule continues, the new one begins after now, and the removed one has ended.
  EXPECT_EQ(NextFires(s, after), (std::vector<WallTime>{kT0 + 5s, kT0 + 30s}));
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 2u);
  for (const RunRow& row : rows) {
    EXPECT_EQ(row.key.schedule_id, job.schedules[0].schedule_id);
    EXPECT_EQ(row.def_version, after.version);
  }
  EXPECT_TRUE(s.Gaps(job).empty());
}

TYPED_TEST(ScheduleContract, EditKeepsEachOfSeveralEqualSchedules) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Manual();
  definition.schedules = {Rate(10s), Rate(10s)};
  const StoredJob job = s.Create("a", definition);
  const StoredJob after = s.Replace(job, definition, kT0 + 1s);
  ASSERT_EQ(after.schedules.size(), 2u);
  EXPECT_EQ(after.schedules[0].schedule_id, job.schedules[0].schedule_id);
  EXPECT_EQ(after.schedules[1].schedule_id, job.schedules[1].schedule_id);
}

TYPED_TEST(ScheduleContract, AnEditOfTheWindowOrTheJitterAloneMakesANewSchedule) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  StoredJob job = s.Create("a", s.Every(10s));
  const auto edit = [&](auto change) {
    JobDefinition edited = job.definition;
    change(edited.schedules[0]);
    const ScheduleId before = job.schedules[0].schedule_id;
    job = s.Replace(job, edited, kT0 + 1s);
    EXPECT_EQ(job.schedules[0].spec, edited.schedules[0]);
    EXPECT_NE(job.schedules[0].schedule_id, before);
  };
  s.Plan(kT0 + 40s, fence);
  edit([](ScheduleSpec& spec) { spec.end = kT0 + 30s; });
  EXPECT_TRUE(s.Pending(kT0 + 24h).empty());  // those of the old schedule are unplanned
  s.Plan(kT0 + 40s, fence);
  EXPECT_EQ(s.Pending(kT0 + 24h).size(), 2u);
  EXPECT_EQ(NextFires(s, job), (std::vector<WallTime>{kNever}));
  edit([](ScheduleSpec& spec) { spec.jitter = 5s; });
  s.Plan(kT0 + 40s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 2u);
  for (const RunRow& row : rows) {
    EXPECT_GE(row.due, row.key.fire);
    EXPECT_LT(row.due, row.key.fire + 5s);
    EXPECT_EQ(s.Claim(s.ClaimOf(row, 1), fence, row.due - 1us).reason, ClaimReason::kNotDue);
  }
  EXPECT_TRUE(s.Gaps(job).empty());
}

TYPED_TEST(ScheduleContract, SeedsAndParametersOfSchedulesAreReadBack) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Every(10s);
  definition.schedules[0].parameters = {{"x", std::string("y")}, {"n", int64_t{4}}};
  definition.schedules.push_back(
      {.kind = ScheduleKind::kCron, .cron_expression = "H H * * *", .time_zone = "UTC"});
  const StoredJob created = s.Create("a", WithSpread(definition, JobId("a")));
  ASSERT_NE(created.definition.schedules[1].spread, 0u);
  this->Reopen();
  StoreDriver again = this->driver();
  const StoredJob read = again.v(again.jobs.GetJob(JobId("a")));
  EXPECT_EQ(read.definition, created.definition);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(read.schedules[i].spec, created.schedules[i].spec);
  const auto fire = [](const ScheduleSpec& spec) {
    return Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto)->Next(kT0)->time;
  };
  EXPECT_EQ(NextFires(again, read)[1], fire(created.definition.schedules[1]));
  bool planned_as_read = false;
  for (const DueSchedule& due : again.v(again.firing.ScanDue(again.All(), kT0 + 48h, 100))) {
    planned_as_read = planned_as_read || due.spec == read.schedules[1].spec;
  }
  EXPECT_TRUE(planned_as_read);
  const StoredJob edited = again.Replace(read, read.definition, kT0 + 1s);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(edited.schedules[i].schedule_id, created.schedules[i].schedule_id);
  }
}

TYPED_TEST(ScheduleContract, AnEditOfParametersAloneKeepsTheSchedules) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(10s);
  definition.schedules.push_back(definition.schedules[0]);
  definition.schedules[0].parameters["x"] = int64_t{1};
  definition.schedules[1].parameters["x"] = int64_t{2};
  const StoredJob job = s.Create("a", definition);
  s.Plan(kT0 + 15s, fence);
  const auto ids_of = [&](const StoredJob& stored) {
    const auto found = s.v(s.firing.LoadDefinitions({{stored.job_no, stored.version}}));
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? std::vector<ScheduleId>{} : found[0].schedule_ids;
  };
  const ScheduleId one = job.schedules[0].schedule_id;
  const ScheduleId two = job.schedules[1].schedule_id;
  EXPECT_EQ(ids_of(job), (std::vector<ScheduleId>{one, two}));
  std::swap(definition.schedules[0], definition.schedules[1]);
  const StoredJob swapped = s.Replace(job, definition, kT0 + 11s);
  EXPECT_EQ(ids_of(swapped), (std::vector<ScheduleId>{two, one}));
  EXPECT_TRUE(ids_of(job).empty()) << "only the present schedules are stored";
  definition.schedules[0].parameters["x"] = int64_t{3};
  const StoredJob changed = s.Replace(swapped, definition, kT0 + 11s);
  EXPECT_EQ(ids_of(changed), (std::vector<ScheduleId>{two, one}));
  EXPECT_EQ(changed.schedules[0].spec, definition.schedules[0]);
  EXPECT_EQ(s.Pending(kT0 + 24h).size(), 2u) << "the runs that are due stay";
  definition.schedules.erase(definition.schedules.begin());
  const StoredJob shorter = s.Replace(changed, definition, kT0 + 11s);
  EXPECT_EQ(ids_of(shorter), std::vector<ScheduleId>{one});
  EXPECT_TRUE(s.Gaps(shorter).empty());
  EXPECT_EQ(ids_of(s.Pause(shorter, kT0 + 12s)), std::vector<ScheduleId>{one});
}

}  // namespace carillon::test
