#include "cli/jobs/job_flags.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/terminal/session.h"
#include "common/domain/job/script.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

enum class Kind { kText, kTextList, kNumber, kSeconds, kSecondsList };

struct FieldFlag {
  const char* flag;
  const char* field;
  Kind kind;
  const char* help;
};

constexpr std::array kFieldFlags = {
    FieldFlag{"--name", "name", Kind::kText, "Display name"},
    FieldFlag{"--command", "command", Kind::kText, "Shell command to run"},
    FieldFlag{"--type", "type", Kind::kText,
              "Job type: shell (default), script, http, handler, container, workflow or noop"},
    FieldFlag{"--handler", "handler", Kind::kText,
              "Handler that runs the job, APP/NAME (type handler)"},
    FieldFlag{"--zone,--tz", "time_zone", Kind::kText,
              "IANA time zone of the schedules (default: UTC)"},
    FieldFlag{"--timeout", "timeout", Kind::kSeconds, "Maximum run time, e.g. 90s, 15m"},
    FieldFlag{"--kill-grace", "kill_grace", Kind::kSeconds,
              "Grace period between SIGTERM and SIGKILL"},
    FieldFlag{"--queue-timeout", "queue_timeout", Kind::kSeconds,
              "Maximum time in the queue; the run is then skipped"},
    FieldFlag{"--retry", "retry_count", Kind::kNumber, "Number of retries"},
    FieldFlag{"--retry-interval", "retry_interval", Kind::kSeconds, "Delay before a retry"},
    FieldFlag{"--retry-intervals", "retry_intervals", Kind::kSecondsList,
              "Delay before each retry, e.g. 1m,5m,10m; the last one repeats"},
    FieldFlag{"--retry-backoff", "retry_backoff", Kind::kText,
              "Growth of the retry delay: fixed or exponential"},
    FieldFlag{"--retry-on", "retry_on", Kind::kTextList,
              "Failures to retry, e.g. exit:75,exit:100-110,signal,oom,timeout,error:X; '' = all"},
    FieldFlag{"--no-retry-on", "no_retry_on", Kind::kTextList,
              "Failures not to retry, like --retry-on"},
    FieldFlag{"--on-lost", "on_lost", Kind::kText, "If the executor is lost: retry, fail or hold"},
    FieldFlag{"--presume-dead", "presume_dead_s", Kind::kSeconds,
              "Retry a handler this long after its executor was lost, even if it may still run"},
    FieldFlag{"--pause-after-failures", "pause_after_failures", Kind::kNumber,
              "Pause the job after so many failed runs in a row (0: never)"},
    FieldFlag{"--priority", "priority", Kind::kNumber,
              "Priority, 0 to 100; a higher priority starts first"},
    FieldFlag{"--misfire", "misfire_policy", Kind::kText,
              "Missed fires to catch up: skip, latest or all"},
    FieldFlag{"--misfire-grace", "misfire_grace", Kind::kSeconds, "Misfire grace period"},
    FieldFlag{"--catch-up-window", "catch_up_window", Kind::kSeconds,
              "How far back missed fires are caught up"},
    FieldFlag{"--catch-up-max", "catch_up_max", Kind::kNumber, "Max. missed fires to catch up"},
    FieldFlag{"--overlap", "overlap_policy", Kind::kText,
              "If a run is still active: allow, skip, queue_one, queue_all, cancel_previous or "
              "terminate_previous"},
    FieldFlag{"--max-running", "max_running", Kind::kNumber,
              "Max. active runs, with --overlap skip, queue_one or queue_all"},
    FieldFlag{"--queue-max", "queue_max", Kind::kNumber,
              "Max. waiting runs, with --overlap queue_all"},
    FieldFlag{"--group", "concurrency_group", Kind::kText,
              "Concurrency group, whose limit its jobs share; '' = none"},
    FieldFlag{"--dst-gap", "dst_gap", Kind::kText,
              "Local time that does not exist (DST): fire or skip"},
    FieldFlag{"--dst-repeat", "dst_repeat", Kind::kText,
              "Local time that occurs twice (DST): auto, both, early or late"},
    FieldFlag{"--routing", "routing", Kind::kText,
              "Choice of executor: round_robin, random, least_loaded, first_healthy, weighted or "
              "consistent_hash"},
    FieldFlag{"--routing-key", "routing_key", Kind::kText,
              "Runs with the same key go to the same executor, with --routing consistent_hash"},
    FieldFlag{"--executor", "executor_id", Kind::kText, "Run on this executor only"},
    FieldFlag{"--selector", "executor_selector", Kind::kText,
              "Run on executors with matching labels, e.g. 'zone = a, !spare'"},
    FieldFlag{"--run-as", "run_as", Kind::kText,
              "User of the executor's host as whom it runs; '' = the executor's own"},
    FieldFlag{
        "--working-directory", "working_directory", Kind::kText,
        "Directory in which it begins: absolute, ~ or ~/…; '' = a fresh one for each attempt"},
    FieldFlag{"--output-encoding", "output_encoding", Kind::kText,
              "Character set of its output, e.g. gb18030 or shift_jis; '' = UTF-8"},
    FieldFlag{"--retention-days", "retention_days", Kind::kNumber,
              "Days to keep its runs, if fewer than configured (0: as configured)"},
    FieldFlag{"--description", "description", Kind::kText, "Description"},
    FieldFlag{"--namespace", "namespace", Kind::kText, "Namespace (default: default)"},
    FieldFlag{"--user", "user_id", Kind::kText, "Owner (default: you)"},
};

