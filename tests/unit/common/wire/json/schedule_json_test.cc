// Schedules of a job in JSON: windows, jitter, delays, parameters and the seeds of H.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "common/domain/job/spread.h"
#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/job/schedule_json.h"

namespace carillon {
namespace {

class ScheduleJsonTest : public testing::Test {
 protected:
  using json = nlohmann::json;

  static json With(const std::string& field, json value) {
    json body = {{"name", "n"}, {"command", "true"}};
    body[field] = std::move(value);
    return body;
  }
  static json OnceIn(const json& in_s) {
    return With("schedules", {{{"kind", "once"}, {"in_s", in_s}}});
  }
  static StoredJob Stored(JobDefinition definition) {
    return {.job_id = JobId("j"), .version = 3, .definition = std::move(definition)};
  }

  const WallTime kNow = FromUnixMicros(1'700'000'000'000'000);  // 2023-11-14T22:13:20Z
};

TEST_F(ScheduleJsonTest, ReadsWindowAndJitterAndWritesThemIfTheyAreSet) {
  const json schedules = {
      {{"kind", "cron"},
       {"cron_expression", "0 3 * * *"},
       {"time_zone", "UTC"},
       {"start_time", "2026-03-01T00:00:00.000000Z"},
       {"end_time", "2026-04-01T00:00:00.000000Z"},
       {"jitter_s", 60}},
      {{"kind", "rate"},
       {"every_ms", 1000},
       {"start_time", "2026-03-01T00:00:00.000000Z"},
       {"end_time", "2026-04-01T00:00:00.000000Z"}},
      {{"kind", "cron"}, {"cron_expression", "0 4 * * *"}, {"time_zone", "UTC"}}};
  const auto parsed = ParseJob(With("schedules", schedules));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const JobDefinition& job = parsed->definition;
  EXPECT_EQ(job.schedules[0].start, ParseRfc3339("2026-03-01T00:00:00Z").value());
  EXPECT_EQ(job.schedules[0].end, ParseRfc3339("2026-04-01T00:00:00Z").value());
  EXPECT_EQ(job.schedules[0].jitter, 60s);
  EXPECT_EQ(job.schedules[2].end, kNever);
  EXPECT_EQ(DefinitionToJson(job)["schedules"], schedules);
}

TEST_F(ScheduleJsonTest, WindowAndJitterAreNoPartOfTheShortForm) {
  JobDefinition job{.name = "n", .command = "c"};
  job.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "0 3 * * *"}};
  EXPECT_EQ(JobToJson(Stored(job), kNow)["cron_expression"], "0 3 * * *");
  for (const auto& change : std::vector<std::function<void(ScheduleSpec&)>>{
           [this](ScheduleSpec& spec) { spec.start = kNow; },
           [this](ScheduleSpec& spec) { spec.end = kNow; },
           [](ScheduleSpec& spec) { spec.jitter = 1s; }}) {
    JobDefinition changed = job;
    change(changed.schedules[0]);
    EXPECT_TRUE(JobToJson(Stored(changed), kNow)["cron_expression"].is_null());
  }
}

TEST_F(ScheduleJsonTest, ADelayBecomesATimeOfTheWrite) {
  json body = OnceIn(3600);
  ResolveRelativeTimes(body, kNow);
  const auto parsed = ParseJob(body);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->definition.schedules,
            (std::vector<ScheduleSpec>{{.kind = ScheduleKind::kOnce, .at = kNow + 1h}}));
  for (const int64_t in_s : {1, 31'536'000}) {
    json bound = OnceIn(in_s);
    ResolveRelativeTimes(bound, kNow);
    EXPECT_TRUE(ParseJob(bound).ok()) << in_s;
  }
}

TEST_F(ScheduleJsonTest, ADelayThatIsWrongIsReported) {
  for (const json& in_s : {json(0), json(-1), json(31'536'001), json("1h"), json(1.5), json()}) {
    json body = OnceIn(in_s);
    ResolveRelativeTimes(body, kNow);
    const auto refused = ParseJob(body);
    EXPECT_EQ(refused.code(), ErrorCode::kInvalid) << in_s;
    EXPECT_EQ(refused.error().pointer, "/schedules/0/in_s") << in_s;
  }
  json both = OnceIn(5);
  both["schedules"][0]["at"] = "2026-03-01T00:00:00Z";
  ResolveRelativeTimes(both, kNow);
  const auto contradiction = ParseJob(both);
  EXPECT_EQ(contradiction.code(), ErrorCode::kConflict);
  EXPECT_EQ(contradiction.error().pointer, "/schedules/0/in_s");
  // A file is applied again and again; nobody resolves the delay there.
  EXPECT_EQ(ParseJob(OnceIn(5)).error().message, "in_s is relative; write `at` in files");
  for (json odd : {json(5), json::object(), With("schedules", 5), With("schedules", {1, "x"}),
                   With("schedules", {{{"in_s", 5}}})}) {
    const json before = odd;
    ResolveRelativeTimes(odd, kNow);
    EXPECT_EQ(odd, before);
  }
}

TEST_F(ScheduleJsonTest, TheSeedOfHIsNotInTheTextButOfTheJob) {
  JobDefinition job{.name = "n", .type = JobType::kNoop};
  job.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "H 3 * * *"}};
  SetSpread(job, JobId("j"));
  const std::string text = DefinitionToText(job);
  EXPECT_EQ(text.find("spread"), std::string::npos);
  EXPECT_EQ(*DefinitionFromText(text, JobId("j")), job);
  EXPECT_NE(*DefinitionFromText(text, JobId("k")), job);
}

