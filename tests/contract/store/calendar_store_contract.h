// The contract of CalendarStore, and of the schedules that name calendars.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class CalendarContract : public StoreContract<Factory> {
 protected:
  // kT0 is a Sunday.
  static CalendarDefinition Weekday(unsigned weekday) {
    return {.weekdays = static_cast<uint8_t>(1U << weekday)};
  }
  static JobDefinition Hourly(const std::string& calendar, const std::string& blackout = "") {
    JobDefinition job = StoreDriver::Every(1h);
    job.schedules[0].calendar = calendar;
    job.schedules[0].blackout = blackout;
    return job;
  }
  static std::vector<CalendarAt> Newest(StoreDriver& s) {
    std::vector<CalendarAt> newest;
    const CalendarSet set = s.v(s.calendars.LoadCalendars());
    for (const auto& [name, calendar] : set.calendars()) {
      newest.push_back({calendar.number, calendar.version});
    }
    return newest;
  }
  static std::vector<DueSchedule> Outdated(StoreDriver& s) {
    return s.v(s.firing.ScanOutdated(s.All(), Newest(s), 100));
  }
};
TYPED_TEST_SUITE(CalendarContract, StoreFactories);

TYPED_TEST(CalendarContract, PutWritesVersionsOfOneSequence) {
  StoreDriver s = this->driver();
  EXPECT_EQ(s.v(s.calendars.ReadCalendarVersion()), 0);
  EXPECT_TRUE(s.v(s.calendars.LoadCalendars()).calendars().empty());
  const StoredCalendar a = s.v(s.calendars.PutCalendar("a", this->Weekday(1), kT0));
  const StoredCalendar b = s.v(s.calendars.PutCalendar("b", this->Weekday(2), kT0));
  const StoredCalendar again = s.v(s.calendars.PutCalendar("a", this->Weekday(3), kT0));
  EXPECT_EQ(a.effective, kT0 + kCalendarDelay);
  EXPECT_NE(a.number, b.number);
  EXPECT_EQ(again.number, a.number);
  EXPECT_EQ(a.version, 1);
  EXPECT_EQ(b.version, 2);
  EXPECT_EQ(again.version, 3);
  EXPECT_GT(again.effective, a.effective);  // although it was written at the same time
  const CalendarSet set = s.v(s.calendars.LoadCalendars());
  EXPECT_EQ(set.version(), 3);
  ASSERT_EQ(set.calendars().size(), 2u);
  EXPECT_EQ(set.Find("a")->definition, this->Weekday(3));
  EXPECT_EQ(set.Find("a")->effective, again.effective);
  EXPECT_EQ(set.ChangedSince({.calendar = a.number}, 1), again.effective);
  EXPECT_EQ(s.v(s.calendars.ReadCalendarVersion()), 3);
}