Error BadFlag(const FieldFlag& flag, const std::string& what) {
  return {ErrorCode::kInvalid, std::string(flag.flag) + ": " + what};
}

Result<json> SecondsOf(const FieldFlag& flag, const std::string& text) {
  CARILLON_ASSIGN_OR_RETURN(const int64_t seconds, WholeSecondsOf(flag.flag, text));
  return json(seconds);
}

Result<json> ValueOf(const FieldFlag& flag, const std::string& text) {
  if (flag.kind == Kind::kText) return json(text);
  if (flag.kind == Kind::kSeconds) return SecondsOf(flag, text);
  if (flag.kind == Kind::kNumber) {
    json number = ParameterOf(text);
    if (!number.is_number_integer()) return BadFlag(flag, "must be a whole number");
    return number;
  }
  json list = json::array();
  if (flag.kind == Kind::kTextList && text.empty()) return list;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    json one = text.substr(at, comma - at);
    if (flag.kind == Kind::kSecondsList) {
      CARILLON_ASSIGN_OR_RETURN(one, SecondsOf(flag, one.get<std::string>()));
    }
    list.push_back(std::move(one));
    at = comma + 1;
  }
  return list;
}

// True if a flag was given that adds a field to the schedules of --cron and --every only.
bool LimitsFires(const JobFlags& flags) {
  return !flags.end_time.empty() || !flags.jitter.empty() || !flags.calendar.empty() ||
         !flags.blackout.empty();
}

// The fields that --start-time, --end-time, --jitter, --calendar and --blackout add to cron and
// rate schedules.
Result<json> RepeatedFieldsOf(const JobFlags& flags) {
  json fields = json::object();
  if (!flags.start_time.empty()) fields["start_time"] = flags.start_time;
  if (!flags.end_time.empty()) fields["end_time"] = flags.end_time;
  for (const auto& [name, time] : fields.items()) {
    CARILLON_TRY(ParseRfc3339(time.get<std::string>()));
  }
  if (!flags.jitter.empty()) {
    CARILLON_ASSIGN_OR_RETURN(fields["jitter_s"], WholeSecondsOf("--jitter", flags.jitter));
  }
  if (!flags.calendar.empty()) fields["calendar"] = flags.calendar;
  if (!flags.blackout.empty()) fields["blackout"] = flags.blackout;
  const bool repeated = !flags.crons.empty() || !flags.rates.empty();
  if (!repeated && LimitsFires(flags)) {
    return {ErrorCode::kInvalid,
            "--end-time, --jitter, --calendar and --blackout need --cron or --every"};
  }
  if (!repeated && flags.pauses.empty() && !flags.start_time.empty()) {
    return {ErrorCode::kInvalid, "--start-time needs --cron, --every or --delay"};
  }
  return fields;
}

