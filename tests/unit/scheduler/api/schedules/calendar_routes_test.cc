// Calendars over the API, and schedules that name them.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class CalendarRoutesTest : public ApiEnv {
 protected:
  Answer Put(const std::string& name, const json& definition) {
    return Send("PUT", "/api/calendars/" + name, definition.dump());
  }
  static json Office() {
    return {{"time_zone", "UTC"},
            {"weekdays", {"mon", "tue", "wed", "thu", "fri"}},
            {"intervals", {"09:00-17:00"}}};
  }
  static json Hourly(const char* field, const char* calendar) {
    json schedule = {{"kind", "cron"}, {"cron_expression", "0 * * * *"}};
    schedule[field] = calendar;
    return json::array({schedule});
  }
};

TEST_F(CalendarRoutesTest, AWrittenCalendarIsShownWithItsVersionAndJobs) {
  const json office = Put("office", Office()).body();
  EXPECT_EQ(office["name"], "office");
  EXPECT_EQ(office["version"], 1);
  EXPECT_EQ(office["effective_time"], "2026-03-01T00:01:00.000000Z");
  EXPECT_EQ(office["definition"]["intervals"], json::array({"09:00-17:00"}));
  Create(
      {{"job_id", "j"}, {"cron_expression", nullptr}, {"schedules", Hourly("calendar", "office")}});
  const json shown = Get("/api/calendars/office").body();
  EXPECT_EQ(shown["jobs"], 1);
  json closed_at_christmas = Office();
  closed_at_christmas["except"] = {"2026-12-25"};
  EXPECT_EQ(Put("office", closed_at_christmas).body()["version"], 2);
  Put("closing", {{"time_zone", "UTC"}, {"dates", {"2026-12-31"}}});
  const json list = Get("/api/calendars").body();
  ASSERT_EQ(list["items"].size(), 2u);
  EXPECT_EQ(list["items"][1]["version"], 2);
  EXPECT_EQ(Get("/api/calendars/none").status, 404);
}

TEST_F(CalendarRoutesTest, AWrongDefinitionPointsToItsFault) {
  const Answer wrong = Put("office", {{"time_zone", "UTC"}, {"dates", {"2026-13-01"}}});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.body()["errors"][0]["pointer"], "/dates/0");
  EXPECT_EQ(Put("No%20Name", Office()).status, 400);
}

TEST_F(CalendarRoutesTest, ACalendarInUseIsNotDeleted) {
  Put("office", Office());
  Create(
      {{"job_id", "j"}, {"cron_expression", nullptr}, {"schedules", Hourly("blackout", "office")}});
  const Answer refused = Send("DELETE", "/api/calendars/office");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.body()["code"], "in_use");
  Put("free", Office());
  EXPECT_EQ(Send("DELETE", "/api/calendars/free").status, 204);
  EXPECT_EQ(Send("DELETE", "/api/calendars/free").status, 404);
}

TEST_F(CalendarRoutesTest, AnUnknownNameIsRefusedWithItsPointer) {
  const Answer refused = Post("/api/jobs", JobBody({{"job_id", "j"},
                                                    {"cron_expression", nullptr},
                                                    {"schedules", Hourly("calendar", "none")}}));
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body()["code"], "unknown_calendar");
  EXPECT_EQ(refused.body()["errors"][0]["pointer"], "/schedules/0/calendar");
}

TEST_F(CalendarRoutesTest, PreviewListsTheTimesInADefinition) {
  const json preview =
      Post("/api/calendars/preview",
           {{"definition", Office()}, {"from", "2026-03-01T00:00:00Z"}, {"days", 3}})
          .body();
  ASSERT_EQ(preview["items"].size(), 2u);
  EXPECT_EQ(preview["items"][0],
            (json{{"from", "2026-03-02T09:00:00.000000Z"}, {"to", "2026-03-02T17:00:00.000000Z"}}));
  const Answer wrong = Post("/api/calendars/preview", {{"definition", {{"time_zone", 3}}}});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.body()["errors"][0]["pointer"], "/definition/time_zone");
}

