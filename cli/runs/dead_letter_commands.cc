#include <nlohmann/json.hpp>

#include "cli/runs/commands.h"

namespace carillon::cli {
namespace {

struct DeadLetterArguments {
  std::optional<int64_t> limit;
  std::string job_id;
  std::vector<std::string> ids;
  bool confirm_overlap = false;
};

const View& DeadLetterView() {
  static const View view{.columns = {{"ID", "id"},
                                     {"JOB", "job_id"},
                                     {"RUN", "run_id"},
                                     {"STATE", "state"},
                                     {"ATTEMPTS", "attempts"},
                                     {"REASON", "reason"},
                                     {"CREATED", "create_time"}},
                         .id = "id"};
  return view;
}

std::string LetterPath(const std::string& id) { return "/api/dead-letters/" + Escape(id); }

Outcome<ExitCode> ShowLetter(Session& session, const DeadLetterArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse letter,
                            session.Call({.path = LetterPath(arguments.ids.at(0))}));
  session.Print().Object(letter.body, DeadLetterView());
  return ExitCode::kDone;
}

Outcome<ExitCode> ReplayLetters(Session& session, const DeadLetterArguments& arguments) {
  for (const std::string& id : arguments.ids) {
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse letter, session.Call({.path = LetterPath(id)}));
    nlohmann::json body = nlohmann::json::object();
    if (arguments.confirm_overlap) body["confirm_overlap"] = true;
    CARILLON_ASSIGN_OR_RETURN(
        const ApiResponse run,
        session.Call({.method = "POST",
                      .path = "/api/runs/" + letter.body.value("run_id", "") + "/retry",
                      .body = std::move(body),
                      .idempotent = true}));
    session.Print().Row(run.body, RunView());
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> DiscardLetters(Session& session, const DeadLetterArguments& arguments) {
  const std::string which = arguments.ids.size() == 1
                                ? "dead letter " + arguments.ids[0]
                                : std::to_string(arguments.ids.size()) + " dead letters";
  CARILLON_ASSIGN_OR_RETURN(const bool go,
                            session.Confirm("Discard " + which + "? The runs do not change."));
  if (!go) return ExitCode::kFailure;
  for (const std::string& id : arguments.ids) {
    CARILLON_TRY(session.Call({.method = "DELETE", .path = LetterPath(id)}));
    session.Say("Discarded " + id + ".");
  }
  return ExitCode::kDone;
}

}  // namespace

void AddDeadLetterCommands(CLI::App& app, Session& session) {
  const auto a = std::make_shared<DeadLetterArguments>();  // shared by the verbs' callbacks
  CLI::App* letter = app.add_subcommand("dead-letter", "Manage runs that failed after all retries");
  letter->require_subcommand(1);
  CLI::App* list = letter->add_subcommand("list", "List dead letters, newest first");
  AddLimit(list, a->limit, "dead letters");
  list->add_option("--job-id,--job", a->job_id, "Only dead letters of this job");
  session.On(list, [&session, a] {
    ApiRequest request{.path = "/api/dead-letters"};
    if (!a->job_id.empty()) request.query.emplace_back("job_id", a->job_id);
    return session.List(request, {.view = DeadLetterView(), .limit = a->limit});
  });
  CLI::App* get = letter->add_subcommand("get", "Show a dead letter");
  get->add_option("id", a->ids, "Dead letter ID")->required()->expected(1);
  session.On(get, [&session, a] { return ShowLetter(session, *a); });
  CLI::App* replay = letter->add_subcommand("replay", "Retry the runs of dead letters");
  replay->add_option("id", a->ids, "Dead letter IDs")->required();
  replay->add_flag("--confirm-overlap", a->confirm_overlap,
                   "Include runs whose process may still be alive; two may then run at once");
  session.On(replay, [&session, a] { return ReplayLetters(session, *a); });
  CLI::App* discard = letter->add_subcommand("discard", "Remove dead letters from the list");
  discard->add_option("id", a->ids, "Dead letter IDs")->required();
  session.On(discard, [&session, a] { return DiscardLetters(session, *a); });
}

}  // namespace carillon::cli
