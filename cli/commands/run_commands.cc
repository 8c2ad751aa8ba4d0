#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/run_logs.h"
#include "cli/commands/run_wait.h"
#include "common/domain/run.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct RunArguments {
  std::vector<std::string> ids;
  std::string reason;
  std::string longest;
  bool confirm_overlap = false;
  bool kill = false;
  RunListFlags list;
};

std::string PathOf(const std::string& run_id, const std::string& action = "") {
  return "/api/runs/" + Escape(run_id) + (action.empty() ? "" : "/" + action);
}

Outcome<ExitCode> Get(Session& session, const RunArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse run,
                            session.Call({.path = PathOf(arguments.ids[0])}));
  session.Print().Object(run.body, RunView());
  return ExitCode::kDone;
}

Outcome<ExitCode> Cancel(Session& session, const RunArguments& arguments) {
  for (const std::string& id : arguments.ids) {
    ApiRequest request{.method = "POST", .path = PathOf(id, "cancel"), .body = json::object()};
    if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
    if (arguments.confirm_overlap) (*request.body)["confirm_overlap"] = true;
    if (arguments.kill) (*request.body)["mode"] = "kill";
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer, session.Call(request));
    json shown = answer.body;
    shown["run_id"] = id;
    session.Print().Object(shown, RunView());
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> Retry(Session& session, const RunArguments& arguments) {
  json body = json::object();
  if (arguments.confirm_overlap) body["confirm_overlap"] = true;
  for (const std::string& id : arguments.ids) {
    CARILLON_ASSIGN_OR_RETURN(
        const ApiResponse run,
        session.Call(
            {.method = "POST", .path = PathOf(id, "retry"), .body = body, .idempotent = true}));
    session.Print().Row(run.body, RunView());
  }
  return ExitCode::kDone;
}

// The first run that ends badly decides how several end.
Outcome<ExitCode> Wait(Session& session, const RunArguments& arguments) {
  WaitOptions options;
  if (!arguments.longest.empty()) {
    CARILLON_ASSIGN_OR_RETURN(options.longest, ParseDuration(arguments.longest));
  }
  const SteadyTime started = session.host().clock.Steady();
  ExitCode worst = ExitCode::kDone;
  for (const std::string& id : arguments.ids) {
    WaitOptions left = options;
    if (left.longest) *left.longest -= session.host().clock.Steady() - started;
    CARILLON_ASSIGN_OR_RETURN(const ExitCode fate, WaitForRun(session, id, left));
    if (worst == ExitCode::kDone) worst = fate;
  }
  return worst;
}

}  // namespace

void AddRunListFlags(CLI::App* verb, RunListFlags& flags) {
  verb->add_option("--executor-id,--executor", flags.executor_id, "On this executor");
  verb->add_option("--state", flags.states, "COMPLETED, FAILED, …; several mean any of them")
      ->allow_extra_args(false);
  verb->add_option("--kind", flags.kinds, "cron, rate, once or manual; several mean any of them")
      ->allow_extra_args(false);
  verb->add_option("--since", flags.since, "Fire time from here: RFC 3339, or 24h for before now");
  verb->add_option("--until", flags.until, "Fire time before this");
  verb->add_option("--sort", flags.sort, "fire_time: the oldest first; --sort=-fire_time as ever");
  AddLimit(verb, flags.limit, "runs");
}

Outcome<ExitCode> ListRuns(Session& session, const RunListFlags& flags) {
  ApiRequest request{.path = "/api/runs"};
  const bool of_jobs = !flags.user_id.empty() || !flags.namespaces.empty() ||
                       !flags.name_part.empty() || !flags.labels.empty();
  if (!flags.job_id.empty() && of_jobs) {
    request.query.emplace_back("job_id", flags.job_id);
  } else if (!flags.job_id.empty()) {
    // This one says it when there is no such job.
    request.path = "/api/jobs/" + Escape(flags.job_id) + "/history";
  }
  if (!flags.executor_id.empty()) request.query.emplace_back("executor_id", flags.executor_id);
  if (!flags.user_id.empty()) request.query.emplace_back("user_id", flags.user_id);
  for (const std::string& space : flags.namespaces) request.query.emplace_back("namespace", space);
  if (!flags.name_part.empty()) request.query.emplace_back("q", flags.name_part);
  CARILLON_TRY(AddLabels(flags.labels, request.query));
  for (const std::string& state : flags.states) request.query.emplace_back("state", state);
  for (const std::string& kind : flags.kinds) request.query.emplace_back("kind", kind);
  const WallTime now = session.host().clock.Wall();
  CARILLON_TRY(AddTime("since", flags.since, now, request.query));
  CARILLON_TRY(AddTime("until", flags.until, now, request.query));
  if (!flags.sort.empty()) request.query.emplace_back("sort", flags.sort);
  return session.List(request, {.view = RunView(), .limit = flags.limit});
}

void AddRunCommands(CLI::App& app, Session& session) {
  CLI::App* run = app.add_subcommand("run", "Runs: what fired and how it ended");
  run->require_subcommand(1);
  const auto a = std::make_shared<RunArguments>();  // shared by the verbs' callbacks
  CLI::App* list = run->add_subcommand("list", "List runs, newest first");
  list->add_option("--job-id,--job", a->list.job_id, "Of this job");
  list->add_option("--user-id,--user", a->list.user_id, "Of the jobs of this user_id");
  list->add_option("--namespace", a->list.namespaces, "Of the jobs there; may be repeated")
      ->allow_extra_args(false)
      ->check(NotEmpty);
  list->add_option("--q", a->list.name_part, "Of the jobs with this in their name or id");
  list->add_option("--label", a->list.labels,
                   "Of the jobs with this label, name:value; of one name several mean any of them")
      ->allow_extra_args(false);
  AddRunListFlags(list, a->list);
  session.On(list, [&session, a] { return ListRuns(session, a->list); });

  const auto verb = [&](const char* name, const char* help, bool several,
                        Outcome<ExitCode> (*action)(Session&, const RunArguments&)) {
    CLI::App* added = run->add_subcommand(name, help);
    CLI::Option* ids = added->add_option("run", a->ids, several ? "Run ids" : "Run id");
    ids->required();
    if (!several) ids->expected(1);
    session.On(added, [&session, a, action] { return action(session, *a); });
    return added;
  };
  verb("get", "Show a run with its attempts", false, &Get);
  CLI::App* logs = run->add_subcommand("logs", "Print the log of a run");
  const auto log_flags = std::make_shared<LogFlags>();
  AddLogFlags(logs, *log_flags);
  session.On(logs, [&session, log_flags] { return ShowLogs(session, *log_flags); });
  CLI::App* cancel = verb("cancel", "Cancel runs", true, &Cancel);
  cancel->add_option("--reason", a->reason, "Why, for the record");
  cancel->add_flag("--kill", a->kill, kKillHelp);
  CLI::App* retry = verb("retry", "Try ended runs once more", true, &Retry);
  for (CLI::App* added : {cancel, retry}) {
    added->add_flag("--confirm-overlap", a->confirm_overlap,
                    "Also a run whose process may still be running somewhere");
  }
  CLI::App* wait = verb("wait", "Wait for runs; ends with their fate", true, &Wait);
  wait->add_option("--wait-timeout,--timeout", a->longest, "Longest wait, e.g. 5m");
}

}  // namespace carillon::cli
