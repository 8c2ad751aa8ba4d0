#include <nlohmann/json.hpp>

#include "cli/runs/commands.h"
#include "cli/runs/run_logs.h"
#include "cli/runs/run_wait.h"
#include "cli/runs/trigger_text.h"
#include "cli/runs/wait_text.h"
#include "common/domain/run/run.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct RunArguments {
  std::vector<std::string> ids;
  std::string reason;
  std::string longest;
  bool confirm_overlap = false;
  bool give_up = false;
  bool kill = false;
  bool as_json = false;
  // Of a retry of a workflow run.
  std::string from;
  std::vector<std::string> skip;
  std::string shards;  // of a run that has fanned out
  bool dry_run = false;
  RunListFlags list;
};

std::string PathOf(const std::string& run_id, const std::string& action = "") {
  return "/api/runs/" + Escape(run_id) + (action.empty() ? "" : "/" + action);
}

// Puts texts in the place of the progress and the checkpoint.
void SavedAsText(json& run) {
  if (!run.is_object()) return;
  const json progress = run.value("progress", json());
  if (progress.is_object()) {
    const json& percent = progress["percent"];
    const std::string text = progress.value("text", "");
    std::string shown = percent.is_number() ? std::to_string(percent.get<int>()) + " %" : "";
    if (!shown.empty() && !text.empty()) shown += " ";
    run["progress"] = shown + text;
  }
  const json checkpoint = run.value("checkpoint", json());
  if (checkpoint.is_object()) {
    run["checkpoint"] = std::to_string(checkpoint.value("size", int64_t{0})) + " bytes, attempt " +
                        std::to_string(checkpoint.value("attempt", 1)) + ", " +
                        checkpoint.value("saved_at", "");
  }
}

// In table form the attempts are printed as a second table below the run. A wait for a group or
// for other jobs, and the run or the event that started this one, are a text.
void PrintRun(Session& session, json run) {
  static const View attempts_view{{{"ATTEMPT", "attempt"},
                                   {"STATE", "state"},
                                   {"REASON", "reason"},
                                   {"EXECUTOR", "executor_id"},
                                   {"STARTED", "started_at"},
                                   {"ENDED", "ended_at"},
                                   {"EXIT", "exit_code"},
                                   {"HTTP", "http_status"},
                                   {"ERROR", "error"}},
                                  "attempt"};
  Printer print = session.Print();
  const bool for_a_person = print.form() == Form::kTable && !session.flags().quiet;
  json attempts = json::array();
  if (for_a_person && run.is_object() && run.contains("attempts") && run["attempts"].is_array()) {
    attempts = std::move(run["attempts"]);
    run.erase("attempts");
  }
  if (for_a_person && run.is_object() && run.contains("waiting")) {
    const std::string wait = WaitingText(run["waiting"]);
    if (!wait.empty()) run["waiting"] = wait;
  }
  if (for_a_person && run.is_object() && run.contains("trigger")) {
    const std::string started_by = TriggerText(run["trigger"]);
    if (!started_by.empty()) run["trigger"] = started_by;
  }
  if (for_a_person && run.is_object() && run.contains("event")) {
    const std::string started_by = EventText(run["event"]);
    if (!started_by.empty()) run["event"] = started_by;
  }
  if (for_a_person) SavedAsText(run);
  print.Object(run, RunView());
  if (attempts.empty()) return;
  print.Line("");
  print.List({{"items", std::move(attempts)}}, attempts_view);
}

Outcome<ExitCode> Get(Session& session, const RunArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse run,
                            session.Call({.path = PathOf(arguments.ids[0])}));
  PrintRun(session, run.body);
  return ExitCode::kDone;
}

