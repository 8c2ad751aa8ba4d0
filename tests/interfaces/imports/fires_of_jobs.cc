// Prints the fires of jobs: reads {"jobs": […], "windows": {ZONE: [[FROM, UNTIL], …]},
// "calendar": [FROM, UNTIL, MOST]} from standard input, with times in minutes since 1970. Writes
// for each job its expression without H, its fires in the windows of its zone, and the first MOST
// of its fires as if its zone were UTC.
//
// With "after" (seconds since 1970) and "count" instead of the windows and the calendar, it writes
// the first fires of each job after that time, in seconds.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "common/domain/cron/cron.h"
#include "common/domain/schedule/schedule.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"

namespace {

using carillon::ScheduleSpec;
using nlohmann::json;

constexpr int64_t kMinute = 60'000'000;
constexpr size_t kMostInWindow = 100'000;

json Fires(const carillon::Schedule& schedule, int64_t from, int64_t until, size_t most) {
  json fires = json::array();
  const auto end = carillon::FromUnixMicros(until * kMinute);
  auto fire = schedule.Next(carillon::FromUnixMicros(from * kMinute - 1));
  for (; fire && fire->time < end && fires.size() < most; fire = schedule.Next(fire->time)) {
    fires.push_back(carillon::ToUnixMicros(fire->time) / kMinute);
  }
  return fires;
}

json Shown(const carillon::JobDefinition& job, ScheduleSpec spec, const json& request) {
  json shown = {{"expression", carillon::FormatCron(
                                   carillon::ParseCron(spec.cron_expression, spec.spread).value())},
                {"windows", json::array()}};
  spec.jitter = {};
  const auto schedule = carillon::Schedule::Compile(spec, job.dst_gap, job.dst_repeat).value();
  for (const json& window : request["windows"].value(spec.time_zone, json::array())) {
    shown["windows"].push_back(Fires(schedule, window[0], window[1], kMostInWindow));
  }
  spec.time_zone = "UTC";
  const json& calendar = request["calendar"];
  shown["calendar"] = Fires(carillon::Schedule::Compile(spec, job.dst_gap, job.dst_repeat).value(),
                            calendar[0], calendar[1], calendar[2]);
  return shown;
}

// The first fires of all schedules together.
json FiresAfter(const carillon::JobDefinition& job, int64_t after, size_t count) {
  constexpr int64_t kSecond = 1'000'000;
  std::set<int64_t> fires;
  for (const ScheduleSpec& spec : job.schedules) {
    const auto schedule = carillon::Schedule::Compile(spec, job.dst_gap, job.dst_repeat).value();
    auto fire = schedule.Next(carillon::FromUnixMicros(after * kSecond));
    for (size_t i = 0; fire && i < count; ++i, fire = schedule.Next(fire->time)) {
      fires.insert(carillon::ToUnixMicros(fire->time) / kSecond);
    }
  }
  json first = json::array();
  for (const int64_t fire : fires) {
    if (first.size() < count) first.push_back(fire);
  }
  return first;
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const json request = json::parse(text, nullptr, false);
  if (!request.is_object()) {
    std::fputs("fires-of-jobs: no JSON object on standard input\n", stderr);
    return 2;
  }
  json answer = json::array();
  for (const json& body : request["jobs"]) {
    const auto job = carillon::ParseJob(body);
    if (!job.ok()) {
      std::fprintf(stderr, "fires-of-jobs: %s\n", job.error().message.c_str());
      return 1;
    }
    if (request.contains("after")) {
      answer.push_back(FiresAfter(job->definition, request["after"], request["count"]));
      continue;
    }
    const bool cron = job->definition.schedules.at(0).kind == carillon::ScheduleKind::kCron;
    answer.push_back(cron ? Shown(job->definition, job->definition.schedules[0], request) : json());
  }
  std::cout << answer.dump() << "\n";
  return 0;
}
