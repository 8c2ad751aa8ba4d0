#include <memory>
#include <nlohmann/json.hpp>

#include "cli/jobs/commands.h"
#include "cli/runs/wait_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct QueueArguments {
  std::string id;
  std::optional<int64_t> limit;
};

const View& QueueView() {
  static const View view{{{"PLACE", "place"},
                          {"RUN", "run_id"},
                          {"KIND", "kind"},
                          {"FIRE TIME", "fire_time"},
                          {"DUE SINCE", "due_since"},
                          {"STATE", "state"}},
                         "run_id",
                         {{"ATTEMPT", "attempt"},
                          {"EXECUTOR", "executor_id"},
                          {"CLAIMED", "claimed_at"},
                          {"PRIORITY", "priority"}}};
  return view;
}

json RunsOf(const json& queue, const char* name) {
  const json runs = queue.is_object() ? queue.value(name, json()) : json();
  return runs.is_array() ? runs : json::array();
}

// A row of the table. A queued run has no due time: it has been due since its fire.
json RowOf(json run, const json& place) {
  if (!run.is_object()) return run;
  const bool waits = run.value("state", json()) == "PENDING";
  const json due = run.value("due_at", json());
  run["place"] = place;
  run["due_since"] = !waits ? json() : due.is_null() ? run.value("fire_time", json()) : due;
  return run;
}

// The row of a run, or null.
json* FindRow(json& rows, const json& run_id) {
  for (json& row : rows) {
    if (row.is_object() && row.value("run_id", json()) == run_id) return &row;
  }
  return nullptr;
}

// Adds a row for each run of the job that waits for a slot of the job's group. A run that holds a
// slot of the job meanwhile has a row already. Adds none if the job has no group, or if the group
// cannot be read.
void AddGroupRows(Session& session, const std::string& job_id, json& rows) {
  const auto job = session.Call({.path = JobPath(job_id)});
  if (!job.ok() || !job->body.is_object()) return;
  const json name = job->body.value("concurrency_group", json());
  if (!name.is_string() || name == "") return;
  const auto group = session.Call({.path = "/api/groups/" + Escape(name.get<std::string>())});
  if (!group.ok()) return;
  for (json run : RunsOf(group->body, "queue")) {
    if (!run.is_object() || run.value("job_id", json()) != job_id) continue;
    const json position = run.value("position", json());
    if (!position.is_number_integer()) continue;
    const std::string place = Ordinal(position.get<int64_t>()) + " of group " + Cell(name);
    if (json* const row = FindRow(rows, run.value("run_id", json()))) {
      (*row)["place"] = place;
      continue;
    }
    run["place"] = place;
    run["due_since"] = run.value("since", json());
    run["state"] = "PENDING";
    rows.push_back(std::move(run));
  }
}

void PrintRows(Session& session, const json& queue, const std::string& job_id) {
  json rows = json::array();
  const json queued = RunsOf(queue, "queued");
  for (const json& run : RunsOf(queue, "holders")) rows.push_back(RowOf(run, "slot"));
  for (size_t i = 0; i < queued.size(); ++i) rows.push_back(RowOf(queued[i], i + 1));
  AddGroupRows(session, job_id, rows);
  session.Print().List({{"items", std::move(rows)}}, QueueView());
  const json length = queue.is_object() ? queue.value("length", json()) : json();
  const auto shown = static_cast<int64_t>(queued.size());
  if (length.is_number_integer() && length.get<int64_t>() > shown) {
    session.Say("Showing " + std::to_string(shown) + " of " +
                std::to_string(length.get<int64_t>()) + " queued runs.");
  }
}

Outcome<ExitCode> ShowQueue(Session& session, const QueueArguments& arguments) {
  ApiRequest request{.path = JobPath(arguments.id, "queue")};
  if (arguments.limit) request.query.emplace_back("limit", std::to_string(*arguments.limit));
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse queue, session.Call(request));
  Printer print = session.Print();
  const bool rows = print.form() == Form::kTable || print.form() == Form::kName;
  if (rows || session.flags().quiet) {
    PrintRows(session, queue.body, arguments.id);
  } else {
    print.Object(queue.body, QueueView());
  }
  return ExitCode::kDone;
}

}  // namespace

void AddQueueCommand(CLI::App& job, Session& session) {
  const auto arguments = std::make_shared<QueueArguments>();
  CLI::App* queue = job.add_subcommand(
      "queue", "Show the runs of a job that hold a slot, and those that wait for one");
  queue->add_option("job", arguments->id, "Job ID")->required();
  queue->add_option("--limit", arguments->limit, "Number of queued runs (default: 100)")
      ->check(CLI::Range(1, 1000));
  session.On(queue, [&session, arguments] { return ShowQueue(session, *arguments); });
}

}  // namespace carillon::cli