// A table has the outputs only. JSON is an object of their exact texts.
Outcome<ExitCode> ShowOutputs(Session& session, const RunArguments& arguments) {
  static const View view{{{"NAME", "name"}, {"VALUE", "value"}}, "name"};
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse run,
                            session.Call({.path = PathOf(arguments.ids[0])}));
  const json outputs = run.body.value("outputs", json::object());
  Printer print = session.Print();
  const bool names = session.flags().quiet || print.form() == Form::kName;
  if (arguments.as_json && print.form() == Form::kTable && !names) {
    print.Line(JsonToText(outputs));
    return ExitCode::kDone;
  }
  if (!names && print.form() != Form::kTable) {
    print.Object(outputs, view);
    return ExitCode::kDone;
  }
  json items = json::array();
  for (const auto& [name, value] : outputs.items()) {
    items.push_back({{"name", name}, {"value", value}});
  }
  print.List({{"items", std::move(items)}}, view);
  return ExitCode::kDone;
}

Outcome<ExitCode> Cancel(Session& session, const RunArguments& arguments) {
  for (const std::string& id : arguments.ids) {
    ApiRequest request{.method = "POST", .path = PathOf(id, "cancel"), .body = json::object()};
    if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
    if (arguments.confirm_overlap) (*request.body)["confirm_overlap"] = true;
    if (arguments.kill) (*request.body)["mode"] = "kill";
    if (arguments.give_up) (*request.body)["give_up"] = true;
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer, session.Call(request));
    json shown = answer.body;
    shown["run_id"] = id;
    session.Print().Object(shown, RunView());
    const json left = shown.value("finally_nodes", json());
    if (left.is_number_integer()) {
      session.Say(id + ": " + Counted(left.get<int64_t>(), "finally node") + " will run first.");
    }
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> Release(Session& session, const RunArguments& arguments) {
  for (const std::string& id : arguments.ids) {
    ApiRequest request{.method = "POST", .path = PathOf(id, "release"), .body = json::object()};
    if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse run, session.Call(request));
    session.Print().Row(run.body, RunView());
  }
  return ExitCode::kDone;
}

// "failed", "all", or a list of indexes.
Result<json> ShardsToRetry(const std::string& text) {
  if (text == "failed" || text == "all") return json(text);
  json indexes = json::array();
  for (const std::string& word : CLI::detail::split(text, ',')) {
    json index = json::parse(word, nullptr, false);
    if (!index.is_number_unsigned()) {
      return {ErrorCode::kInvalid, "--shards must be failed, all, or indexes such as 3,7"};
    }
    indexes.push_back(std::move(index));
  }
  return indexes;
}

Result<json> RetryBody(const RunArguments& arguments) {
  json body = json::object();
  if (arguments.confirm_overlap) body["confirm_overlap"] = true;
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  if (arguments.from == "failed" || arguments.from == "start") {
    body["from"] = arguments.from;
  } else if (!arguments.from.empty()) {
    body["from"] = CLI::detail::split(arguments.from, ',');
  }
  if (!arguments.skip.empty()) body["skip"] = arguments.skip;
  if (!arguments.shards.empty()) {
    CARILLON_ASSIGN_OR_RETURN(body["shards"], ShardsToRetry(arguments.shards));
  }
  if (arguments.dry_run) {
    if (!arguments.shards.empty()) {
      return {ErrorCode::kInvalid,
              "--dry-run shows the nodes of a workflow run and cannot be combined with --shards; "
              "`carillon run shards RUN` lists the parts and their states"};
    }
    body["dry_run"] = true;
  }
  return body;
}

// A table of the nodes that a retry would change.
void PrintPreview(Session& session, const json& preview) {
  static const View view{{{"NODE", "node"}, {"WOULD", "would"}}, "node"};
  Printer print = session.Print();
  const bool rows = print.form() == Form::kTable || print.form() == Form::kName;
  if (!rows && !session.flags().quiet) return print.Object(preview, view);
  json nodes = json::array();
  for (const auto& [list, would] :
       {std::pair{"run_again", "run again"}, {"skipped", "be skipped"}}) {
    const json named = preview.value(list, json::array());
    for (const json& node : named) nodes.push_back({{"node", node}, {"would", would}});
  }
  print.List({{"items", std::move(nodes)}}, view);
}

