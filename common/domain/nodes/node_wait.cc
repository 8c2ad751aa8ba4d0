#include "common/domain/nodes/node_wait.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "common/domain/schedule/schedule.h"
#include "common/domain/template/node_template.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
};

Error NoTime(std::string_view text) {
  constexpr size_t kShownMax = 64;
  return InvalidAt("/until", fmt::format("'{}' is no time of day such as 06:30 or 06:30:15",
                                         text.substr(0, kShownMax)));
}

// Two digits at `at`, below `limit`.
std::optional<int> TwoDigits(std::string_view text, size_t at, int limit) {
  const auto digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (at + 2 > text.size() || !digit(at) || !digit(at + 1)) return std::nullopt;
  const int value = (text[at] - '0') * 10 + (text[at + 1] - '0');
  return value < limit ? std::optional(value) : std::nullopt;
}

// HH:MM or HH:MM:SS
Result<TimeOfDay> ParseTime(std::string_view text) {
  const bool seconds = text.size() == 8 && text[5] == ':';
  if ((text.size() != 5 && !seconds) || text[2] != ':') return NoTime(text);
  const auto hour = TwoDigits(text, 0, 24);
  const auto minute = TwoDigits(text, 3, 60);
  const auto second = seconds ? TwoDigits(text, 6, 60) : std::optional(0);
  if (!hour || !minute || !second) return NoTime(text);
  return TimeOfDay{.hour = *hour, .minute = *minute, .second = *second};
}

// The name of the parameter, if the text is one placeholder of a workflow parameter and nothing
// else; nullopt if it has no placeholder.
Result<std::optional<std::string>> ParameterOf(std::string_view text) {
  std::optional<std::string> name;
  bool alone = true;
  const auto literal = [&alone](std::string_view part) { alone = alone && part.empty(); };
  CARILLON_TRY(ScanTemplate(text, literal, [&](std::string_view placeholder) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const NodeExpression parsed, ParseNodeExpression(placeholder));
    alone = alone && !name && parsed.kind == NodeExpression::Kind::kWorkflowParameter;
    name = parsed.name;
    return {};
  }));
  if (!name) return std::optional<std::string>();
  if (!alone) {
    return InvalidAt("/until",
                     "must be a time of day, or one {{workflow.parameters.NAME}} and nothing else");
  }
  return name;
}

Result<TimeOfDay> UntilOf(std::string_view until,
                          const std::map<std::string, ParameterValue>& parameters) {
  CARILLON_ASSIGN_OR_RETURN(const std::optional<std::string> name, ParameterOf(until));
  if (!name) return ParseTime(until);
  const auto found = parameters.find(*name);
  if (found == parameters.end()) {
    return InvalidAt("/until", fmt::format("neither the workflow nor this run of it sets the "
                                           "parameter '{}'",
                                           *name));
  }
  return ParseTime(ParameterText(found->second));
}

}  // namespace

Status CheckUntil(std::string_view until) {
  const auto name = ParameterOf(until);
  if (!name.ok()) return InvalidAt("/until", name.error().message);
  if (*name) return {};
  const auto time = ParseTime(until);
  return time.ok() ? Status() : Status(time.error());
}

Result<WallTime> EndOfWait(const NodeWait& wait, WallTime fire, std::string_view zone,
                           const std::map<std::string, ParameterValue>& parameters, WallTime now) {
  if (wait.until.empty()) return now + std::chrono::seconds(wait.for_s);
  CARILLON_ASSIGN_OR_RETURN(const TimeOfDay time, UntilOf(wait.until, parameters));
  const ScheduleSpec daily{
      .kind = ScheduleKind::kCron,
      .cron_expression = fmt::format("{} {} {} * * *", time.second, time.minute, time.hour),
      .time_zone = std::string(zone)};
  const auto schedule = Schedule::Compile(daily, DstGap::kFire, DstRepeat::kEarly);
  if (!schedule.ok()) return InvalidAt("/until", schedule.error().message);
  WallTime end = fire - Duration(1);
  // Each day has the time exactly once, also one that a change of the zone leaves out.
  for (int64_t left = wait.day; left >= 0; --left) {
    const std::optional<Fire> next = schedule->Next(end);
    if (!next) return InvalidAt("/until", "there is no such time any more");
    end = next->time;
  }
  return end;
}

}  // namespace carillon
