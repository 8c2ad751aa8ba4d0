#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "common/domain/schedule.h"
#include "common/domain/zone.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct ScheduleArguments {
  std::string expression;
  std::string zone = "UTC";
  std::string after;
  std::string gap = "fire";
  std::string repeat = "auto";
  int count = 10;
};

Result<Schedule> Compile(const ScheduleArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const DstGap gap, ParseName<DstGap>(arguments.gap));
  CARILLON_ASSIGN_OR_RETURN(const DstRepeat repeat, ParseName<DstRepeat>(arguments.repeat));
  return Schedule::Compile({.kind = ScheduleKind::kCron,
                            .cron_expression = arguments.expression,
                            .time_zone = arguments.zone},
                           gap, repeat);
}

json NoteOf(DstNote note) {
  switch (note) {
    case DstNote::kNone: return nullptr;
    case DstNote::kMovedByGap: return "moved_by_gap";
    case DstNote::kRepeated: return "repeated";
  }
  return nullptr;
}

// "2026-03-01T09:00:00.000000+01:00"
std::string LocalTime(WallTime time, const Zone& zone) {
  const int64_t second = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  const int32_t offset = second >= kZoneBegin && second < kZoneEnd ? zone.OffsetAt(second) : 0;
  std::string text = FormatRfc3339(time + std::chrono::seconds(offset));
  text.pop_back();
  const int32_t minutes = std::abs(offset) / 60;
  return text + fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

Outcome<ExitCode> Next(Session& session, const ScheduleArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Schedule schedule, Compile(arguments));
  CARILLON_ASSIGN_OR_RETURN(const Zone* zone, Zone::Load(arguments.zone));
  WallTime after = session.host().clock.Wall();
  if (!arguments.after.empty()) {
    CARILLON_ASSIGN_OR_RETURN(after, ParseRfc3339(arguments.after));
  }
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
  if (fires.empty()) session.Say("it never fires");
  print.List({{"items", fires}}, FireView());
  return ExitCode::kDone;
}

Outcome<ExitCode> Explain(Session& session, const ScheduleArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Schedule schedule, Compile(arguments));
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

void AddFlags(CLI::App* verb, ScheduleArguments& arguments) {
  verb->add_option("expression", arguments.expression, "Cron expression, quoted")->required();
  verb->add_option("--tz,--zone", arguments.zone, "IANA time zone, default UTC");
  verb->add_option("--dst-gap", arguments.gap, "fire or skip");
  verb->add_option("--dst-repeat", arguments.repeat, "auto, both, early or late");
}

}  // namespace

void AddScheduleCommands(CLI::App& app, Session& session) {
  CLI::App* schedule = app.add_subcommand("schedule", "Cron expressions, without a server");
  schedule->require_subcommand(1);
  const auto a = std::make_shared<ScheduleArguments>();  // shared by the verbs' callbacks
  CLI::App* next = schedule->add_subcommand("next", "The coming fires of an expression");
  AddFlags(next, *a);
  next->add_option("-n", a->count, "How many")->check(CLI::Range(1, 1000));
  next->add_option("--after", a->after, "Strictly after this time, default now");
  session.On(next, [&session, a] { return Next(session, *a); });
  CLI::App* explain = schedule->add_subcommand("explain", "An expression in words");
  AddFlags(explain, *a);
  session.On(explain, [&session, a] { return Explain(session, *a); });
}

}  // namespace carillon::cli
