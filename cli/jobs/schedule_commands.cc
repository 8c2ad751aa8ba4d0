#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/jobs/commands.h"
#include "common/domain/calendar/calendar_end.h"
#include "common/domain/job/spread.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/zone.h"
#include "common/wire/json/job/calendar_json.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct ScheduleArguments {
  std::string expression;
  std::string zone = "UTC";
  std::string job_id;
  std::string after;
  std::string gap = "fire";
  std::string repeat = "auto";
  std::string calendar;  // files
  std::string blackout;
  int count = 10;
};

// A schedule, and the calendars that it names.
struct Written {
  ScheduleSpec spec;
  DstGap gap = DstGap::kFire;
  DstRepeat repeat = DstRepeat::kAuto;
  CalendarSet calendars = {};
};

ScheduleSpec SpecOf(const ScheduleArguments& arguments) {
  return {.kind = ScheduleKind::kCron,
          .cron_expression = arguments.expression,
          .time_zone = arguments.zone,
          .spread = arguments.job_id.empty() ? 0 : SpreadSeed(JobId(arguments.job_id))};
}

// Reads the file of a calendar, which is a definition or the output of `calendar get`. The calendar
// has the name of its file.
Outcome<StoredCalendar> ReadCalendarFile(Session& session, const std::string& file) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text, ReadInput(session.host(), file));
  auto document = ReadYaml(text);
  if (!document.ok()) return UsageFailure(file + ": " + document.error().message);
  const bool wrapped = document->is_object() && document->contains("definition");
  auto definition = CalendarFromJson(wrapped ? document->at("definition") : *document);
  if (!definition.ok()) {
    return UsageFailure(file + ": " + definition.error().pointer + " " +
                        definition.error().message);
  }
  return StoredCalendar{.name = std::filesystem::path(file).stem().string(),
                        .version = 1,
                        .definition = std::move(*definition)};
}

Outcome<Written> ReadSchedule(Session& session, const ScheduleArguments& arguments) {
  Written written{.spec = SpecOf(arguments)};
  CARILLON_ASSIGN_OR_RETURN(written.gap, ParseName<DstGap>(arguments.gap));
  CARILLON_ASSIGN_OR_RETURN(written.repeat, ParseName<DstRepeat>(arguments.repeat));
  std::vector<StoredCalendar> calendars;
  const auto add = [&](const std::string& file, std::string& name) -> Outcome<bool> {
    if (file.empty()) return false;
    CARILLON_ASSIGN_OR_RETURN(StoredCalendar calendar, ReadCalendarFile(session, file));
    calendar.number = CalendarNo(static_cast<uint32_t>(calendars.size() + 1));
    name = calendar.name;
    calendars.push_back(std::move(calendar));
    return true;
  };
  CARILLON_TRY(add(arguments.calendar, written.spec.calendar));
  CARILLON_TRY(add(arguments.blackout, written.spec.blackout));
  written.calendars = CalendarSet(1, std::move(calendars), {});
  return written;
}

Outcome<Schedule> Compile(const Written& written) {
  CARILLON_ASSIGN_OR_RETURN(ScheduleCalendars limits,
                            written.calendars.Of(written.spec.calendar, written.spec.blackout));
  CARILLON_ASSIGN_OR_RETURN(
      Schedule schedule,
      Schedule::Compile(written.spec, written.gap, written.repeat, std::move(limits)));
  return schedule;
}

Outcome<Schedule> Compile(Session& session, const ScheduleArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Written written, ReadSchedule(session, arguments));
  return Compile(written);
}

Result<WallTime> AfterOf(Session& session, const ScheduleArguments& arguments) {
  if (arguments.after.empty()) return session.host().clock.Wall();
  return ParseRfc3339(arguments.after);
}

json NoteOf(DstNote note) {
  switch (note) {
    case DstNote::kNone: return nullptr;
    case DstNote::kMovedByGap: return "moved_by_gap";
    case DstNote::kRepeated: return "repeated";
  }
  return nullptr;
}

