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
    const bool hidden = path.starts_with(kEnvironment);
    json entry = {{"path", path}};
    for (const char* side : {"from", "to"}) {
      const json& value = change.at(side);
      entry[side] = hidden && !value.is_null() ? json(kHidden) : Shortened(value);
    }
    told.push_back(std::move(entry));
  }
  return told;
}

}  // namespace carillon
