// Records of starts across restarts.
#include "executor/worker/start_records.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace carillon::executor {
namespace {

StartRecord Record(uint64_t number) {
  return {.attempt = {.key = {.fire = FromUnixMicros(1'000'000),
                              .schedule_id = ScheduleId(number),
                              .shard = 0},
                      .segment = SegmentId(1),
                      .job_no = JobNo(5),
                      .attempt = 1,
                      .token = {number, 1}},
          .job_id = JobId("job"),
          .handler = "app/work",
          .worker = {.process = {.pid = 10, .start_ticks = 7, .boot_id = "b"}, .instance = "one"},
          .image = 42,
          .started = FromUnixMicros(5),
          .begun = SteadyTime(6s),
          .deadline = SteadyTime(60s)};
}

TEST(StartRecordsTest, ARemovalInTheRoundOfItsRecordIsNotLost) {
  std::string directory = testing::TempDir() + "/start-records-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  {
    auto records = StartRecords::Open(directory);
    ASSERT_TRUE(records.ok());
    ASSERT_TRUE((*records)->Load().ok());
    ASSERT_TRUE((*records)->Save({Record(1), Record(2)}, {IdOf(Record(1).attempt)}).ok());
    ASSERT_TRUE((*records)->Save({Record(3)}, {}).ok());
  }
  auto records = StartRecords::Open(directory);
  ASSERT_TRUE(records.ok());
  const auto found = (*records)->Load();
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ(found->at(0).attempt.token, Record(2).attempt.token);
  EXPECT_EQ(found->at(0).worker, Record(2).worker);
  EXPECT_EQ(found->at(0).image, 42u);
  EXPECT_EQ(found->at(0).begun, SteadyTime(6s));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace carillon::executor
