#include <nlohmann/json.hpp>

#include "cli/operations/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr int64_t kGroupLimitMax = 10'000;

struct GroupArguments {
  std::string name;
  int64_t limit = 0;
  std::string per = {};  // empty: as it is
};

const View& GroupView() {
  static const View view{
      {{"GROUP", "name"},
       {"LIMIT", "limit"},
       {"PER S", "per_s"},
       {"RUNNING", "running"},
       {"QUEUED", "queued"},
       {"JOBS", "jobs"}},
      "name",
      {{"COOLING", "cooling"}, {"NEXT START", "next_start_time"}, {"CHANGED", "update_time"}}};
  return view;
}

std::string GroupPath(const std::string& name) { return "/api/groups/" + Escape(name); }

// Removes the list `name` from the group and returns it.
json TakeList(json& group, const char* name) {
  json list = group.value(name, json());
  group.erase(name);
  return list.is_array() ? list : json::array();
}

// In table form the holders and the queue are printed as tables below the group.
void PrintGroup(Session& session, json group) {
  static const View holders_view{{{"RUN", "run_id"},
                                  {"JOB", "job_id"},
                                  {"NAME", "job_name"},
                                  {"STATE", "state"},
                                  {"SINCE", "since"}},
                                 "run_id"};
  static const View queue_view{{{"PLACE", "position"},
                                {"RUN", "run_id"},
                                {"JOB", "job_id"},
                                {"NAME", "job_name"},
                                {"PRIORITY", "priority"},
                                {"SINCE", "since"}},
                               "run_id"};
  Printer print = session.Print();
  if (print.form() != Form::kTable || session.flags().quiet || !group.is_object()) {
    print.Object(group, GroupView());
    return;
  }
  json holders = TakeList(group, "holders");
  json queue = TakeList(group, "queue");
  print.Object(group, GroupView());
  const auto table = [&print](const char* title, json rows, const View& view) {
    if (rows.empty()) return;
    print.Line("");
    print.Line(title);
    print.List({{"items", std::move(rows)}}, view);
  };
  const auto shown = static_cast<int64_t>(queue.size());
  table("Runs that hold a slot:", std::move(holders), holders_view);
  table("Runs that wait for one:", std::move(queue), queue_view);
  const json queued = group.value("queued", json());
  if (queued.is_number_integer() && queued.get<int64_t>() > shown) {
    session.Say("Showing " + std::to_string(shown) + " of " +
                std::to_string(queued.get<int64_t>()) + " queued runs.");
  }
}

Outcome<ExitCode> ShowGroup(Session& session, const GroupArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse group,
                            session.Call({.path = GroupPath(arguments.name)}));
  PrintGroup(session, group.body);
  return ExitCode::kDone;
}

Outcome<int64_t> PerSecondsOf(const std::string& text) {
  const auto per = ParseDuration(text);
  if (!per.ok()) return UsageFailure("--per: " + per.error().message);
  if (per->count() % 1'000'000 != 0) return UsageFailure("--per: must be whole seconds");
  return *per / 1s;
}

Outcome<ExitCode> SetGroup(Session& session, const GroupArguments& arguments) {
  json body{{"limit", arguments.limit}};
  if (!arguments.per.empty()) {
    CARILLON_ASSIGN_OR_RETURN(body["per_s"], PerSecondsOf(arguments.per));
  }
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse group,
      session.Call({.method = "PUT", .path = GroupPath(arguments.name), .body = std::move(body)}));
  PrintGroup(session, group.body);
  return ExitCode::kDone;
}

Outcome<ExitCode> DeleteGroup(Session& session, const GroupArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const bool go, session.Confirm("Delete group " + arguments.name + "?"));
  if (!go) return ExitCode::kFailure;
  CARILLON_TRY(session.Call({.method = "DELETE", .path = GroupPath(arguments.name)}));
  session.Say("Deleted group " + arguments.name + ".");
  return ExitCode::kDone;
}

}  // namespace

Outcome<ExitCode> PrintAll(Session& session, const std::string& path, const View& view) {
  json all = {{"items", json::array()}, {"next_page_token", nullptr}};
  ApiRequest request{.path = path};
  do {
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse page, session.Call(request));
    const json items = page.body.is_object() ? page.body.value("items", json()) : json();
    if (!items.is_array()) {
      return Failure{.message = "unexpected answer from the server: not a list",
                     .code = "bad_answer"};
    }
    all["items"].insert(all["items"].end(), items.begin(), items.end());
    const json next = page.body.value("next_page_token", json());
    request.query = {{"page_token", next.is_string() ? next.get<std::string>() : ""}};
  } while (!request.query[0].second.empty());
  session.Print().List(all, view);
  return ExitCode::kDone;
}

void AddGroupCommands(CLI::App& app, Session& session) {
  CLI::App* group =
      app.add_subcommand("group", "Limit how many runs of several jobs are active together");
  group->require_subcommand(1);
  const auto a = std::make_shared<GroupArguments>();  // shared by the subcommands' callbacks
  session.On(group->add_subcommand("list", "List groups"),
             [&session] { return PrintAll(session, "/api/groups", GroupView()); });
  CLI::App* get = group->add_subcommand(
      "get", "Show a group, the runs that hold its slots, and those that wait for one");
  CLI::App* set = group->add_subcommand("set", "Create or change a group");
  CLI::App* remove = group->add_subcommand("delete", "Delete a group that no job names");
  for (CLI::App* verb : {get, set, remove}) {
    verb->add_option("name", a->name, "Name of the group, as in --group of `carillon job create`")
        ->required()
        ->check(NotEmpty);
  }
  set->add_option("--limit", a->limit, "Max. active runs of its jobs together; 0 starts none")
      ->required()
      ->check(CLI::Range(int64_t{0}, kGroupLimitMax));
  set->add_option("--per", a->per, "Max. --limit starts in any such time, e.g. 1s; 0s: any number")
      ->check(NotEmpty);
  session.On(get, [&session, a] { return ShowGroup(session, *a); });
  session.On(set, [&session, a] { return SetGroup(session, *a); });
  session.On(remove, [&session, a] { return DeleteGroup(session, *a); });
}

}  // namespace carillon::cli
