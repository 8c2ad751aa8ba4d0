#include <nlohmann/json.hpp>

#include "cli/operations/commands.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr int kPreviewDaysMax = 366;

struct CalendarArguments {
  std::string name;
  std::string file;
  std::string from;
  std::optional<int> days;
};

const View& CalendarView() {
  static const View view{{{"CALENDAR", "name"},
                          {"TIME ZONE", "definition.time_zone"},
                          {"WEEKDAYS", "definition.weekdays"},
                          {"INTERVALS", "definition.intervals"},
                          {"JOBS", "jobs"}},
                         "name",
                         {{"VERSION", "version"},
                          {"EFFECTIVE", "effective_time"},
                          {"DATES", "definition.dates"},
                          {"EXCEPT", "definition.except"}}};
  return view;
}

std::string CalendarPath(const std::string& name) { return "/api/calendars/" + Escape(name); }

// Reads a definition. Also accepts the output of `calendar get`, of which it takes the definition.
Outcome<json> ReadCalendar(Session& session, const std::string& file) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text, ReadInput(session.host(), file));
  auto document = ReadYaml(text);
  if (!document.ok()) return UsageFailure(file + ": " + document.error().message);
  if (!document->is_object())
    return UsageFailure(file + ": a calendar must be a mapping of field names to values");
  json body = std::move(document).value();
  if (body.contains("definition")) return json(body["definition"]);
  return body;
}

Outcome<ExitCode> ShowCalendar(Session& session, const CalendarArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse calendar,
                            session.Call({.path = CalendarPath(arguments.name)}));
  session.Print().Object(calendar.body, CalendarView());
  return ExitCode::kDone;
}

Outcome<ExitCode> SetCalendar(Session& session, const CalendarArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(json definition, ReadCalendar(session, arguments.file));
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse calendar,
      session.Call(
          {.method = "PUT", .path = CalendarPath(arguments.name), .body = std::move(definition)}));
  session.Print().Object(calendar.body, CalendarView());
  return ExitCode::kDone;
}

// Returns the definition in the file, or of the calendar that is named.
Outcome<json> DefinitionOf(Session& session, const CalendarArguments& arguments) {
  if (arguments.name.empty() == arguments.file.empty()) {
    return UsageFailure("calendar preview needs either the name of a calendar or -f FILE");
  }
  if (!arguments.file.empty()) return ReadCalendar(session, arguments.file);
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse calendar,
                            session.Call({.path = CalendarPath(arguments.name)}));
  const json definition =
      calendar.body.is_object() ? calendar.body.value("definition", json()) : json();
  if (definition.is_object()) return definition;
  return Failure{.message = "unexpected answer from the server: no definition",
                 .code = "bad_answer"};
}

Outcome<ExitCode> Preview(Session& session, const CalendarArguments& arguments) {
  json body = json::object();
  CARILLON_ASSIGN_OR_RETURN(body["definition"], DefinitionOf(session, arguments));
  if (arguments.days) body["days"] = *arguments.days;
  if (!arguments.from.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const WallTime from, ParseRfc3339(arguments.from));
    body["from"] = FormatRfc3339(from);
  }
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse times,
      session.Call({.method = "POST", .path = "/api/calendars/preview", .body = std::move(body)}));
  static const View view{{{"FROM", "from"}, {"TO", "to"}}, "from"};
  session.Print().List(times.body, view);
  return ExitCode::kDone;
}

Outcome<ExitCode> DeleteCalendar(Session& session, const CalendarArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const bool go,
                            session.Confirm("Delete calendar " + arguments.name + "?"));
  if (!go) return ExitCode::kFailure;
  CARILLON_TRY(session.Call({.method = "DELETE", .path = CalendarPath(arguments.name)}));
  session.Say("Deleted calendar " + arguments.name + ".");
  return ExitCode::kDone;
}

}  // namespace

void AddCalendarCommands(CLI::App& app, Session& session) {
  CLI::App* calendar =
      app.add_subcommand("calendar", "Manage calendars: days and times at which jobs may fire");
  calendar->require_subcommand(1);
  const auto a = std::make_shared<CalendarArguments>();  // shared by the subcommands' callbacks
  session.On(calendar->add_subcommand("list", "List calendars"),
             [&session] { return PrintAll(session, "/api/calendars", CalendarView()); });
  CLI::App* get = calendar->add_subcommand("get", "Show a calendar");
  CLI::App* set = calendar->add_subcommand("set", "Create a calendar or replace its definition");
  CLI::App* preview =
      calendar->add_subcommand("preview", "Show the times in a calendar; nothing is stored");
  CLI::App* remove = calendar->add_subcommand("delete", "Delete a calendar that no job names");
  for (CLI::App* verb : {get, set, preview, remove}) {
    CLI::Option* name = verb->add_option("name", a->name, "Name of the calendar")->check(NotEmpty);
    if (verb != preview) name->required();
  }
  for (CLI::App* verb : {set, preview}) {
    CLI::Option* file = verb->add_option("-f,--file", a->file,
                                         "File with the definition, YAML or JSON; - for standard "
                                         "input")
                            ->check(NotEmpty);
    if (verb == set) file->required();
  }
  preview->add_option("--from", a->from, "Start, RFC 3339 (default: now)");
  preview->add_option("--days", a->days, "Number of days")->check(CLI::Range(1, kPreviewDaysMax));
  session.On(get, [&session, a] { return ShowCalendar(session, *a); });
  session.On(set, [&session, a] { return SetCalendar(session, *a); });
  session.On(preview, [&session, a] { return Preview(session, *a); });
  session.On(remove, [&session, a] { return DeleteCalendar(session, *a); });
}

}  // namespace carillon::cli
