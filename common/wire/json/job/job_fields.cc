#include "common/wire/json/job/job_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/domain/line_ends.h"
#include "common/wire/json/job/container_json.h"
#include "common/wire/json/job/fan_out_json.h"
#include "common/wire/json/job/http_json.h"
#include "common/wire/json/job/isolation_json.h"
#include "common/wire/json/job/parameter_rules_json.h"
#include "common/wire/json/job/schedule_json.h"
#include "common/wire/json/job/script_json.h"
#include "common/wire/json/job/waits_json.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"
#include "common/wire/json/notify_json.h"
#include "common/wire/json/workflow/workflow_json.h"

namespace carillon {
namespace {

using nlohmann::json;

// ---- values ------------------------------------------------------------------------------------

using json_value::Read;
using json_value::ReadSeconds;

Status Read(const json& value, const std::string& pointer,
            std::map<std::string, ParameterValue>& out) {
  return ReadParameterValues(value, pointer, out);
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

Status Read(const json& value, const std::string& pointer, NotifyRules& out) {
  return ReadNotify(value, pointer, out);
}

Status Read(const json& value, const std::string& pointer, std::vector<ScheduleSpec>& out) {
  return ReadSchedules(value, pointer, out);
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

Status ReadSeconds(const json& value, const std::string& pointer, std::vector<int64_t>& out) {
  if (!value.is_array()) return InvalidAt(pointer, "must be a list");
  out.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    CARILLON_TRY(
        ReadSeconds(value[i], JsonPointer(pointer, std::to_string(i)), out.emplace_back()));
  }
  return {};
}

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
json Write(const std::vector<ScheduleSpec>& schedules) { return SchedulesToJson(schedules); }

json Write(const NotifyRules& rules) { return NotifyToJson(rules); }

json Write(const std::vector<UpstreamWait>& waits) { return WaitsToJson(waits); }

json Write(const std::map<std::string, ParameterValue>& values) {
  return WriteParameterValues(values);
}

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
    SecondsEntry<&Job::presume_dead_s>("presume_dead_s"),
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

json JobFieldToJson(std::string_view name, const JobDefinition& job) {
  const auto field = std::ranges::find(kFields, name, &Field::name);
  CARILLON_CHECK(field != kFields.end(), name);
  return field->write(job);
}

std::vector<std::string_view> JobFieldNames() {
  std::vector<std::string_view> names = {"job_id", "cron_expression"};
  for (const Field& field : kFields) names.push_back(field.name);
  return names;
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
  if (job.presume_dead_s == 0) body.erase("presume_dead_s");
  if (job.pause_after_failures == 0) body.erase("pause_after_failures");
  if (job.waits_for.empty()) body.erase("waits_for");
  if (job.wait_limit_s == 0) body.erase("wait_limit_s");
  if (job.run_as.empty()) body.erase("run_as");
  if (job.working_directory.empty()) body.erase("working_directory");
  if (job.output_encoding.empty()) body.erase("output_encoding");
  return body;
}

}  // namespace carillon