Outcome<ExitCode> Retry(Session& session, const RunArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const json body, RetryBody(arguments));
  for (const std::string& id : arguments.ids) {
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse run,
                              session.Call({.method = "POST",
                                            .path = PathOf(id, "retry"),
                                            .body = body,
                                            .idempotent = !arguments.dry_run}));
    if (arguments.dry_run) {
      PrintPreview(session, run.body);
    } else {
      session.Print().Row(run.body, RunView());
    }
  }
  return ExitCode::kDone;
}

// Waits for the runs. If several runs are given, the first run that fails determines the exit code.
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
  verb->add_option("--executor-id,--executor", flags.executor_id, "Only runs on this executor");
  verb->add_option("--state", flags.states, "Only runs in this state, e.g. FAILED; repeatable")
      ->allow_extra_args(false);
  verb->add_option(
          "--kind", flags.kinds,
          "Only runs of this kind: cron, rate, once, delay, after, event, workflow, manual or "
          "backfill; repeatable")
      ->allow_extra_args(false);
  verb->add_option("--waiting", flags.waiting,
                   "Only runs that wait for this: upstream_run (runs of other jobs), or nodes of "
                   "workflows that wait for this: approval (a decision) or time")
      ->check(NotEmpty);
  verb->add_flag("--parts", flags.parts, "Also the parts of runs that fan out");
  verb->add_option(
      "--since", flags.since,
      "Only runs with a fire time at or after this time: RFC 3339, or 24h for 24 hours ago");
  verb->add_option(
      "--until", flags.until,
      "Only runs with a fire time before this time: RFC 3339, or 24h for 24 hours ago");
  verb->add_option("--sort", flags.sort,
                   "Sort by fire_time, oldest first (default: -fire_time, newest first)");
  AddLimit(verb, flags.limit, "runs");
}

Outcome<ExitCode> ListRuns(Session& session, const RunListFlags& flags) {
  ApiRequest request{.path = "/api/runs"};
  const bool of_jobs = !flags.user_id.empty() || !flags.namespaces.empty() ||
                       !flags.name_part.empty() || !flags.labels.empty();
  if (!flags.job_id.empty() && of_jobs) {
    request.query.emplace_back("job_id", flags.job_id);
  } else if (!flags.job_id.empty()) {
    // The route of the job's history fails if the job does not exist; the list of all runs would
    // then be empty.
    request.path = "/api/jobs/" + Escape(flags.job_id) + "/history";
  }
  if (!flags.executor_id.empty()) request.query.emplace_back("executor_id", flags.executor_id);
  if (!flags.user_id.empty()) request.query.emplace_back("user_id", flags.user_id);
  for (const std::string& space : flags.namespaces) request.query.emplace_back("namespace", space);
  if (!flags.name_part.empty()) request.query.emplace_back("q", flags.name_part);
  CARILLON_TRY(AddLabels(flags.labels, request.query));
  for (const std::string& state : flags.states)
    request.query.emplace_back("state", UpperCase(state));
  for (const std::string& kind : flags.kinds) request.query.emplace_back("kind", kind);
  if (!flags.waiting.empty()) request.query.emplace_back("waiting", flags.waiting);
  if (flags.parts) request.query.emplace_back("parts", "true");
  const WallTime now = session.host().clock.Wall();
  CARILLON_TRY(AddTime("since", flags.since, now, request.query));
  CARILLON_TRY(AddTime("until", flags.until, now, request.query));
  if (!flags.sort.empty()) request.query.emplace_back("sort", flags.sort);
  return session.List(request, {.view = RunView(), .limit = flags.limit});
}