// Formats a time with the zone's offset: "2026-03-01T09:00:00.000000+01:00".
std::string LocalTime(WallTime time, const Zone& zone) {
  const int64_t second = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  const int32_t offset = second >= kZoneBegin && second < kZoneEnd ? zone.OffsetAt(second) : 0;
  std::string text = FormatRfc3339(time + std::chrono::seconds(offset));
  text.pop_back();
  const int32_t minutes = std::abs(offset) / 60;
  return text + fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

Outcome<ExitCode> Next(Session& session, const ScheduleArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Schedule schedule, Compile(session, arguments));
  CARILLON_ASSIGN_OR_RETURN(const Zone* zone, Zone::Load(arguments.zone));
  CARILLON_ASSIGN_OR_RETURN(const WallTime after, AfterOf(session, arguments));
  json fires = json::array();
  for (auto fire = schedule.Next(after); fire; fire = schedule.Next(fire->time)) {
    fires.push_back({{"fire_time", FormatRfc3339(fire->time)},
                     {"local_time", LocalTime(fire->time, *zone)},
                     {"dst", NoteOf(fire->note)}});
    if (fires.size() >= static_cast<size_t>(arguments.count)) break;
  }
  Printer print = session.Print();
  if (print.form() == Form::kJson || print.form() == Form::kYaml) {
    print.Object({{"expression", arguments.expression},
                  {"time_zone", arguments.zone},
                  {"explanation", schedule.Explain()},
                  {"fires", fires}},
                 FireView());
    return ExitCode::kDone;
  }
  if (fires.empty()) session.Say("It never fires.");
  print.List({{"items", fires}}, FireView());
  return ExitCode::kDone;
}

Outcome<ExitCode> Explain(Session& session, const ScheduleArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Schedule schedule, Compile(session, arguments));
  if (!schedule.Next(session.host().clock.Wall())) session.Say("It never fires.");
  Printer print = session.Print();
  if (print.form() == Form::kTable || print.form() == Form::kName) {
    print.Line(schedule.Explain());
  } else {
    print.Object({{"expression", arguments.expression},
                  {"time_zone", arguments.zone},
                  {"explanation", schedule.Explain()}},
                 {});
  }
  return ExitCode::kDone;
}

// Prints the warnings. Exit code 1 if there are any, as `diff` returns 1 if there are differences.
Outcome<ExitCode> Lint(Session& session, const ScheduleArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Written written, ReadSchedule(session, arguments));
  CARILLON_TRY(Compile(written));
  CARILLON_ASSIGN_OR_RETURN(const WallTime after, AfterOf(session, arguments));
  const auto warnings =
      LintInCalendars(written.spec, written.gap, written.repeat, after, written.calendars);
  if (warnings.empty()) session.Say("No warnings.");
  Printer print = session.Print();
  const bool lines = print.form() == Form::kTable && !session.flags().quiet;
  json items = json::array();
  for (const ScheduleWarning& warning : warnings) {
    if (lines) {
      print.Line(std::string(warning.code) + ": " + warning.detail);  // lines are never truncated
    }
    items.push_back({{"code", warning.code}, {"detail", warning.detail}});
  }
  if (!lines) {
    print.List({{"items", std::move(items)}}, {.columns = {}, .id = "code"});
  }
  return warnings.empty() ? ExitCode::kDone : ExitCode::kFailure;
}

struct LoadArguments {
  std::string from;
  std::string until;
  std::string bucket = "hour";
  bool by_job = false;
};

