#include <algorithm>

#include "cli/runs/bulk_actions.h"
#include "cli/runs/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

// Ids per request. With this number the server answers well before the request times out.
constexpr size_t kBatch = 100;

struct BulkArguments {
  std::string kind;
  std::vector<std::string> ids;
  std::vector<std::string> filter;
  std::string reason;
  bool dry_run = false;
  bool confirm_overlap = false;
  bool kill = false;
  bool background = false;
  bool wait = false;
};

const View& BulkView() {
  static const View view{
      {{"ID", "id"}, {"RESULT", "result"}, {"RUN", "run_id"}, {"WHY", "error.detail"}}, "id"};
  return view;
}

Outcome<json> FilterOf(const std::vector<std::string>& conditions) {
  json filter = json::object();
  for (const std::string& condition : conditions) {
    const size_t equals = condition.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return UsageFailure("invalid filter '" + condition +
                          "' (use name=value, e.g. status=PAUSED)");
    }
    json& values = filter[condition.substr(0, equals)];
    if (values.is_null()) values = json::array();
    values.push_back(condition.substr(equals + 1));
  }
  return filter;
}

Outcome<json> Ask(Session& session, json body) {
  CARILLON_ASSIGN_OR_RETURN(
      ApiResponse answer,
      session.Call(
          {.method = "POST", .path = "/api/bulk", .body = std::move(body), .idempotent = true}));
  if (answer.body.is_object() && answer.body.contains("items") && answer.body["items"].is_array()) {
    return std::move(answer.body);
  }
  return Failure{.message = "unexpected answer from the server: not a list of results",
                 .code = "bad_answer"};
}

// Returns the body of the request with the action's target: ids or a filter.
Outcome<json> BodyOf(const std::string& action, const BulkArguments& arguments) {
  json body = {{"action", action}};
  if (!arguments.kind.empty()) body["kind"] = arguments.kind;
  if (arguments.ids.empty() == arguments.filter.empty()) {
    return UsageFailure("bulk " + action + " needs either IDs or --filter");
  }
  if (!arguments.ids.empty()) {
    body["ids"] = arguments.ids;
  } else {
    CARILLON_ASSIGN_OR_RETURN(body["filter"], FilterOf(arguments.filter));
  }
  return body;
}

// Adds the options of the action to the body of the request.
void AddManner(json& body, const BulkArguments& arguments) {
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  if (arguments.confirm_overlap) body["confirm_overlap"] = true;
  if (arguments.kill) body["mode"] = "kill";
}

// Asks the server in a dry run which items the action would affect, and whether the action is
// allowed. Without --background more than 1,000 items are an error.
Outcome<json> Look(Session& session, const std::string& action, const BulkArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(json body, BodyOf(action, arguments));
  body["dry_run"] = true;
  CARILLON_ASSIGN_OR_RETURN(json look, Ask(session, std::move(body)));
  if (!look.value("more", false) || arguments.background) return look;
  return Failure{.exit = ExitCode::kUsage,
                 .message = "more than 1,000 match; narrow the filter or use --background",
                 .code = "too_many"};
}

// Acts on the items in batches. If a batch fails, reports how many items are done, and stops.
Outcome<json> Act(Session& session, const std::string& action, const BulkArguments& arguments,
                  const std::vector<std::string>& ids) {
  json merged;
  for (size_t at = 0; at < ids.size(); at += kBatch) {
    const size_t end = std::min(at + kBatch, ids.size());
    json body = {{"action", action},
                 {"ids", std::vector<std::string>(ids.begin() + static_cast<long>(at),
                                                  ids.begin() + static_cast<long>(end))}};
    if (!arguments.kind.empty()) body["kind"] = arguments.kind;
    AddManner(body, arguments);
    const auto done = Ask(session, std::move(body));
    if (!done.ok()) {
      session.Say("Stopped after " + std::to_string(at) + " of " + std::to_string(ids.size()) +
                  ".");
      return done.error();
    }
    if (merged.is_null()) {
      merged = *done;
      continue;
    }
    for (const json& item : (*done)["items"]) merged["items"].push_back(item);
    for (const char* count : {"total", "done", "failed"}) {
      merged[count] = merged.value(count, int64_t{0}) + done->value(count, int64_t{0});
    }
  }
  return merged;
}

