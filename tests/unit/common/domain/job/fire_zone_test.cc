#include "common/domain/job/fire_zone.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

using Kept = std::optional<std::string>;

ScheduleSpec ZonedCron(const std::string& zone) {
  return {.kind = ScheduleKind::kCron, .cron_expression = "0 3 * * *", .time_zone = zone};
}

JobDefinition Zoned(const std::string& zone) {
  JobDefinition job;
  job.time_zone = zone;
  return job;
}

TEST(FireZoneTest, CronHasItsOwnAndAllElseThatOfTheJob) {
  const JobDefinition job = Zoned("Asia/Tokyo");
  const ScheduleSpec cron = ZonedCron("Europe/Paris");
  const ScheduleSpec rate{.kind = ScheduleKind::kRate, .every = 1min};
  EXPECT_EQ(FireZone(job, &cron), "Europe/Paris");
  EXPECT_EQ(FireZone(job, &rate), "Asia/Tokyo");
  EXPECT_EQ(FireZone(job, nullptr), "Asia/Tokyo");
}

TEST(FireZoneTest, RunsKeepTheZoneThatAnEditWouldChange) {
  const ScheduleSpec tokyo = ZonedCron("Asia/Tokyo");
  const ScheduleSpec paris = ZonedCron("Europe/Paris");
  const ScheduleSpec rate{.kind = ScheduleKind::kRate, .every = 1min};
  const ScheduleId cron_id(1);
  const ScheduleId rate_id(2);
  const ScheduleId new_id(3);
  const ScheduleId manual_id(9);
  {
    // The cron schedule is removed, and the job stays in its zone.
    const ZoneChange change(Zoned("UTC"), {{cron_id, &tokyo}, {rate_id, &rate}}, Zoned("UTC"),
                            {{rate_id, &rate}});
    EXPECT_EQ(change.ToKeep(cron_id), Kept("Asia/Tokyo"));
    EXPECT_EQ(change.ToKeep(rate_id), Kept());
    EXPECT_EQ(change.ToKeep(manual_id), Kept());
    EXPECT_FALSE(change.empty());
  }
  {
    // The job moves with its schedule, which is a new one then.
    const ZoneChange change(Zoned("Asia/Tokyo"), {{cron_id, &tokyo}, {rate_id, &rate}},
                            Zoned("Europe/Paris"), {{new_id, &paris}, {rate_id, &rate}});
    EXPECT_EQ(change.ToKeep(cron_id), Kept("Asia/Tokyo"));
    EXPECT_EQ(change.ToKeep(rate_id), Kept("Asia/Tokyo"));
    EXPECT_EQ(change.ToKeep(manual_id), Kept("Asia/Tokyo"));
  }
  {
    // The job moves to where its schedule is that goes.
    const ZoneChange change(Zoned("UTC"), {{cron_id, &tokyo}}, Zoned("Asia/Tokyo"), {});
    EXPECT_EQ(change.ToKeep(cron_id), Kept());
    EXPECT_EQ(change.ToKeep(manual_id), Kept("UTC"));
  }
  {
    const ZoneChange change(Zoned("UTC"), {{cron_id, &tokyo}}, Zoned("UTC"), {{cron_id, &tokyo}});
    EXPECT_TRUE(change.empty());
    EXPECT_EQ(change.ToKeep(cron_id), Kept());
  }
}

}  // namespace
}  // namespace carillon::test
