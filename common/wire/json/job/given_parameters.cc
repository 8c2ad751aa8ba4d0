#include "common/wire/json/job/given_parameters.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/job/parameter_rules_json.h"
#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

std::set<std::string> TakeTexts(nlohmann::json& document, const char* member) {
  std::set<std::string> texts;
  if (!document.is_object() || !document.contains(member)) return texts;
  for (const auto& text : document[member]) {
    if (text.is_string()) texts.insert(text.get<std::string>());
  }
  document.erase(member);
  return texts;
}

std::string TakeText(nlohmann::json& document, const char* member) {
  if (!document.is_object()) return {};
  const auto found = document.find(member);
  if (found == document.end() || !found->is_string()) return {};
  std::string text = found->get<std::string>();
  document.erase(found);
  return text;
}

std::optional<EventOrigin> TakeEvent(nlohmann::json& document) {
  if (!document.is_object()) return {};
  const auto found = document.find(kStartedByEvent);
  if (found == document.end() || !found->is_object()) return {};
  EventOrigin origin{.id = TakeText(*found, "id"),
                     .source = TakeText(*found, "source"),
                     .type = TakeText(*found, "type"),
                     .subject = TakeText(*found, "subject")};
  document.erase(found);
  return origin;
}

Status TakeItems(nlohmann::json& document, std::vector<ParameterValue>& items) {
  if (!document.is_object()) return {};
  const auto found = document.find(kItems);
  if (found == document.end()) return {};
  if (!found->is_array()) return InvalidAt("/$items", "is not a list");
  for (const nlohmann::json& value : *found) {
    CARILLON_TRY(ReadParameterValue(value, "/$items", items.emplace_back()));
  }
  document.erase(found);
  return {};
}

}  // namespace

Result<RenderedParameters> GivenFromText(std::string_view text) {
  RenderedParameters given;
  if (text.empty()) return given;
  CARILLON_ASSIGN_OR_RETURN(nlohmann::json document, ParseJsonText(text));
  given.untrusted = TakeTexts(document, kUntrustedNames);
  given.given_by = TakeTexts(document, kGivers);
  given.time_zone = TakeText(document, kKeptZone);
  given.event = TakeEvent(document);
  CARILLON_TRY(TakeItems(document, given.items));
  JobDefinition job;
  CARILLON_ASSIGN_OR_RETURN(const bool known, ReadJobField("parameters", document, job));
  if (!known) return Error{ErrorCode::kInvalid, "parameters: not a known field"};
  given.values = std::move(job.parameters);
  return given;
}

std::string GivenToText(const RenderedParameters& given) {
  const bool has_members = !given.time_zone.empty() || given.event || !given.items.empty();
  if (given.values.empty() && !has_members) return {};
  nlohmann::json document = WriteParameterValues(given.values);
  if (!given.untrusted.empty()) document[kUntrustedNames] = given.untrusted;
  if (!given.given_by.empty()) document[kGivers] = given.given_by;
  if (!given.time_zone.empty()) document[kKeptZone] = given.time_zone;
  if (given.event) document[kStartedByEvent] = OriginToJson(*given.event);
  for (const ParameterValue& item : given.items) {
    document[kItems].push_back(WriteParameterValue(item));
  }
  return JsonToText(document);
}

Result<std::string> WithScheduleParameters(std::string_view own, const Parameters& of_schedule) {
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters given, GivenFromText(own));
  given.values = MergeParameters(of_schedule, given.values);
  return GivenToText(given);
}

Result<std::string> WithZone(std::string_view own, const std::string& zone) {
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters given, GivenFromText(own));
  if (given.time_zone.empty()) given.time_zone = zone;
  return GivenToText(given);
}

nlohmann::json GivenValues(std::string_view text) {
  nlohmann::json values = nlohmann::json::parse(text, nullptr, false);
  if (!values.is_object()) return nlohmann::json::object();
  values.erase(kUntrustedNames);
  values.erase(kGivers);
  values.erase(kKeptZone);
  values.erase(kStartedByEvent);
  values.erase(kItems);
  return values;
}

std::optional<EventOrigin> GivenEvent(std::string_view text) {
  if (text.find(kStartedByEvent) == std::string_view::npos) return {};
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  return TakeEvent(document);
}

nlohmann::json OriginToJson(const EventOrigin& origin) {
  return {{"id", origin.id},
          {"source", origin.source},
          {"type", origin.type},
          {"subject", origin.subject}};
}

std::string WithGiver(std::string text, const std::string& user_id) {
  if (user_id.empty()) return text;
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object() || document.empty()) return text;
  document[kGivers] = {user_id};
  return JsonToText(document);
}

uint32_t BehalfFlagOf(std::string_view text, std::string_view owner) {
  const auto given = GivenFromText(text);
  if (!given.ok()) return 0;  // such a run does not start
  std::vector<Backer> backers;
  for (const std::string& giver : given->given_by) {
    backers.push_back({.user_id = giver, .part = Backer::Part::kGaveRun});
  }
  return BehalfFlag(backers, owner);
}

}  // namespace carillon
