#include "common/wire/json/workflow/node_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/nearest.h"
#include "common/domain/job/job.h"
#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr size_t kNameShownMax = 64;

// The fields of a job that a task has: the work, and how it is run and repeated. Everything else is
// that of the workflow, or of the node.
constexpr std::array<std::string_view, 27> kTaskFields = {"type",
                                                          "command",
                                                          "script",
                                                          "http",
                                                          "handler",
                                                          "container",
                                                          "timeout",
                                                          "kill_grace",
                                                          "retry_count",
                                                          "retry_interval",
                                                          "retry_backoff",
                                                          "retry_intervals",
                                                          "retry_on",
                                                          "no_retry_on",
                                                          "on_lost",
                                                          "presume_dead_s",
                                                          "priority",
                                                          "concurrency_group",
                                                          "routing",
                                                          "routing_key",
                                                          "executor_id",
                                                          "executor_selector",
                                                          "env",
                                                          "limits",
                                                          "run_as",
                                                          "working_directory",
                                                          "output_encoding"};

struct Rule {
  std::string_view name;  // also of the job's field
  void (*take)(const JobDefinition& from, RunRules& to);
  bool (*give)(const RunRules& from, JobDefinition& to);  // false: not set
};

template <auto kRule, auto kField>
constexpr Rule Entry(std::string_view name) {
  return {name, [](const JobDefinition& from, RunRules& to) { to.*kRule = from.*kField; },
          [](const RunRules& from, JobDefinition& to) {
            if (from.*kRule) to.*kField = *(from.*kRule);
            return (from.*kRule).has_value();
          }};
}

using Job = JobDefinition;
constexpr std::array kRules = {
    Entry<&RunRules::timeout_s, &Job::timeout_s>("timeout"),
    Entry<&RunRules::retry_count, &Job::retry_count>("retry_count"),
    Entry<&RunRules::retry_interval_s, &Job::retry_interval_s>("retry_interval"),
    Entry<&RunRules::retry_backoff, &Job::retry_backoff>("retry_backoff"),
    Entry<&RunRules::retry_intervals_s, &Job::retry_intervals_s>("retry_intervals"),
    Entry<&RunRules::retry_on, &Job::retry_on>("retry_on"),
    Entry<&RunRules::no_retry_on, &Job::no_retry_on>("no_retry_on"),
    Entry<&RunRules::on_lost, &Job::on_lost>("on_lost"),
    Entry<&RunRules::executor_id, &Job::executor_id>("executor_id"),
    Entry<&RunRules::executor_selector, &Job::executor_selector>("executor_selector"),
    Entry<&RunRules::concurrency_group, &Job::concurrency_group>("concurrency_group"),
    Entry<&RunRules::priority, &Job::priority>("priority"),
};

Error Below(const std::string& pointer, Error error) {
  error.pointer = pointer + error.pointer;
  return error;
}

Error Unknown(const std::string& name, const std::string& pointer, std::string_view where,
              const std::vector<std::string_view>& known) {
  const std::string shown = name.substr(0, kNameShownMax);
  return InvalidAt(JsonPointer(pointer, name), fmt::format("unknown field '{}' in {}{}", shown,
                                                           where, DidYouMean(shown, known)));
}

// Says where a field of a job that a task does not have belongs.
std::string_view PlaceOf(std::string_view field) {
  if (field == "parameters") return "set parameters on the node, beside task";
  if (field == "workflow") return "a node runs another workflow by the name of its job";
  if (field == "shards" || field == "broadcast") return "use over of the node, or a job";
  return "set it on the workflow";
}

Error NotOfTask(const std::string& name, const std::string& pointer) {
  const auto fields = JobFieldNames();
  if (std::ranges::find(fields, name) == fields.end()) {
    return Unknown(name, pointer, "a task", {kTaskFields.begin(), kTaskFields.end()});
  }
  return InvalidAt(JsonPointer(pointer, name),
                   fmt::format("a task has no field '{}'; {}", name, PlaceOf(name)));
}

// In YAML, a name without a value is null; a request would run without asking again.
bool HasEmptyPoll(const json& task) {
  const json::json_pointer poll("/http/poll");
  return task.contains(poll) && task.at(poll).is_null();
}

// Calls `read` with each member, its name and its pointer.
template <typename Read>
NodeMistakes ReadMembers(const json& value, const std::string& pointer, const Read& read) {
  if (!value.is_object()) return {InvalidAt(pointer, "must be an object")};
  NodeMistakes mistakes;
  for (const auto& [name, entry] : value.items()) {
    const Status status = read(name, entry, JsonPointer(pointer, name));
    if (!status.ok()) mistakes.push_back(status.error());
  }
  return mistakes;
}

Status ReadOnTimeout(const json& value, const std::string& pointer, bool& approves) {
  if (value != "refuse" && value != "approve") {
    return InvalidAt(pointer, "must be refuse or approve");
  }
  approves = value == "approve";
  return {};
}

Status ReadUntil(const json& value, const std::string& pointer, std::string& out) {
  // In YAML, 06:30 may be a number.
  if (!value.is_string()) {
    return InvalidAt(pointer, "must be a string; put the time in quotes, e.g. \"06:30\"");
  }
  return json_value::Read(value, pointer, out);
}

}  // namespace