ExitCode PrintResults(Session& session, const json& result) {
  session.Print().List(result, BulkView());
  for (const json& item : result["items"]) {
    const json problem = item.value("error", json());
    if (!problem.is_object()) continue;
    return FailureOf(ApiResponse{.status = problem.value("status", 500), .body = problem}).exit;
  }
  return ExitCode::kDone;
}

// For a table, changes the server's result "would" to "would pause". Other forms keep "would".
json AsDryRun(Session& session, json look, const std::string& action) {
  if (session.Print().form() != Form::kTable) return look;
  for (json& item : look["items"]) {
    if (item.value("result", "") == "would") item["result"] = "would " + action;
  }
  return look;
}

// Returns how many items the action would affect: "2 jobs", "more than 1000 jobs". Empty if there
// are none.
Outcome<std::string> Reach(Session& session, const std::string& action,
                           const BulkArguments& arguments) {
  const std::string kind = arguments.kind.empty() ? "item" : arguments.kind;
  if (!arguments.ids.empty()) return Counted(static_cast<int64_t>(arguments.ids.size()), kind);
  CARILLON_ASSIGN_OR_RETURN(const json look, Look(session, action, arguments));
  if (look["items"].empty()) return std::string();
  return (look.value("more", false) ? "more than " : "") +
         Counted(static_cast<int64_t>(look["items"].size()), look.value("kind", kind));
}

Outcome<ExitCode> InBackground(Session& session, const std::string& action,
                               const BulkArguments& arguments) {
  if (arguments.dry_run) return UsageFailure("--dry-run cannot be combined with --background");
  CARILLON_ASSIGN_OR_RETURN(json body, BodyOf(action, arguments));
  CARILLON_ASSIGN_OR_RETURN(const std::string reach, Reach(session, action, arguments));
  if (reach.empty()) {
    session.Say("Nothing matches.");
    return ExitCode::kDone;
  }
  CARILLON_ASSIGN_OR_RETURN(const bool go, session.Confirm(action + " " + reach + "?"));
  if (!go) return ExitCode::kFailure;
  body["background"] = true;
  AddManner(body, arguments);
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse started,
      session.Call(
          {.method = "POST", .path = "/api/bulk", .body = std::move(body), .idempotent = true}));
  if (!started.body.is_object() || !started.body.value("bulk_id", json()).is_string()) {
    return Failure{.message = "unexpected answer from the server: no bulk action",
                   .code = "bad_answer"};
  }
  if (!arguments.wait) {
    ShowStarted(session, started.body);
    return ExitCode::kDone;
  }
  return FollowBulk(session, started.body["bulk_id"].get<std::string>());
}

// True if all ids are ids of bulk actions, false if none is. A Failure if only some of them are.
Outcome<bool> MeansActions(const BulkArguments& arguments) {
  const auto count = std::count_if(arguments.ids.begin(), arguments.ids.end(), IsBulkId);
  if (count == 0 || arguments.kind == "job") return false;
  if (count == static_cast<long>(arguments.ids.size())) return true;
  return UsageFailure("bulk cancel takes IDs of runs or of bulk actions, not both");
}

Outcome<ExitCode> CancelActions(Session& session, const BulkArguments& arguments) {
  if (arguments.dry_run || arguments.background || arguments.wait || arguments.confirm_overlap ||
      arguments.kill || !arguments.filter.empty()) {
    return UsageFailure("cancelling bulk actions takes their IDs and --reason only");
  }
  CARILLON_ASSIGN_OR_RETURN(
      const bool go,
      session.Confirm("cancel " +
                      Counted(static_cast<int64_t>(arguments.ids.size()), "bulk action") + "?"));
  if (!go) return ExitCode::kFailure;
  return CancelBulkActions(session, arguments.ids, arguments.reason);
}

