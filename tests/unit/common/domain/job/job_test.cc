#include "common/domain/job/job.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace carillon::test {
namespace {

JobDefinition Good() {
  JobDefinition job;
  job.name = "backup";
  job.command = "true";
  return job;
}

struct Row {
  std::function<void(JobDefinition&)> change;
  std::string pointer;  // "" = valid
};

ScheduleSpec Daily() { return {.kind = ScheduleKind::kCron, .cron_expression = "@daily"}; }

void Expect(const std::vector<Row>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    JobDefinition job = Good();
    rows[i].change(job);
    const Status status = ValidateJob(job);
    SCOPED_TRACE("row " + std::to_string(i) + " " + rows[i].pointer);
    if (rows[i].pointer.empty()) {
      EXPECT_TRUE(status.ok()) << status.error().pointer << ": " << status.error().message;
      continue;
    }
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.code(), ErrorCode::kInvalid);
    EXPECT_EQ(status.error().pointer, rows[i].pointer) << status.error().message;
  }
}

TEST(JobTest, TextsHaveBounds) {
  Expect({
      {[](auto&) {}, ""},
      {[](auto& j) { j.name = ""; }, "/name"},
      {[](auto& j) { j.name = std::string(200, 'n'); }, ""},
      {[](auto& j) { j.name = std::string(201, 'n'); }, "/name"},
      {[](auto& j) {  // 200 characters of three bytes
         j.name.clear();
         for (int i = 0; i < 200; ++i) j.name += "\u20AC";
       },
       ""},
      {[](auto& j) { j.name = "a\nb"; }, "/name"},
      {[](auto& j) { j.name = "\xFF"; }, "/name"},
      {[](auto& j) { j.name = "\xED\xA0\x80"; }, "/name"},
      {[](auto& j) { j.name = "\xC0\xAF"; }, "/name"},
      {[](auto& j) { j.name = "\xF0\x9F\x94\x94"; }, ""},
      {[](auto& j) { j.command = ""; }, "/command"},
      {[](auto& j) { j.command = std::string(65'536, 'c'); }, ""},
      {[](auto& j) { j.command = std::string(65'537, 'c'); }, "/command"},
      {[](auto& j) { j.command = std::string("a\0b", 3); }, "/command"},
      {[](auto& j) { j.command = "echo {{nope}}"; }, "/command"},
      {[](auto& j) { j.type = JobType::kNoop; }, "/command"},
      {[](auto& j) { j.type = JobType::kNoop, j.command = ""; }, ""},
      {[](auto& j) { j.description = std::string(10'000, 'd'); }, ""},
      {[](auto& j) { j.description = std::string(10'001, 'd'); }, "/description"},
      {[](auto& j) { j.user_id = std::string(64, 'u'); }, ""},
      {[](auto& j) { j.user_id = std::string(65, 'u'); }, "/user_id"},
  });
}

TEST(JobTest, SaysWhereItMayRun) {
  Expect({
      {[](auto& j) { j.executor_id = "host-1"; }, ""},
      {[](auto& j) { j.executor_id = "-host"; }, "/executor_id"},
      {[](auto& j) { j.executor_id = "Host"; }, "/executor_id"},
      {[](auto& j) { j.executor_id = std::string(63, 'h'); }, ""},
      {[](auto& j) { j.executor_id = std::string(64, 'h'); }, "/executor_id"},
      {[](auto& j) { j.executor_selector = "zone in (a, b), !spare"; }, ""},
      {[](auto& j) { j.executor_selector = "zone in a"; }, "/executor_selector"},
      {[](auto& j) { j.executor_selector = "zone=\xFF"; }, "/executor_selector"},
      {[](auto& j) { j.executor_selector = std::string(1001, 'a'); }, "/executor_selector"},
      {[](auto& j) { j.executor_id = "host-1", j.executor_selector = "a"; }, "/executor_selector"},
  });
}

TEST(JobTest, NumbersHaveBounds) {
  struct Bound {
    std::string field;
    std::function<void(JobDefinition&, int64_t)> set;
    int64_t least, most;
  };
  const std::vector<Bound> bounds{
      {"timeout", [](auto& j, int64_t v) { j.timeout_s = v; }, 1, 604'800},
      {"kill_grace", [](auto& j, int64_t v) { j.kill_grace_s = v; }, 0, 3'600},
      {"queue_timeout", [](auto& j, int64_t v) { j.queue_timeout_s = v; }, 0, 604'800},
      {"retry_count", [](auto& j, int64_t v) { j.retry_count = v; }, 0, 100},
      {"pause_after_failures", [](auto& j, int64_t v) { j.pause_after_failures = v; }, 0, 100},
      {"retry_interval", [](auto& j, int64_t v) { j.retry_interval_s = v; }, 0, 86'400},
      {"retry_intervals/0", [](auto& j, int64_t v) { j.retry_intervals_s = {v}; }, 0, 86'400},
      {"priority", [](auto& j, int64_t v) { j.priority = static_cast<int>(v); }, 0, 100},
      {"misfire_grace", [](auto& j, int64_t v) { j.misfire_grace_s = v; }, 0, 86'400},
      {"catch_up_window", [](auto& j, int64_t v) { j.catch_up_window_s = v; }, 0, 31'536'000},
      {"retention_days", [](auto& j, int64_t v) { j.retention_days = v; }, 0, 3'650},
      {"catch_up_max", [](auto& j, int64_t v) { j.catch_up_max = v; }, 1, 10'000},
  };
  for (const Bound& bound : bounds) {
    Expect({{[&](auto& j) { bound.set(j, bound.least); }, ""},
            {[&](auto& j) { bound.set(j, bound.most); }, ""},
            {[&](auto& j) { bound.set(j, bound.least - 1); }, "/" + bound.field},
            {[&](auto& j) { bound.set(j, bound.most + 1); }, "/" + bound.field}});
  }
  Expect({{[](auto& j) { j.retry_intervals_s.assign(101, 1); }, "/retry_intervals"}});
}

TEST(JobTest, SchedulesNameTheFieldThatIsWrong) {
  Expect({
      {[](auto& j) { j.schedules.assign(32, Daily()); }, ""},
      {[](auto& j) { j.schedules.assign(33, Daily()); }, "/schedules"},
      {[](auto& j) {
         j.schedules = {Daily(), {}};
       },
       "/schedules/1/kind"},
      {[](auto& j) {
         j.schedules = {Daily()};
         j.schedules[0].cron_expression = "99 * * * *";
       },
       "/schedules/0/cron_expression"},
      {[](auto& j) {
         j.schedules = {Daily(), Daily()};
         j.schedules[1].time_zone = "Nowhere/City";
       },
       "/schedules/1/time_zone"},
      {[](auto& j) { j.schedules = {{.kind = ScheduleKind::kRate, .every = 0us}}; },
       "/schedules/0/every_ms"},
      {[](auto& j) { j.schedules = {{.kind = ScheduleKind::kRate, .every = 1s, .start = kNever}}; },
       "/schedules/0/start_time"},
      {[](auto& j) { j.schedules = {{.kind = ScheduleKind::kOnce, .at = kNever}}; },
       "/schedules/0/at"},
      {[](auto& j) { j.time_zone = "Nowhere/City"; }, "/time_zone"},
  });
}

TEST(JobTest, MapsHaveBoundsAndNames) {
  const auto many = [](size_t count, auto value) {
    std::map<std::string, decltype(value)> map;
    for (size_t i = 0; i < count; ++i) map["n" + std::to_string(i)] = value;
    return map;
  };
  Expect({
      {[&](auto& j) { j.parameters = many(100, ParameterValue(true)); }, ""},
      {[&](auto& j) { j.parameters = many(101, ParameterValue(true)); }, "/parameters"},
      {[](auto& j) { j.parameters["1x"] = true; }, "/parameters/1x"},
      {[](auto& j) { j.parameters["a/b~c"] = true; }, "/parameters/a~1b~0c"},
      {[](auto& j) { j.parameters[std::string(63, 'p')] = true; }, ""},
      {[](auto& j) { j.parameters[std::string(64, 'p')] = true; },
       "/parameters/" + std::string(64, 'p')},
      {[](auto& j) {
         j.parameters = {{"Day", true}, {"day", true}};
       },
       "/parameters/day"},
      {[](auto& j) { j.parameters["x"] = std::numeric_limits<double>::infinity(); },
       "/parameters/x"},
      {[](auto& j) { j.parameters["x"] = std::string(32'769, 'v'); }, "/parameters/x"},
      {[&](auto& j) { j.env = many(100, std::string("v")); }, ""},
      {[&](auto& j) { j.env = many(101, std::string("v")); }, "/env"},
      {[](auto& j) { j.env["1X"] = "v"; }, "/env/1X"},
      {[](auto& j) { j.env[""] = "v"; }, "/env/"},
      {[](auto& j) { j.env["A=B"] = "v"; }, "/env/A=B"},
      {[](auto& j) { j.env["X"] = std::string("\0", 1); }, "/env/X"},
      {[](auto& j) { j.env["X"] = "{{env.Y}}"; }, "/env/X"},
      {[](auto& j) { j.env["CARILLON_RUN_ID"] = "v"; }, "/env/CARILLON_RUN_ID"},
      {[](auto& j) { j.env["CARILLON_PARAM_X"] = "v"; }, "/env/CARILLON_PARAM_X"},
      {[](auto& j) { j.env["CARILLON_ADDR"] = "v"; }, ""},
      {[&](auto& j) { j.labels = many(32, std::string("v")); }, ""},
      {[&](auto& j) { j.labels = many(33, std::string("v")); }, "/labels"},
      {[](auto& j) { j.labels[""] = "v"; }, "/labels/"},
      {[](auto& j) { j.labels["team"] = "a\tb"; }, "/labels/team"},
      {[](auto& j) { j.labels["team"] = std::string(256, 'v'); }, "/labels/team"},
  });
}

TEST(JobTest, JobIdsAreLowerCaseAndBounded) {
  const std::vector<std::string> good{"a", "0", "nightly-backup_2", std::string(63, 'a')};
  const std::vector<std::string> bad{"",    "-a",  "_a",       "A",
                                     "a b", "a.b", "\xC3\xA9", std::string(64, 'a')};
  for (const std::string& id : good) EXPECT_TRUE(ValidateJobId(id).ok()) << id;
  for (const std::string& id : bad) {
    const Status status = ValidateJobId(id);
    ASSERT_FALSE(status.ok()) << id;
    EXPECT_EQ(status.error().pointer, "/job_id");
  }
}

template <typename Enum>
void ExpectNames(const std::vector<std::pair<Enum, std::string>>& names) {
  for (const auto& [value, name] : names) {
    EXPECT_EQ(Name(value), name);
    ASSERT_TRUE(ParseName<Enum>(name).ok()) << name;
    EXPECT_EQ(*ParseName<Enum>(name), value);
  }
  for (const std::string_view wrong : {"", "SKIP", "Cron", "skip ", "unknown"}) {
    ASSERT_FALSE(ParseName<Enum>(wrong).ok()) << wrong;
    EXPECT_EQ(ParseName<Enum>(wrong).code(), ErrorCode::kInvalid);
  }
}

TEST(JobTest, NamesGoBothWays) {
  ExpectNames<JobType>({{JobType::kShell, "shell"}, {JobType::kNoop, "noop"}});
  ExpectNames<MisfirePolicy>({{MisfirePolicy::kSkip, "skip"},
                              {MisfirePolicy::kLatest, "latest"},
                              {MisfirePolicy::kAll, "all"}});
  ExpectNames<OverlapPolicy>({{OverlapPolicy::kAllow, "allow"}, {OverlapPolicy::kSkip, "skip"}});
  ExpectNames<RetryBackoff>(
      {{RetryBackoff::kFixed, "fixed"}, {RetryBackoff::kExponential, "exponential"}});
  ExpectNames<OnLost>(
      {{OnLost::kRetry, "retry"}, {OnLost::kFail, "fail"}, {OnLost::kHold, "hold"}});
  ExpectNames<DstGap>({{DstGap::kFire, "fire"}, {DstGap::kSkip, "skip"}});
  ExpectNames<DstRepeat>({{DstRepeat::kAuto, "auto"},
                          {DstRepeat::kBoth, "both"},
                          {DstRepeat::kEarly, "early"},
                          {DstRepeat::kLate, "late"}});
  ExpectNames<ScheduleKind>({{ScheduleKind::kCron, "cron"},
                             {ScheduleKind::kRate, "rate"},
                             {ScheduleKind::kOnce, "once"},
                             {ScheduleKind::kManual, "manual"}});
}

}  // namespace
}  // namespace carillon::test
