#include <nlohmann/json.hpp>

#include "cli/runs/bulk_actions.h"
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

const View& FailingJobView() {
  static const View view{.columns = {{"JOB", "job_id"},
                                     {"NAME", "job_name"},
                                     {"FAILING SINCE", "failing_since"},
                                     {"FAILURES", "failures"},
                                     {"LAST STATE", "last_state"},
                                     {"LAST RUN", "last_run_id"},
                                     {"LAST SUCCESS", "last_success_time"},
                                     {"DEAD LETTERS", "dead_letters"}},
                         .id = "job_id"};
  return view;
}

std::string LetterPath(const std::string& id) { return "/api/dead-letters/" + Escape(id); }

Outcome<ExitCode> ShowLetter(Session& session, const DeadLetterArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse letter,
                            session.Call({.path = LetterPath(arguments.ids.at(0))}));
  session.Print().Object(letter.body, DeadLetterView());
  return ExitCode::kDone;
}

// Returns the number of a job's dead letters: "3 dead letters of nightly". Empty if there are none.
Outcome<std::string> LettersOfJob(Session& session, const std::string& job_id) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse page,
                            session.Call({.path = "/api/dead-letters",
                                          .query = {{"job_id", job_id}, {"page_size", "1"}}}));
  const int64_t total = page.body.value("total", int64_t{-1});
  if (total == 0) return std::string();
  const int64_t known = page.body.value("total_at_least", int64_t{1});
  return (total < 0 ? "at least " : "") + Counted(total < 0 ? known : total, "dead letter") +
         " of " + job_id;
}

// Retries or discards all dead letters of a job as a bulk action. Waits until the bulk
// action has ended.
Outcome<ExitCode> ActOnJob(Session& session, const DeadLetterArguments& arguments,
                           const std::string& action) {
  CARILLON_ASSIGN_OR_RETURN(const std::string letters, LettersOfJob(session, arguments.job_id));
  if (letters.empty()) {
    session.Say("No dead letters of " + arguments.job_id + ".");
    return ExitCode::kDone;
  }
  const bool discards = action == "discard";
  CARILLON_ASSIGN_OR_RETURN(
      const bool go, session.Confirm(discards ? "Discard " + letters +
                                                    "? Their runs stay unchanged in the history."
                                              : "Retry the runs of " + letters + "?"));
  if (!go) return ExitCode::kFailure;
  nlohmann::json body = {{"action", action},
                         {"kind", "dead_letter"},
                         {"filter", {{"job_id", arguments.job_id}}},
                         {"background", true}};
  if (arguments.confirm_overlap) body["confirm_overlap"] = true;
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse started,
      session.Call(
          {.method = "POST", .path = "/api/bulk", .body = std::move(body), .idempotent = true}));
  if (!started.body.is_object() || !started.body.contains("bulk_id")) {
    return Failure{.message = "unexpected answer from the server: no bulk action",
                   .code = "bad_answer"};
  }
  return FollowBulk(session, started.body.value("bulk_id", std::string()));
}

// True if --job-id was given, false if IDs were given. Both or neither is a usage error.
Outcome<bool> MeansJob(const DeadLetterArguments& arguments, const std::string& verb) {
  if (arguments.ids.empty() != arguments.job_id.empty()) return !arguments.job_id.empty();
  return UsageFailure("dead-letter " + verb + " takes either IDs or --job-id");
}

Outcome<ExitCode> ReplayLetters(Session& session, const DeadLetterArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const bool of_job, MeansJob(arguments, "replay"));
  if (of_job) return ActOnJob(session, arguments, "retry");
  for (const std::string& id : arguments.ids) {
    nlohmann::json body = nlohmann::json::object();
    if (arguments.confirm_overlap) body["confirm_overlap"] = true;
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse run,
                              session.Call({.method = "POST",
                                            .path = LetterPath(id) + "/retry",
                                            .body = std::move(body),
                                            .idempotent = true}));
    session.Print().Row(run.body, RunView());
  }
  return ExitCode::kDone;
}

Outcome<ExitCode> DiscardLetters(Session& session, const DeadLetterArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const bool of_job, MeansJob(arguments, "discard"));
  if (of_job) return ActOnJob(session, arguments, "discard");
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
  const auto a = std::make_shared<DeadLetterArguments>();  // shared by the subcommands' callbacks
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
  CLI::App* jobs = letter->add_subcommand(
      "jobs", "List failing jobs: jobs with dead letters and no success since");
  AddLimit(jobs, a->limit, "jobs");
  session.On(jobs, [&session, a] {
    return session.List({.path = "/api/failing-jobs"},
                        {.view = FailingJobView(), .limit = a->limit});
  });
  CLI::App* get = letter->add_subcommand("get", "Show a dead letter");
  get->add_option("id", a->ids, "Dead letter ID")->required()->expected(1);
  session.On(get, [&session, a] { return ShowLetter(session, *a); });
  CLI::App* replay = letter->add_subcommand("replay", "Retry the runs of dead letters");
  replay->alias("retry");
  replay->add_option("id", a->ids, "Dead letter IDs");
  replay->add_option("--job-id,--job", a->job_id, "All dead letters of this job");
  replay->add_flag(
      "--confirm-overlap", a->confirm_overlap,
      "Include runs whose process may still be alive; another may then start beside it");
  session.On(replay, [&session, a] { return ReplayLetters(session, *a); });
  CLI::App* discard = letter->add_subcommand("discard", "Remove dead letters from the list");
  discard->add_option("id", a->ids, "Dead letter IDs");
  discard->add_option("--job-id,--job", a->job_id, "All dead letters of this job");
  session.On(discard, [&session, a] { return DiscardLetters(session, *a); });
}

}  // namespace carillon::cli
