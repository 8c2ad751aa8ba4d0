#include <nlohmann/json.hpp>

#include <optional>

#include "cli/operations/commands.h"
#include "cli/runs/run_wait.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct ExecutorArguments {
  std::string labelled;
  std::vector<std::string> ids;
  std::vector<std::string> labels;
  std::vector<std::string> states;
  std::string text;
  std::string sort;
  std::optional<int64_t> limit;
  bool wait = false;
  std::string longest;
  std::string reason;
};

constexpr Duration kLookEvery = 500ms;
// Two heartbeat intervals. If a heartbeat is newer by this than the first heartbeat seen, it was
// sent after the drain was answered. This is true whichever member received the heartbeat. Its
// number of runs therefore includes every run that was granted before the drain.
constexpr Duration kYounger = 4s;

std::string PathOf(const std::string& id, const std::string& action = "") {
  return "/api/executors/" + Escape(id) + (action.empty() ? "" : "/" + action);
}

Outcome<ExitCode> List(Session& session, const ExecutorArguments& arguments) {
  ApiRequest request{.path = "/api/executors"};
  for (const std::string& state : arguments.states) {
    request.query.emplace_back("state", UpperCase(state));
  }
  if (!arguments.text.empty()) request.query.emplace_back("q", arguments.text);
  CARILLON_TRY(AddLabels(arguments.labels, request.query));
  if (!arguments.sort.empty()) request.query.emplace_back("sort", arguments.sort);
  return session.List(request, {.view = ExecutorView(), .limit = arguments.limit.value_or(0)});
}

Outcome<ExitCode> Get(Session& session, const ExecutorArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse executor,
                            session.Call({.path = PathOf(arguments.ids[0])}));
  static const View report_view{
      {{"CHECK", "name"}, {"STATE", "state"}, {"DETAIL", "detail"}, {"CURE", "cure"}}, "name"};
  Printer print = session.Print();
  json shown = executor.body;
  if (print.form() != Form::kTable || session.flags().quiet || !shown.is_object()) {
    print.Object(shown, ExecutorView());
    return ExitCode::kDone;
  }
  json report = shown.value("report", json::array());
  shown.erase("report");
  print.Object(shown, ExecutorView());
  if (!report.is_array() || report.empty()) return ExitCode::kDone;
  print.Line("");
  print.Line("Report of its host:");
  print.List({{"items", std::move(report)}}, report_view);
  return ExitCode::kDone;
}

Outcome<ExitCode> Act(Session& session, const ExecutorArguments& arguments,
                      const std::string& action) {
  json body = json::object();
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  for (const std::string& id : arguments.ids) {
    CARILLON_ASSIGN_OR_RETURN(
        const ApiResponse executor,
        session.Call({.method = "POST", .path = PathOf(id, action), .body = body}));
    // With --wait the executor is shown at the end of the wait.
    if (!arguments.wait) session.Print().Row(executor.body, ExecutorView());
  }
  return ExitCode::kDone;
}

WallTime HeartbeatOf(const json& executor) {
  return ParseRfc3339(executor.value("last_heartbeat_time", "")).value_or(WallTime{});
}

// Waits until every executor reports that it runs nothing. Only a heartbeat that was sent after the
// drain was answered counts. Then prints the executor.
Outcome<ExitCode> AwaitEmpty(Session& session, const std::vector<std::string>& ids,
                             const std::optional<Duration>& longest) {
  const Clock& clock = session.host().clock;
  const SteadyTime started = clock.Steady();
  SteadyTime heard = started;
  for (const std::string& id : ids) {
    std::optional<WallTime> first;
    json last;
    for (;;) {
      const auto seen = session.Call({.path = PathOf(id)});
      if (seen.ok()) {
        heard = clock.Steady();
        last = seen->body;
        if (!seen->body.value("draining", false)) {
          return Failure{.exit = ExitCode::kConflict,
                         .message = id + " is no longer draining",
                         .code = "not_draining"};
        }
        const WallTime beat = HeartbeatOf(seen->body);
        if (!first) first = beat;
        if (beat >= *first + kYounger && seen->body.value("running", 1) == 0) break;
      } else if (seen.error().exit != ExitCode::kUnreachable ||
                 clock.Steady() - heard >= kPatience) {
        return seen.error();
      }
      if (longest && clock.Steady() - started >= *longest) {
        session.Say(id + " may still have active runs.");
        if (!last.is_null()) session.Print().Row(last, ExecutorView());
        return ExitCode::kWaitTimedOut;
      }
      session.host().wait(kLookEvery);
    }
    session.Say(id + " is drained: no runs are active.");
    session.Print().Row(last, ExecutorView());
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> Drain(Session& session, const ExecutorArguments& arguments) {
  std::optional<Duration> longest;
  if (!arguments.longest.empty()) {
    CARILLON_ASSIGN_OR_RETURN(longest, ParseDuration(arguments.longest));
  }
  CARILLON_ASSIGN_OR_RETURN(const ExitCode done, Act(session, arguments, "drain"));
  if (!arguments.wait) return done;
  return AwaitEmpty(session, arguments.ids, longest);
}

// Sets and removes labels: "zone=a" sets the label zone, "zone-" removes it.
Outcome<ExitCode> Label(Session& session, const ExecutorArguments& arguments) {
  const std::string& id = arguments.labelled;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse before, session.Call({.path = PathOf(id)}));
  json labels =
      before.body.is_object() ? before.body.value("labels", json::object()) : json::object();
  for (const std::string& change : arguments.labels) {
    const size_t equals = change.find('=');
    if (equals != std::string::npos && equals > 0) {
      labels[change.substr(0, equals)] = change.substr(equals + 1);
    } else if (change.size() > 1 && change.back() == '-' && equals == std::string::npos) {
      labels.erase(change.substr(0, change.size() - 1));
    } else {
      return UsageFailure("invalid label '" + change +
                          "' (use name=value to set it, name- to remove it)");
    }
  }
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse executor,
                            session.Call({.method = "PATCH",
                                          .path = PathOf(id),
                                          .body = json{{"labels", labels}},
                                          .if_match = before.etag}));
  session.Print().Object(executor.body, ExecutorView());
  return ExitCode::kDone;
}

