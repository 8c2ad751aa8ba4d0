#include "cli/jobs/flags/event_flags.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/terminal/session.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kSource = "source=";
constexpr std::string_view kFilter = "filter=";

Error WrongEvent(const std::string& entry, const std::string& why) {
  return {ErrorCode::kInvalid, "--on-event " + entry + ": " + why};
}

// A source may have commas, and a filter may have anything: so it is the last.
Result<json> EventScheduleOf(const std::string& entry) {
  const size_t comma = entry.find(',');
  const std::string type = entry.substr(0, comma);
  if (type.empty() || type.find('=') != std::string::npos) {
    return WrongEvent(entry, "must begin with a type of events, e.g. order.paid or order.*");
  }
  json schedule = {{"kind", "event"}, {"type", type}};
  if (comma == std::string::npos) return schedule;
  std::string rest = entry.substr(comma + 1);
  if (rest.starts_with(kSource)) {
    const size_t filter = rest.find("," + std::string(kFilter));
    const std::string source = rest.substr(0, filter).substr(kSource.size());
    if (source.empty()) return WrongEvent(entry, "source has no value");
    schedule["source"] = source;
    if (filter == std::string::npos) return schedule;
    rest = rest.substr(filter + 1);
  }
  if (!rest.starts_with(kFilter)) {
    return WrongEvent(entry, "only ,source=SOURCE and then ,filter=FILTER may follow the type");
  }
  const std::string filter = rest.substr(kFilter.size());
  if (filter.empty()) return WrongEvent(entry, "filter has no value");
  schedule["filter"] = filter;
  return schedule;
}

}  // namespace

CLI::Option* AddEventFlags(CLI::App* verb, EventFlags& flags) {
  return verb
      ->add_option("--on-event", flags.events,
                   "On each event of this type (order.*: of each that begins so); with "
                   ",source=SOURCE from there only; with ,filter=CONDITION, the last, if it holds, "
                   "e.g. filter=data.amount > 9; repeatable")
      ->allow_extra_args(false)
      ->check(NotEmpty);
}

Status AddEventSchedules(const EventFlags& flags, json& schedules) {
  for (const std::string& entry : flags.events) {
    CARILLON_ASSIGN_OR_RETURN(json schedule, EventScheduleOf(entry));
    schedules.push_back(std::move(schedule));
  }
  return {};
}

}  // namespace carillon::cli
