#include "scheduler/api/system/config_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/config/config_table.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;
using Values = std::map<std::string, std::string>;

constexpr size_t kPauseReasonMax = 500;  // characters: it is shown on every page
constexpr int kPauseTries = 5;           // if other requests change the settings at the same time

// The answer of GET. Call `Adopt` with `stored` first, so that the answer shows the settings
// in force here.
json ConfigToJson(const Call& call, const ClusterSettings& stored) {
  // `left_out` is not reported: values that this version does not accept are logged where
  // they are applied.
  std::vector<std::string> left_out;
  const config::Config config = call.api.config.With(stored.values, &left_out);
  json document = {{"version", stored.version},
                   {"settings", json::object()},
                   {"sources", json::object()},
                   {"live", json::array()}};
  for (const config::Setting& setting : config::SettingTable()) {
    const std::string name(setting.name);
    const config::Value& value = config.Get(name);
    document["settings"][name] = value.text;
    document["sources"][name] = config::Name(value.origin);
    if (setting.live) document["live"].push_back(name);
  }
  return document;
}

HttpResponse ConfigResponse(const Call& call, const ClusterSettings& stored) {
  HttpResponse response = JsonResponse(200, ConfigToJson(call, stored));
  response.headers.emplace_back("ETag", VersionTag(stored.version));
  return response;
}

Problem StaleVersion(const Call& call, const ClusterSettings& stored) {
  Problem problem{.status = 412,
                  .code = "stale_version",
                  .detail = fmt::format("The configuration is now at version {}. Review `current` "
                                        "and send If-Match with its ETag.",
                                        stored.version)};
  problem.members["current_version"] = stored.version;
  problem.members["current"] = ConfigToJson(call, stored);
  problem.headers.emplace_back("ETag", VersionTag(stored.version));
  return problem;
}

