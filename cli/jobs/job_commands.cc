#include <nlohmann/json.hpp>

#include "cli/jobs/commands.h"
#include "cli/jobs/job_flags.h"
#include "cli/jobs/last_runs.h"
#include "cli/runs/commands.h"
#include "cli/runs/run_wait.h"

namespace carillon::cli {

std::string JobPath(const std::string& job_id, const std::string& action) {
  return "/api/jobs/" + Escape(job_id) + (action.empty() ? "" : "/" + action);
}

namespace {

using nlohmann::json;

struct JobArguments {
  std::vector<std::string> ids;
  std::string reason;
  std::string status;
  std::string paused_by;
  std::string type;
  std::string user;
  std::string search;
  std::string selector;
  std::string sort;
  std::vector<std::string> namespaces;
  std::optional<int64_t> limit;
  RunListFlags history;
  std::vector<std::string> parameters;
  std::string executor;
  std::string priority;
  bool wait = false;
  bool confirm_overlap = false;
  bool kill = false;
  bool force = false;
  std::string longest;
  int fires = 10;
  std::string at;
};

Outcome<ExitCode> List(Session& session, const JobArguments& arguments) {
  ApiRequest request{.path = "/api/jobs"};
  if (!arguments.status.empty()) request.query.emplace_back("status", UpperCase(arguments.status));
  if (!arguments.paused_by.empty()) request.query.emplace_back("paused_by", arguments.paused_by);
  if (!arguments.type.empty()) request.query.emplace_back("type", arguments.type);
  if (!arguments.user.empty()) request.query.emplace_back("user_id", arguments.user);
  if (!arguments.search.empty()) request.query.emplace_back("q", arguments.search);
  if (!arguments.selector.empty()) request.query.emplace_back("selector", arguments.selector);
  if (!arguments.sort.empty()) request.query.emplace_back("sort", arguments.sort);
  for (const std::string& one : arguments.namespaces) request.query.emplace_back("namespace", one);
  return session.List(request,
                      {.view = JobListView(),
                       .limit = arguments.limit,
                       .for_table =
                           [](json& job) {
                             job["schedule"] = ScheduleSummary(job);
                             if (job.contains("schedule_problem"))
                               job["next_fire_time"] = "cannot be planned";
                           },
                       .for_table_page = [&session](json& jobs) { AddLastRuns(session, jobs); }});
}

Outcome<ExitCode> Get(Session& session, const JobArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse job,
                            session.Call({.path = JobPath(arguments.ids[0])}));
  session.Print().Object(job.body, JobView());
  return ExitCode::kDone;
}

Outcome<ExitCode> ChangeState(Session& session, const JobArguments& arguments,
                              const std::string& action) {
  for (const std::string& id : arguments.ids) {
    ApiRequest request{.method = "POST", .path = JobPath(id, action), .body = json::object()};
    if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse job, session.Call(request));
    PrintJob(session, job.body);
  }
  return ExitCode::kDone;
}

std::string Listed(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ", ") + id;
  return text;
}

Outcome<ExitCode> Delete(Session& session, const JobArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const bool go,
                            session.Confirm("Delete " + Listed(arguments.ids) + "?"));
  if (!go) return ExitCode::kFailure;
  for (const std::string& id : arguments.ids) {
    CARILLON_ASSIGN_OR_RETURN(const std::string tag, CurrentTag(session, JobPath(id)));
    ApiRequest request{.method = "DELETE", .path = JobPath(id), .if_match = tag};
    if (arguments.force) request.query.emplace_back("force", "true");
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse gone, session.Call(request));
    session.Say("Deleted " + id + ".");
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> Cancel(Session& session, const JobArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(
      const bool go,
      session.Confirm("Cancel all active and pending runs of " + Listed(arguments.ids) + "?"));
  if (!go) return ExitCode::kFailure;
  for (const std::string& id : arguments.ids) {
    ApiRequest request{.method = "POST", .path = JobPath(id, "cancel"), .body = json::object()};
    if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
    if (arguments.confirm_overlap) (*request.body)["confirm_overlap"] = true;
    if (arguments.kill) (*request.body)["mode"] = "kill";
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer, session.Call(request));
    json shown = answer.body;
    shown["job_id"] = id;
    session.Print().Object(shown, JobView());
  }
  return ExitCode::kDone;
}

// Returns the rules for the parameters of a job; an empty object if they are not known. Then a
// value is sent as it looks, and the server reports one of a wrong type.
json ParameterRulesOf(Session& session, const std::string& job_id) {
  const auto job = session.Call({.path = JobPath(job_id)});
  const json rules = job.ok() && job->body.is_object()
                         ? job->body.value("parameter_rules", json::object())
                         : json::object();
  return rules.is_object() ? rules : json::object();
}

// A text like "7" stays a text if the rule wants one.
json ParameterBy(const json& rules, const std::string& name, const std::string& text) {
  const json rule = rules.value(name, json::object());
  return rule.is_object() && rule.value("type", "") == "string" ? json(text) : ParameterOf(text);
}