Result<json> SchedulesOf(const JobFlags& flags) {
  CARILLON_ASSIGN_OR_RETURN(const json repeated, RepeatedFieldsOf(flags));
  json schedules = json::array();
  for (const std::string& cron : flags.crons) {
    schedules.push_back({{"kind", "cron"}, {"cron_expression", cron}});
    schedules.back().update(repeated);
  }
  for (const std::string& rate : flags.rates) {
    CARILLON_ASSIGN_OR_RETURN(const Duration every, ParseDuration(rate));
    schedules.push_back({{"kind", "rate"}, {"every_ms", every.count() / 1000}});
    schedules.back().update(repeated);
  }
  for (const std::string& pause : flags.pauses) {
    CARILLON_ASSIGN_OR_RETURN(const Duration every, ParseDuration(pause));
    schedules.push_back({{"kind", "delay"}, {"every_ms", every.count() / 1000}});
    if (!flags.start_time.empty()) schedules.back()["start_time"] = flags.start_time;
  }
  for (const std::string& at : flags.instants) {
    CARILLON_TRY(ParseRfc3339(at));
    schedules.push_back({{"kind", "once"}, {"at", at}});
  }
  for (const std::string& delay : flags.delays) {
    CARILLON_ASSIGN_OR_RETURN(const int64_t in_s, WholeSecondsOf("--in", delay));
    schedules.push_back({{"kind", "once"}, {"in_s", in_s}});
  }
  if (flags.upstream.empty() && !flags.outcome.empty()) {
    return {ErrorCode::kInvalid, "--on needs --after"};
  }
  for (const std::string& job : flags.upstream) {
    schedules.push_back({{"kind", "after"}, {"job", job}});
    if (!flags.outcome.empty()) schedules.back()["on"] = flags.outcome;
  }
  CARILLON_TRY(AddEventSchedules(flags.events, schedules));
  return schedules;
}

bool NamesContainer(const JobFlags& flags) {
  return !flags.image.empty() || !flags.entrypoint.empty() || !flags.network.empty() ||
         !flags.pull.empty() || !flags.container_user.empty() || flags.read_only;
}

bool IsContainerJob(const JobFlags& flags, const json& body) {
  const auto given = flags.fields.find("type");
  const std::string type = given != flags.fields.end() ? given->second : body.value("type", "");
  return NamesContainer(flags) || type == "container";
}

// A part of the container that no flag names stays as it is in `body`.
void ApplyContainerFlags(const JobFlags& flags, json& body) {
  if (!flags.image.empty() && !flags.fields.contains("type")) body["type"] = "container";
  for (const auto& [name, text] :
       {std::pair("image", &flags.image), std::pair("network", &flags.network),
        std::pair("pull", &flags.pull), std::pair("user", &flags.container_user)}) {
    if (!text->empty()) body["container"][name] = *text;
  }
  if (!flags.entrypoint.empty()) body["container"]["command"] = flags.entrypoint;
  if (!flags.args.empty() && IsContainerJob(flags, body)) body["container"]["args"] = flags.args;
  if (flags.read_only) body["container"]["read_only"] = true;
}