TYPED_TEST(CalendarContract, DefinitionsSurviveTheStore) {
  StoreDriver s = this->driver();
  CalendarDefinition full{.time_zone = "Europe/Berlin", .weekdays = 0b0111110};
  full.dates = {CalendarDay(std::chrono::days(20'000)), CalendarDay(std::chrono::days(1))};
  full.except = {CalendarDay(std::chrono::days(20'500))};
  full.intervals = {{540, 1020}, {1320, 360}};
  ASSERT_OK(s.calendars.PutCalendar("full", full, kT0));
  EXPECT_EQ(s.v(s.calendars.LoadCalendars()).Find("full")->definition, full);
}

TYPED_TEST(CalendarContract, DeletedNamesAreFreeAndVersionsGoOn) {
  StoreDriver s = this->driver();
  EXPECT_CODE(s.calendars.DeleteCalendar("a", kT0), ErrorCode::kNotFound);
  const StoredCalendar first = s.v(s.calendars.PutCalendar("a", this->Weekday(1), kT0));
  ASSERT_OK(s.calendars.DeleteCalendar("a", kT0));
  EXPECT_CODE(s.calendars.DeleteCalendar("a", kT0), ErrorCode::kNotFound);
  EXPECT_EQ(s.v(s.calendars.ReadCalendarVersion()), 2);
  EXPECT_TRUE(s.v(s.calendars.LoadCalendars()).calendars().empty());
  const StoredCalendar second = s.v(s.calendars.PutCalendar("a", this->Weekday(1), kT0));
  EXPECT_NE(second.number, first.number);
  EXPECT_EQ(second.version, 3);
}

TYPED_TEST(CalendarContract, ACalendarInUseIsNotDeleted) {
  StoreDriver s = this->driver();
  const StoredCalendar a = s.v(s.calendars.PutCalendar("a", this->Weekday(1), kT0));
  const StoredCalendar b = s.v(s.calendars.PutCalendar("b", this->Weekday(0), kT0));
  const StoredJob job = s.Create("job", this->Hourly("a", "b"));
  const StoredJob other = s.Create("other", this->Hourly("", "b"));
  const auto counted = s.v(s.calendars.CountCalendarJobs());
  EXPECT_EQ(counted, (std::map<CalendarNo, int64_t>{{a.number, 1}, {b.number, 2}}));
  EXPECT_CODE(s.calendars.DeleteCalendar("a", kT0), ErrorCode::kConflict);
  EXPECT_CODE(s.calendars.DeleteCalendar("b", kT0), ErrorCode::kConflict);
  ASSERT_OK(s.jobs.DeleteJob(other.job_id, other.version, {.now = kT0}));
  EXPECT_CODE(s.calendars.DeleteCalendar("b", kT0), ErrorCode::kConflict);
  s.Replace(job, this->Hourly(""), kT0);
  ASSERT_OK(s.calendars.DeleteCalendar("a", kT0));
  ASSERT_OK(s.calendars.DeleteCalendar("b", kT0));
}

TYPED_TEST(CalendarContract, JobWritesResolveNames) {
  StoreDriver s = this->driver();
  const auto unknown = s.jobs.CreateJob(JobId("job"), this->Hourly("", "none"), {.now = kT0});
  EXPECT_CODE(unknown, ErrorCode::kInvalid);
  EXPECT_EQ(unknown.error().pointer, "/schedules/0/blackout");
  EXPECT_CODE(s.jobs.CreateJobs({{JobId("job"), this->Hourly("none")}}, {.now = kT0}),
              ErrorCode::kInvalid);
  const StoredCalendar mondays = s.v(s.calendars.PutCalendar("mondays", this->Weekday(1), kT0));
  const StoredJob job = s.Create("job", this->Hourly("mondays"));
  EXPECT_EQ(job.definition.schedules[0].calendar, "mondays");
  const auto due = s.v(s.firing.ScanDue(s.All(), kT0 + 48h, 100));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].next_fire, kT0 + 24h);
  EXPECT_EQ(due[0].calendars.calendar, mondays.number);
  EXPECT_EQ(due[0].calendars.blackout, CalendarNo());
  EXPECT_EQ(due[0].calendar_version, mondays.version);
  EXPECT_CODE(s.jobs.ReplaceJob(job.job_id, 1, this->Hourly("none"), {.now = kT0}),
              ErrorCode::kInvalid);
  const StoredJob edited = s.Replace(job, this->Hourly("", "mondays"), kT0);
  const auto after = s.v(s.firing.ScanDue(s.All(), kT0 + 48h, 100));
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].next_fire, kT0 + 1h);
  EXPECT_EQ(after[0].calendars.blackout, mondays.number);
  // A schedule with the same calendars keeps its id.
  JobDefinition renamed = this->Hourly("", "mondays");
  renamed.name = "renamed";
  EXPECT_EQ(s.Replace(edited, renamed, kT0).schedules[0].schedule_id,
            edited.schedules[0].schedule_id);
}

TYPED_TEST(CalendarContract, OutdatedSchedulesAreFoundUntilTheyAreMoved) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredCalendar old = s.v(s.calendars.PutCalendar("a", this->Weekday(1), kT0));
  ASSERT_OK(s.calendars.PutCalendar("b", this->Weekday(0), kT0));
  s.Create("job", this->Hourly("a"));
  s.Create("free", s.Every(1h));
  const StoredJob paused = s.Create("paused", this->Hourly("", "a"));
  s.Pause(paused, kT0);
  EXPECT_TRUE(this->Outdated(s).empty());
  const StoredCalendar fresh = s.v(s.calendars.PutCalendar("a", this->Weekday(2), kT0));
  const auto outdated = this->Outdated(s);
  ASSERT_EQ(outdated.size(), 1u);
  const DueSchedule& due = outdated[0];
  EXPECT_EQ(due.calendar_version, old.version);
  EXPECT_EQ(due.next_fire, kT0 + 24h);
  ScheduleAdvance move{.schedule_id = due.schedule_id,
                       .segment = due.segment,
                       .version = due.version,
                       .expected_next = due.next_fire,
                       .next_fire = kT0 + 48h,
                       .calendar_version = old.version,
                       .new_calendar_version = fresh.version};
  ASSERT_OK(s.firing.Plan({.runs = {}, .advances = {move}, .gaps = {}}, fence, kT0));
  EXPECT_TRUE(this->Outdated(s).empty());
  const auto moved = s.v(s.firing.ScanDue(s.All(), kT0 + 72h, 100));
  const auto found = std::find_if(moved.begin(), moved.end(), [&](const DueSchedule& one) {
    return one.schedule_id == due.schedule_id;
  });
  ASSERT_NE(found, moved.end());
  EXPECT_EQ(found->next_fire, kT0 + 48h);
  EXPECT_EQ(found->calendar_version, fresh.version);
}

TYPED_TEST(CalendarContract, APlanByOlderCalendarsIsRefused) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredCalendar old = s.v(s.calendars.PutCalendar("a", this->Weekday(1), kT0));
  s.Create("job", this->Hourly("a"));
  const DueSchedule due = s.v(s.firing.ScanDue(s.All(), kT0 + 72h, 100)).at(0);
  ScheduleAdvance advance{.schedule_id = due.schedule_id,
                          .segment = due.segment,
                          .version = due.version,
                          .expected_next = due.next_fire,
                          .next_fire = due.next_fire + 1h,
                          .calendar_version = old.version + 1};
  const auto plan = [&] {
    return s.firing.Plan({.runs = {}, .advances = {advance}, .gaps = {}}, fence, kT0);
  };
  EXPECT_CODE(plan(), ErrorCode::kConflict);
  advance.calendar_version = old.version;
  ASSERT_OK(plan());
}

