// The parameters that are stored with a run, with the names of those whose text comes from outside:
// from outputs of other runs or from events. Such text must not become part of a command. Of the
// run of a request, and of a workflow, also the ids of the users who gave them. And the time zone
// of the run's fire, if its job would tell another one now (fire_zone.h), the event that started
// the run, and the items of a mapped node, of which each part gets one.
//
//   {"path": "/data/x", "day": "2026-03-01", "$untrusted": ["path"], "$given_by": ["user-07c1"],
//    "$time_zone": "Asia/Tokyo",
//    "$event": {"id": "42", "source": "shop", "type": "order.paid", "subject": ""},
//    "$items": ["a.csv", "b.csv"]}
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/domain/template/node_template.h"

namespace carillon {

// The members with these names and ids. No names of parameters, so that nobody can give one.
inline constexpr const char* kUntrustedNames = "$untrusted";
inline constexpr const char* kGivers = "$given_by";
inline constexpr const char* kKeptZone = "$time_zone";
inline constexpr const char* kStartedByEvent = "$event";
inline constexpr const char* kItems = "$items";

// "" means no parameters. kInvalid as ParametersFromText.
Result<RenderedParameters> GivenFromText(std::string_view text);
// The parameters of a run that is to keep those of its schedule, which the owner of the job has
// set: they have no giver and are trusted, and those of the run itself go first.
Result<std::string> WithScheduleParameters(std::string_view own, const Parameters& of_schedule);
// A run that keeps a zone already, keeps that.
Result<std::string> WithZone(std::string_view own, const std::string& zone);
// "" for no parameters, without a zone, an event and items.
std::string GivenToText(const RenderedParameters& given);
// The values alone, for people; an empty object if there are none, or if they cannot be read.
nlohmann::json GivenValues(std::string_view text);
// The event that started the run; nullopt if none did, or if it cannot be read.
std::optional<EventOrigin> GivenEvent(std::string_view text);
nlohmann::json OriginToJson(const EventOrigin& origin);
// The parameters of a request with its user. Unchanged without parameters, or for a caller who is
// no user: only administrators' tokens belong to nobody.
std::string WithGiver(std::string text, const std::string& user_id);
// run_flag::kOnBehalf if others than `owner`, that of the run's job, gave these parameters;
// otherwise 0.
uint32_t BehalfFlagOf(std::string_view text, std::string_view owner);

}  // namespace carillon