Outcome<ExitCode> RunNow(Session& session, const JobArguments& arguments) {
  WaitOptions wait{.show_output = true};
  if (!arguments.longest.empty()) {
    CARILLON_ASSIGN_OR_RETURN(wait.longest, ParseDuration(arguments.longest));
  }
  ApiRequest request{.method = "POST",
                     .path = JobPath(arguments.ids[0], "execute"),
                     .body = json::object(),
                     .idempotent = true};
  CARILLON_ASSIGN_OR_RETURN(const auto parameters, ParsePairs(arguments.parameters));
  const json rules =
      parameters.empty() ? json::object() : ParameterRulesOf(session, arguments.ids[0]);
  for (const auto& [name, value] : parameters) {
    (*request.body)["parameters"][name] = ParameterBy(rules, name, value);
  }
  if (!arguments.executor.empty()) (*request.body)["executor_id"] = arguments.executor;
  if (!arguments.priority.empty()) (*request.body)["priority"] = ParameterOf(arguments.priority);
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse run, session.Call(request));
  if (!run.body.is_object() || !run.body.contains("run_id") || !run.body["run_id"].is_string()) {
    return Failure{.message = "unexpected answer from the server: no run ID", .code = "bad_answer"};
  }
  if (arguments.wait) return WaitForRun(session, run.body["run_id"].get<std::string>(), wait);
  Printer print = session.Print();
  if (print.form() == Form::kTable) {
    print.Line(run.body["run_id"].get<std::string>());
  } else {
    print.Object(run.body, RunView());
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> Why(Session& session, const JobArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const WallTime at,
                            ParseWhen(arguments.at, session.host().clock.Wall()));
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer,
                            session.Call({.path = JobPath(arguments.ids[0], "why"),
                                          .query = {{"at", FormatRfc3339(at)}}}));
  Printer print = session.Print();
  const bool sentence = print.form() == Form::kTable && answer.body.is_object();
  if (sentence) {
    print.Line(Cell(answer.body.value("explanation", json())));
    const json run = answer.body.value("run_id", json());
    if (run.is_string()) print.Line("Run: " + Cell(run));
  } else {
    print.Object(answer.body, JobView());
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> Next(Session& session, const JobArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse fires,
                            session.Call({.path = JobPath(arguments.ids[0], "next"),
                                          .query = {{"n", std::to_string(arguments.fires)}}}));
  if (fires.body.is_object() && fires.body.value("state", "") == "PAUSED") {
    session.Say(arguments.ids[0] + " is paused and does not fire.");
  }
  session.Print().List(fires.body, FireView());
  return ExitCode::kDone;
}

void AddReadVerbs(CLI::App& job, Session& session, const std::shared_ptr<JobArguments>& a) {
  CLI::App* list = job.add_subcommand("list", "List jobs");
  list->add_option("--status", a->status, "Only jobs in this state: ENABLED or PAUSED");
  list->add_option("--paused-by", a->paused_by,
                   "Only jobs that are paused by: failures (their pause_after_failures)");
  list->add_option("--type", a->type, "Only jobs of this type, such as shell or http");
  list->add_option("--user-id,--user", a->user, "Only jobs of this owner");
  list->add_option("--q,--search", a->search, "Only jobs with this text in the name or ID");
  list->add_option("--selector", a->selector,
                   "Only jobs with matching labels, e.g. 'team = etl, !old'");
  list->add_option("--namespace", a->namespaces, "Only jobs in this namespace; repeatable")
      ->allow_extra_args(false)
      ->check(NotEmpty);
  list->add_option(
      "--sort", a->sort,
      "Sort by job_id, name, create_time or update_time; --sort=-name reverses the order");
  AddLimit(list, a->limit, "jobs");
  session.On(list, [&session, a] { return List(session, *a); });

  CLI::App* get = job.add_subcommand("get", "Show a job");
  get->add_option("job", a->ids, "Job ID")->required()->expected(1);
  session.On(get, [&session, a] { return Get(session, *a); });

  CLI::App* history = job.add_subcommand("history", "List the runs of a job");
  history->add_option("job", a->history.job_id, "Job ID")->required();
  AddRunListFlags(history, a->history);
  session.On(history, [&session, a] { return ListRuns(session, a->history); });

  CLI::App* why = job.add_subcommand("why", "Explain why a job did or did not run at a given time");
  why->add_option("job", a->ids, "Job ID")->required()->expected(1)->allow_extra_args(false);
  why->add_option("at", a->at, "The minute: an RFC 3339 time, or how long ago (e.g. 8h)")
      ->required();
  session.On(why, [&session, a] { return Why(session, *a); });

  CLI::App* next = job.add_subcommand("next", "Show the next fire times of a job");
  next->add_option("job", a->ids, "Job ID")->required()->expected(1);
  next->add_option("-n", a->fires, "Number of fire times")->check(CLI::Range(1, 100));
  session.On(next, [&session, a] { return Next(session, *a); });
}

