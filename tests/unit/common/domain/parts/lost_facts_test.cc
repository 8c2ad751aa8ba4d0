#include "common/domain/parts/lost_facts.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

const RunRow kDone{.key = {FromUnixMicros(1'772'323'200'000'000), ScheduleId(7), 0},
                   .state = RunState::kCompleted,
                   .def_version = 4};

// A job that works on the day of its fire.
JobDefinition ADayIn(std::string_view zone) {
  JobDefinition job;
  job.command = "{{fire_date}}";
  job.time_zone = std::string(zone);
  return job;
}
ScheduleSpec CronIn(std::string_view zone) {
  ScheduleSpec cron;
  cron.kind = ScheduleKind::kCron;
  cron.time_zone = std::string(zone);
  return cron;
}
std::string RefusalOf(const RunOfVersion& run) {
  const Status status = CheckLostFacts(kDone, run);
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), ErrorCode::kConflict);
  return status.error().message;
}

TEST(LostFacts, AScheduleThatHasGoneTakesItsParameters) {
  ScheduleSpec north;
  north.parameters = {{"t", std::string("north")}};
  JobDefinition then;
  const JobDefinition now;
  RunOfVersion run{.then = &then, .now = &now};
  EXPECT_EQ(RefusalOf(run), "") << "no schedule had any";
  then.schedules = {{}, north};
  EXPECT_NE(RefusalOf(run).find("lost the schedule"), std::string::npos);
  run.given.values = {{"n", int64_t{1}}};
  EXPECT_NE(RefusalOf(run), "");
  run.given.values["t"] = std::string("south");
  EXPECT_EQ(RefusalOf(run), "") << "it has its own";
  run.given = {};
  run.schedule = &north;
  EXPECT_EQ(RefusalOf(run), "") << "the job has it still";
  run.schedule = nullptr;
  run.of_schedule = false;
  EXPECT_EQ(RefusalOf(run), "") << "a run of a request";
  run = {.now = &now};
  EXPECT_NE(RefusalOf(run), "") << "nobody knows";
}

// It was stored with parameters that were made of its event.
TEST(LostFacts, ATriggerOfEventsTakesNothingWithIt) {
  const JobDefinition now = ADayIn("UTC");
  JobDefinition then = now;
  then.schedules = {{.kind = ScheduleKind::kEvent,
                     .event_type = "order.paid",
                     .parameters = {{"t", std::string("{{event.data.t}}")}}}};
  RunOfVersion run{.then = &then, .now = &now};
  EXPECT_EQ(RefusalOf(run), "");
  run.then = nullptr;
  EXPECT_NE(RefusalOf(run), "") << "it may have been any schedule";
  ScheduleSpec north = CronIn("Asia/Tokyo");
  north.parameters = {{"t", std::string("north")}};
  then.schedules.push_back(north);
  run.then = &then;
  EXPECT_NE(RefusalOf(run), "");
  run.given.event = EventOrigin{.id = "42", .source = "shop", .type = "order.paid"};
  EXPECT_EQ(RefusalOf(run), "") << "it was not the cron schedule";
  then.time_zone = "Asia/Tokyo";
  EXPECT_NE(RefusalOf(run).find("lost the time zone"), std::string::npos);
}

TEST(LostFacts, AnotherZoneIsAnotherDay) {
  const JobDefinition then = ADayIn("Europe/Berlin");
  const JobDefinition now = ADayIn("UTC");
  const ScheduleSpec cron = CronIn("Asia/Tokyo");
  const ScheduleSpec rate;
  for (const bool of_schedule : {true, false}) {
    RunOfVersion run{.then = &then, .now = &now, .of_schedule = of_schedule};
    EXPECT_NE(RefusalOf(run).find("lost the time zone"), std::string::npos);
    if (of_schedule) run.schedule = &rate;
    EXPECT_NE(RefusalOf(run), "");
    run.given.time_zone = "Europe/Berlin";
    EXPECT_EQ(RefusalOf(run), "") << "it has kept its zone";
    run = {.then = &now, .now = &now, .of_schedule = of_schedule};
    EXPECT_EQ(RefusalOf(run), "");
  }
  EXPECT_EQ(RefusalOf({.then = &then, .now = &now, .schedule = &cron}), "") << "that of the cron";
  JobDefinition with_cron = now;
  with_cron.schedules = {cron};
  EXPECT_NE(RefusalOf({.then = &with_cron, .now = &now}), "") << "the cron is gone";
  JobDefinition no_day = now;
  no_day.command = "true";
  EXPECT_EQ(RefusalOf({.then = &then, .now = &no_day}), "");
  RunOfVersion given{.then = &then, .now = &no_day};
  given.given.values = {{"day", std::string("{{fire_date}}")}};
  EXPECT_NE(RefusalOf(given), "");
}

}  // namespace
}  // namespace carillon