TEST_F(ScheduleJsonTest, TheSeedOfHIsThatOfTheJob) {
  json body = With("cron_expression", "H 3 * * *");
  EXPECT_EQ(ParseJob(body)->definition.schedules[0].spread, 0u) << "nobody knows the job yet";
  body["job_id"] = "j";
  StoredJob stored = Stored(ParseJob(body)->definition);
  EXPECT_EQ(stored.definition.schedules[0].spread, SpreadSeed(JobId("j")));
  EXPECT_EQ(JobToJson(stored, kNow)["cron_expression"], "H 3 * * *");
  body.erase("job_id");
  EXPECT_EQ(ParseReplacement(stored, body)->definition, stored.definition);
  EXPECT_EQ(PatchJob(stored, {{"priority", 5}})->definition.schedules, stored.definition.schedules);
  const auto moved = PatchJob(stored, {{"cron_expression", "H 4 * * *"}});
  EXPECT_EQ(moved->definition.schedules[0].spread, SpreadSeed(JobId("j")));
}

TEST_F(ScheduleJsonTest, ParametersOfASchedule) {
  const auto with = [](const json& parameters) {
    return With("schedules", {{{"kind", "rate"}, {"every_ms", 1000}, {"parameters", parameters}}});
  };
  const auto parsed = ParseJob(with({{"day", "monday"}, {"n", 3}}));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const ScheduleSpec& spec = parsed->definition.schedules[0];
  EXPECT_EQ(spec.parameters,
            (std::map<std::string, ParameterValue>{{"day", "monday"}, {"n", int64_t{3}}}));
  EXPECT_EQ(*DefinitionFromText(DefinitionToText(parsed->definition), {}), parsed->definition);
  EXPECT_EQ(ParseJob(with({{"1x", 1}})).error().pointer, "/schedules/0/parameters/1x");
  EXPECT_EQ(ParseJob(with({{"x", json::array()}})).error().pointer, "/schedules/0/parameters/x");
  EXPECT_EQ(ParseJob(with({{"x", 1}, {"X", 2}})).error().pointer, "/schedules/0/parameters/x");
  EXPECT_EQ(ParseJob(with(5)).error().pointer, "/schedules/0/parameters");
  json once =
      With("schedules",
           {{{"kind", "once"}, {"at", "2030-01-01T00:00:00Z"}, {"parameters", {{"x", 1}}}}});
  EXPECT_TRUE(ParseJob(once).ok());
}

// Without overflow: the lowest number of all has no absolute value.
TEST_F(ScheduleJsonTest, NumbersFarOutOfRangeAreRefused) {
  for (const int64_t bad : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
    const json jitter = {{"kind", "rate"}, {"every_ms", 1000}, {"jitter_s", bad}};
    const json every = {{"kind", "rate"}, {"every_ms", bad}};
    EXPECT_EQ(ParseJob(With("schedules", {jitter})).error().pointer, "/schedules/0/jitter_s");
    EXPECT_EQ(ParseJob(With("schedules", {every})).error().pointer, "/schedules/0/every_ms");
  }
}

TEST_F(ScheduleJsonTest, ATriggerIsReadAsItWasWritten) {
  const json written = {{{"kind", "event"},
                         {"type", "order.*"},
                         {"source", "shop"},
                         {"filter", "data.amount > 9"},
                         {"parameters", {{"amount", "{{event.data.amount}}"}, {"n", 3}}}},
                        {{"kind", "event"}, {"type", "*"}}};
  std::vector<ScheduleSpec> schedules;
  ASSERT_TRUE(ReadSchedules(written, "/schedules", schedules).ok());
  ASSERT_EQ(schedules.size(), 2u);
  EXPECT_EQ(schedules[0].kind, ScheduleKind::kEvent);
  EXPECT_EQ(schedules[0].event_type, "order.*");
  EXPECT_EQ(schedules[0].event_source, "shop");
  EXPECT_EQ(schedules[0].filter, "data.amount > 9");
  EXPECT_EQ(schedules[0].parameters.size(), 2u);
  EXPECT_EQ(schedules[1].event_type, "*");
  EXPECT_EQ(SchedulesToJson(schedules), written);
}

TEST_F(ScheduleJsonTest, AStoredTriggerIsReadAsItWasWritten) {
  JobDefinition job{.name = "n", .command = "c"};
  job.schedules = {{.kind = ScheduleKind::kEvent,
                    .event_type = "order.*",
                    .event_source = "shop",
                    .filter = "data.amount > 9"}};
  const auto stored = DefinitionFromText(DefinitionToText(job), JobId("n"));
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(*stored, job);
}

TEST_F(ScheduleJsonTest, AMistakeInATriggerIsPointedOut) {
  const auto fails = [](const json& trigger) {
    std::vector<ScheduleSpec> schedules;
    const Status read = ReadSchedules(json::array({trigger}), "/schedules", schedules);
    return read.ok() ? "ok" : read.error().pointer;
  };
  EXPECT_EQ(fails({{"kind", "event"}}), "/schedules/0/type");
  for (const char* name : {"type", "source", "filter", "parameters"}) {
    json trigger = {{"kind", "event"}, {"type", "t"}};
    trigger[name] = 3;
    EXPECT_EQ(fails(trigger), std::string("/schedules/0/") + name);
  }
  for (const char* name : {"at", "job", "every_ms", "calendar", "start_time", "topic"}) {
    EXPECT_EQ(fails({{"kind", "event"}, {"type", "t"}, {name, "x"}}),
              std::string("/schedules/0/") + name);
  }
  EXPECT_EQ(fails({{"kind", "once"}, {"at", "2026-03-01T00:00:00Z"}, {"filter", "x"}}),
            "/schedules/0/filter");
}

}  // namespace
}  // namespace carillon