Outcome<ExitCode> Bulk(Session& session, const std::string& action,
                       const BulkArguments& arguments) {
  if (action == "cancel") {
    CARILLON_ASSIGN_OR_RETURN(const bool actions, MeansActions(arguments));
    if (actions) return CancelActions(session, arguments);
  }
  if (arguments.background) return InBackground(session, action, arguments);
  if (arguments.wait) return UsageFailure("--wait can only be used with --background");
  CARILLON_ASSIGN_OR_RETURN(const json look, Look(session, action, arguments));
  if (look["items"].empty()) {
    session.Say("Nothing matches.");
    return ExitCode::kDone;
  }
  if (arguments.dry_run) return PrintResults(session, AsDryRun(session, look, action));
  std::vector<std::string> ids;
  for (const json& item : look["items"]) ids.push_back(item.value("id", std::string()));
  const std::string kind = look.value("kind", std::string("job"));
  CARILLON_ASSIGN_OR_RETURN(
      const bool go,
      session.Confirm(action + " " + Counted(static_cast<int64_t>(ids.size()), kind) + "?"));
  if (!go) return ExitCode::kFailure;
  CARILLON_ASSIGN_OR_RETURN(const json done, Act(session, action, arguments, ids));
  const ExitCode exit = PrintResults(session, done);
  session.Say(std::to_string(done.value("done", int64_t{0})) + " done, " +
              std::to_string(done.value("failed", int64_t{0})) + " failed");
  return exit;
}

}  // namespace

void AddBulkCommands(CLI::App& app, Session& session) {
  CLI::App* bulk = app.add_subcommand("bulk", "Run one action on many jobs or runs");
  bulk->require_subcommand(1);
  AddBulkActionCommands(*bulk, session);
  const auto a = std::make_shared<BulkArguments>();  // shared by the subcommands' callbacks
  const std::vector<std::pair<std::string, std::string>> actions = {
      {"run", "Run jobs now"},
      {"pause", "Pause jobs"},
      {"resume", "Resume jobs"},
      {"cancel", "Cancel runs, with --kind job all runs of jobs, or bulk actions"},
      {"retry", "Retry runs"},
      {"release", "Start runs that wait for runs of other jobs"},
      {"delete", "Delete jobs"}};
  for (const auto& [action, help] : actions) {
    CLI::App* verb = bulk->add_subcommand(action, help);
    verb->add_option("ids", a->ids, "Job or run IDs");
    verb->add_option(
            "--filter", a->filter,
            "Parameter of GET /api/jobs or /api/runs, e.g. status=PAUSED, selector=team=etl, "
            "state=FAILED; repeatable")
        ->allow_extra_args(false);
    verb->add_flag("--dry-run", a->dry_run, "Show what would be done, without changing anything");
    verb->add_option("--reason", a->reason, "Reason, kept in the audit log");
    verb->add_flag("--background", a->background,
                   "Run in the background, up to 20,000 items; prints the ID of the bulk action");
    verb->add_flag("--wait", a->wait, "With --background: wait until the bulk action has ended");
    if (action == "cancel") {
      verb->add_option("--kind", a->kind, "Kind of the IDs: run (default) or job")
          ->check(CLI::IsMember({"job", "run"}));
      verb->add_flag("--kill", a->kill, kKillHelp);
    }
    if (action == "cancel" || action == "retry") {
      verb->add_flag(
          "--confirm-overlap", a->confirm_overlap,
          "Include runs whose process may still be alive; another may then start beside it");
    }
    session.On(verb, [&session, a, action = action] { return Bulk(session, action, *a); });
  }
}

}  // namespace carillon::cli