// A part of the script that no flag names stays as it is in `body`.
Status ApplyScriptFlags(const JobFlags& flags, json& body) {
  if (!flags.script_file.empty()) {
    if (!std::filesystem::is_regular_file(flags.script_file)) {
      return {ErrorCode::kInvalid, "--script: there is no file " + flags.script_file};
    }
    std::ifstream file(flags.script_file, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file || text.empty()) {
      return {ErrorCode::kInvalid,
              "--script: cannot read " + flags.script_file + ", or it is empty"};
    }
    body["type"] = "script";
    const auto interpreter = InterpreterOf(flags.script_file, text);
    if (interpreter) body["script"]["interpreter"] = Name(*interpreter);
    if (!interpreter && flags.interpreter.empty()) {
      return {ErrorCode::kInvalid,
              "--script: neither the first line nor the suffix names an interpreter; use "
              "--interpreter"};
    }
    body["script"]["body"] = std::move(text);
  }
  if (!flags.interpreter.empty()) body["script"]["interpreter"] = flags.interpreter;
  if (!flags.args.empty() && !IsContainerJob(flags, body)) body["script"]["args"] = flags.args;
  return {};
}

// A limit that no flag names stays as it is in `body`.
Status ApplyLimits(const JobFlags& flags, json& body) {
  CARILLON_ASSIGN_OR_RETURN(const auto limits, ParsePairs(flags.limits));
  for (const auto& [name, value] : limits) body["limits"][name] = ParameterOf(value);
  return {};
}

bool NamesSchedules(const JobFlags& flags) {
  return flags.manual || !flags.crons.empty() || !flags.rates.empty() || !flags.instants.empty() ||
         !flags.delays.empty() || !flags.pauses.empty() || !flags.upstream.empty() ||
         !flags.outcome.empty() || !flags.events.empty() || !flags.start_time.empty() ||
         LimitsFires(flags);
}

}  // namespace

bool JobFlags::empty() const {
  return fields.empty() && !NamesSchedules(*this) && parameters.empty() && env.empty() &&
         labels.empty() && script_file.empty() && interpreter.empty() && args.empty() &&
         !NamesContainer(*this) && limits.empty() && http.empty() && fan_out.empty() &&
         waits.empty() && !paused;
}

json ParameterOf(const std::string& text) {
  const json value = json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : json(text);
}

