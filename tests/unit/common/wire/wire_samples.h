// Random valid values of all types that common/wire encodes, from a seeded generator.
#pragma once

#include "common/base/rng.h"
#include "common/domain/job/job_types.h"
#include "common/domain/trace.h"
#include "common/wire/messages/task_codec.h"

namespace carillon::test {

inline std::string RandomText(Rng& rng, size_t length_max) {
  constexpr std::string_view kPieces[] = {"a", "Z", "7", " ", "\"", "\\", "\n", "é", "钟", "🔔"};
  std::string text;
  for (size_t n = rng.Below(length_max + 1); n > 0; --n) text += kPieces[rng.Below(10)];
  return text;
}

// A random text without control characters.
inline std::string RandomLine(Rng& rng, size_t length_max) {
  std::string text = RandomText(rng, length_max);
  std::erase(text, '\n');
  return text;
}

inline std::string RandomName(Rng& rng) { return "n" + std::to_string(rng.Below(1'000'000)); }

inline RunKey RandomKey(Rng& rng) {
  return {.fire = FromUnixMicros(static_cast<int64_t>(rng.Below(uint64_t{1} << 56))),
          .schedule_id = ScheduleId(rng.Below(uint64_t{1} << 52)),
          .shard = static_cast<uint32_t>(rng.Below(8))};
}

inline HttpCall RandomCall(Rng& rng) {
  HttpCall call{
      .method = static_cast<HttpMethod>(2 + rng.Below(3)),
      .url = "https://a.example/" + std::to_string(rng.Below(1000)),
      .expect = {.status = {"2xx", "404"}, .contains = RandomText(rng, 10), .regex = "a+"},
      .follow = static_cast<int64_t>(rng.Below(6)),
      .connect_timeout_s = static_cast<int64_t>(1 + rng.Below(60)),
      .tls_verify = rng.Chance(0.5)};
  call.headers["X-A"] = {{.text = "a"}, {.secret = "s" + std::to_string(rng.Below(9))}};
  call.body = {{.text = RandomText(rng, 10)}, {.secret = "t"}};
  call.expect.json = {{"/a", std::string("x")},
                      {"/b", int64_t{3}},
                      {"/c", 1.5},
                      {"/d", true},
                      {"/e", std::nullopt}};
  if (rng.Chance(0.5)) call.client_certificate = {{.secret = "pem"}, {.text = "\n"}};
  if (rng.Chance(0.5)) {
    call.poll = {.url = "https://a.example/s",
                 .url_at = "/id",
                 .interval_s = static_cast<int64_t>(1 + rng.Below(3600)),
                 .until = {{"/s", {std::string("done"), std::nullopt, int64_t{3}}}}};
  }
  return call;
}

inline TaskMessage RandomTask(Rng& rng) {
  TaskMessage task{.key = RandomKey(rng),
                   .job_id = JobId("job-" + std::to_string(rng.Below(1000))),
                   .job_no = JobNo(rng.Below(uint64_t{1} << 40)),
                   .segment = SegmentId(static_cast<uint32_t>(rng.Below(64))),
                   .attempt = static_cast<int>(1 + rng.Below(100)),
                   .def_version = static_cast<int64_t>(rng.Below(1000)),
                   .member = MemberId("scheduler-" + std::to_string(1 + rng.Below(9))),
                   .due = FromUnixMicros(static_cast<int64_t>(rng.Below(uint64_t{1} << 56))),
                   .created = FromUnixMicros(static_cast<int64_t>(rng.Below(uint64_t{1} << 56))),
                   .type = rng.Chance(0.5) ? JobType::kShell : JobType::kNoop,
                   .command = RandomText(rng, 40),
                   .timeout_s = static_cast<int64_t>(1 + rng.Below(604'800)),
                   .kill_grace_s = static_cast<int64_t>(rng.Below(3'601)),
                   .retry_count = static_cast<int64_t>(rng.Below(101)),
                   .retry_interval_s = static_cast<int64_t>(rng.Below(86'401)),
                   .priority = static_cast<int>(rng.Below(101)),
                   .overlap = rng.Chance(0.5) ? OverlapPolicy::kAllow : OverlapPolicy::kSkip,
                   .on_lost = static_cast<OnLost>(rng.Below(3)),
                   .shard_total = 8,
                   .trace_id = rng.Chance(0.5) ? TraceIdOf(RandomKey(rng)) : ""};
  if (rng.Chance(0.3)) {
    task.type = JobType::kScript;
    task.interpreter = AllInterpreters()[rng.Below(AllInterpreters().size())];
    for (size_t n = rng.Below(4); n > 0; --n) task.args.push_back(RandomText(rng, 10));
  }
  if (rng.Chance(0.2)) {
    task.type = JobType::kHttp;
    task.interpreter.reset();
    task.args.clear();
    task.http = RandomCall(rng);
  }
  if (rng.Chance(0.2)) {
    task.type = JobType::kHandler;
    task.interpreter.reset();
    task.args.clear();
    task.http.reset();
    task.handler = HandlerCall{.name = "app/h" + std::to_string(rng.Below(9)),
                               .parameters_json = RandomText(rng, 20)};
  }
  if (task.type == JobType::kShell && rng.Chance(0.3)) {
    task.type = JobType::kContainer;
    task.command.clear();
    task.container = ContainerDefinition{.image = "alpine",
                                         .command = {"sh", RandomText(rng, 5)},
                                         .args = {RandomText(rng, 10)},
                                         .network = static_cast<ContainerNetwork>(rng.Below(2)),
                                         .read_only = rng.Chance(0.5),
                                         .user = rng.Chance(0.5) ? "1000:1000" : "",
                                         .pull = static_cast<ContainerPull>(rng.Below(3))};
  }
  if (StartsProcess(task.type) && rng.Chance(0.5)) {
    task.limits = Limits{.cpu = static_cast<double>(1 + rng.Below(8)) / 4,
                         .open_files = static_cast<int64_t>(16 + rng.Below(1000)),
                         .enforce = static_cast<Enforce>(rng.Below(2))};
    task.run_as = rng.Chance(0.5) ? "alice" : "";
    if (task.type != JobType::kContainer && rng.Chance(0.5)) task.working_directory = "~/data";
    if (rng.Chance(0.5)) task.output_encoding = "gb18030";
  }
  for (size_t n = rng.Below(4); n > 0; --n) task.env[RandomName(rng)] = RandomText(rng, 10);
  for (size_t n = rng.Below(3); n > 0; --n) {
    task.secret_env["S_" + RandomName(rng)] = {{.text = RandomText(rng, 10)},
                                               {.secret = "s" + std::to_string(rng.Below(9))}};
  }
  return task;
}

inline ResultMessage RandomResult(Rng& rng) {
  constexpr RunState kEnds[] = {RunState::kCompleted, RunState::kFailed, RunState::kTimedOut,
                                RunState::kCancelled, RunState::kLost};
  ResultMessage message;
  message.job_id = JobId("job-" + std::to_string(rng.Below(1000)));
  message.report = {.key = RandomKey(rng),
                    .segment = SegmentId(static_cast<uint32_t>(rng.Below(64))),
                    .job_no = JobNo(rng.Below(uint64_t{1} << 40)),
                    .attempt = static_cast<int>(1 + rng.Below(100)),
                    .token = {.high = 1 + rng.Below(1u << 30), .low = rng.Next()},
                    .executor = ExecutorId("executor-" + std::to_string(rng.Below(9)))};
  AttemptResult& result = message.report.result;
  result.state = kEnds[rng.Below(5)];
  if (rng.Chance(0.5)) result.reason = std::string(reason::kExitCode);
  if (rng.Chance(0.5)) result.error = RandomText(rng, 20);
  if (rng.Chance(0.5)) result.exit_code = static_cast<int>(rng.Below(512)) - 256;
  if (rng.Chance(0.5)) result.started = FromUnixMicros(static_cast<int64_t>(1 + rng.Below(1e15)));
  if (rng.Chance(0.5)) result.ended = FromUnixMicros(static_cast<int64_t>(1 + rng.Below(1e15)));
  for (size_t n = rng.Below(50); n > 0; --n) result.output += static_cast<char>(rng.Next());
  result.output_truncated = rng.Chance(0.5);
  if (rng.Chance(0.5)) {
    const auto number = [&rng] { return static_cast<int64_t>(rng.Below(uint64_t{1} << 50)); };
    result.usage = {number(), number(), number(), number()};
  }
  if (rng.Chance(0.3)) result.limits_not_enforced = {"memory_mb", "pids"};
  if (rng.Chance(0.3)) result.http_status = static_cast<int>(100 + rng.Below(500));
  if (rng.Chance(0.3)) result.retry_after = std::chrono::seconds(rng.Below(3601));
  if (rng.Chance(0.3)) result.error_code = "ValueError";
  result.no_retry = rng.Chance(0.3);
  const bool exited = result.exit_code &&
                      (result.state == RunState::kCompleted || result.state == RunState::kFailed);
  for (size_t n = exited ? rng.Below(5) : 0; n > 0; --n) {
    result.outputs["n" + std::to_string(n)] = RandomText(rng, 20);
  }
  return message;
}

inline std::vector<UpstreamWait> RandomWaits(Rng& rng) {
  std::vector<UpstreamWait> waits;
  for (size_t n = rng.Below(3); n > 0; --n) {
    UpstreamWait& wait = waits.emplace_back(
        UpstreamWait{.job = JobId("load-" + std::to_string(n)),
                     .in = JobId(rng.Chance(0.3) ? "nightly" : ""),
                     .on = rng.Chance(0.5) ? AfterOutcome::kSuccess : AfterOutcome::kDone,
                     .which = static_cast<WaitWhich>(rng.Below(2))});
    if (rng.Chance(0.5)) {
      wait.window.day = -static_cast<int>(rng.Below(32));
    } else {
      wait.window.back_s = static_cast<int64_t>(1 + rng.Below(2'678'400));
      wait.window.ahead_s = static_cast<int64_t>(rng.Below(604'801));
    }
  }
  return waits;
}

// A job that ValidateJob accepts.
inline JobDefinition RandomJob(Rng& rng) {
  constexpr std::string_view kZones[] = {"UTC", "Europe/Paris", "Asia/Shanghai"};
  constexpr std::string_view kCrons[] = {"*/5 * * * *", "0 30 2 * * 1-5", "@hourly", "0 0 1 1 *"};
  JobDefinition job{.name = "n" + RandomLine(rng, 20),
                    .command = "echo " + RandomText(rng, 30),
                    .time_zone = std::string(kZones[rng.Below(3)]),
                    .timeout_s = static_cast<int64_t>(1 + rng.Below(604'800)),
                    .kill_grace_s = static_cast<int64_t>(rng.Below(3'601)),
                    .queue_timeout_s = static_cast<int64_t>(rng.Below(3'601)),
                    .retry_count = static_cast<int64_t>(rng.Below(101)),
                    .retry_interval_s = static_cast<int64_t>(rng.Below(86'401)),
                    .retry_backoff = static_cast<RetryBackoff>(rng.Below(2)),
                    .on_lost = static_cast<OnLost>(rng.Below(3)),
                    .pause_after_failures = static_cast<int64_t>(rng.Below(101)),
                    .priority = static_cast<int>(rng.Below(101)),
                    .enabled = rng.Chance(0.5),
                    .misfire_policy = static_cast<MisfirePolicy>(rng.Below(3)),
                    .misfire_grace_s = static_cast<int64_t>(rng.Below(86'401)),
                    .catch_up_window_s = static_cast<int64_t>(rng.Below(1'000'000)),
                    .catch_up_max = static_cast<int64_t>(1 + rng.Below(10'000)),
                    .overlap_policy = static_cast<OverlapPolicy>(rng.Below(6)),
                    .max_running = static_cast<int64_t>(1 + rng.Below(1'000)),
                    .queue_max = static_cast<int64_t>(1 + rng.Below(10'000)),
                    .concurrency_group = rng.Chance(0.5) ? "db" : "",
                    .dst_gap = static_cast<DstGap>(rng.Below(2)),
                    .dst_repeat = static_cast<DstRepeat>(rng.Below(4)),
                    .routing = static_cast<Routing>(rng.Below(4)),
                    .retention_days = static_cast<int64_t>(rng.Below(3'651)),
                    .description = RandomText(rng, 30),
                    .user_id = RandomName(rng)};
  for (size_t n = rng.Below(4); n > 0; --n) {
    constexpr ScheduleKind kKinds[] = {ScheduleKind::kCron,  ScheduleKind::kRate,
                                       ScheduleKind::kOnce,  ScheduleKind::kDelay,
                                       ScheduleKind::kAfter, ScheduleKind::kEvent};
    ScheduleSpec spec{.kind = kKinds[rng.Below(6)]};
    if (spec.kind == ScheduleKind::kCron) {
      spec.cron_expression = std::string(kCrons[rng.Below(4)]);
      spec.time_zone = std::string(kZones[rng.Below(3)]);
    } else if (spec.kind == ScheduleKind::kRate || spec.kind == ScheduleKind::kDelay) {
      spec.every = Duration(static_cast<int64_t>(1 + rng.Below(1'000'000)) * 1000);
      spec.start = FromUnixMicros(static_cast<int64_t>(rng.Below(4e15)));
    } else if (spec.kind == ScheduleKind::kAfter) {
      spec.upstream = "job-" + std::to_string(rng.Below(100));
      spec.on = static_cast<AfterOutcome>(rng.Below(3));
    } else if (spec.kind == ScheduleKind::kEvent) {
      spec.event_type = rng.Chance(0.5) ? "order.*" : "order.paid";
      if (rng.Chance(0.5)) spec.event_source = "shop";
      if (rng.Chance(0.5)) spec.filter = "data.n > 9 and data.region == 'eu'";
      if (rng.Chance(0.5)) spec.parameters["from_event"] = std::string("{{event.data.n}}");
    } else {
      spec.at = FromUnixMicros(static_cast<int64_t>(rng.Below(4e15)));
    }
    if (spec.kind == ScheduleKind::kCron || spec.kind == ScheduleKind::kRate) {
      if (rng.Chance(0.3)) spec.start = FromUnixMicros(static_cast<int64_t>(rng.Below(4e15)));
      if (rng.Chance(0.3)) spec.end = spec.start + Duration(rng.Below(4'000'000'000'000'000));
      if (rng.Chance(0.3)) spec.jitter = 1s * rng.Below(3'601);
    }
    job.schedules.push_back(spec);
  }
  if (!TakesSlots(job.overlap_policy) || EndsPrevious(job.overlap_policy)) job.max_running = 1;
  (rng.Chance(0.5) ? job.executor_id : job.executor_selector) = rng.Chance(0.5) ? "host-1" : "";
  for (size_t n = rng.Below(3); n > 0; --n) job.retry_intervals_s.push_back(1 + n);
  const ParameterValue values[] = {RandomText(rng, 9), static_cast<int64_t>(rng.Next()),
                                   static_cast<double>(rng.Below(1000)) / 8, rng.Chance(0.5)};
  for (size_t n = rng.Below(5); n > 0; --n) job.parameters[RandomName(rng)] = values[n - 1];
  for (size_t n = rng.Below(3); n > 0; --n) {
    ParameterRule rule{.type = static_cast<ParameterType>(n), .description = RandomText(rng, 9)};
    if (n == 1) rule.choices = {static_cast<int64_t>(rng.Next())};
    if (n == 2) rule.choices = {static_cast<double>(rng.Below(1000)) / 8};
    rule.required = job.schedules.empty() && rng.Chance(0.5);
    job.parameter_rules["rule_" + RandomName(rng)] = rule;
  }
  for (size_t n = rng.Below(3); n > 0; --n) job.env[RandomName(rng)] = RandomText(rng, 9);
  if (rng.Chance(0.5)) {
    job.limits = Limits{.memory_mb = static_cast<int64_t>(4 + rng.Below(1000)),
                        .cpu = static_cast<double>(rng.Below(8)) / 4,
                        .file_size_mb = static_cast<int64_t>(rng.Below(100)),
                        .enforce = static_cast<Enforce>(rng.Below(2))};
  }
  job.waits_for = RandomWaits(rng);
  if (WaitsForOthers(job)) job.wait_limit_s = static_cast<int64_t>(60 + rng.Below(604'741));
  if (rng.Chance(0.3)) job.run_as = "alice";
  if (rng.Chance(0.3)) job.working_directory = "/srv/" + RandomName(rng);
  if (rng.Chance(0.3)) job.output_encoding = "Shift_JIS";
  for (size_t n = rng.Below(3); n > 0; --n) job.labels[RandomName(rng)] = RandomName(rng);
  return job;
}

}  // namespace carillon::test
