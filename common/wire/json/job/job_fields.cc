#include "common/wire/json/job/job_fields.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/domain/line_ends.h"
#include "common/wire/json/job/container_json.h"
#include "common/wire/json/job/fan_out_json.h"
#include "common/wire/json/job/http_json.h"
#include "common/wire/json/job/isolation_json.h"
#include "common/wire/json/job/parameter_rules_json.h"
#include "common/wire/json/job/script_json.h"
#include "common/wire/json/job/waits_json.h"
#include "common/wire/json/job/workflow_json.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"
#include "common/wire/json/notify_json.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr int64_t kMicrosPerMilli = 1000;
constexpr int64_t kInSecondsMax = 31'536'000;  // a year of 365 days

// ---- values ------------------------------------------------------------------------------------

using json_value::Read;

Status Read(const json& value, const std::string& pointer, ParameterValue& out) {
  return ReadParameterValue(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, ParameterRule& out) {
  return ReadParameterRule(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, std::optional<WorkflowDefinition>& out) {
  return ReadWorkflowField(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, std::optional<ScriptDefinition>& out) {
  return ReadScript(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, std::optional<HttpDefinition>& out) {
  return ReadHttp(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer,
            std::optional<ContainerDefinition>& out) {
  return ReadContainer(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, std::optional<Limits>& out) {
  return ReadLimits(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, std::optional<Shards>& out) {
  return ReadShards(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, std::optional<Broadcast>& out) {
  return ReadBroadcast(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, std::vector<UpstreamWait>& out) {
  return ReadWaits(value, pointer, out);
}

template <typename Enum>
Status ReadEnum(const json& value, const std::string& pointer, Enum& out) {
  if (!value.is_string()) return InvalidAt(pointer, "must be a string");
  const auto parsed = ParseName<Enum>(value.get_ref<const std::string&>());
  if (!parsed.ok()) return InvalidAt(pointer, parsed.error().message);
  out = *parsed;
  return {};
}

template <typename Value>
Status Read(const json& value, const std::string& pointer, std::map<std::string, Value>& out) {
  if (!value.is_object()) return InvalidAt(pointer, "must be an object");
  out.clear();
  for (const auto& [name, entry] : value.items()) {
    if (std::is_same_v<Value, std::string> && (entry.is_number() || entry.is_boolean())) {
      // Without the value: what was 1.10 or 0755 in a file is 1.1 and 755 here.
      return InvalidAt(JsonPointer(pointer, name),
                       "must be a string; put it in quotes as it is written");
    }
    CARILLON_TRY(Read(entry, JsonPointer(pointer, name), out[name]));
  }
  return {};
}

// Refuses texts such as "2h" with a message that names the unit.
template <typename Whole>
Status ReadSeconds(const json& value, const std::string& pointer, Whole& out) {
  if (value.is_string()) {
    return InvalidAt(pointer, "must be a whole number of seconds, e.g. 7200 for two hours");
  }
  return Read(value, pointer, out);
}

Status ReadSeconds(const json& value, const std::string& pointer, std::vector<int64_t>& out) {
  if (!value.is_array()) return InvalidAt(pointer, "must be a list");
  out.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    CARILLON_TRY(
        ReadSeconds(value[i], JsonPointer(pointer, std::to_string(i)), out.emplace_back()));
  }
  return {};
}

// ---- schedules ---------------------------------------------------------------------------------

Status ReadEvery(const json& value, const std::string& pointer, Duration& out) {
  constexpr int64_t kEveryMsMax = INT64_MAX / kMicrosPerMilli;  // the schedule's own bound is lower
  if (value.is_string()) {
    return InvalidAt(pointer,
                     "must be a whole number of milliseconds, e.g. 300000 for five minutes");
  }
  int64_t every_ms = 0;
  CARILLON_TRY(Read(value, pointer, every_ms));
  if (every_ms < -kEveryMsMax || every_ms > kEveryMsMax)
    return InvalidAt(pointer, "is out of range");
  out = Duration(every_ms * kMicrosPerMilli);
  return {};
}

Status ReadJitter(const json& value, const std::string& pointer, Duration& out) {
  constexpr int64_t kReadMax = INT64_MAX / kMicrosPerSecond;  // the schedule's own bound is lower
  int64_t jitter_s = 0;
  CARILLON_TRY(ReadSeconds(value, pointer, jitter_s));
  if (jitter_s < 0 || jitter_s > kReadMax) return InvalidAt(pointer, "is out of range");
  out = Duration(jitter_s * kMicrosPerSecond);
  return {};
}

// Reads a whole number of seconds that `in_s` may have.
Status ReadIn(const json& value, const std::string& pointer, int64_t& out) {
  CARILLON_TRY(ReadSeconds(value, pointer, out));
  if (out >= 1 && out <= kInSecondsMax) return {};
  return InvalidAt(pointer, "must be from 1 to " + std::to_string(kInSecondsMax) + " seconds");
}

// ResolveRelativeTimes has replaced each valid `in_s` where a request may have one.
Status RefuseIn(const json& schedule, const std::string& pointer) {
  if (schedule.contains("at")) {
    return Error{ErrorCode::kConflict, "at and in_s are both set; omit one of them", pointer};
  }
  int64_t in_s = 0;
  CARILLON_TRY(ReadIn(schedule["in_s"], pointer, in_s));
  return InvalidAt(pointer, "in_s is relative; write `at` in files");
}

Status ReadRepeatedField(std::string_view name, const json& value, const std::string& pointer,
                         ScheduleSpec& spec, bool* known) {
  *known = true;
  if (name == "start_time") return Read(value, pointer, spec.start);
  if (name == "end_time") return Read(value, pointer, spec.end);
  if (name == "jitter_s") return ReadJitter(value, pointer, spec.jitter);
  if (name == "calendar") return Read(value, pointer, spec.calendar);
  if (name == "blackout") return Read(value, pointer, spec.blackout);
  *known = false;
  return {};
}

Status ReadScheduleField(std::string_view name, const json& value, const std::string& pointer,
                         ScheduleSpec& spec) {
  // `kind` has been read before; only a GET sets `schedule_id`.
  if (name == "kind" || name == "schedule_id") return {};
  if (name == "parameters") return Read(value, pointer, spec.parameters);
  if (spec.kind == ScheduleKind::kCron) {
    if (name == "cron_expression") return Read(value, pointer, spec.cron_expression);
    if (name == "time_zone") return Read(value, pointer, spec.time_zone);
  }
  const bool delay = spec.kind == ScheduleKind::kDelay;
  if ((spec.kind == ScheduleKind::kRate || delay) && name == "every_ms") {
    return ReadEvery(value, pointer, spec.every);
  }
  if (delay && name == "start_time") return Read(value, pointer, spec.start);
  if (spec.kind == ScheduleKind::kCron || spec.kind == ScheduleKind::kRate) {
    bool known = false;
    CARILLON_TRY(ReadRepeatedField(name, value, pointer, spec, &known));
    if (known) return {};
  }
  if (spec.kind == ScheduleKind::kOnce && name == "at") return Read(value, pointer, spec.at);
  if (spec.kind == ScheduleKind::kAfter) {
    if (name == "job") return Read(value, pointer, spec.upstream);
    if (name == "on") return ReadEnum(value, pointer, spec.on);
  }
  if (spec.kind == ScheduleKind::kEvent) {
    if (name == "type") return Read(value, pointer, spec.event_type);
    if (name == "source") return Read(value, pointer, spec.event_source);
    if (name == "filter") return Read(value, pointer, spec.filter);
  }
  return InvalidAt(
      pointer, "unknown field '" + std::string(name) + "' in a schedule of kind " +
                   std::string(Name(spec.kind)) +
                   DidYouMean(name, {"cron_expression", "time_zone", "every_ms", "start_time",
                                     "end_time", "jitter_s", "calendar", "blackout", "at", "in_s",
                                     "job", "on", "parameters", "kind"}));
}

std::string_view RequiredField(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kCron: return "cron_expression";
    case ScheduleKind::kRate:
    case ScheduleKind::kDelay: return "every_ms";
    case ScheduleKind::kOnce: return "at";
    case ScheduleKind::kAfter: return "job";
    case ScheduleKind::kEvent: return "type";
    case ScheduleKind::kManual: break;
  }
  return "kind";
}

Status ReadSchedule(const json& value, const std::string& pointer, ScheduleSpec& spec) {
  if (!value.is_object()) return InvalidAt(pointer, "must be an object");
  const std::string kind_pointer = JsonPointer(pointer, "kind");
  if (!value.contains("kind")) return InvalidAt(kind_pointer, "is missing");
  CARILLON_TRY(ReadEnum(value["kind"], kind_pointer, spec.kind));
  if (spec.kind == ScheduleKind::kManual || spec.kind == ScheduleKind::kEvent) {
    return InvalidAt(kind_pointer,
                     "must be cron, rate, once, delay or after; a manual job has no schedules");
  }
  if (spec.kind == ScheduleKind::kOnce && value.contains("in_s")) {
    return RefuseIn(value, JsonPointer(pointer, "in_s"));
  }
  spec.time_zone.clear();  // empty until FillScheduleZones sets the zone
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(ReadScheduleField(name, entry, JsonPointer(pointer, name), spec));
  }
  const std::string_view required = RequiredField(spec.kind);
  if (!value.contains(required)) return InvalidAt(JsonPointer(pointer, required), "is missing");
  if (spec.kind == ScheduleKind::kCron && value.contains("time_zone") && spec.time_zone.empty()) {
    return InvalidAt(JsonPointer(pointer, "time_zone"), "must name a time zone");
  }
  return {};
}

Status Read(const json& value, const std::string& pointer, std::vector<ScheduleSpec>& out) {
  if (!value.is_array()) return InvalidAt(pointer, "must be a list");
  out.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    CARILLON_TRY(
        ReadSchedule(value[i], JsonPointer(pointer, std::to_string(i)), out.emplace_back()));
  }
  return {};
}

json Write(const std::map<std::string, ParameterValue>& parameters) {
  json out = json::object();
  for (const auto& [name, value] : parameters) {
    std::visit([&, &key = name](const auto& v) { out[key] = v; }, value);
  }
  return out;
}

// Fields with their defaults are left out, so that a version that does not know them can read the
// definitions that do not use them.
void WriteRepeated(const ScheduleSpec& spec, json& out) {
  if (spec.kind == ScheduleKind::kRate || spec.start != WallTime{}) {
    out["start_time"] = FormatRfc3339(spec.start);
  }
  if (spec.end != kNever) out["end_time"] = FormatRfc3339(spec.end);
  if (spec.jitter != Duration{}) out["jitter_s"] = spec.jitter.count() / kMicrosPerSecond;
  if (!spec.calendar.empty()) out["calendar"] = spec.calendar;
  if (!spec.blackout.empty()) out["blackout"] = spec.blackout;
}

json Write(const ScheduleSpec& spec) {
  json out{{"kind", Name(spec.kind)}};
  switch (spec.kind) {
    case ScheduleKind::kCron:
      out["cron_expression"] = spec.cron_expression;
      out["time_zone"] = spec.time_zone;
      WriteRepeated(spec, out);
      break;
    case ScheduleKind::kRate:
      out["every_ms"] = spec.every.count() / kMicrosPerMilli;
      WriteRepeated(spec, out);
      break;
    case ScheduleKind::kDelay:
      out["every_ms"] = spec.every.count() / kMicrosPerMilli;
      if (spec.start != WallTime{}) out["start_time"] = FormatRfc3339(spec.start);
      break;
    case ScheduleKind::kOnce: out["at"] = FormatRfc3339(spec.at); break;
    case ScheduleKind::kAfter:
      out["job"] = spec.upstream;
      out["on"] = Name(spec.on);
      break;
    case ScheduleKind::kEvent:
      out["type"] = spec.event_type;
      if (!spec.event_source.empty()) out["source"] = spec.event_source;
      if (!spec.filter.empty()) out["filter"] = spec.filter;
      break;
    case ScheduleKind::kManual: break;
  }
  if (!spec.parameters.empty()) out["parameters"] = Write(spec.parameters);
  return out;
}

Status Read(const json& value, const std::string& pointer, NotifyRules& out) {
  return ReadNotify(value, pointer, out);
}
json Write(const NotifyRules& rules) { return NotifyToJson(rules); }

// ---- the table ---------------------------------------------------------------------------------

template <typename T>
json Write(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return Name(value);
  } else if constexpr (std::is_same_v<T, std::optional<WorkflowDefinition>>) {
    return value ? WorkflowToJson(*value) : json(nullptr);
  } else if constexpr (std::is_same_v<T, std::optional<ScriptDefinition>>) {
    return value ? ScriptToJson(*value) : json(nullptr);
  } else if constexpr (std::is_same_v<T, std::optional<HttpDefinition>>) {
    return value ? HttpToJson(*value) : json(nullptr);
  } else if constexpr (std::is_same_v<T, std::optional<ContainerDefinition>>) {
    return value ? ContainerToJson(*value) : json(nullptr);
  } else if constexpr (std::is_same_v<T, std::optional<Limits>>) {
    return value ? LimitsToJson(*value) : json(nullptr);
  } else if constexpr (std::is_same_v<T, std::optional<Shards>>) {
    return value ? ShardsToJson(*value) : json(nullptr);
  } else if constexpr (std::is_same_v<T, std::optional<Broadcast>>) {
    return value ? BroadcastToJson(*value) : json(nullptr);
  } else {
    return value;
  }
}
json Write(const std::vector<ScheduleSpec>& schedules) {
  json out = json::array();
  for (const ScheduleSpec& spec : schedules) out.push_back(Write(spec));
  return out;
}

json Write(const std::vector<UpstreamWait>& waits) { return WaitsToJson(waits); }

json Write(const std::map<std::string, ParameterRule>& rules) { return WriteParameterRules(rules); }

struct Field {
  std::string_view name;
  Status (*read)(const json&, const std::string&, JobDefinition&);
  json (*write)(const JobDefinition&);
};

template <auto kMember>
constexpr Field SecondsEntry(std::string_view name) {
  return {name,
          [](const json& value, const std::string& pointer, JobDefinition& job) {
            return ReadSeconds(value, pointer, job.*kMember);
          },
          [](const JobDefinition& job) { return Write(job.*kMember); }};
}

template <auto kMember>
constexpr Field Entry(std::string_view name) {
  return {name,
          [](const json& value, const std::string& pointer, JobDefinition& job) -> Status {
            auto& member = job.*kMember;
            if constexpr (std::is_enum_v<std::remove_reference_t<decltype(member)>>) {
              return ReadEnum(value, pointer, member);
            } else {
              return Read(value, pointer, member);
            }
          },
          [](const JobDefinition& job) { return Write(job.*kMember); }};
}

using Job = JobDefinition;
constexpr std::array kFields = {
    Entry<&Job::name>("name"),
    Entry<&Job::type>("type"),
    Field{"command",
          [](const json& value, const std::string& pointer, Job& job) -> Status {
            CARILLON_TRY(Read(value, pointer, job.command));
            job.command = WithUnixLines(WithoutByteOrderMark(std::move(job.command)));
            return {};
          },
          [](const Job& job) { return Write(job.command); }},
    Entry<&Job::script>("script"),
    Entry<&Job::http>("http"),
    Entry<&Job::handler>("handler"),
    Entry<&Job::container>("container"),
    Entry<&Job::workflow>("workflow"),
    Entry<&Job::schedules>("schedules"),
    Entry<&Job::time_zone>("time_zone"),
    SecondsEntry<&Job::timeout_s>("timeout"),
    SecondsEntry<&Job::kill_grace_s>("kill_grace"),
    SecondsEntry<&Job::queue_timeout_s>("queue_timeout"),
    Entry<&Job::retry_count>("retry_count"),
    SecondsEntry<&Job::retry_interval_s>("retry_interval"),
    Entry<&Job::retry_backoff>("retry_backoff"),
    SecondsEntry<&Job::retry_intervals_s>("retry_intervals"),
    Entry<&Job::retry_on>("retry_on"),
    Entry<&Job::no_retry_on>("no_retry_on"),
    Entry<&Job::on_lost>("on_lost"),
    Entry<&Job::pause_after_failures>("pause_after_failures"),
    Entry<&Job::priority>("priority"),
    Entry<&Job::enabled>("enabled"),
    Entry<&Job::misfire_policy>("misfire_policy"),
    SecondsEntry<&Job::misfire_grace_s>("misfire_grace"),
    SecondsEntry<&Job::catch_up_window_s>("catch_up_window"),
    Entry<&Job::catch_up_max>("catch_up_max"),
    Entry<&Job::overlap_policy>("overlap_policy"),
    Entry<&Job::max_running>("max_running"),
    Entry<&Job::queue_max>("queue_max"),
    Entry<&Job::waits_for>("waits_for"),
    SecondsEntry<&Job::wait_limit_s>("wait_limit_s"),
    Entry<&Job::concurrency_group>("concurrency_group"),
    Entry<&Job::dst_gap>("dst_gap"),
    Entry<&Job::dst_repeat>("dst_repeat"),
    Entry<&Job::routing>("routing"),
    Entry<&Job::routing_key>("routing_key"),
    Entry<&Job::executor_id>("executor_id"),
    Entry<&Job::executor_selector>("executor_selector"),
    Entry<&Job::shards>("shards"),
    Entry<&Job::broadcast>("broadcast"),
    Entry<&Job::parameters>("parameters"),
    Entry<&Job::parameter_rules>("parameter_rules"),
    Entry<&Job::env>("env"),
    Entry<&Job::limits>("limits"),
    Entry<&Job::run_as>("run_as"),
    Entry<&Job::working_directory>("working_directory"),
    Entry<&Job::output_encoding>("output_encoding"),
    Entry<&Job::labels>("labels"),
    Entry<&Job::retention_days>("retention_days"),
    Entry<&Job::notify>("notify"),
    Entry<&Job::description>("description"),
    Entry<&Job::user_id>("user_id"),
    Entry<&Job::name_space>("namespace"),
};

}  // namespace

Result<bool> ReadJobField(std::string_view name, const json& value, JobDefinition& job) {
  for (const Field& field : kFields) {
    if (field.name != name) continue;
    CARILLON_TRY(field.read(value, JsonPointer("", name), job));
    return true;
  }
  return false;
}

std::vector<std::string_view> JobFieldNames() {
  std::vector<std::string_view> names = {"job_id", "cron_expression"};
  for (const Field& field : kFields) names.push_back(field.name);
  return names;
}

void ResolveRelativeTimes(json& body, WallTime now) {
  if (!body.is_object()) return;
  const auto schedules = body.find("schedules");
  if (schedules == body.end() || !schedules->is_array()) return;
  for (json& schedule : *schedules) {
    if (!schedule.is_object() || schedule.value("kind", json()) != Name(ScheduleKind::kOnce)) {
      continue;
    }
    int64_t in_s = 0;
    const bool relative = schedule.contains("in_s") && !schedule.contains("at");
    if (!relative || !ReadIn(schedule["in_s"], "", in_s).ok()) continue;
    schedule.erase("in_s");
    schedule["at"] = FormatRfc3339(now + std::chrono::seconds(in_s));
  }
}

void FillScheduleZones(JobDefinition& job) {
  for (ScheduleSpec& spec : job.schedules) {
    if (spec.kind != ScheduleKind::kCron) {
      spec.time_zone = ScheduleSpec{}.time_zone;
    } else if (spec.time_zone.empty()) {
      spec.time_zone = job.time_zone;
    }
  }
}

json DefinitionToJson(const JobDefinition& job) {
  json body = json::object();
  for (const Field& field : kFields) body[std::string(field.name)] = field.write(job);
  if (!job.script) body.erase("script");
  if (!job.http) body.erase("http");
  if (job.handler.empty()) body.erase("handler");
  if (!job.container) body.erase("container");
  if (job.routing_key.empty()) body.erase("routing_key");
  if (!job.workflow) body.erase("workflow");
  if (!job.limits) body.erase("limits");
  if (!job.shards) body.erase("shards");
  if (!job.broadcast) body.erase("broadcast");
  if (job.pause_after_failures == 0) body.erase("pause_after_failures");
  if (job.waits_for.empty()) body.erase("waits_for");
  if (job.wait_limit_s == 0) body.erase("wait_limit_s");
  if (job.run_as.empty()) body.erase("run_as");
  if (job.working_directory.empty()) body.erase("working_directory");
  if (job.output_encoding.empty()) body.erase("output_encoding");
  return body;
}

}  // namespace carillon
