#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct ExecutorArguments {
  std::string labelled;
  std::vector<std::string> ids;
  std::vector<std::string> labels;
};

std::string PathOf(const std::string& id, const std::string& action = "") {
  return "/api/executors/" + Escape(id) + (action.empty() ? "" : "/" + action);
}

Outcome<ExitCode> List(Session& session) {
  return session.List({.path = "/api/executors"}, {.view = ExecutorView(), .limit = 0});
}

Outcome<ExitCode> Get(Session& session, const ExecutorArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse executor,
                            session.Call({.path = PathOf(arguments.ids[0])}));
  session.Print().Object(executor.body, ExecutorView());
  return ExitCode::kDone;
}

Outcome<ExitCode> Act(Session& session, const ExecutorArguments& arguments,
                      const std::string& action) {
  for (const std::string& id : arguments.ids) {
    CARILLON_ASSIGN_OR_RETURN(
        const ApiResponse executor,
        session.Call({.method = "POST", .path = PathOf(id, action), .body = json::object()}));
    session.Print().Row(executor.body, ExecutorView());
  }
  return ExitCode::kDone;
}

// "zone=a" sets, "zone-" removes.
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
      return UsageFailure("a label is name=value, or name- to remove it: '" + change + "'");
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

}  // namespace

void AddExecutorCommands(CLI::App& app, Session& session) {
  CLI::App* executor = app.add_subcommand("executor", "Executors: who runs it");
  executor->require_subcommand(1);
  const auto a = std::make_shared<ExecutorArguments>();  // shared by the verbs' callbacks
  CLI::App* list = executor->add_subcommand("list", "List executors");
  session.On(list, [&session] { return List(session); });
  CLI::App* get = executor->add_subcommand("get", "Show an executor");
  get->add_option("executor", a->ids, "Executor id")->required()->expected(1);
  session.On(get, [&session, a] { return Get(session, *a); });

  struct Action {
    const char* name;
    const char* help;
  };
  for (const Action& action :
       {Action{"enable", "Give it work again"}, Action{"disable", "Give it no more work"},
        Action{"drain", "Let it finish what it has"}}) {
    CLI::App* verb = executor->add_subcommand(action.name, action.help);
    verb->add_option("executor", a->ids, "Executor ids")->required();
    session.On(verb,
               [&session, a, name = std::string(action.name)] { return Act(session, *a, name); });
  }
  CLI::App* label = executor->add_subcommand("label", "Set (name=value) or remove (name-) labels");
  label->add_option("executor", a->labelled, "Executor id")->required();
  label->add_option("labels", a->labels, "name=value or name-")->required();
  session.On(label, [&session, a] { return Label(session, *a); });
}

}  // namespace carillon::cli