TYPED_TEST(CalendarContract, AResumedJobObeysTheNewestVersion) {
  StoreDriver s = this->driver();
  ASSERT_OK(s.calendars.PutCalendar("a", this->Weekday(3), kT0));  // Wednesdays
  const StoredJob job = s.Create("job", this->Hourly("a"));
  const StoredJob paused = s.Pause(job, kT0 + 1min);
  const StoredCalendar fresh = s.v(s.calendars.PutCalendar("a", this->Weekday(1), kT0 + 2min));
  // Monday has begun: its first ten hours were missed.
  s.Resume(paused, kT0 + 24h + 9h + 30min);
  const auto due = s.v(s.firing.ScanDue(s.All(), kT0 + 72h, 100));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].next_fire, kT0 + 24h + 10h);
  EXPECT_EQ(due[0].calendar_version, fresh.version);
  const auto gaps = s.v(s.runs.ListGaps({.job_id = job.job_id, .limit = 10})).gaps;
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].range.count, 10);
  EXPECT_EQ(gaps[0].range.from, kT0 + 24h);
}

TYPED_TEST(CalendarContract, VersionsThatNothingNeedsAreDeleted) {
  StoreDriver s = this->driver();
  std::vector<StoredCalendar> put;
  const auto change = [&](WallTime now) {
    put.push_back(s.v(s.calendars.PutCalendar("a", this->Weekday(put.size() % 7), now)));
  };
  change(kT0);
  change(kT0);
  // Planned by version 2, and paused, so that it is not planned anew.
  const StoredJob paused = s.Pause(s.Create("paused", this->Hourly("", "a")), kT0 + 1min);
  for (int i = 0; i < 4; ++i) change(kT0 + 1h);
  const auto since = [&](int64_t version) {
    return s.v(s.calendars.LoadCalendars()).ChangedSince({.calendar = put[0].number}, version);
  };
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(since(0), put[0].effective) << "all are younger than the retention";
  for (int i = 0; i < 2; ++i)
    ASSERT_OK(s.housekeeping.Maintain(kT0 + 15 * 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(since(0), put[2].effective) << "the first after the version of the paused job";
  EXPECT_EQ(since(3), put[5].effective) << "the newest";
  const CalendarSet set = s.v(s.calendars.LoadCalendars());
  EXPECT_EQ(set.version(), 6);
  EXPECT_EQ(set.Find("a")->definition, this->Weekday(5));
  s.Resume(paused, kT0 + 15 * 24h);
  ASSERT_OK(s.housekeeping.Maintain(kT0 + 16 * 24h, {.runs = 14 * 24h}));
  EXPECT_EQ(since(0), put[5].effective);
}

}  // namespace carillon::test