TEST_F(CalendarRoutesTest, PreviewLoadAndNextFireObeyTheCalendar) {
  Put("office", Office());
  const json preview =
      Post("/api/schedules/preview", {{"schedules", Hourly("calendar", "office")}, {"n", 1}})
          .body();
  EXPECT_EQ(preview["items"][0]["fire_time"], "2026-03-02T09:00:00.000000Z");
  EXPECT_TRUE(preview["explanations"][0].get<std::string>().ends_with("only in calendar office"));
  const json unknown =
      Post("/api/schedules/preview", {{"schedules", Hourly("calendar", "none")}}).body();
  EXPECT_EQ(unknown["valid"], false);
  EXPECT_EQ(unknown["errors"][0]["pointer"], "/schedules/0/calendar");
  const json job = Create(
      {{"job_id", "j"}, {"cron_expression", nullptr}, {"schedules", Hourly("calendar", "office")}});
  EXPECT_EQ(job["next_fire_time"], "2026-03-02T09:00:00.000000Z");
  const json load = Get("/api/schedules/load?from=2026-03-01T00:00:00Z&until=2026-03-03T00:00:00Z"
                        "&bucket=hour&by_job=true")
                        .body();
  EXPECT_EQ(load["items"][0]["fires"], 8);
}

TEST_F(CalendarRoutesTest, WhyNamesTheCalendarThatExcludes) {
  Put("office", Office());
  Create(
      {{"job_id", "j"}, {"cron_expression", nullptr}, {"schedules", Hourly("calendar", "office")}});
  clock_.Advance(24h);
  const json why = Get("/api/jobs/j/why?at=2026-03-01T05:00:00Z").body();
  EXPECT_EQ(why["outcome"], "excluded");
  EXPECT_NE(why["explanation"].get<std::string>().find("office"), std::string::npos);
}

TEST_F(CalendarRoutesTest, ADayOutsideTheCalendarMovesAndWhySaysWhere) {
  {
    MutexLock lock(stores_.tables.mu);
    stores_.tables.schema = {.known = 2, .applied = 2, .finished = 2};
  }
  clock_.Advance(scheduler::UpgradeWatch::kLookEvery);
  upgrade_.Step(clock_.Steady());
  // 1 March 2026 is a Sunday.
  Put("office", {{"time_zone", "UTC"}, {"weekdays", {"mon", "tue", "wed", "thu", "fri"}}});
  const auto schedules = [](const std::string& cron) {
    return json::array({{{"kind", "cron"}, {"cron_expression", cron}, {"calendar", "office"}}});
  };
  const json preview =
      Post("/api/schedules/preview", {{"schedules", schedules("0 9 C#1,L< * *")}, {"n", 3}}).body();
  ASSERT_EQ(preview["items"].size(), 3u) << preview;
  EXPECT_EQ(preview["items"][0]["fire_time"], "2026-03-02T09:00:00.000000Z");
  EXPECT_EQ(preview["items"][1]["fire_time"], "2026-03-31T09:00:00.000000Z");
  EXPECT_EQ(preview["items"][2]["fire_time"], "2026-04-01T09:00:00.000000Z");

  const json job = Create(
      {{"job_id", "j"}, {"cron_expression", nullptr}, {"schedules", schedules("0 9 1>,14< * *")}});
  EXPECT_EQ(job["next_fire_time"], "2026-03-02T09:00:00.000000Z");
  EXPECT_EQ(job["schedules"][0]["cron_expression"], "0 9 1>,14< * *");
  const auto why = [this](const std::string& id, const std::string& at) {
    return Get("/api/jobs/" + id + "/why?at=" + at).body()["explanation"].get<std::string>();
  };
  EXPECT_EQ(why("j", "2026-03-01T09:00:00Z"),
            "Not scheduled: the schedule fires only in its calendar, and calendar office excludes "
            "2026-03-01 09:00:00 UTC.")
      << "its days move both ways";
  Create(
      {{"job_id", "next"}, {"cron_expression", nullptr}, {"schedules", schedules("0 9 1> * *")}});
  Create({{"job_id", "previous"},
          {"cron_expression", nullptr},
          {"schedules", schedules("0 9 14< * *")}});
  EXPECT_TRUE(why("next", "2026-03-01T09:00:00Z")
                  .ends_with("It fires at 2026-03-02 09:00:00 UTC "
                             "instead."));
  EXPECT_TRUE(why("previous", "2026-03-14T09:00:00Z")
                  .ends_with("It fires at 2026-03-13 09:00:00 "
                             "UTC instead."));

  const Answer refused =
      Post("/api/jobs", {{"name", "j"}, {"command", "true"}, {"cron_expression", "0 9 25< * *"}});
  EXPECT_EQ(refused.pointer(), "/cron_expression") << refused.text;
  EXPECT_NE(refused.text.find("need a calendar or a blackout"), std::string::npos) << refused.text;
}

}  // namespace
}  // namespace carillon::test