// The value in the form of the configuration file; nullopt: it is not a single value.
std::optional<std::string> TextOf(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

std::optional<FieldError> ReadValue(const std::string& name, const json& value, Values& wanted) {
  const std::string pointer = JsonPointer("/settings", name);
  const config::Setting* setting = config::FindSetting(name);
  if (setting == nullptr) {
    return FieldError{pointer, "unknown_field", "Unknown setting " + name + "."};
  }
  if (!setting->live) {
    return FieldError{pointer, "not_live",
                      name +
                          " is read when a process starts. Set it in the configuration file, the "
                          "environment or a flag."};
  }
  if (value.is_null()) {
    wanted.erase(name);
    return std::nullopt;
  }
  const auto text = TextOf(value);
  const std::string complaint = config::Complaint(*setting, text.value_or(""));
  if (!text || !complaint.empty()) {
    return FieldError{pointer, text ? "bad_value" : "wrong_type", name + " " + complaint + "."};
  }
  wanted[name] = *text;
  return std::nullopt;
}

// Reads all values or none. The problem lists every wrong value.
Outcome<Values> ReadChange(const json& settings, Values wanted) {
  std::vector<FieldError> errors;
  for (const auto& [name, value] : settings.items()) {
    if (auto error = ReadValue(name, value, wanted)) errors.push_back(*std::move(error));
  }
  if (errors.empty()) return wanted;
  return Problem{
      .status = 400, .code = "invalid", .detail = errors[0].detail, .errors = std::move(errors)};
}

Outcome<json> ReadSettingsMember(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      json body, ReadObject(call.request, Body::kRequired, {"version", "settings", "reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  if (!body.contains("settings")) {
    return InvalidField("/settings", "missing", "The settings to change are required.");
  }
  if (!body["settings"].is_object()) {
    return InvalidField("/settings", "wrong_type", "Must be an object of names and values.");
  }
  return std::move(body["settings"]);
}

// After an unknown outcome, reads the settings again to find out whether they were written.
Outcome<ClusterSettings> LookAgain(const Call& call, const ClusterSettings& wanted,
                                   const Error& unknown) {
  const auto found = call.stores.settings.ReadSettings();
  if (found.ok() && *found == wanted) return *found;
  return OutcomeUnknown(
      "It is unknown whether the change was stored. GET the configuration before retrying.",
      unknown);
}

// False if the stored settings are older than those in force here, because the store was restored
// from a backup.
bool InForce(const Call& call, const ClusterSettings& stored) {
  return stored.version >= call.api.settings.version();
}

// Writes the settings and returns them. nullopt: another request has changed them meanwhile. The
// returned settings are in force here. The member's loops pass them to the other members. The new
// version is higher than all known versions, because members adopt only higher versions.
Outcome<std::optional<ClusterSettings>> Store(const Call& call, const ClusterSettings& stored,
                                              const Values& values, Duration paused = {}) {
  const ClusterSettings next{.version = std::max(stored.version, call.api.settings.version()) + 1,
                             .values = values};
  const auto written = call.stores.settings.WriteSettings(stored.version, next, paused);
  if (!written.ok() && written.code() == ErrorCode::kConflict) {
    return std::optional<ClusterSettings>();
  }
  ClusterSettings changed;
  if (written.ok()) {
    changed = *written;
  } else if (written.code() == ErrorCode::kTimeout) {
    CARILLON_ASSIGN_OR_RETURN(changed, LookAgain(call, next, written.error()));
  } else {
    return written.error();
  }
  call.api.settings.Adopt(changed);
  return std::optional(std::move(changed));
}

HttpResponse PauseResponse(const ClusterSettings& settings) {
  return JsonResponse(200,
                      {{"paused", PauseToJson(PauseOf(settings))}, {"version", settings.version}});
}

// If the cluster is already in the wanted state, nothing is written. So a second pause does not
// replace the reason and the time of the first.
Reply SetPauseTo(const Call& call, const std::optional<ClusterPause>& pause, WallTime now) {
  for (int i = 0; i < kPauseTries; ++i) {
    CARILLON_ASSIGN_OR_RETURN(const ClusterSettings stored, call.stores.settings.ReadSettings());
    call.api.settings.Adopt(stored);
    const auto before = PauseOf(stored);
    if (before.has_value() == pause.has_value() && InForce(call, stored)) {
      NoteChanges(call, {}, {});  // drops what an earlier try of this loop noted
      return PauseResponse(stored);
    }
    Values wanted = stored.values;
    SetPause(wanted, pause);
    const auto in_force = PauseOf(call.api.settings.Current());
    NoteChanges(call, {{"paused", PauseToJson(in_force)}}, {{"paused", PauseToJson(pause)}});
    const Duration paused = before && !pause ? LengthOf(*before, now) : Duration::zero();
    CARILLON_ASSIGN_OR_RETURN(const auto changed, Store(call, stored, wanted, paused));
    if (changed) return PauseResponse(*changed);
  }
  return Problem{.status = 409,
                 .code = "conflict",
                 .detail = "The settings are being changed by others. Retry."};
}

}  // namespace

json PauseToJson(const std::optional<ClusterPause>& pause) {
  if (!pause) return nullptr;
  return {{"since", pause->since}, {"by", pause->by}, {"reason", pause->reason}};
}

Reply PauseCluster(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired, {"reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why, TextMember(body, "reason", kPauseReasonMax));
  if (why.empty())
    return InvalidField("/reason", "missing", "A reason is required; it is shown to everyone.");
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  return SetPauseTo(
      call, ClusterPause{.since = FormatRfc3339(now), .by = call.caller.Actor(), .reason = why},
      now);
}

Reply ResumeCluster(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  return SetPauseTo(call, std::nullopt, now);
}

Reply GetConfig(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const ClusterSettings stored, call.stores.settings.ReadSettings());
  call.api.settings.Adopt(stored);
  return ConfigResponse(call, stored);
}

// If nothing changes, nothing is written and the version stays the same.
Reply ChangeConfig(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const EntityTags tags, RequireIfMatch(call.request));
  CARILLON_ASSIGN_OR_RETURN(const json settings, ReadSettingsMember(call));
  return WriteMatching(tags, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const ClusterSettings stored, call.stores.settings.ReadSettings());
    if (!tags.MatchesStrongly(VersionTag(stored.version))) return StaleVersion(call, stored);
    CARILLON_ASSIGN_OR_RETURN(const Values wanted, ReadChange(settings, stored.values));
    NoteChanges(call, stored.values, wanted);
    if (wanted == stored.values && InForce(call, stored)) return ConfigResponse(call, stored);
    CARILLON_ASSIGN_OR_RETURN(const auto changed, Store(call, stored, wanted));
    if (!changed) {
      CARILLON_ASSIGN_OR_RETURN(const ClusterSettings current, call.stores.settings.ReadSettings());
      return StaleVersion(call, current);
    }
    return ConfigResponse(call, *changed);
  });
}

}  // namespace carillon::scheduler