// JSON and YAML contain all buckets. A table omits buckets without fires.
Outcome<ExitCode> ShowLoad(Session& session, const LoadArguments& arguments) {
  ApiRequest request{.path = "/api/schedules/load", .query = {{"bucket", arguments.bucket}}};
  if (!arguments.from.empty()) request.query.emplace_back("from", arguments.from);
  if (!arguments.until.empty()) request.query.emplace_back("until", arguments.until);
  if (arguments.by_job) request.query.emplace_back("by_job", "true");
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse load, session.Call(request));
  static const View buckets{{{"START", "start"}, {"FIRES", "fires"}}, "start"};
  static const View jobs{
      {{"JOB", "job_id"}, {"NAME", "name"}, {"FIRES", "fires"}, {"FIRST FIRE", "first_fire_time"}},
      "job_id"};
  Printer print = session.Print();
  const json& body = load.body;
  if (body.value("truncated", false)) {
    session.Say("Not all jobs were counted; the real numbers are higher.");
  }
  if (print.form() == Form::kJson || print.form() == Form::kYaml) {
    print.Object(body, {});
    return ExitCode::kDone;
  }
  json items = json::array();
  for (const json& item : body.value(arguments.by_job ? "items" : "buckets", json::array())) {
    if (item.value("fires", int64_t{0}) > 0) items.push_back(item);
  }
  if (items.empty()) session.Say("Nothing fires in this period.");
  print.List({{"items", std::move(items)}}, arguments.by_job ? jobs : buckets);
  return ExitCode::kDone;
}

void AddFlags(CLI::App* verb, ScheduleArguments& arguments) {
  verb->add_option("expression", arguments.expression, "Cron expression, quoted")->required();
  verb->add_option("--tz,--zone", arguments.zone, "IANA time zone (default: UTC)");
  verb->add_option("--job-id", arguments.job_id, "Show the times of fields H for this job");
  verb->add_option("--calendar", arguments.calendar,
                   "File of the schedule's calendar, YAML or JSON")
      ->check(NotEmpty);
  verb->add_option("--blackout", arguments.blackout, "File of the schedule's blackout")
      ->check(NotEmpty);
  verb->add_option("--dst-gap", arguments.gap,
                   "Local time that does not exist (DST): fire or skip");
  verb->add_option("--dst-repeat", arguments.repeat,
                   "Local time that occurs twice (DST): auto, both, early or late");
}

}  // namespace

void AddScheduleCommands(CLI::App& app, Session& session) {
  CLI::App* schedule = app.add_subcommand("schedule", "Explain and check cron expressions");
  schedule->require_subcommand(1);
  const auto a = std::make_shared<ScheduleArguments>();  // shared by the subcommands' callbacks
  CLI::App* next = schedule->add_subcommand("next", "Show the next fire times of an expression");
  AddFlags(next, *a);
  next->add_option("-n", a->count, "Number of fire times")->check(CLI::Range(1, 1000));
  next->add_option("--after", a->after, "Only fire times after this one (default: now)");
  session.On(next, [&session, a] { return Next(session, *a); });
  CLI::App* explain = schedule->add_subcommand("explain", "Explain an expression in words");
  AddFlags(explain, *a);
  session.On(explain, [&session, a] { return Explain(session, *a); });
  CLI::App* lint =
      schedule->add_subcommand("lint", "Warn about likely mistakes; exits with 1 if there are any");
  AddFlags(lint, *a);
  lint->add_option("--after", a->after, "Check clock changes after this time (default: now)");
  session.On(lint, [&session, a] { return Lint(session, *a); });
  CLI::App* load =
      schedule->add_subcommand("load", "Count the fires of all jobs per minute or hour");
  const auto l = std::make_shared<LoadArguments>();
  load->add_option("--from", l->from, "Start, RFC 3339 (default: this minute)");
  load->add_option("--until", l->until, "End, RFC 3339, exclusive (default: a day later)");
  load->add_option("--bucket", l->bucket, "Bucket size: minute or hour (default: hour)");
  load->add_flag("--by-job", l->by_job, "Show the jobs that fire, in order of their first fire");
  session.On(load, [&session, l] { return ShowLoad(session, *l); });
}

}  // namespace carillon::cli
