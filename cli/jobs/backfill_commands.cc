// Backfills: run the past fires of a job, and control the backfills that do it.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/jobs/commands.h"
#include "cli/jobs/job_flags.h"
#include "cli/runs/run_wait.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr Duration kFirstPause = 100ms;
constexpr Duration kLongestPause = 2s;

struct BackfillArguments {
  std::string job;
  std::string from;
  std::string to;
  std::optional<int64_t> schedule;
  bool descending = false;
  std::string rerun;
  std::optional<int64_t> concurrency;
  std::optional<int64_t> priority;
  std::vector<std::string> parameters;
  bool dry_run = false;
  bool wait = false;
  std::vector<int64_t> numbers;
  std::string state;
  std::string reason;
  std::optional<int64_t> limit;
};

const View& BackfillView() {
  static const View view{.columns = {{"ID", "backfill_id"},
                                     {"JOB", "job_id"},
                                     {"STATE", "state"},
                                     {"FIRES", "fires"},
                                     {"DONE", "done"},
                                     {"FAILED", "failed"},
                                     {"RUNNING", "running"},
                                     {"FROM", "from"},
                                     {"TO", "to"},
                                     {"CREATED", "create_time"}},
                         .id = "backfill_id",
                         .wide = {{"ORDER", "order"},
                                  {"RERUN", "rerun"},
                                  {"EXISTING", "existing"},
                                  {"REFUSED", "refused"},
                                  {"WHO", "actor"},
                                  {"ENDED", "end_time"},
                                  {"ERROR", "error"}}};
  return view;
}

const View& PreviewView() {
  static const View view{{{"JOB", "job_id"},
                          {"FIRES", "fires"},
                          {"TO RUN", "to_run"},
                          {"EXISTING", "existing"},
                          {"REFUSED", "refused"}},
                         "job_id"};
  return view;
}

std::string PathOf(int64_t number, const std::string& verb = "") {
  return "/api/backfills/" + std::to_string(number) + (verb.empty() ? "" : "/" + verb);
}

int64_t NumberOf(const json& backfill, const char* name) {
  return backfill.value(name, int64_t{0});
}

// Returns the progress: "backfill 7: 12 of 90 done, 1 failed, 2 running".
std::string Describe(const json& backfill) {
  return "backfill " + std::to_string(NumberOf(backfill, "backfill_id")) + ": " +
         std::to_string(NumberOf(backfill, "done")) + " of " +
         std::to_string(NumberOf(backfill, "fires")) + " done, " +
         std::to_string(NumberOf(backfill, "failed")) + " failed, " +
         std::to_string(NumberOf(backfill, "running")) + " running";
}

// Prints the progress until the backfill has ended. The exit code is 1 unless it is COMPLETED
// without a failed run.
Outcome<ExitCode> Follow(Session& session, int64_t number) {
  const Clock& clock = session.host().clock;
  SteadyTime heard = clock.Steady();
  Duration pause = kFirstPause;
  std::string said;
  while (true) {
    const auto response = session.Call({.path = PathOf(number)});
    const bool away = !response.ok() && response.error().exit == ExitCode::kUnreachable;
    if (!response.ok() && (!away || clock.Steady() - heard >= kPatience)) return response.error();
    if (response.ok()) {
      heard = clock.Steady();
      const json& backfill = response->body;
      const std::string line = Describe(backfill);
      if (line != said) session.Say(line);
      said = line;
      if (backfill.value("end_time", json()).is_string()) {
        session.Print().Row(backfill, BackfillView());
        const bool clean =
            backfill.value("state", "") == "COMPLETED" && NumberOf(backfill, "failed") == 0;
        return clean ? ExitCode::kDone : ExitCode::kFailure;
      }
    }
    session.host().wait(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Outcome<json> BodyOf(Session& session, const BackfillArguments& arguments) {
  const WallTime now = session.host().clock.Wall();
  CARILLON_ASSIGN_OR_RETURN(const WallTime from, ParseWhen(arguments.from, now));
  CARILLON_ASSIGN_OR_RETURN(const WallTime to, ParseWhen(arguments.to, now));
  json body = {{"from", FormatRfc3339(from)}, {"to", FormatRfc3339(to)}};
  if (arguments.schedule) body["schedule_id"] = *arguments.schedule;
  if (arguments.descending) body["order"] = "descending";
  if (!arguments.rerun.empty()) body["rerun"] = arguments.rerun;
  if (arguments.concurrency) body["concurrency"] = *arguments.concurrency;
  if (arguments.priority) body["priority"] = *arguments.priority;
  CARILLON_ASSIGN_OR_RETURN(const auto parameters, ParsePairs(arguments.parameters));
  for (const auto& [name, value] : parameters) body["parameters"][name] = ParameterOf(value);
  return body;
}

void PrintPreview(Session& session, const json& preview) {
  Printer print = session.Print();
  if (print.form() != Form::kTable || session.flags().quiet) {
    return print.Object(preview, PreviewView());
  }
  print.Row(preview, PreviewView());
  const json fires = preview.value("first_fires", json::array());
  if (!fires.is_array() || fires.empty()) return;
  session.Say("The first fires that would be run:");
  for (const json& fire : fires) print.Line(Cell(fire));
}

Outcome<ExitCode> StartBackfill(Session& session, const BackfillArguments& arguments) {
  if (arguments.dry_run && arguments.wait) {
    return UsageFailure("--dry-run cannot be combined with --wait");
  }
  CARILLON_ASSIGN_OR_RETURN(json body, BodyOf(session, arguments));
  if (arguments.dry_run) body["dry_run"] = true;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer,
                            session.Call({.method = "POST",
                                          .path = JobPath(arguments.job, "backfills"),
                                          .body = std::move(body),
                                          .idempotent = true}));
  if (arguments.dry_run) {
    PrintPreview(session, answer.body);
    return ExitCode::kDone;
  }
  if (!answer.body.is_object() || !answer.body.value("backfill_id", json()).is_number_integer()) {
    return Failure{.message = "unexpected answer from the server: no backfill",
                   .code = "bad_answer"};
  }
  if (arguments.wait) return Follow(session, NumberOf(answer.body, "backfill_id"));
  session.Print().Row(answer.body, BackfillView());
  return ExitCode::kDone;
}

Outcome<ExitCode> ListThem(Session& session, const BackfillArguments& arguments) {
  ApiRequest request{.path = "/api/backfills"};
  if (!arguments.job.empty()) request.query.emplace_back("job_id", arguments.job);
  if (!arguments.state.empty()) request.query.emplace_back("state", UpperCase(arguments.state));
  return session.List(request, {.view = BackfillView(), .limit = arguments.limit});
}

Outcome<ExitCode> GetOne(Session& session, const BackfillArguments& arguments) {
  if (arguments.wait) return Follow(session, arguments.numbers.at(0));
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse backfill,
                            session.Call({.path = PathOf(arguments.numbers.at(0))}));
  session.Print().Object(backfill.body, BackfillView());
  return ExitCode::kDone;
}

Outcome<ExitCode> Change(Session& session, const BackfillArguments& arguments,
                         const std::string& verb) {
  if (verb == "cancel") {
    CARILLON_ASSIGN_OR_RETURN(
        const bool go,
        session.Confirm("Cancel " +
                        Counted(static_cast<int64_t>(arguments.numbers.size()), "backfill") +
                        " and the open runs?"));
    if (!go) return ExitCode::kFailure;
  }
  for (const int64_t number : arguments.numbers) {
    ApiRequest request{.method = "POST", .path = PathOf(number, verb), .body = json::object()};
    if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse backfill, session.Call(request));
    session.Print().Row(backfill.body, BackfillView());
  }
  return ExitCode::kDone;
}

}  // namespace