void AddJobFlags(CLI::App* verb, JobFlags& flags) {
  for (const FieldFlag& flag : kFieldFlags) {
    verb->add_option_function<std::string>(
        flag.flag,
        [&flags, field = flag.field](const std::string& text) { flags.fields[field] = text; },
        flag.help);
  }
  const auto repeated = [&](const char* name, std::vector<std::string>& into, const char* help) {
    return verb->add_option(name, into, help)->allow_extra_args(false);
  };
  CLI::Option* cron = repeated("--cron", flags.crons, "Cron expression, 5 to 7 fields; repeatable");
  CLI::Option* every =
      repeated("--every", flags.rates, "Fixed interval, e.g. 500ms, 30s, 1h; repeatable");
  CLI::Option* at = repeated("--at", flags.instants, "Once, at an RFC 3339 time; repeatable");
  CLI::Option* in = repeated("--in", flags.delays, "Once, after this time, e.g. 90m; repeatable");
  CLI::Option* pause = repeated("--delay", flags.pauses,
                                "This long after the end of the last run, e.g. 10s; repeatable");
  CLI::Option* after =
      repeated("--after", flags.upstream, "After each run of this job, by its ID; repeatable");
  CLI::Option* on =
      verb->add_option("--on", flags.outcome,
                       "Result after which --after starts: success (default), failure or done");
  after->check(NotEmpty);
  on->check(CLI::IsMember({"success", "failure", "done"}));
  CLI::Option* event = AddEventFlags(verb, flags.events);
  CLI::Option* start =
      verb->add_option("--start-time", flags.start_time,
                       "RFC 3339 time before which --cron, --every and --delay do not fire");
  CLI::Option* end = verb->add_option("--end-time", flags.end_time,
                                      "RFC 3339 time from which --cron and --every do not fire");
  CLI::Option* jitter =
      verb->add_option("--jitter", flags.jitter,
                       "Start each run of --cron and --every up to this much later, e.g. 5m");
  CLI::Option* calendar = verb->add_option("--calendar", flags.calendar,
                                           "Calendar outside which --cron and --every do not fire");
  CLI::Option* blackout = verb->add_option("--blackout", flags.blackout,
                                           "Calendar within which --cron and --every do not fire");
  calendar->check(NotEmpty);
  blackout->check(NotEmpty);
  verb->add_option("--script", flags.script_file, "File with the script of the job (type script)")
      ->check(NotEmpty);
  verb->add_option("--interpreter", flags.interpreter,
                   "Program that runs the script; by default that of its first line or suffix")
      ->check(NotEmpty);
  repeated("--arg", flags.args, "Argument of the script or the container; repeatable");
  verb->add_option("--image", flags.image, "Image of the container (type container)")
      ->check(NotEmpty);
  repeated("--entrypoint", flags.entrypoint,
           "Program of the container, and its first arguments; repeatable");
  verb->add_option("--network", flags.network, "Network of the container: bridge (default) or none")
      ->check(NotEmpty);
  verb->add_option("--pull", flags.pull,
                   "When to fetch the image: missing (default), always or never")
      ->check(NotEmpty);
  verb->add_option("--container-user", flags.container_user, "User in the container")
      ->check(NotEmpty);
  verb->add_flag("--read-only", flags.read_only, "Make the container's root file system read-only");
  repeated(
      "--limit", flags.limits,
      "Limit, name=value: memory_mb, cpu, pids, open_files, file_size_mb, or enforce; repeatable");
  AddHttpFlags(verb, flags.http);
  AddFanOutFlags(verb, flags.fan_out);
  AddWaitsFlags(verb, flags.waits);
  repeated("--param", flags.parameters, "Parameter, name=value; repeatable");
  repeated("--env", flags.env, "Environment variable, NAME=value; repeatable");
  repeated("--label", flags.labels, "Label, name=value; repeatable");
  verb->add_flag("--manual", flags.manual, "No schedule: run only manually")
      ->excludes(cron, every, at, in, pause, after, on, event, start, end, jitter, calendar,
                 blackout);
  verb->add_flag("--paused", flags.paused, "Pause the job");
}

Result<json> ApplyJobFlags(const JobFlags& flags, json body, FlagsBody form) {
  if (!body.is_object())
    return {ErrorCode::kInvalid, "a job must be a mapping of field names to values"};
  for (const FieldFlag& flag : kFieldFlags) {
    const auto given = flags.fields.find(flag.field);
    if (given == flags.fields.end()) continue;
    CARILLON_ASSIGN_OR_RETURN(body[flag.field], ValueOf(flag, given->second));
  }
  if (NamesSchedules(flags)) {
    CARILLON_ASSIGN_OR_RETURN(body["schedules"], SchedulesOf(flags));
    body.erase("cron_expression");
  }
  CARILLON_TRY(ApplyScriptFlags(flags, body));
  ApplyContainerFlags(flags, body);
  CARILLON_TRY(ApplyLimits(flags, body));
  CARILLON_TRY(ApplyHttpFlags(flags.http, body));
  CARILLON_TRY(ApplyFanOutFlags(flags.fan_out, form, body));
  CARILLON_TRY(ApplyWaitsFlags(flags.waits, form, body));
  if (flags.fields.contains("handler") && !flags.fields.contains("type")) body["type"] = "handler";
  CARILLON_ASSIGN_OR_RETURN(const auto parameters, ParsePairs(flags.parameters));
  CARILLON_ASSIGN_OR_RETURN(const auto env, ParsePairs(flags.env));
  CARILLON_ASSIGN_OR_RETURN(const auto labels, ParsePairs(flags.labels));
  for (const auto& [name, value] : parameters) body["parameters"][name] = ParameterOf(value);
  for (const auto& [name, value] : env) body["env"][name] = value;
  for (const auto& [name, value] : labels) body["labels"][name] = value;
  if (flags.paused) body["enabled"] = false;
  return body;
}

}  // namespace carillon::cli