NodeMistakes ReadTask(const json& value, const std::string& pointer, UnknownFields unknown,
                      TaskBox& out) {
  JobDefinition task;
  if (value.is_string()) {
    const auto read = ReadJobField("command", value, task);
    out = TaskBox(std::move(task));
    return read.ok() ? NodeMistakes() : NodeMistakes{Below(pointer, read.error())};
  }
  NodeMistakes mistakes;
  if (!value.is_object()) {
    mistakes.push_back(InvalidAt(pointer, "must be an object, or the command of a shell task"));
  } else {
    for (const auto& [name, entry] : value.items()) {
      if (std::ranges::find(kTaskFields, name) == kTaskFields.end()) {
        if (unknown == UnknownFields::kReport) mistakes.push_back(NotOfTask(name, pointer));
        continue;
      }
      const auto read = ReadJobField(name, entry, task);
      if (!read.ok()) mistakes.push_back(Below(pointer, read.error()));
    }
    if (unknown == UnknownFields::kReport && HasEmptyPoll(value)) {
      mistakes.push_back(
          InvalidAt(pointer + "/http/poll", "has no value; write poll: {} for its defaults"));
    }
  }
  out = TaskBox(std::move(task));
  return mistakes;
}

NodeMistakes ReadApproval(const json& value, const std::string& pointer, UnknownFields unknown,
                          std::optional<Approval>& out) {
  Approval& approval = out.emplace();
  // In YAML, a name without a value is null.
  if (value.is_null()) return {InvalidAt(pointer, "has no value; write {} for its defaults")};
  return ReadMembers(
      value, pointer,
      [&](const std::string& name, const json& entry, const std::string& place) -> Status {
        if (name == "message") return json_value::Read(entry, place, approval.message);
        if (name == "timeout_s") return json_value::ReadSeconds(entry, place, approval.timeout_s);
        if (name == "on_timeout") return ReadOnTimeout(entry, place, approval.approves_on_timeout);
        if (name == "by") return json_value::Read(entry, place, approval.by);
        if (unknown == UnknownFields::kSkip) return {};
        return Unknown(name, pointer, "an approval", {"message", "timeout_s", "on_timeout", "by"});
      });
}

NodeMistakes ReadWait(const json& value, const std::string& pointer, UnknownFields unknown,
                      std::optional<NodeWait>& out) {
  NodeWait& wait = out.emplace();
  if (value.is_null())
    return {InvalidAt(pointer, "has no value; write {until: \"06:30\"}, or for_s")};
  return ReadMembers(
      value, pointer,
      [&](const std::string& name, const json& entry, const std::string& place) -> Status {
        if (name == "until") return ReadUntil(entry, place, wait.until);
        if (name == "day") return json_value::Read(entry, place, wait.day);
        if (name == "for_s") return json_value::ReadSeconds(entry, place, wait.for_s);
        if (unknown == UnknownFields::kSkip) return {};
        return Unknown(name, pointer, "a wait", {"until", "day", "for_s"});
      });
}

const std::vector<std::string_view>& NodeRuleNames() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const Rule& rule : kRules) names.push_back(rule.name);
    return names;
  }();
  return kNames;
}

Status ReadNodeRule(std::string_view name, const json& value, const std::string& pointer,
                    RunRules& out) {
  JobDefinition job;
  const auto read = ReadJobField(name, value, job);
  if (!read.ok()) {
    Error error = read.error();
    // The reader's pointer begins with the name of the field, which `pointer` ends with.
    error.pointer = pointer + error.pointer.substr(std::min(name.size() + 1, error.pointer.size()));
    return error;
  }
  for (const Rule& rule : kRules) {
    if (rule.name == name) rule.take(job, out);
  }
  return {};
}

json TaskToJson(const TaskBox& task) {
  static const JobDefinition kDefaults;
  json body = json::object();
  for (const std::string_view field : kTaskFields) {
    json value = JobFieldToJson(field, task.job());
    if (field != "type" && value == JobFieldToJson(field, kDefaults)) continue;
    body[std::string(field)] = std::move(value);
  }
  return body;
}

json ApprovalToJson(const Approval& approval) {
  json body = json::object();
  if (!approval.message.empty()) body["message"] = approval.message;
  if (approval.timeout_s != 0) body["timeout_s"] = approval.timeout_s;
  if (approval.approves_on_timeout) body["on_timeout"] = "approve";
  if (!approval.by.empty()) body["by"] = approval.by;
  return body;
}

json WaitToJson(const NodeWait& wait) {
  json body = json::object();
  if (!wait.until.empty()) body["until"] = wait.until;
  if (wait.day != 0) body["day"] = wait.day;
  if (wait.for_s != 0) body["for_s"] = wait.for_s;
  return body;
}

json RulesToJson(const RunRules& rules) {
  json body = json::object();
  for (const Rule& rule : kRules) {
    JobDefinition job;
    if (rule.give(rules, job)) body[std::string(rule.name)] = JobFieldToJson(rule.name, job);
  }
  return body;
}

}  // namespace carillon
