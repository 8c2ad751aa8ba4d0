#include "common/wire/json/job/job_changes.h"

#include <nlohmann/json.hpp>

#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr const char* kHidden = "***";
constexpr std::string_view kEnvironment = "/env/";
constexpr std::string_view kTaskEnvironment = "/task/env";  // of a workflow's node

void Compare(const std::string& path, const json& from, const json& to, json& changes);

void CompareObjects(const std::string& path, const json& from, const json& to, json& changes) {
  for (const auto& [name, value] : from.items()) {
    const auto other = to.find(name);
    Compare(JsonPointer(path, name), value, other == to.end() ? json(nullptr) : *other, changes);
  }
  for (const auto& [name, value] : to.items()) {
    if (!from.contains(name)) Compare(JsonPointer(path, name), nullptr, value, changes);
  }
}

void Compare(const std::string& path, const json& from, const json& to, json& changes) {
  if (from == to) return;
  if (from.is_object() && to.is_object()) return CompareObjects(path, from, to, changes);
  if (from.is_array() && to.is_array() && from.size() == to.size()) {
    for (size_t i = 0; i < from.size(); ++i) {
      Compare(JsonPointer(path, std::to_string(i)), from[i], to[i], changes);
    }
    return;
  }
  changes.push_back({{"path", path}, {"from", from}, {"to", to}});
}

// Of variables: those of the job, or of the task of a node.
bool IsOfEnvironment(std::string_view path) {
  return path.starts_with(kEnvironment) || path.ends_with(kTaskEnvironment) ||
         path.find(std::string(kTaskEnvironment) + "/") != std::string_view::npos;
}

// The value without those of the variables of tasks within it. `path` is that of the value.
json WithoutVariables(json value, const std::string& path) {
  if (IsOfEnvironment(path)) {
    if (!value.is_object()) return value.is_null() ? value : json(kHidden);
    for (json& variable : value) variable = kHidden;
    return value;
  }
  if (!value.is_structured()) return value;
  for (auto entry = value.begin(); entry != value.end(); ++entry) {
    const std::string name = value.is_array() ? std::to_string(entry - value.begin()) : entry.key();
    *entry = WithoutVariables(std::move(*entry), JsonPointer(path, name));
  }
  return value;
}

json Shortened(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : JsonToText(value);
  if (text.size() <= kAuditedValueBytesMax) return value;
  // The cut may split a character; ToValidUtf8 replaces the rest of it.
  return ToValidUtf8(text.substr(0, kAuditedValueBytesMax)) + "…";
}

}  // namespace

json Changes(const json& from, const json& to) {
  json changes = json::array();
  CompareObjects("", from, to, changes);
  return changes;
}

json JobChanges(const JobDefinition& from, const JobDefinition& to) {
  return Changes(DefinitionToJson(from), DefinitionToJson(to));
}

json JobChanges(const JobDefinition& made) {
  json changes = JobChanges(JobDefinition{}, made);
  for (json& change : changes) change["from"] = nullptr;
  return changes;
}

json AuditedChanges(const json& changes) {
  json told = json::array();
  for (const json& change : changes) {
    if (told.size() == kAuditedChangesMax) break;
    const std::string path = change.value("path", std::string());
    json entry = {{"path", path}};
    for (const char* side : {"from", "to"}) {
      entry[side] = Shortened(WithoutVariables(change.at(side), path));
    }
    told.push_back(std::move(entry));
  }
  return told;
}

}  // namespace carillon