void AddRunCommands(CLI::App& app, Session& session) {
  CLI::App* run = app.add_subcommand("run", "Show and control runs");
  run->require_subcommand(1);
  const auto a = std::make_shared<RunArguments>();  // shared by the subcommands' callbacks
  CLI::App* list = run->add_subcommand("list", "List runs, newest first");
  list->add_option("--job-id,--job", a->list.job_id, "Only runs of this job");
  list->add_option("--user-id,--user", a->list.user_id, "Only runs of jobs of this owner");
  list->add_option("--namespace", a->list.namespaces,
                   "Only runs of jobs in this namespace; repeatable")
      ->allow_extra_args(false)
      ->check(NotEmpty);
  list->add_option("--q", a->list.name_part, "Only runs of jobs with this text in the name or ID");
  list->add_option("--label", a->list.labels,
                   "Only runs of jobs with this label, name:value; repeatable")
      ->allow_extra_args(false);
  AddRunListFlags(list, a->list);
  session.On(list, [&session, a] { return ListRuns(session, a->list); });

  const auto verb = [&](const char* name, const char* help, bool several,
                        Outcome<ExitCode> (*action)(Session&, const RunArguments&)) {
    CLI::App* added = run->add_subcommand(name, help);
    CLI::Option* ids = added->add_option("run", a->ids, several ? "Run IDs" : "Run ID");
    ids->required();
    if (!several) ids->expected(1);
    session.On(added, [&session, a, action] { return action(session, *a); });
    return added;
  };
  verb("get", "Show a run with its attempts", false, &Get);
  CLI::App* outputs = verb("outputs", "Show the outputs of a run", false, &ShowOutputs);
  outputs->add_flag("--json", a->as_json, "Print an object of texts, as -o json does");
  CLI::App* logs = run->add_subcommand("logs", "Print the log of a run");
  const auto log_flags = std::make_shared<LogFlags>();
  AddLogFlags(logs, *log_flags);
  session.On(logs, [&session, log_flags] { return ShowLogs(session, *log_flags); });
  CLI::App* cancel = verb("cancel", "Cancel runs", true, &Cancel);
  CLI::Option* kill = cancel->add_flag("--kill", a->kill, kKillHelp);
  cancel
      ->add_flag("--give-up", a->give_up,
                 "End runs of handlers that were cancelled before and do not stop; their functions "
                 "may go on (with --confirm-overlap)")
      ->excludes(kill);
  CLI::App* retry =
      verb("retry", "Retry runs that have ended, or start the next attempt of waiting runs now",
           true, &Retry);
  retry
      ->add_option("--from", a->from,
                   "Of a workflow run: failed (default), start, or nodes, comma-separated")
      ->check(NotEmpty);
  retry->add_option("--skip", a->skip, "Nodes to be skipped instead, comma-separated")
      ->check(NotEmpty)
      ->delimiter(',')
      ->allow_extra_args(false);
  retry
      ->add_option("--shards", a->shards,
                   "Of a run that fans out: failed (default), all, or indexes, comma-separated")
      ->check(NotEmpty);
  retry->add_flag("--dry-run", a->dry_run,
                  "Of a workflow run: show the nodes, without changing anything");
  CLI::App* release =
      verb("release", "Start runs that wait for runs of other jobs, without these", true, &Release);
  for (CLI::App* added : {cancel, retry, release}) {
    added->add_option("--reason", a->reason, "Reason, kept in the audit log");
    if (added == release) continue;
    added->add_flag(
        "--confirm-overlap", a->confirm_overlap,
        "Include runs whose process may still be alive; another may then start beside it");
  }
  AddNodeCommands(*run, session);
  AddShardCommands(*run, session);
  CLI::App* wait = verb("wait", "Wait for runs; the exit code is their result", true, &Wait);
  wait->add_option("--wait-timeout,--timeout", a->longest, "Maximum time to wait, e.g. 5m");
}

}  // namespace carillon::cli