void AddActions(CLI::App& job, Session& session, const std::shared_ptr<JobArguments>& a) {
  for (const std::string action : {"pause", "resume"}) {
    CLI::App* verb =
        job.add_subcommand(action, action == "pause" ? "Pause jobs" : "Resume paused jobs");
    verb->add_option("job", a->ids, "Job IDs")->required();
    verb->add_option("--reason", a->reason, "Reason, kept in the audit log");
    session.On(verb, [&session, a, action] { return ChangeState(session, *a, action); });
  }
  CLI::App* remove = job.add_subcommand("delete", "Delete jobs; active runs finish");
  remove->add_option("job", a->ids, "Job IDs")->required();
  remove->add_flag("--force", a->force, "Also delete jobs that others name");
  session.On(remove, [&session, a] { return Delete(session, *a); });

  CLI::App* cancel = job.add_subcommand("cancel", "Cancel all active and pending runs of jobs");
  cancel->add_option("job", a->ids, "Job IDs")->required();
  cancel->add_option("--reason", a->reason, "Reason, kept in the audit log");
  cancel->add_flag("--kill", a->kill, kKillHelp);
  cancel->add_flag(
      "--confirm-overlap", a->confirm_overlap,
      "Include runs whose process may still be alive; another may then start beside it");
  session.On(cancel, [&session, a] { return Cancel(session, *a); });

  CLI::App* run = job.add_subcommand("run", "Run a job now");
  run->add_option("job", a->ids, "Job ID")->required()->expected(1);
  run->add_option("--param", a->parameters, "Parameter, name=value")->allow_extra_args(false);
  run->add_option("--executor-id,--executor", a->executor, "Run on this executor only");
  run->add_option("--priority", a->priority, "Priority, 0 to 100; a higher priority starts first")
      ->check(CLI::Range(0, 100));
  run->add_flag("--wait", a->wait,
                "Wait for the run, print its output; the exit code is its result");
  run->add_option("--wait-timeout", a->longest, "Maximum time to wait, e.g. 5m");
  session.On(run, [&session, a] { return RunNow(session, *a); });
}

// Returns an interval in the form that --every accepts: "1h", "90s", "500ms".
std::string RateText(int64_t ms) {
  for (const auto& [unit, name] :
       {std::pair(int64_t{3'600'000}, "h"), {60'000, "m"}, {1000, "s"}}) {
    if (ms > 0 && ms % unit == 0) return std::to_string(ms / unit) + name;
  }
  return std::to_string(ms) + "ms";
}

}  // namespace

Outcome<std::string> CurrentTag(Session& session, const std::string& path) {
  const auto job = session.Call({.path = path});
  if (job.ok()) return job->etag;
  if (job.error().code != "corrupt" || job.error().etag.empty()) return job.error();
  return job.error().etag;
}

std::string ScheduleSummary(const json& job) {
  if (job.contains("problem")) return "cannot be read";
  const json schedules = job.value("schedules", json::array());
  if (!schedules.is_array() || schedules.empty()) return "manual";
  const json& first = schedules[0];
  std::string text;
  if (first.value("kind", "") == "cron") {
    text = first.value("cron_expression", "") + " " + first.value("time_zone", "");
  } else if (first.value("kind", "") == "rate") {
    text = "every " + RateText(first.value("every_ms", int64_t{0}));
  } else if (first.value("kind", "") == "delay") {
    text = RateText(first.value("every_ms", int64_t{0})) + " after each run";
  } else if (first.value("kind", "") == "after") {
    text = "after " + Cell(first.value("job", json())) + " (" + first.value("on", "success") + ")";
  } else if (first.value("kind", "") == "event") {
    text = "on event " + Cell(first.value("type", json()));
    const json source = first.value("source", json());
    if (source.is_string() && source != "") text += " from " + Cell(source);
  } else {
    text = "once " + Cell(first.value("at", json(nullptr)));
  }
  if (schedules.size() > 1) text += " +" + std::to_string(schedules.size() - 1);
  return text;
}

void PrintJob(Session& session, const json& job) {
  Printer print = session.Print();
  json shown = job;
  if (print.form() == Form::kTable) shown["schedule"] = ScheduleSummary(job);
  print.Row(shown, JobView());
}

void AddJobCommands(CLI::App& app, Session& session) {
  CLI::App* job = app.add_subcommand("job", "Manage jobs");
  job->require_subcommand(1);
  const auto arguments = std::make_shared<JobArguments>();  // shared by the verbs' callbacks
  AddJobWriteCommands(*job, session);
  AddReadVerbs(*job, session, arguments);
  AddActions(*job, session, arguments);
  AddVersionCommands(*job, session);
  AddQueueCommand(*job, session);
  AddDependenciesCommand(*job, session);
  AddJobBackfillCommand(*job, session);
  AddGapsCommand(*job, session);
}

}  // namespace carillon::cli
