#include "common/wire/json/job/schedule_json.h"

#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/wire/json/job/parameter_rules_json.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using json_value::Read;
using json_value::ReadSeconds;
using nlohmann::json;

constexpr int64_t kMicrosPerMilli = 1000;
constexpr int64_t kInSecondsMax = 31'536'000;  // a year of 365 days

template <typename Enum>
Status ReadNameOf(const json& value, const std::string& pointer, Enum& out) {
  if (!value.is_string()) return InvalidAt(pointer, "must be a string");
  const auto parsed = ParseName<Enum>(value.get_ref<const std::string&>());
  if (!parsed.ok()) return InvalidAt(pointer, parsed.error().message);
  out = *parsed;
  return {};
}

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
  if (name == "parameters") return ReadParameterValues(value, pointer, spec.parameters);
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
    if (name == "on") return ReadNameOf(value, pointer, spec.on);
  }
  if (spec.kind == ScheduleKind::kEvent) {
    if (name == "type") return Read(value, pointer, spec.event_type);
    if (name == "source") return Read(value, pointer, spec.event_source);
    if (name == "filter") return Read(value, pointer, spec.filter);
  }
  return InvalidAt(pointer, "unknown field '" + std::string(name) + "' in a schedule of kind " +
                                std::string(Name(spec.kind)) +
                                DidYouMean(name, {"cron_expression", "time_zone", "every_ms",
                                                  "start_time", "end_time", "jitter_s", "calendar",
                                                  "blackout", "at", "in_s", "job", "on", "type",
                                                  "source", "filter", "parameters", "kind"}));
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

json WriteSchedule(const ScheduleSpec& spec) {
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
  if (!spec.parameters.empty()) out["parameters"] = WriteParameterValues(spec.parameters);
  return out;
}

}  // namespace

Status ReadSchedule(const json& value, const std::string& pointer, ScheduleSpec& spec) {
  if (!value.is_object()) return InvalidAt(pointer, "must be an object");
  const std::string kind_pointer = JsonPointer(pointer, "kind");
  if (!value.contains("kind")) return InvalidAt(kind_pointer, "is missing");
  CARILLON_TRY(ReadNameOf(value["kind"], kind_pointer, spec.kind));
  if (spec.kind == ScheduleKind::kManual) {
    return InvalidAt(
        kind_pointer,
        "must be cron, rate, once, delay, after or event; a manual job has no schedules");
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

Status ReadSchedules(const json& value, const std::string& pointer,
                     std::vector<ScheduleSpec>& out) {
  if (!value.is_array()) return InvalidAt(pointer, "must be a list");
  out.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    const Status read =
        ReadSchedule(value[i], JsonPointer(pointer, std::to_string(i)), out.emplace_back());
    if (read.ok()) continue;
    out.pop_back();  // half of it is read: the checks of the job would miss the other half
    return read;
  }
  return {};
}

json SchedulesToJson(const std::vector<ScheduleSpec>& schedules) {
  json out = json::array();
  for (const ScheduleSpec& spec : schedules) out.push_back(WriteSchedule(spec));
  return out;
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

}  // namespace carillon