Outcome<ExitCode> ListHandlers(Session& session) {
  static const View view{
      {{"HANDLER", "name"}, {"EXECUTORS", "executors"}, {"SLOTS", "slots"}, {"FREE", "free"}},
      "name"};
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse handlers, session.Call({.path = "/api/handlers"}));
  session.Print().List(handlers.body, view);
  return ExitCode::kDone;
}

}  // namespace

void AddHandlerCommands(CLI::App& app, Session& session) {
  CLI::App* handler = app.add_subcommand("handler", "Show handlers");
  handler->require_subcommand(1);
  CLI::App* list = handler->add_subcommand("list", "List the handlers that programs offer now");
  session.On(list, [&session] { return ListHandlers(session); });
}

void AddExecutorCommands(CLI::App& app, Session& session) {
  CLI::App* executor = app.add_subcommand("executor", "Manage executors");
  executor->require_subcommand(1);
  const auto a = std::make_shared<ExecutorArguments>();  // shared by the subcommands' callbacks
  CLI::App* list = executor->add_subcommand("list", "List executors");
  list->add_option("--state", a->states,
                   "Only this state: ONLINE, UNHEALTHY, LOST or OFFLINE; repeatable")
      ->allow_extra_args(false);
  list->add_option("--q", a->text, "Only executors with this text in the ID or host");
  list->add_option("--label", a->labels, "Only executors with this label, name:value; repeatable")
      ->allow_extra_args(false);
  list->add_option(
      "--sort", a->sort,
      "Sort by executor_id or last_heartbeat_time; --sort=-executor_id reverses the order");
  AddLimit(list, a->limit, "executors");
  session.On(list, [&session, a] { return List(session, *a); });
  CLI::App* get = executor->add_subcommand("get", "Show an executor");
  get->add_option("executor", a->ids, "Executor ID")->required()->expected(1);
  session.On(get, [&session, a] { return Get(session, *a); });

  struct Action {
    const char* name;
    const char* help;
  };
  for (const Action& action : {Action{"enable", "Enable executors; also ends draining"},
                               Action{"disable", "Disable executors; active runs continue"}}) {
    CLI::App* verb = executor->add_subcommand(action.name, action.help);
    verb->add_option("executor", a->ids, "Executor IDs")->required();
    verb->add_option("--reason", a->reason, "Reason, kept in the audit log");
    session.On(verb,
               [&session, a, name = std::string(action.name)] { return Act(session, *a, name); });
  }
  CLI::App* drain =
      executor->add_subcommand("drain", "Drain executors: active runs finish, no new ones start");
  drain->add_option("executor", a->ids, "Executor IDs")->required();
  drain->add_option("--reason", a->reason, "Reason, kept in the audit log");
  drain->add_flag("--wait", a->wait, "Wait until the runs on the executors have ended");
  drain->add_option("--wait-timeout", a->longest, "Maximum time to wait, e.g. 5m");
  session.On(drain, [&session, a] { return Drain(session, *a); });
  CLI::App* label = executor->add_subcommand("label", "Set or remove labels of an executor");
  label->add_option("executor", a->labelled, "Executor ID")->required();
  label->add_option("labels", a->labels, "name=value sets a label, name- removes it")->required();
  session.On(label, [&session, a] { return Label(session, *a); });
  AddJoinCommands(*executor, session);
}

}  // namespace carillon::cli
