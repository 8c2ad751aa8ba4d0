#include "cli/runs/bulk_actions.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/runs/run_wait.h"
#include "cli/terminal/session.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr Duration kFirstPause = 100ms;
constexpr Duration kLongestPause = 2s;
constexpr const char* kIdPrefix = "bulk-";

struct BulkActionArguments {
  std::string id;
  std::string state;
  std::string user_id;
  std::string result;
  std::optional<int64_t> limit;
};

const View& ActionView() {
  static const View view{.columns = {{"ID", "bulk_id"},
                                     {"ACTION", "action"},
                                     {"KIND", "kind"},
                                     {"STATE", "state"},
                                     {"TOTAL", "total"},
                                     {"DONE", "done"},
                                     {"FAILED", "failed"},
                                     {"SKIPPED", "skipped"},
                                     {"WHO", "actor"},
                                     {"CREATED", "create_time"}},
                         .id = "bulk_id",
                         .wide = {{"ENDED", "end_time"}, {"REASON", "reason"}, {"ERROR", "error"}}};
  return view;
}

const View& ItemView() {
  static const View view{{{"POSITION", "position"},
                          {"ID", "id"},
                          {"RESULT", "result"},
                          {"RUN", "run_id"},
                          {"WHY", "error.detail"}},
                         "id"};
  return view;
}

std::string PathOf(const std::string& id, const std::string& verb = "") {
  return "/api/bulk/" + Escape(id) + (verb.empty() ? "" : "/" + verb);
}

int64_t NumberOf(const json& action, const char* name) { return action.value(name, int64_t{0}); }

// Returns the progress: "bulk-1a2b: 120 of 2000 done, 3 failed, 0 skipped".
std::string Describe(const std::string& id, const json& action) {
  return id + ": " + std::to_string(NumberOf(action, "done")) + " of " +
         std::to_string(NumberOf(action, "total")) + " done, " +
         std::to_string(NumberOf(action, "failed")) + " failed, " +
         std::to_string(NumberOf(action, "skipped")) + " skipped";
}

ExitCode ExitCodeOf(const json& action) {
  const bool all = NumberOf(action, "done") == NumberOf(action, "total");
  return all ? ExitCode::kDone : ExitCode::kFailure;
}

Outcome<ExitCode> ListThem(Session& session, const BulkActionArguments& arguments) {
  ApiRequest request{.path = "/api/bulk"};
  if (!arguments.state.empty()) request.query.emplace_back("state", UpperCase(arguments.state));
  if (!arguments.user_id.empty()) request.query.emplace_back("user_id", arguments.user_id);
  return session.List(request, {.view = ActionView(), .limit = arguments.limit});
}

Outcome<ExitCode> ListItems(Session& session, const BulkActionArguments& arguments) {
  ApiRequest request{.path = PathOf(arguments.id, "items")};
  if (!arguments.result.empty()) request.query.emplace_back("result", arguments.result);
  return session.List(request, {.view = ItemView(), .limit = arguments.limit});
}

Outcome<ExitCode> GetOne(Session& session, const BulkActionArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse action, session.Call({.path = PathOf(arguments.id)}));
  session.Print().Object(action.body, ActionView());
  return ExitCode::kDone;
}

}  // namespace

void ShowStarted(Session& session, const json& action) {
  Printer print = session.Print();
  if (print.form() != Form::kTable) return print.Object(action, ActionView());
  print.Line(action.value("bulk_id", std::string()));
}

Outcome<ExitCode> FollowBulk(Session& session, const std::string& bulk_id) {
  const Clock& clock = session.host().clock;
  SteadyTime heard = clock.Steady();
  Duration pause = kFirstPause;
  std::string said;
  while (true) {
    const auto response = session.Call({.path = PathOf(bulk_id)});
    const bool away = !response.ok() && response.error().exit == ExitCode::kUnreachable;
    if (!response.ok() && (!away || clock.Steady() - heard >= kPatience)) return response.error();
    if (response.ok()) {
      heard = clock.Steady();
      const json& action = response->body;
      const std::string line = Describe(bulk_id, action);
      if (line != said) session.Say(line);
      said = line;
      if (action.value("end_time", json()).is_string()) {
        const json error = action.value("error", json());
        if (error.is_string()) session.Say(bulk_id + ": " + Cell(error));
        Printer print = session.Print();
        if (print.form() != Form::kTable) print.Object(action, ActionView());
        return ExitCodeOf(action);
      }
    }
    session.host().wait(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

bool IsBulkId(const std::string& id) { return id.starts_with(kIdPrefix); }

Outcome<ExitCode> CancelBulkActions(Session& session, const std::vector<std::string>& ids,
                                    const std::string& reason) {
  for (const std::string& id : ids) {
    ApiRequest request{.method = "POST", .path = PathOf(id, "cancel"), .body = json::object()};
    if (!reason.empty()) (*request.body)["reason"] = reason;
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse action, session.Call(request));
    session.Print().Row(action.body, ActionView());
  }
  return ExitCode::kDone;
}

void AddBulkActionCommands(CLI::App& bulk, Session& session) {
  const auto a = std::make_shared<BulkActionArguments>();  // shared by the subcommands' callbacks
  CLI::App* list = bulk.add_subcommand("list", "List bulk actions in the background, newest first");
  list->add_option("--state", a->state, "Only this state: RUNNING, DONE, CANCELLED or STOPPED");
  list->add_option("--user-id,--user", a->user_id, "Only bulk actions of this user ID");
  AddLimit(list, a->limit, "bulk actions");
  session.On(list, [&session, a] { return ListThem(session, *a); });
  CLI::App* get = bulk.add_subcommand("get", "Show the progress of a bulk action");
  get->add_option("bulk_id", a->id, "ID of the bulk action")->required();
  session.On(get, [&session, a] { return GetOne(session, *a); });
  CLI::App* items = bulk.add_subcommand("items", "Show the result of each item of a bulk action");
  items->add_option("bulk_id", a->id, "ID of the bulk action")->required();
  items->add_option("--result", a->result, "Only this result: pending, done, error or skipped");
  AddLimit(items, a->limit, "items");
  session.On(items, [&session, a] { return ListItems(session, *a); });
}

}  // namespace carillon::cli