void AddJobBackfillCommand(CLI::App& job, Session& session) {
  const auto a = std::make_shared<BackfillArguments>();
  CLI::App* start = job.add_subcommand("backfill", "Run the past fires of a job");
  start->add_option("job", a->job, "Job ID")->required();
  start
      ->add_option("--from", a->from,
                   "First fire time: an RFC 3339 time, or how long ago (e.g. 7d)")
      ->required();
  start->add_option("--to", a->to, "Last fire time, exclusive; in the same form")->required();
  start->add_option("--schedule", a->schedule,
                    "Schedule ID, needed if the job has several cron or rate schedules");
  start->add_flag("--descending", a->descending, "Begin with the newest fire");
  start->add_option("--rerun", a->rerun, "Runs to run again: none (default), failed or all")
      ->check(CLI::IsMember({"none", "failed", "all"}));
  start->add_option("--concurrency", a->concurrency, "Open runs at a time, 1 (default) to 100")
      ->check(CLI::Range(1, 100));
  start->add_option("--priority", a->priority, "Priority of the runs, 0 to 100")
      ->check(CLI::Range(0, 100));
  start->add_option("--param", a->parameters, "Parameter of the runs, name=value")
      ->allow_extra_args(false);
  start->add_flag("--dry-run", a->dry_run, "Show what would be run, without changing anything");
  start->add_flag("--wait", a->wait, "Wait until the backfill has ended");
  session.On(start, [&session, a] { return StartBackfill(session, *a); });
}

void AddBackfillCommands(CLI::App& app, Session& session) {
  CLI::App* backfill = app.add_subcommand("backfill", "Show and control backfills");
  backfill->require_subcommand(1);
  const auto a = std::make_shared<BackfillArguments>();  // shared by the subcommands' callbacks
  CLI::App* list = backfill->add_subcommand("list", "List backfills, newest first");
  list->add_option("--job-id,--job", a->job, "Only backfills of this job");
  list->add_option("--state", a->state,
                   "Only this state: RUNNING, PAUSED, COMPLETED, CANCELLED or STOPPED");
  AddLimit(list, a->limit, "backfills");
  session.On(list, [&session, a] { return ListThem(session, *a); });
  CLI::App* get = backfill->add_subcommand("get", "Show the progress of a backfill");
  get->add_option("backfill_id", a->numbers, "Backfill ID")->required()->expected(1);
  get->add_flag("--wait", a->wait, "Wait until the backfill has ended");
  session.On(get, [&session, a] { return GetOne(session, *a); });
  const std::vector<std::pair<std::string, std::string>> verbs = {
      {"pause", "Pause backfills; open runs go on"},
      {"resume", "Resume paused backfills"},
      {"cancel", "Cancel backfills and their open runs"}};
  for (const auto& [name, help] : verbs) {
    CLI::App* verb = backfill->add_subcommand(name, help);
    verb->add_option("backfill_id", a->numbers, "Backfill IDs")->required();
    verb->add_option("--reason", a->reason, "Reason, kept in the audit log");
    session.On(verb, [&session, a, name = name] { return Change(session, *a, name); });
  }
}

}  // namespace carillon::cli
