#include "scheduler/api/schedules/calendar_routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/json/job/calendar_json.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr int64_t kPreviewDaysMax = 366;
constexpr int64_t kPreviewDaysDefault = 31;
constexpr size_t kPreviewItemsMax = 10'000;

Problem NoSuchCalendar() { return NotFound("No such calendar. GET /api/calendars lists them."); }

Outcome<std::string> PathName(const Call& call) {
  const std::string& name = call.arguments.at(0);
  if (IsCalendarName(name)) return name;
  return NoSuchCalendar();
}

using JobCounts = std::map<CalendarNo, int64_t>;

json ToJson(const StoredCalendar& calendar, const JobCounts& jobs) {
  const auto counted = jobs.find(calendar.number);
  return {{"name", calendar.name},
          {"version", calendar.version},
          {"definition", calendar.readable ? CalendarToJson(calendar.definition) : json(nullptr)},
          {"effective_time", FormatRfc3339(calendar.effective)},
          {"jobs", counted == jobs.end() ? 0 : counted->second}};
}

// `pointer` is that of the definition in the body.
Outcome<CalendarDefinition> ReadDefinition(const json& body, const std::string& pointer) {
  auto definition = CalendarFromJson(body);
  if (definition.ok()) return std::move(*definition);
  Error error = definition.error();
  error.pointer = pointer + error.pointer;
  return error;
}

}  // namespace

Reply ListCalendars(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const CalendarSet set, call.stores.calendars.LoadCalendars());
  CARILLON_ASSIGN_OR_RETURN(const JobCounts jobs, call.stores.calendars.CountCalendarJobs());
  json items = json::array();
  for (const auto& [name, calendar] : set.calendars()) items.push_back(ToJson(calendar, jobs));
  return JsonResponse(200, {{"items", std::move(items)}});
}

Reply GetCalendar(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const std::string name, PathName(call));
  CARILLON_ASSIGN_OR_RETURN(const CalendarSet set, call.stores.calendars.LoadCalendars());
  const StoredCalendar* found = set.Find(name);
  if (found == nullptr) return NoSuchCalendar();
  CARILLON_ASSIGN_OR_RETURN(const JobCounts jobs, call.stores.calendars.CountCalendarJobs());
  return JsonResponse(200, ToJson(*found, jobs));
}

Reply PutCalendar(const Call& call) {
  const std::string& name = call.arguments.at(0);
  if (!IsCalendarName(name)) {
    return InvalidField("", "bad_name",
                        "A name has 1 to 63 of a-z, 0-9, '-' and '_'; it begins with a letter or "
                        "a digit.");
  }
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired,
                                       {"time_zone", "weekdays", "dates", "except", "intervals"}));
  CARILLON_ASSIGN_OR_RETURN(const CalendarDefinition definition, ReadDefinition(body, ""));
  CARILLON_ASSIGN_OR_RETURN(const CalendarSet set, call.stores.calendars.LoadCalendars());
  const StoredCalendar* before = set.Find(name);
  // Read last: the new version must not take effect before the planners have read it.
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto written = call.stores.calendars.PutCalendar(name, definition, now);
  if (!written.ok() && written.code() == ErrorCode::kTimeout) {
    return OutcomeUnknown("It is unknown whether this was done. GET the calendar before retrying.",
                          written.error());
  }
  if (!written.ok() && written.code() == ErrorCode::kExhausted) {
    return Problem{.status = 409,
                   .code = "too_many_calendars",
                   .detail = fmt::format("There may be at most {} calendars.", kCalendarsMax)};
  }
  if (!written.ok()) return written.error();
  NoteChanges(call, before == nullptr ? json::object() : CalendarToJson(before->definition),
              CalendarToJson(definition));
  CARILLON_ASSIGN_OR_RETURN(const JobCounts jobs, call.stores.calendars.CountCalendarJobs());
  return JsonResponse(200, ToJson(*written, jobs));
}

Reply DeleteCalendar(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const std::string name, PathName(call));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const Status deleted = call.stores.calendars.DeleteCalendar(name, now);
  if (deleted.ok()) return HttpResponse{.status = 204};
  if (deleted.code() == ErrorCode::kNotFound) return NoSuchCalendar();
  if (deleted.code() == ErrorCode::kConflict) {
    return Problem{.status = 409,
                   .code = "in_use",
                   .detail = "A schedule of a job names this calendar. Change the job first."};
  }
  if (deleted.code() == ErrorCode::kTimeout) {
    return OutcomeUnknown("It is unknown whether this was done. GET the calendar before retrying.",
                          deleted.error());
  }
  return deleted.error();
}

Reply PreviewCalendar(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const json body, ReadObject(call.request, Body::kRequired, {"definition", "from", "days"}));
  if (!body.contains("definition")) {
    return InvalidField("/definition", "missing", "A definition is required.");
  }
  CARILLON_ASSIGN_OR_RETURN(const CalendarDefinition definition,
                            ReadDefinition(body["definition"], "/definition"));
  CARILLON_ASSIGN_OR_RETURN(const auto days,
                            NumberMember(body, "days", {.low = 1, .high = kPreviewDaysMax}));
  CARILLON_ASSIGN_OR_RETURN(const std::string text, TextMember(body, "from", kReasonCharactersMax));
  WallTime from{};
  if (text.empty()) {
    CARILLON_ASSIGN_OR_RETURN(from, call.api.cluster_now());
  } else {
    const auto given = ParseRfc3339(text);
    if (!given.ok()) {
      return InvalidField("/from", "bad_time", "Must be an RFC 3339 time from 1970 to 4253.");
    }
    from = *given;
  }
  const WallTime until = from + days.value_or(kPreviewDaysDefault) * Duration(24h);
  CARILLON_ASSIGN_OR_RETURN(const Calendar calendar, Calendar::Compile(definition));
  json items = json::array();
  WallTime at = calendar.NextInside(from, until);
  while (at < until && items.size() < kPreviewItemsMax) {
    const WallTime end = calendar.NextOutside(at, until);
    items.push_back({{"from", FormatRfc3339(at)}, {"to", FormatRfc3339(end)}});
    at = calendar.NextInside(end, until);
  }
  return JsonResponse(200, {{"items", std::move(items)}});
}

}  // namespace carillon::scheduler
